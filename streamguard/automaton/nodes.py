"""What a pattern is, once it has been read: a tree of nodes, and how the automaton is to take it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

__all__ = [
    "Alternation",
    "CharSet",
    "Concat",
    "LookAhead",
    "LookBehind",
    "Node",
    "Pattern",
    "Repeat",
    "branches_of",
    "fixed_width",
    "flat",
    "nullable",
    "one_of",
    "reads",
    "sequences_of",
]

MAX_LOOK_BEHIND = 8
MAX_ALTERNATIVES = 256
"""Most sequences one look-behind may stand for."""


@dataclass(frozen=True, slots=True)
class CharSet:
    """One character out of a set, as `re` source and flags."""

    source: str
    flags: int = 0


one_of = lru_cache(maxsize=4096)(CharSet)
"""The same object for the same set: patterns are made of few sets, and of each many times."""


@dataclass(frozen=True, slots=True)
class Concat:
    """Parts one after the other; none at all is the empty pattern."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """One of several branches."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`least` to `most` times; `most` is `None` where there is no bound."""

    node: Node
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class LookBehind:
    """What stands before: one of several sequences of the same width, or none of them.

    An empty sequence stands for the start of the text.
    """

    sequences: tuple[tuple[CharSet, ...], ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class LookAhead:
    """What the next character is: in one of the sets, or the end of the text."""

    sets: tuple[CharSet, ...]
    end: bool
    negated: bool


Node = CharSet | Concat | Alternation | Repeat | LookBehind | LookAhead


@dataclass(frozen=True, slots=True)
class Pattern:
    """A rule as the automaton sees it.

    Attributes:
        value: what is taken out, and held until that is decided.
        context: what has to stand before the value; remembered, never held.
        checked: its matches may be refused by whoever asked for them.
        keep: its matches stay, and with them whatever begins inside.
        atomic: what is put in the place of a value; implies `keep`. No match may begin
            inside of one, nor run into one that stands where a value of the rule
            `stands_for` could have stood.
        told: a kept match that is told as a decision once it has ended.
        follows: its context may begin with what is put in the place of a value.
    """

    value: Node
    context: Node | None = None
    checked: bool = False
    keep: bool = False
    atomic: bool = False
    told: bool = False
    follows: bool = False
    stands_for: int | None = None


def nullable(node: Node) -> bool:
    """Whether a pattern can match without reading a character."""
    if isinstance(node, Concat):
        return all(map(nullable, node.parts))
    if isinstance(node, Alternation):
        return any(map(nullable, node.branches))
    if isinstance(node, Repeat):
        return node.least == 0 or nullable(node.node)
    return not isinstance(node, CharSet)


def flat(node: Node) -> tuple[Node, ...]:
    """The parts of a pattern, one after the other, with none of them a sequence itself."""
    if isinstance(node, Concat):
        return tuple(one for part in node.parts for one in flat(part))
    return (node,)


def branches_of(node: Node) -> Iterator[Node]:
    """The branches of alternations inside one another."""
    if isinstance(node, Alternation):
        for branch in node.branches:
            yield from branches_of(branch)
    else:
        yield node


def reads(node: Node) -> bool:
    """Whether a pattern can read a character at all."""
    if isinstance(node, Alternation | Concat):
        return any(map(reads, node.branches if isinstance(node, Alternation) else node.parts))
    if isinstance(node, Repeat):
        return node.most != 0 and reads(node.node)
    return isinstance(node, CharSet)


def fixed_width(node: Node) -> int | None:
    """How many characters a pattern reads, or `None` if that varies or it asks what is around."""
    if isinstance(node, CharSet):
        return 1
    if isinstance(node, Alternation):
        widths = set(map(fixed_width, node.branches))
        return widths.pop() if len(widths) == 1 else None
    if isinstance(node, Concat):
        parts = [fixed_width(part) for part in node.parts]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None
    if isinstance(node, Repeat) and node.least == node.most:
        inner = fixed_width(node.node)
        return None if inner is None else inner * node.least
    return None


def sequences_of(node: Node) -> list[tuple[CharSet, ...]]:
    """The sequences a pattern of fixed width stands for; a few more than allowed if they are too many."""
    if isinstance(node, CharSet):
        return [(node,)]
    if isinstance(node, Alternation):
        return [one for branch in node.branches for one in sequences_of(branch)]
    parts: tuple[Node, ...] = ()
    if isinstance(node, Concat):
        parts = node.parts
    elif isinstance(node, Repeat):
        parts = (node.node,) * (node.least if fixed_width(node.node) else 0)
    joined: list[tuple[CharSet, ...]] = [()]
    for part in parts:
        tails = sequences_of(part)
        joined = [head + tail for head in joined for tail in tails][: MAX_ALTERNATIVES + 1]
    return joined
