"""What begins at a position, found without asking every rule.

Most rules ask what stands before (a boundary, a sign of escaping) and then read one of a
few characters. Both are worked out once: by class of the character the rules it can begin,
by condition those that ask the same. What is left at a position is to test a handful of
conditions, however many rules there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import NamedTuple

from streamguard.automaton.nfa import Ahead, Behind, Nfa

__all__ = ["Beginnings"]

MAX_CACHED = 20_000


class Condition(NamedTuple):
    """Holds where each of `required` shares a bit with what stands before and `excluded` does not."""

    required: frozenset[int]
    excluded: int
    ahead: frozenset[Ahead]

    def also(self, condition: Behind | Ahead | None) -> Condition:
        """This one and another."""
        if condition is None:
            return self
        if isinstance(condition, Ahead):
            return self._replace(ahead=self.ahead | {condition})
        if condition.negated:
            return self._replace(excluded=self.excluded | condition.bits)
        return self._replace(required=self.required | {condition.bits})

    def implies(self, other: Condition) -> bool:
        """Whether the other holds wherever this one does."""
        return (
            other.required <= self.required
            and other.excluded & self.excluded == other.excluded
            and other.ahead <= self.ahead
        )

    def holds(self, behind: int) -> bool:
        """Whether what stands before is as asked."""
        return not behind & self.excluded and all(behind & bits for bits in self.required)


class Entry(NamedTuple):
    """A state that may read the first character of a match."""

    owners: int
    read: int
    target: int
    is_value: bool
    conditions: list[Condition]


ALWAYS = Condition(frozenset(), 0, frozenset())
Begun = tuple[frozenset[int], frozenset[int]]
"""The threads in contexts, and those in values."""
Sorted = tuple[int, tuple[tuple[Condition, tuple[tuple[int, ...], tuple[int, ...]]], ...]]
"""The bits of the text before that are asked for, and the same threads by what they ask."""
Found = tuple[int, Condition, bool, int]
"""Bits of rules, what they ask of the text before, whether they begin in their value, and where."""


class Beginnings:
    """The threads that the first character of a context or a value starts."""

    def __init__(self, nfa: Nfa) -> None:
        self._entries = _find_entries(nfa)
        self._found: dict[int, list[Found]] = {}  # by class; shared by all that are made of it
        self._begin(-1)

    @property
    def owners(self) -> int:
        """Bits of the rules that can begin."""
        owners = 0
        for entry in self._entries:
            if entry.owners & self._only:
                owners |= entry.owners
        return owners

    def only(self, owners: int) -> Beginnings:
        """The same for the rules of these bits alone, or for a few more where they share a context."""
        some = copy(self)
        some._begin(owners)
        return some

    def _begin(self, owners: int) -> None:
        self._only = owners
        self._by_mask: dict[int, Sorted] = {}
        self._begun: dict[tuple[int, int], Begun] = {}

    def at(self, behind: int, mask: int) -> Begun:
        """The threads that a character of class `mask` begins where `behind` stands before."""
        known = self._by_mask.get(mask)
        if known is None:
            known = self._by_mask[mask] = self._sort(mask)
        relevant, groups = known
        key = (behind & relevant, mask)
        begun = self._begun.get(key)
        if begun is None:
            if len(self._begun) >= MAX_CACHED:
                self._begun.clear()
            holding = [threads for condition, threads in groups if condition.holds(behind)]
            begun = self._begun[key] = (
                frozenset[int]().union(*(context for context, _ in holding)),
                frozenset[int]().union(*(value for _, value in holding)),
            )
        return begun

    def _sort(self, mask: int) -> Sorted:
        """What a character of class `mask` begins, by condition; and the bits that these ask for."""
        found = self._found.get(mask)
        if found is None:
            found = self._found[mask] = list(self._find(mask))
        begins: dict[Condition, tuple[set[int], set[int]]] = {}
        for owners, condition, is_value, target in found:
            if owners & self._only:
                begins.setdefault(condition, (set(), set()))[is_value].add(target)
        relevant = 0
        for condition in begins:
            relevant |= condition.excluded
            for bits in condition.required:
                relevant |= bits
        groups = tuple(
            (condition, (tuple(context), tuple(value))) for condition, (context, value) in begins.items()
        )
        return relevant, groups

    def _find(self, mask: int) -> Iterator[Found]:
        """What a character of class `mask` begins, with what is asked of the text before."""
        for owners, read, target, is_value, conditions in self._entries:
            if mask >> read & 1:
                for condition in conditions:
                    if all(bool(mask & asked.classes) is not asked.negated for asked in condition.ahead):
                        behind = condition._replace(ahead=frozenset()) if condition.ahead else condition
                        yield owners, behind, is_value, target


def _find_entries(nfa: Nfa) -> list[Entry]:
    """Each state that may read the first character, and what it asks."""
    reached: dict[int, list[Condition]] = {}
    work = [(state, ALWAYS) for state in nfa.initial]
    while work:
        state, condition = work.pop()
        known = reached.setdefault(state, [])
        if any(condition.implies(other) for other in known):
            continue
        known[:] = [other for other in known if not other.implies(condition)]
        known.append(condition)
        work.extend((target, condition.also(asked)) for target, asked in nfa.edges[state])
    entries: list[Entry] = []
    for state, conditions in reached.items():
        reads = nfa.reads[state]
        if reads is not None:
            entries.append(Entry(nfa.owners[state], *reads, nfa.is_value[state], _merged(conditions)))
    return entries


def _merged(conditions: list[Condition]) -> list[Condition]:
    """The same with those made one that differ in a single required bit set: any of the bits will do."""
    merged: dict[tuple[int, frozenset[Ahead]], int] = {}
    others: list[Condition] = []
    for condition in conditions:
        if len(condition.required) == 1:
            key = (condition.excluded, condition.ahead)
            merged[key] = merged.get(key, 0) | next(iter(condition.required))
        else:
            others.append(condition)
    return others + [
        Condition(frozenset([bits]), excluded, ahead) for (excluded, ahead), bits in merged.items()
    ]
