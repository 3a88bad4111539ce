"""How matches begin where no literal tells: a run of characters, each of a certain set.

A payment card has no anchor worth looking for, since single digits and blanks are everywhere.
But it begins with a digit, and then come digits and blanks: that `re` finds about as fast as
a literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from math import prod
from typing import NamedTuple

from streamguard.automaton.anchors import Anchors
from streamguard.automaton.nfa import Nfa
from streamguard.automaton.nodes import CharSet, Node
from streamguard.automaton.reach import sets_read, spread, successors

__all__ = ["LENGTH", "Cluster", "Run", "characters", "clusters", "one_of", "run"]

LENGTH = 12
"""Most characters of a beginning that are looked at."""
REACH = 256
"""Characters beyond those in which runs are looked for that probes see."""
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
        chars = frozenset[str]().union(*map(characters, read))
        if not sets and chars & BEYOND:
            return None
        sets.append(chars)
        states = spread(nfa, successors(nfa, states))
    found = Run(tuple(sets))
    chance = found.chance if sets else 1.0
    others = sum(FREQUENT ** -len(string) for string in instead.strings) if instead else 1.0
    return found if chance < min(TELLING, others) else None


class Cluster:
    """Several runs that begin alike, looked for together.

    Args:
        members: the pattern each run belongs to, and the run.

    Attributes:
        owners: the patterns.
    """

    __slots__ = ("_cut_off", "_first", "_plain", "_probed", "_shared", "owners")

    def __init__(self, members: Sequence[tuple[int, Run]]) -> None:
        self.owners = tuple(owner for owner, _ in members)
        self._first = one_of(frozenset[str]().union(*(one.sets[0] for _, one in members)))
        # What the next character of any of them may be refuses most places at once.
        shared = zip(*(one.sets[1:] for _, one in members), strict=False)
        self._shared = "".join(one_of(frozenset[str]().union(*sets)) for sets in shared)
        beginnings = {one.sets for _, one in members}
        rest = [f"(?<={one_of(sets[0])})(?={''.join(map(one_of, sets[1:]))})" for sets in beginnings]
        cut = ""
        for sets in reversed([*zip_longest(*beginnings, fillvalue=frozenset[str]())][1:]):
            cut = f"(?:{one_of(frozenset[str]().union(*sets))}{cut})?"
        self._cut_off = re.compile(f"{self._first}{cut}\\Z")
        self._plain = self._compiled(f"(?:{'|'.join(sorted(rest))})")
        self._probed = self._plain

    def probe(self, source: str) -> None:
        """Refuse where none of the patterns begins, by an expression for that."""
        self._probed = self._compiled(f"(?<=(?={source})(?s:.))")

    def _compiled(self, asked: str) -> re.Pattern[str]:
        return re.compile(f"{self._first}(?={self._shared}){asked}")

    def cut_off(self, data: str) -> int:
        """Where the first run may begin that the end of the data cuts off; the end itself, if none may."""
        found = self._cut_off.search(data, max(len(data) - LENGTH, 0))
        return len(data) if found is None else found.start()

    def find(self, data: str, begin: int, until: int) -> Iterator[int]:
        """Where a run begins, from `begin` up to before `until`."""
        return _starts(self._plain, data, begin, until, LENGTH)

    def find_probed(self, data: str, begin: int, until: int) -> Iterator[int]:
        """Where a run begins that a probe does not refuse."""
        return _starts(self._probed, data, begin, until, REACH)


def _starts(found: re.Pattern[str], data: str, begin: int, until: int, reach: int) -> Iterator[int]:
    for match in found.finditer(data, begin, min(until + reach, len(data))):
        if match.start() >= until:
            break
        yield match.start()


def clusters(runs: Sequence[tuple[int, Run]]) -> list[Cluster]:
    """The runs; those that begin alike are looked for together, since one set of characters is found fast."""
    kinds: dict[str, list[tuple[int, Run]]] = {}
    for owner, one in runs:
        kinds.setdefault(_kind(one.sets[0]), []).append((owner, one))
    return [Cluster(members) for members in kinds.values()]


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


@lru_cache(maxsize=4096)
def characters(charset: CharSet) -> frozenset[str]:
    """The ASCII characters of a set; and `BEYOND`, if there may be others."""
    test = re.compile(charset.source, charset.flags).fullmatch
    found = frozenset(char for char in map(chr, range(128)) if test(char))
    return found if _listed(charset) else found | BEYOND
