"""The lazily determinised automaton: what is held, and when something is decided.

Theory. Threads of the `Nfa` that began their value at the same character form a group.
A state is: what stands before, the threads still in a context, and the groups in the
order of their starts, each with its age (characters since its start), its threads and
the matches it has found so far. Ages and distances are part of the state, so a state
alone says how much is held back, and reading a character is one dictionary look-up.
States are made when they are first needed, by reading one character class.

Decisions are about the first group, since the leftmost match wins. It is decided when
no thread of it is left, or when a match nobody can revoke has been found: then nothing
but its end is open, and a `Tail` finds that without keeping the text. A thread that
reaches a state an earlier group is in has lost to it and is dropped, which bounds the
number of groups by the number of states.

Invariant: a state holds from the start of its first group that can still take text
away, never more.

Order among matches that begin together: one without checks before one with, then the
longest, then the first rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from operator import length_hint
from typing import NamedTuple

from streamguard.automaton.anchors import width
from streamguard.automaton.beginnings import Beginnings
from streamguard.automaton.nfa import END, Nfa
from streamguard.automaton.pattern import MAX_LOOK_BEHIND, Concat, Node
from streamguard.automaton.prefilter import ALL, Prefilter, Stop

__all__ = ["Decided", "Decision", "Matcher", "Pattern", "Residue", "Scan", "State", "Tail", "swallow"]

MAX_CACHED_STATES = 20_000
MAX_CACHED_CHARACTERS = 1_000
"""Most characters one state remembers the next state for."""
MAX_CACHED_MOVES = 500_000
"""Most of them over all states, which take about 50 MB."""
BLOCK = 48
"""Characters walked between two looks at whether the rest can be skipped."""
SHORT_BLOCK = 12
"""The same where an anchor has been found and nothing has begun yet: most lead to nothing."""


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
    """

    value: Node
    context: Node | None = None
    checked: bool = False
    keep: bool = False
    atomic: bool = False
    told: bool = False
    stands_for: int | None = None


class Residue(NamedTuple):
    """What the state was where a group began: it returns when the group's text is cut out."""

    behind: int
    context: frozenset[int]
    partial: frozenset[int]


class Group(NamedTuple):
    """The threads whose value began at one character."""

    age: int
    threads: frozenset[int]
    matches: tuple[tuple[int, int], ...]  # (rule, characters since its end)
    residue: Residue | None
    over: int = 0  # characters since its last thread ended
    taken: bool = False  # at the limit, while an atomic match was under way
    could: int = 0  # bits of the rules whose values could have begun there, if it is atomic


class Config(NamedTuple):
    """What identifies a state."""

    behind: int
    context: frozenset[int]
    groups: tuple[Group, ...]


class Decision(NamedTuple):
    """The first group is decided, at the position after the last character read.

    Attributes:
        age: characters since the value began; of a kept one, never more than the limit.
        matches: `(rule, characters since the value's end)`, best first; whoever asked
            takes the first that passes its checks.
        tail: finds the end, where the value may go on; `None` where it has ended.
        refused: the state that goes on if no match passes.
        residue: the state before the value began.
    """

    age: int
    matches: tuple[tuple[int, int], ...]
    tail: Tail | None
    refused: Config
    residue: Residue | None


class Decided(Exception):  # noqa: N818 - a signal to whoever reads characters, not an error
    """Raised by reading a character that decides the first group."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision


class State(dict[str, "State"]):
    """A state, as the map from the next character to the next state.

    Attributes:
        config: what it stands for.
        hold: how many of the last characters read are held back.
        quiet: no thread is under way, in no context and no value.
    """

    __slots__ = ("config", "hold", "matcher", "moves", "quiet")

    def __init__(self, matcher: Matcher, config: Config, hold: int) -> None:
        super().__init__()
        self.matcher = matcher
        self.config = config
        self.hold = hold
        self.quiet = not config.context and not config.groups
        self.moves: dict[int, State | Decision] = {}

    def __missing__(self, char: str) -> State:
        mask = self.matcher.nfa.classify(char)
        move = self.moves.get(mask)
        if move is None:
            move = self.moves[mask] = self.matcher.move(self.config, mask)
        if isinstance(move, Decision):
            raise Decided(move)
        if len(self) < MAX_CACHED_CHARACTERS:
            self.matcher.remember()
            self[char] = move
        return move


class Passed(dict[str, "Passed"]):
    """What stands before a position nothing was under way at, as a map from the next character.

    Attributes:
        state: the state there.
    """

    __slots__ = ("state",)

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state

    def __missing__(self, char: str) -> Passed:
        matcher = self.state.matcher
        passed = matcher.passed(matcher.step_behind(self.state.config.behind, char))
        if len(self) < MAX_CACHED_CHARACTERS:
            matcher.remember()
            self[char] = passed
        return passed


class Tail(dict[str, "Tail"]):
    """A decided value whose end is still open.

    Attributes:
        rule: the rule whose match ends here, or -1.
        alive: whether the value may go on.
        waiting: whether the next character may show that a match ends here.
    """

    __slots__ = ("alive", "behind", "forced", "lates", "matcher", "rule", "threads", "waiting")

    def __init__(self, matcher: Matcher, behind: int, threads: frozenset[int], forced: int) -> None:
        super().__init__()
        self.matcher = matcher
        self.behind = behind
        self.threads = threads
        self.forced = forced
        self.lates: dict[int, int] = {}
        closure = matcher.nfa.closure(threads, behind, None)
        self.rule = -1
        if threads:
            self.rule = forced if forced >= 0 else closure.accepts[0] if closure.accepts else -1
        self.waiting = closure.waiting
        self.alive = self.waiting or bool(closure.consuming)

    def __missing__(self, char: str) -> Tail:
        mask = self.matcher.nfa.classify(char)
        tail = self.matcher.tail(
            self.matcher.nfa.step_behind(self.behind, mask),
            frozenset(
                self.matcher.nfa.read(
                    self.matcher.nfa.closure(self.threads, self.behind, mask).consuming, mask
                )
            ),
            self.forced,
        )
        if len(self) < MAX_CACHED_CHARACTERS:
            self.matcher.remember()
            self[char] = tail
        return tail

    def late(self, mask: int) -> int:
        """The rule whose match ends here if a character of class `mask` follows, or -1."""
        if self.forced >= 0 or not self.waiting:
            return self.rule
        rule = self.lates.get(mask)
        if rule is None:
            accepts = self.matcher.nfa.closure(self.threads, self.behind, mask).accepts
            rule = self.lates[mask] = accepts[0] if accepts else -1
        return rule


class Cache:
    """How much a matcher and its views remember; they begin anew together."""

    def __init__(self, whole: Matcher) -> None:
        self.views: dict[int, Matcher] = {ALL: whole}
        self._states = 0
        self._moves = 0

    def count_state(self) -> None:
        """Make room for a state."""
        self._states += 1
        if self._states > MAX_CACHED_STATES:
            self._forget()

    def count_move(self) -> None:
        """Make room for a transition."""
        self._moves += 1
        if self._moves > MAX_CACHED_MOVES:
            self._forget()

    def _forget(self) -> None:
        whole = self.views[ALL]
        for view in tuple(self.views.values()):
            view.forget()
        self.views = {ALL: whole}
        self._states = self._moves = 0


class Matcher:
    """All patterns of a stage, compiled; shared by every stream.

    The cache of states grows as texts need it, up to `MAX_CACHED_STATES` and
    `MAX_CACHED_MOVES`, and is then begun anew. It never changes a result, so concurrent use
    is safe: threads may at worst make the same state twice.
    """

    def __init__(
        self,
        patterns: Sequence[Pattern],
        *,
        limit: int,
        release: bool = False,
        glue: bool = False,
    ) -> None:
        """Compile the patterns.

        Args:
            patterns: in order of priority.
            limit: characters after which an undecided value is decided.
            release: a value that reaches the limit ends at its last match, or was none;
                without it such a value is taken, and goes on as long as it can.
            glue: matches are cut out with nothing in their place, so that what stands on
                both sides comes together; remembers what stood before each value.
        """
        self.patterns = tuple(patterns)
        self.limit = limit
        self.nfa = Nfa()
        self._release = release
        self._glue = glue
        self.starts = [
            self.nfa.add_rule(rule, pattern.context, pattern.value) for rule, pattern in enumerate(patterns)
        ]
        self._checked = [pattern.checked for pattern in patterns]
        self._keep = [pattern.keep or pattern.atomic for pattern in patterns]
        self._atomic = [pattern.atomic for pattern in patterns]
        self._asking = self.nfa.asking()
        self._context_ends = self.nfa.context_ends(self.starts) if any(self._atomic) else []
        self._could_begin: dict[int, int] = {}
        self._owners = self._looks = ALL
        self._beginnings = Beginnings(self.nfa)
        self._reach = max(self.nfa.reach, 1)
        self._states: dict[Config, State] = {}
        self._tails: dict[tuple[int, frozenset[int], int], Tail] = {}
        self._passed: dict[int, Passed] = {}
        self._cache = Cache(self)
        self.prefilter = Prefilter(
            [
                pattern.value if pattern.context is None else Concat((pattern.context, pattern.value))
                for pattern in patterns
            ]
        )
        self.start = self.after("", start=True)
        """The state at the start of a text."""

    def view(self, owners: int) -> Matcher:
        """The same, where only the rules of these bits can begin; what has begun goes on as it would.

        Its states are few: nothing else that may begin in between is part of them.
        """
        views = self._cache.views
        view = views.get(owners)
        if view is None:
            view = views[owners] = copy(self)
            view._owners = owners
            view._beginnings = views[ALL]._beginnings.only(owners)
            view._looks = self._asked(view._beginnings.owners)
            view._states, view._tails, view._passed = {}, {}, {}
        return view

    def _asked(self, owners: int) -> int:
        """What has to be known of the text before, where these rules can begin."""
        atoms = any(self._atomic[rule] for rule in range(len(self.patterns)) if owners >> rule & 1)
        return ALL if self._glue or atoms else self.nfa.looks(owners)

    def also(self, owners: int) -> Matcher:
        """The view of these rules and its own."""
        return self if self._owners == ALL else self.view(self._owners | owners)

    # -- states -----------------------------------------------------------------

    def resumed(self, state: State, before: str) -> State:
        """A state of another view, in this one; `before` is the text before it."""
        if state.matcher is self:
            return state
        return self._state(self.after(before).config.behind, state.config.context, state.config.groups)

    def after(self, text: str, *, start: bool = False) -> State:
        """The state with nothing under way, where `text` stands before."""
        passed = self.passed(1 if start else 0)
        for char in text[-self._reach :]:
            passed = passed[char]
        return passed.state

    def passed(self, behind: int) -> Passed:
        """What stands before, as the map that follows it."""
        passed = self._passed.get(behind)
        if passed is None:
            self._cache.count_state()
            passed = self._passed[behind] = Passed(self._state(behind, frozenset(), ()))
        return passed

    def step_behind(self, behind: int, char: str) -> int:
        """What stands before, after one more character."""
        return self.nfa.step_behind(behind, self.nfa.classify(char)) & self._looks

    def restore(self, residue: Residue | None) -> State:
        """The state where a value was cut out: what stood before it goes on after it."""
        if residue is None:
            return self.start
        behind, context, partial = residue
        kept = frozenset(thread for thread in partial if self._keep[self.nfa.rule[thread]])
        groups = tuple(Group(0, threads, (), residue) for threads in (kept, partial - kept) if threads)
        return self._state(behind, context, groups)

    def tail(self, behind: int, threads: frozenset[int], forced: int) -> Tail:
        """The tail that these threads are in; without threads, a dead one."""
        key = (behind, threads, forced)
        tail = self._tails.get(key)
        if tail is None:
            self._cache.count_state()
            tail = self._tails[key] = Tail(self, behind, threads, forced)
        return tail

    def _state(self, behind: int, context: frozenset[int], groups: tuple[Group, ...]) -> State:
        config = Config(behind, context, groups)
        state = self._states.get(config)
        if state is None:
            self._cache.count_state()
            hold = next((group.age for group in groups if not self._keeps(group)), 0)
            state = self._states[config] = State(self, config, hold)
        return state

    def remember(self) -> None:
        """Count a transition that is about to be remembered."""
        self._cache.count_move()

    def forget(self) -> None:
        """Begin anew: states refer to one another, so each lets go of the others."""
        for state in tuple(self._states.values()):
            state.clear()
            state.moves.clear()
        for tail in tuple(self._tails.values()):
            tail.clear()
        for passed in tuple(self._passed.values()):
            passed.clear()
        self._tails.clear()
        self._passed.clear()
        self._states.clear()

    def _keeps(self, group: Group) -> bool:
        keep, rule = self._keep, self.nfa.rule
        return all(keep[rule[thread]] for thread in group.threads) and all(
            keep[match[0]] for match in group.matches
        )

    # -- reading ----------------------------------------------------------------

    def move(self, config: Config, mask: int) -> State | Decision:
        """Read one character of class `mask`."""
        nfa = self.nfa
        behind, context, groups = config
        after = nfa.step_behind(behind, mask) & self._looks
        new_context, new_value = self._beginnings.at(behind, mask)
        if context:
            more_context, more_value, _ = nfa.advance(context, behind, mask)
            new_context |= more_context
            new_value |= more_value
        taken: set[int] = set()
        moved: list[Group] = []
        for group in groups:
            _, threads, accepts = nfa.advance(group.threads, behind, mask)
            matches = dict(group.matches)
            for rule in accepts if group.age else self._completed(group, config, accepts):
                matches[rule] = 0
            threads -= taken
            taken |= threads
            arrived = self._arrive(group.age + 1, threads, matches, after, group.residue)
            over = 0 if group.threads else group.over + 1
            arrived = arrived._replace(over=over, could=group.could)
            if group.threads and not arrived.threads and self._past_limit(group):
                # Only an atomic match that was under way kept it from being taken at the limit.
                arrived = arrived._replace(matches=((self._taken_at_limit(group), 1),), taken=True)
            elif group.taken:
                arrived = arrived._replace(taken=True)
            moved.append(arrived)
        new_value -= taken
        if new_value:
            begun = self._arrive(1, new_value, {}, after, self._residue(config) if self._glue else None)
            moved.append(begun._replace(could=self._could(behind)) if self._begins_atom(begun) else begun)
        return self.settle(Config(after, new_context, tuple(moved)))

    def finish(self, config: Config) -> State | Decision:
        """Read the end of the text: every look-ahead sees it, every thread stops."""
        if any(self._begins_atom(group) for group in config.groups):
            # No atomic match ends here; what only waited for one is decided as it would have been.
            left = tuple(group._replace(threads=self._without_atoms(group)) for group in config.groups)
            outcome = self.settle(config._replace(groups=left))
            if isinstance(outcome, Decision):
                return outcome
            config = outcome.config
        groups: list[Group] = []
        for group in config.groups:
            matches = dict(group.matches)
            if group.age:
                for rule in self.nfa.closure(group.threads, config.behind, END).accepts:
                    matches[rule] = 0
            groups.append(group._replace(threads=frozenset(), matches=tuple(sorted(matches.items()))))
        return self.settle(Config(config.behind, frozenset(), tuple(groups)))

    def _completed(self, group: Group, config: Config, accepts: set[int]) -> set[int]:
        """Of a group that stands where a value was cut out: what only the next character completes."""
        return accepts - set(self.nfa.closure(group.threads, config.behind, None).accepts)

    def _arrive(
        self,
        age: int,
        threads: frozenset[int] | set[int],
        matches: dict[int, int],
        behind: int,
        residue: Residue | None,
    ) -> Group:
        closure = self.nfa.closure(threads, behind, None)
        for rule in matches:
            matches[rule] += 1
        for rule in closure.accepts:
            matches[rule] = 0
        alive = frozenset(threads) if closure.consuming or closure.waiting else frozenset[int]()
        if age > self.limit and threads and all(self.patterns[self.nfa.rule[t]].keep for t in threads):
            age = self.limit  # nothing of it is held: without this, a long one is in a new state every time
        return Group(age, alive, tuple(sorted(matches.items())), residue)

    def _residue(self, config: Config) -> Residue:
        partial = frozenset[int]().union(*(group.threads for group in config.groups))
        return Residue(config.behind, config.context, partial)

    # -- deciding ---------------------------------------------------------------

    def settle(self, config: Config) -> State | Decision:
        """Decide what can be decided; the state if the first group is open."""
        behind, context, groups = config
        groups = tuple(group for group in groups if group.threads or group.matches)
        atom = next((group for group in groups if self._ended_atom(group)), None)
        if atom is not None:
            return self._cut_at(atom, behind, groups)
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

    def _past_limit(self, group: Group) -> bool:
        """Whether a group is open beyond the limit."""
        ends = self._release or self._keeps(group) or self._begins_atom(group)
        return group.age >= self.limit and not ends

    def _taken_at_limit(self, group: Group) -> int:
        best = self._best(group)
        return best[0][0] if best else min(self.nfa.rule[thread] for thread in group.threads)

    def _begins_atom(self, group: Group) -> bool:
        return any(self._atomic[self.nfa.rule[thread]] for thread in group.threads)

    def _without_atoms(self, group: Group) -> frozenset[int]:
        return frozenset(thread for thread in group.threads if not self._atomic[self.nfa.rule[thread]])

    def _could(self, behind: int) -> int:
        """Bits of the rules whose values could begin here, as far as the text before tells.

        Where a rule's could not, its placeholder was not put in the place of one: somebody
        wrote it there, and it must not protect what stands before it.
        """
        could = self._could_begin.get(behind)
        if could is None:
            if len(self._could_begin) >= MAX_CACHED_STATES:
                self._could_begin.clear()
            could = self._could_begin[behind] = sum(
                1 << rule
                for rule, ends in enumerate(self._context_ends)
                if (not ends or behind & ends) and self.nfa.can_begin(self.starts[rule], behind)
            )
        return could

    def _owned(self, group: Group, rules: Iterable[int]) -> bool:
        """Whether one of the atomic rules may have put a placeholder where the group began."""
        for rule in rules:
            stands_for = self.patterns[rule].stands_for
            if stands_for is not None and group.could >> stands_for & 1:
                return True
        return False

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

    def bound(self, rule: int) -> tuple[int, bool]:
        """The most characters a rule holds back, and whether only the limit bounds them.

        Counted on the threads of the rule alone, with every condition taken to hold. What an
        atomic match may drop is held until that has ended, or cannot be one.
        """
        certain = set[int]() if self._checked[rule] else self._certain[rule]
        enters, begins = self._meets(rule)
        undecided = self._longest({self.starts[rule]}, set[int]() if enters else certain, self.limit)
        open_end = self._longest(certain, certain, self.limit + 1)
        most = max(min(undecided, self.limit - 1), min(open_end, self.limit))
        atoms = [pattern for pattern in self.patterns if pattern.atomic]
        if begins:
            most = max(most, max(width(atom.value) or self.limit for atom in atoms) - 2)
        if enters or rule in self._asking or self._checked[rule]:
            own = [width(atom.value) or self.limit for atom in atoms if atom.stands_for is not None]
            most += max(own, default=1) - 1
        return most, undecided >= self.limit or open_end > self.limit

    def _longest(self, states: set[int], certain: set[int], limit: int) -> int:
        """How many characters, up to `limit`, can be read from `states` without getting to `certain`."""
        seen: set[frozenset[int]] = set()
        for length in range(limit):
            states = (self.nfa.successors(states) - certain) & self._alive
            if not states:
                return length
            if (key := frozenset(states)) in seen:
                break
            seen.add(key)
        return limit

    @cached_property
    def _certain(self) -> list[set[int]]:
        """For each rule the states in which its value has matched, whatever comes next."""
        ends = [state for state, rule in enumerate(self.nfa.accept) if rule is not None]
        certain: list[set[int]] = [set() for _ in self.patterns]
        for state in self.nfa.leading(ends, freely=True):
            certain[self.nfa.rule[state]].add(state)
        return certain

    @cached_property
    def _alive(self) -> set[int]:
        """The states from which a character can be read, or is asked for."""
        nfa = self.nfa
        reading = [state for state, reads in enumerate(nfa.reads) if reads is not None]
        return nfa.leading([*reading, *nfa.looking_ahead()], freely=False)

    @cached_property
    def _value_sets(self) -> list[int]:
        """For each rule the sets its value reads characters of."""
        nfa = self.nfa
        states: list[list[int]] = [[] for _ in self.patterns]
        for state, rule in enumerate(nfa.rule):
            if nfa.is_value[state]:
                states[rule].append(state)
        return [nfa.sets_read(own) for own in states]

    def _meets(self, rule: int) -> tuple[bool, bool]:
        """Whether a value can read the first character of an atomic match, or begin inside of one."""
        nfa = self.nfa
        atoms = [number for number, atomic in enumerate(self._atomic) if atomic]
        first = nfa.sets_read(nfa.spread(self.starts[atom] for atom in atoms))
        inside = 0
        for atom in atoms:
            inside |= self._value_sets[atom]
        own = self._value_sets[rule]
        begin = nfa.sets_read(nfa.spread([self.starts[rule]]))
        classes = [nfa.classify(chr(code)) for code in range(128)]
        return (
            any(mask & first and mask & own for mask in classes),
            any(mask & inside and mask & begin for mask in classes),
        )

    def _ended_atom(self, group: Group) -> bool:
        return any(self._atomic[rule] and not back for rule, back in group.matches)

    def _cut_at(self, atom: Group, behind: int, groups: tuple[Group, ...]) -> State | Decision:
        """An atomic match has ended: what ran into it is dropped, unless no value could stand there.

        What was over before it began is still told, and so is a match without checks that
        ended before it. One that ended right before it is not if it may have asked what
        comes next: before the first pass something else stood there.
        """
        none = Config(behind, frozenset(), ())
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


class Scan:
    """One pass over one text: from decision to decision, skipping what is of no interest.

    Where an anchor stands only the rules it belongs to are followed, until nothing is under
    way; at the end of the text all of them are, since more may come.

    Attributes:
        data: the text.
        at: how far it has been read.
        state: the state there.
    """

    __slots__ = ("_stop", "_stops", "_walk_to", "at", "data", "matcher", "state")

    def __init__(self, matcher: Matcher, state: State, data: str, at: int = 0) -> None:
        self.matcher = matcher
        self.state = state
        self.data = data
        self.at = at
        self._walk_to = at
        self._stops: Callable[[int], Stop] | None = None
        self._stop: Stop | None = None

    def next(self, stop: int | None = None) -> Decision | None:
        """Read on to the next decision; `None` at the end of the text, or at `stop`."""
        data, state, at = self.data, self.state, self.at
        size = len(data) if stop is None else stop
        while at < size:
            until = min(at + (SHORT_BLOCK if state.quiet else BLOCK), size)
            if state.matcher is not self.matcher or (
                state.quiet and at >= self._walk_to and size - at > BLOCK
            ):
                ahead = self._ahead(at)
                if at >= ahead.start:
                    state = state.matcher.also(ahead.owners).resumed(state, _before(data, at))
                    self._walk_to = max(self._walk_to, ahead.end)
                    self._stop = None
                    continue
                if state.quiet and at >= self._walk_to and ahead.start - at > MAX_LOOK_BEHIND:
                    at = min(ahead.start, size)
                    state = self.matcher.view(ahead.owners if at < size else ALL).after(_before(data, at))
                    self._walk_to = ahead.end
                    self._stop = None
                    continue
                until = min(until, max(ahead.start, at + 1))
            block = iter(data[at:until])
            try:
                for char in block:
                    state = state[char]
            except Decided as decided:
                self.at = until - length_hint(block)
                self.state = state
                return decided.decision
            at = until
        self.state, self.at = self.matcher.resumed(state, _before(data, at)), at
        return None

    def resume(self, state: State, at: int) -> None:
        """Go on in `state` from `at`, which may lie before what has been read."""
        # Of what comes right after `at` some has been passed over with other text before it in view.
        self._walk_to = max(self._walk_to, self.at, at + MAX_LOOK_BEHIND + self.matcher.prefilter.lead)
        self.state, self.at = state, at

    def refuse(self, decision: Decision) -> Decision | None:
        """Go on as if the decided group had never begun."""
        outcome = self.state.matcher.settle(decision.refused)
        if isinstance(outcome, Decision):
            return outcome
        self.state = outcome
        return self.next()

    def _ahead(self, at: int) -> Stop:
        """The next place at which more rules have to be followed."""
        if self._stop is None:
            if self._stops is None:
                self._stops = self.matcher.prefilter.stops(self.data)
            self._stop = self._stops(at)
        return self._stop


def _before(data: str, at: int) -> str:
    """As much of the text before as a pattern can ask for."""
    return data[max(at - MAX_LOOK_BEHIND, 0) : at]


def swallow(tail: Tail, data: str, at: int, ended: int | None = None) -> tuple[Tail | None, int, int, int]:
    """Read on inside a decided value.

    Args:
        tail: where the value stands.
        data: the text.
        at: how far it has been read.
        ended: where the last match ended, which may lie before `at`; the value ends there
            if the limit is passed before it is known to go on.

    Returns:
        The tail at the end of the data, or `None` if the value has ended; how far was
        read; the last position where a match ended, or -1; its rule.
    """
    end = rule = -1
    size = len(data)
    limit = tail.matcher.limit
    last = at if ended is None else ended
    if not tail.alive:
        return None, at, end, rule
    while at < size:
        char = data[at]
        following = tail[char]
        if tail.waiting:
            late = tail.late(tail.matcher.nfa.classify(char))
            if late >= 0:
                last, end, rule = at, at, late
        if not following.threads:
            return None, at, end, rule
        tail = following
        at += 1
        if tail.rule >= 0:
            last, end, rule = at, at, tail.rule
        if not tail.alive or at - last > limit:
            return None, at, end, rule
    return tail, at, end, rule
