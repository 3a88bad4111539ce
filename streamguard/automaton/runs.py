"""How matches begin where no literal tells: a run of characters, each of a certain set.

A payment card has no anchor worth looking for, since single digits and blanks are everywhere.
But it begins with a digit, and then come digits and blanks: that `re` finds about as fast as
a literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

from streamguard.automaton.anchors import Anchors
from streamguard.automaton.nfa import Nfa
from streamguard.automaton.nodes import CharSet, Node
from streamguard.automaton.reach import sets_read, spread, successors

__all__ = ["LENGTH", "Run", "clusters", "one_of", "run"]

LENGTH = 12
"""Most characters of a beginning that are looked at."""
TELLING = 0.003
"""The share of places at which a run may begin by chance, if every character were as frequent."""
BEYOND = frozenset(["\\x80-\\U0010ffff"])
"""Every character beyond ASCII, as one of a set."""
PRINTABLE = 95
FREQUENT = 30
"""A letter or a sign stands at one place in so many, about."""


class Run(NamedTuple):
    """The sets that the first characters of every match are of."""

    sets: tuple[frozenset[str], ...]

    @property
    def chance(self) -> float:
        """The share of places at which it would begin by chance."""
        return prod(len(chars) / PRINTABLE for chars in self.sets)


def run(node: Node, instead: Anchors | None) -> Run | None:
    """How matches of a pattern begin, if that tells more than its anchors do."""
    nfa = Nfa()
    states = spread(nfa, [nfa.add_rule(0, None, node)])
    charsets = {number: charset for charset, number in nfa.sets.items()}
    sets: list[frozenset[str]] = []
    while len(sets) < LENGTH and not any(nfa.accept[state] is not None for state in states):
        mask = sets_read(nfa, states)
        read = {charset for number, charset in charsets.items() if mask >> number & 1}
        chars = frozenset[str]().union(*map(_members, read))
        if not all(map(_listed, read)):
            if not sets:
                return None
            chars |= BEYOND
        sets.append(chars)
        states = spread(nfa, successors(nfa, states))
    found = Run(tuple(sets))
    chance = found.chance if sets else 1.0
    others = sum(FREQUENT ** -len(string) for string in instead.strings) if instead else 1.0
    return found if chance < min(TELLING, others) else None


def clusters(runs: Sequence[tuple[int, Run]]) -> list[tuple[re.Pattern[str], tuple[int, ...]]]:
    """Expressions that find where one of several runs begins, with the patterns each stands for.

    Those that begin alike are looked for together: a search for one set of characters passes
    over the others fastest.
    """
    kinds: dict[str, list[tuple[int, Run]]] = {}
    for owner, one in runs:
        kinds.setdefault(_kind(one.sets[0]), []).append((owner, one))
    found: list[tuple[re.Pattern[str], tuple[int, ...]]] = []
    for members in kinds.values():
        first = one_of(frozenset[str]().union(*(one.sets[0] for _, one in members)))
        rest: set[str] = set()
        for _, one in members:
            own = one_of(one.sets[0])
            rest.add(("" if own == first else f"(?<={own})") + "".join(map(one_of, one.sets[1:])))
        source = f"{first}(?={'|'.join(sorted(rest))})"
        found.append((re.compile(source), tuple(owner for owner, _ in members)))
    return found


def _kind(chars: frozenset[str]) -> str:
    """What is looked for together: digits and signs, capitals, or exactly the same."""
    if not any(map(str.isalpha, chars)):
        return "digits"
    return "capitals" if all(map(str.isupper, chars)) else "".join(sorted(chars))


def one_of(chars: Iterable[str]) -> str:
    """A set of these characters, as `re` writes it."""
    return f"[{''.join(char if char in BEYOND else re.escape(char) for char in sorted(chars))}]"


def _listed(charset: CharSet) -> bool:
    """Whether a set is of ASCII characters alone, by the way it is written."""
    source = charset.source
    return (
        source.isascii()
        and not source.startswith("[^")
        and source != "."
        and not re.search(r"\\[dDwWsSxuUN]", source)
        and not charset.flags & re.IGNORECASE
    )


def _members(charset: CharSet) -> frozenset[str]:
    test = re.compile(charset.source, charset.flags).fullmatch
    return frozenset(char for char in map(chr, range(128)) if test(char))
