"""How much a rule holds back at most, counted before any text is read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from streamguard.automaton.anchors import width
from streamguard.automaton.nfa import Nfa
from streamguard.automaton.nodes import Pattern
from streamguard.automaton.reach import leading, looking_ahead, sets_read, spread, successors

__all__ = ["Bounds"]


class Bounds:
    """What the rules of a matcher hold back at most.

    Counted on the threads of a rule alone, with every condition taken to hold. What an
    atomic match may drop is held until that has ended, or cannot be one.
    """

    def __init__(
        self,
        patterns: Sequence[Pattern],
        nfa: Nfa,
        starts: Sequence[int],
        *,
        limit: int,
        asking: Collection[int],
    ) -> None:
        """Bound the patterns.

        Args:
            patterns: in order of priority.
            nfa: the automaton of all of them.
            starts: the states their values start in.
            limit: characters after which an undecided value is decided.
            asking: the rules with matches that depend on the character after them.
        """
        self._patterns = patterns
        self._nfa = nfa
        self._starts = starts
        self._limit = limit
        self._asking = asking
        self._found: dict[int, tuple[int, bool]] = {}

    def of(self, rule: int) -> tuple[int, bool]:
        """The most characters a rule holds back, and whether only the limit bounds them."""
        if rule not in self._found:
            self._found[rule] = self._count(rule)
        return self._found[rule]

    def _count(self, rule: int) -> tuple[int, bool]:
        certain = set[int]() if self._patterns[rule].checked else self._certain[rule]
        enters, begins = self._meets(rule)
        undecided = self._longest({self._starts[rule]}, set[int]() if enters else certain, self._limit)
        open_end = self._longest(certain, certain, self._limit + 1)
        most = max(min(undecided, self._limit - 1), min(open_end, self._limit))
        atoms = [pattern for pattern in self._patterns if pattern.atomic]
        if begins:
            most = max(most, max(width(atom.value) or self._limit for atom in atoms) - 2)
        if enters or rule in self._asking or self._patterns[rule].checked:
            own = [width(atom.value) or self._limit for atom in atoms if atom.stands_for is not None]
            most += max(own, default=1) - 1
        return most, undecided >= self._limit or open_end > self._limit

    def _longest(self, states: set[int], certain: set[int], limit: int) -> int:
        """How many characters, up to `limit`, can be read from `states` without getting to `certain`."""
        seen: set[frozenset[int]] = set()
        for length in range(limit):
            states = (successors(self._nfa, states) - certain) & self._alive
            if not states:
                return length
            if (key := frozenset(states)) in seen:
                break
            seen.add(key)
        return limit

    @cached_property
    def _certain(self) -> list[set[int]]:
        """For each rule the states in which its value has matched, whatever comes next."""
        ends = [state for state, rule in enumerate(self._nfa.accept) if rule is not None]
        certain: list[set[int]] = [set() for _ in self._patterns]
        for state in leading(self._nfa, ends, freely=True):
            certain[self._nfa.rule[state]].add(state)
        return certain

    @cached_property
    def _alive(self) -> set[int]:
        """The states from which a character can be read, or is asked for."""
        nfa = self._nfa
        reading = [state for state, reads in enumerate(nfa.reads) if reads is not None]
        return leading(nfa, [*reading, *looking_ahead(nfa)], freely=False)

    @cached_property
    def _value_sets(self) -> list[int]:
        """For each rule the sets its value reads characters of."""
        nfa = self._nfa
        states: list[list[int]] = [[] for _ in self._patterns]
        for state, rule in enumerate(nfa.rule):
            if nfa.is_value[state]:
                states[rule].append(state)
        return [sets_read(nfa, own) for own in states]

    def _meets(self, rule: int) -> tuple[bool, bool]:
        """Whether a value can read the first character of an atomic match, or begin inside of one."""
        nfa = self._nfa
        atoms = [number for number, pattern in enumerate(self._patterns) if pattern.atomic]
        first = sets_read(nfa, spread(nfa, (self._starts[atom] for atom in atoms)))
        inside = 0
        for atom in atoms:
            inside |= self._value_sets[atom]
        own = self._value_sets[rule]
        begin = sets_read(nfa, spread(nfa, [self._starts[rule]]))
        classes = [nfa.classify(chr(code)) for code in range(128)]
        return (
            any(mask & first and mask & own for mask in classes),
            any(mask & inside and mask & begin for mask in classes),
        )
