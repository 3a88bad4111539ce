"""What the first group of a state is decided to be, and when; the theory is told in `matcher`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from streamguard.automaton.nfa import Nfa
from streamguard.automaton.nodes import Pattern
from streamguard.automaton.reach import asking, can_begin, context_ends
from streamguard.automaton.states import Config, Decision, Group, State, Tail

__all__ = ["Decider"]

MAX_CACHED = 20_000
"""Most texts before a position for which it is remembered what could begin after them."""


class Decider(ABC):
    """Compiled patterns, and what is decided by them.

    Attributes:
        patterns: in order of priority.
        limit: characters after which an undecided value is decided.
        nfa: the automaton of all patterns.
        starts: the states their values start in.
    """

    def __init__(self, patterns: Sequence[Pattern], *, limit: int, release: bool, folded: bool) -> None:
        """Compile the patterns; the arguments are those of `Matcher`."""
        self.patterns = tuple(patterns)
        self.limit = limit
        self.nfa = Nfa(folded=folded)
        self._release = release
        self.starts = [
            self.nfa.add_rule(rule, pattern.context, pattern.value) for rule, pattern in enumerate(patterns)
        ]
        self._checked = [pattern.checked for pattern in patterns]
        self._keep = [pattern.keep or pattern.atomic for pattern in patterns]
        self._atomic = [pattern.atomic for pattern in patterns]
        self._follows = sum(1 << rule for rule, pattern in enumerate(patterns) if pattern.follows)
        self._asking = asking(self.nfa)
        self._context_ends = context_ends(self.nfa, self.starts) if any(self._atomic) else []
        self._could_begin: dict[int, int] = {}

    @abstractmethod
    def tail(self, behind: int, threads: frozenset[int], forced: int) -> Tail:
        """The tail that these threads are in; without threads, a dead one."""

    @abstractmethod
    def _state(self, behind: int, context: frozenset[int], groups: tuple[Group, ...]) -> State:
        """The state of this configuration."""

    def settle(self, config: Config) -> State | Decision:
        """Decide what can be decided; the state if the first group is open."""
        behind, context, groups = config
        groups = tuple(group for group in groups if group.threads or group.matches)
        atom = next((group for group in groups if self._ended_atom(group)), None)
        if atom is not None:
            return self._cut_at(atom, behind, self._following(context), groups)
        atoms = [group for group in groups if self._begins_atom(group)]
        while groups:
            group, rest = groups[0], groups[1:]
            best = self._best(group)
            if self._keeps(group):
                if group in atoms:
                    break
                if not group.threads:
                    if self.patterns[best[0][0]].told:
                        return Decision(
                            group.age, tuple(best), None, Config(behind, context, rest), group.residue
                        )
                    groups = tuple(self._outlived(other) for other in rest if other.age <= best[0][1])
                    continue
                first = next((other for other in rest if not self._keeps(other)), None)
                if first is None or first.age < self.limit:
                    break
                groups = rest
                continue
            refused = Config(behind, context, rest)
            if self._waits(group, best, atoms):
                break
            if not group.threads or (self._release and group.age >= self.limit):
                if not best:
                    groups = rest
                    continue
                return self._told(group, refused)
            if best and not self._checked[best[0][0]]:
                threads = frozenset(t for t in group.threads if not self._checked[self.nfa.rule[t]])
                tail = self.tail(behind, threads, -1) if threads else None
                return Decision(group.age, (best[0],), tail, refused, group.residue)
            if group.age < self.limit:
                break
            rule = self._taken_at_limit(group)
            return Decision(
                group.age, ((rule, 0),), self.tail(behind, group.threads, rule), refused, group.residue
            )
        return self._state(behind, context, groups)

    def _best(self, group: Group) -> list[tuple[int, int]]:
        return sorted(group.matches, key=lambda match: (self._checked[match[0]], match[1], match[0]))

    def _told(self, group: Group, refused: Config) -> Decision:
        """The decision of a group that is over; what was taken at the limit is not to be checked."""
        best = tuple(self._best(group))
        tail = self.tail(refused.behind, frozenset(), best[0][0]) if group.taken else None
        return Decision(group.age, best, tail, refused, group.residue)

    def _waits(self, group: Group, best: Sequence[tuple[int, int]], atoms: Sequence[Group]) -> bool:
        """Whether an atomic match that is under way would drop what the group has found.

        One that began when the group was over, or when it had reached the limit, comes too
        late: without that, beginnings of atomic matches in a row would hold it for ever.
        """
        if not best and not group.threads:
            return False
        late = max(group.over, group.age - self.limit)
        began = [
            atom.age
            for atom in atoms
            if atom.age > late
            and (atom is group or self._owned(atom, {self.nfa.rule[thread] for thread in atom.threads}))
        ]
        if not began or not best or self._checked[best[0][0]]:
            return bool(began)
        rule, back = best[0]
        return any(back < age + (rule in self._asking) for age in began)

    def _outlived(self, group: Group) -> Group:
        """A group that began where a kept match ended: what was inside of that is over."""
        residue = group.residue
        return group if residue is None else group._replace(residue=residue._replace(partial=frozenset()))

    def _keeps(self, group: Group) -> bool:
        keep, rule = self._keep, self.nfa.rule
        return all(keep[rule[thread]] for thread in group.threads) and all(
            keep[match[0]] for match in group.matches
        )

    def _past_limit(self, group: Group) -> bool:
        """Whether a group is open beyond the limit."""
        ends = self._release or self._keeps(group) or self._begins_atom(group)
        return group.age >= self.limit and not ends

    def _taken_at_limit(self, group: Group) -> int:
        best = self._best(group)
        return best[0][0] if best else min(self.nfa.rule[thread] for thread in group.threads)

    # -- atomic matches ---------------------------------------------------------

    def _begins_atom(self, group: Group) -> bool:
        return any(self._atomic[self.nfa.rule[thread]] for thread in group.threads)

    def _ended_atom(self, group: Group) -> bool:
        return any(self._atomic[rule] and not back for rule, back in group.matches)

    def _without_atoms(self, group: Group) -> frozenset[int]:
        return frozenset(thread for thread in group.threads if not self._atomic[self.nfa.rule[thread]])

    def _could(self, behind: int) -> int:
        """Bits of the rules whose values could begin here, as far as the text before tells.

        Where a rule's could not, its placeholder was not put in the place of one: somebody
        wrote it there, and it must not protect what stands before it.
        """
        could = self._could_begin.get(behind)
        if could is None:
            if len(self._could_begin) >= MAX_CACHED:
                self._could_begin.clear()
            could = self._could_begin[behind] = sum(
                1 << rule
                for rule, ends in enumerate(self._context_ends)
                if (not ends or behind & ends) and can_begin(self.nfa, self.starts[rule], behind)
            )
        return could

    def _owned(self, group: Group, rules: Iterable[int]) -> bool:
        """Whether one of the atomic rules may have put a placeholder where the group began."""
        for rule in rules:
            stands_for = self.patterns[rule].stands_for
            if stands_for is not None and group.could >> stands_for & 1:
                return True
        return False

    def _following(self, context: frozenset[int]) -> frozenset[int]:
        """The threads of a context that go on behind an atomic match: those for which it is one."""
        return frozenset(thread for thread in context if self.nfa.owners[thread] & self._follows)

    def _cut_at(
        self, atom: Group, behind: int, context: frozenset[int], groups: tuple[Group, ...]
    ) -> State | Decision:
        """An atomic match has ended: what ran into it is dropped, unless no value could stand there.

        What was over before it began is still told, and so is a match without checks that
        ended before it. One that ended right before it is not if it may have asked what
        comes next: before the first pass something else stood there.
        """
        none = Config(behind, context, ())
        if not self._owned(atom, (rule for rule, back in atom.matches if not back)):
            return self.settle(none._replace(groups=groups[: groups.index(atom)]))
        for number, group in enumerate(groups):
            if group is atom:
                break
            if not group.threads and group.over >= atom.age and not self._keeps(group):
                refused = none._replace(groups=groups[number + 1 :])
                return self._told(group, refused)
            ended = [
                (back, rule)
                for rule, back in group.matches
                if back >= atom.age + (rule in self._asking)
                and not self._checked[rule]
                and not self._keep[rule]
            ]
            if ended:
                back, rule = min(ended)
                return Decision(group.age, ((rule, back),), None, none, group.residue)
        return self._state(*none)
