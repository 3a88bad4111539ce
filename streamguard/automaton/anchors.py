"""The literals a pattern requires, and how wide it is.

Every match of a pattern contains one of its anchors: literals that the pattern itself
requires, with a bound on what can stand between the match's start and the anchor. They
are derived from the pattern, never written beside it, so they cannot miss what the
pattern accepts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from streamguard.automaton.nodes import (
    Alternation,
    CharSet,
    Concat,
    Node,
    Repeat,
)

__all__ = ["Anchors", "Known", "anchors", "exact", "members", "prefix_length", "width"]

MAX_STRINGS = 64
"""Most literals one stretch of a pattern may stand for (case variants count)."""

MAX_LENGTH = 64
"""Literals this long are telling enough; longer ones are not looked for."""

Strings = frozenset[str]

_SURROGATE = re.compile("[\ud800-\udfff]")


_FOLDED = frozenset("\u0130\u0131\u017f\u212a")
"""What `re` takes for i, s or k where case is ignored; written so that no editor normalises it."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """Literals of which every match contains one.

    Attributes:
        strings: the literals.
        lead: most characters between the start of a match and its anchor.
    """

    strings: frozenset[str]
    lead: int

    def __post_init__(self) -> None:
        """Drop what begins with another one: that is found wherever it is."""
        kept: list[str] = []
        for string in sorted(self.strings):
            if not kept or not string.startswith(kept[-1]):
                kept.append(string)
        object.__setattr__(self, "strings", frozenset(kept))

    @property
    def score(self) -> tuple[int, int, int]:
        """How telling they are: length counts first, then how few there are."""
        return min(map(len, self.strings)), -len(self.strings), -self.lead


@lru_cache(maxsize=4096)
def members(charset: CharSet) -> Strings | None:
    """The characters of a set, or `None` where they are many or hard to list."""
    source = charset.source
    if source.startswith("[^") or source == "." or re.search(r"\\[dDwWsSxuUN0-9]", source):
        return None
    candidates = set(map(chr, range(128)))
    if not source.isascii():
        if "-" in source or _SURROGATE.search(source):
            return None
        candidates.update(source)
    if charset.flags & re.IGNORECASE:
        candidates |= _FOLDED if source.isascii() else _cased()
    test = re.compile(source, charset.flags).fullmatch
    found = frozenset(char for char in candidates if test(char))
    return found if 0 < len(found) <= MAX_STRINGS else None


@lru_cache(maxsize=1)
def _cased() -> frozenset[str]:
    """Every letter with another case, of any script."""
    return frozenset(
        char for char in map(chr, range(0x20000)) if char.lower() != char or char.upper() != char
    )


Known = dict[int, Strings | None]
"""What parts of one pattern stand for, by their identity: they are asked again and again."""


def exact(node: Node, known: Known | None = None) -> Strings | None:
    """Every string a pattern stands for, or `None` where they are too many."""
    if isinstance(node, CharSet):
        return members(node)
    if known is None:
        known = {}
    if id(node) not in known:
        known[id(node)] = _exact(node, known)
    return known[id(node)]


def _exact(node: Node, known: Known) -> Strings | None:
    if isinstance(node, Alternation):
        union: set[str] = set()
        for branch in node.branches:
            strings = exact(branch, known)
            if strings is None:
                return None
            union |= strings
        return frozenset(union) if len(union) <= MAX_STRINGS else None
    if isinstance(node, Concat):
        joined = frozenset([""])
        for part in node.parts:
            following = _product(joined, exact(part, known))
            if following is None:
                return None
            joined = following
        return joined
    if isinstance(node, Repeat):
        if node.most is None or node.most > MAX_STRINGS:
            return None
        once = exact(node.node, known)
        power: Strings | None = frozenset([""])
        repeated: set[str] = set()
        for count in range(node.most + 1):
            if count:
                power = _product(power, once)
            if power is None or len(repeated) > MAX_STRINGS:
                return None
            if count >= node.least:
                repeated |= power
        return frozenset(repeated) if len(repeated) <= MAX_STRINGS else None
    return frozenset([""])


def width(node: Node) -> int | None:
    """Most characters a pattern can match, or `None` where there is no bound."""
    if isinstance(node, CharSet):
        return 1
    if isinstance(node, Alternation | Concat):
        parts = [width(part) for part in (node.branches if isinstance(node, Alternation) else node.parts)]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return max(known, default=0) if isinstance(node, Alternation) else sum(known)
    if isinstance(node, Repeat):
        inner = width(node.node)
        return 0 if inner == 0 else None if inner is None or node.most is None else inner * node.most
    return 0


def anchors(node: Node, known: Known | None = None) -> Anchors | None:
    """The most telling anchors of a pattern, or `None` where it requires no literal."""
    if known is None:
        known = {}
    found: list[Anchors] = []
    strings = exact(node, known)
    if strings and "" not in strings:
        found.append(Anchors(strings, 0))
    if isinstance(node, Alternation):
        branches = [anchors(branch, known) for branch in node.branches]
        derived = [branch for branch in branches if branch is not None]
        if len(derived) == len(branches):
            union = frozenset[str]().union(*(branch.strings for branch in derived))
            found.append(Anchors(union, max(branch.lead for branch in derived)))
    elif isinstance(node, Repeat) and node.least > 0:
        inner = anchors(node.node, known)
        if inner is not None:
            found.append(inner)
    elif isinstance(node, Concat):
        found.extend(_concat_anchors(node, known))
    return max(found, key=lambda one: one.score, default=None)


def _concat_anchors(node: Concat, known: Known) -> list[Anchors]:
    found: list[Anchors] = []
    strings = [exact(part, known) for part in node.parts]
    lead: int | None = 0
    covered = 0  # a run that begins before this part is the end of one that was found
    for index, part in enumerate(node.parts):
        if lead is None:
            break
        if strings[index] is None:
            inner = anchors(part, known)
            if inner is not None:
                found.append(Anchors(inner.strings, lead + inner.lead))
        elif index >= covered:
            best, covered = _run(strings, index)
            if best is not None:
                found.append(Anchors(best, lead))
        size = width(part)
        lead = None if size is None else lead + size
    return found


def _run(strings: list[Strings | None], index: int) -> tuple[Strings | None, int]:
    """The longest literals that begin with a part; and where the next ones may begin that are better."""
    run: Strings | None = frozenset([""])
    best: Strings | None = None
    for stop, following in enumerate(strings[index:], index):
        run = _product(run, following)
        if run is None:
            return best, stop + 1 if following is None else index + 1
        if "" not in run:
            best = run
        if min(map(len, run)) >= MAX_LENGTH:
            return best, index + 1
    return best, len(strings)


def prefix_length(node: Node) -> int:
    """Length of the literal that every match begins with; the shortest where there are several."""
    strings = exact(node)
    if strings:
        return min(map(len, strings))
    if isinstance(node, Alternation):
        return min(map(prefix_length, node.branches))
    if isinstance(node, Repeat):
        return prefix_length(node.node) if node.least else 0
    length = 0
    if isinstance(node, Concat):
        for part in node.parts:
            length += prefix_length(part)
            if exact(part) is None:
                break
    return length


def _product(heads: Strings | None, tails: Strings | None) -> Strings | None:
    if heads is None or tails is None or len(heads) * len(tails) > MAX_STRINGS:
        return None
    return frozenset(head + tail for head in heads for tail in tails)
