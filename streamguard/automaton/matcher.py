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

from collections.abc import Sequence
from copy import copy
from functools import cached_property

from streamguard.automaton.beginnings import Beginnings
from streamguard.automaton.bounds import Bounds
from streamguard.automaton.deciding import Decider
from streamguard.automaton.nfa import END, SKIPPED
from streamguard.automaton.nodes import Concat, Pattern
from streamguard.automaton.prefilter import ALL, Prefilter
from streamguard.automaton.reach import asked_later
from streamguard.automaton.states import Cache, Config, Decision, Group, Passed, Residue, State, Tail

__all__ = ["Matcher"]


class Matcher(Decider):
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
        folded: bool = False,
    ) -> None:
        """Compile the patterns.

        Args:
            patterns: in order of priority.
            limit: characters after which an undecided value is decided.
            release: a value that reaches the limit ends at its last match, or was none;
                without it such a value is taken, and goes on as long as it can.
            glue: matches are cut out with nothing in their place, so that what stands on
                both sides comes together; remembers what stood before each value.
            folded: other forms of ASCII are read as ASCII, and characters that show nothing
                are passed over, as if they were not there.
        """
        super().__init__(patterns, limit=limit, release=release, folded=folded)
        self._glue = glue
        self._owners = self._looks = ALL
        self._beginnings = Beginnings(self.nfa)
        self._reach = max(self.nfa.reach, 1)
        self._states: dict[Config, State] = {}
        self._tails: dict[tuple[int, frozenset[int], int], Tail] = {}
        self._passed: dict[int, Passed] = {}
        self._marked = frozenset[int]()
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

        Its states are few: nothing else that may begin in between is part of them. Where no
        rule can begin, any may have begun.
        """
        views = self._cache.views
        view = views.get(owners)
        if view is None:
            view = views[owners] = copy(self)
            view._owners = owners
            view._beginnings = views[ALL]._beginnings.only(owners)
            view._looks = self._asked(view._beginnings.owners) if owners else self._asked_later
            view._states, view._tails, view._passed = {}, {}, {}
        return view

    def _asked(self, owners: int) -> int:
        """What has to be known of the text before, where these rules can begin."""
        atoms = any(self._atomic[rule] for rule in range(len(self.patterns)) if owners >> rule & 1)
        return ALL if self._glue or atoms else self.nfa.looks(owners)

    @cached_property
    def _asked_later(self) -> int:
        """What has to be known of the text before, where any rule has begun and none can begin."""
        return ALL if self._glue else self.nfa.positions(asked_later(self.nfa))

    def also(self, owners: int, config: Config) -> Matcher:
        """The view of these rules and its own, or if it has none, of those that have begun."""
        return self if self._owners == ALL else self.view((self._owners or self._begun(config)) | owners)

    def _begun(self, config: Config) -> int:
        """Bits of the rules that are under way."""
        begun = 0
        for thread in config.context.union(*(group.threads for group in config.groups)):
            begun |= self.nfa.owners[thread]
        return begun

    # -- states -----------------------------------------------------------------

    def resumed(self, state: State, before: State) -> State:
        """A state of another view, in this one; in `before` nothing is under way there."""
        return self._state(before.config.behind, state.config.context, state.config.groups)

    def carried(self, state: State, behind: int, text: str) -> State:
        """A state of another view, in this one, where `behind` stands before `text`.

        It is not remembered: where a chunk ends, nearly every one is another.
        """
        for char in text:
            behind = self.step_behind(behind, char)
        config = state.config._replace(behind=behind)
        return self._states.get(config) or State(self, config, state.hold)

    def after(self, text: str, *, start: bool = False) -> State:
        """The state with nothing under way, where `text` stands before."""
        return self.read_on(1 if start else 0, text[-self._reach :])

    def read_on(self, behind: int, text: str) -> State:
        """The state with nothing under way, where `behind` stands before `text`."""
        passed = self.passed(behind & self._looks)
        for char in text:
            passed = passed[char]
        if passed.state is None:
            passed.state = self._state(passed.behind, frozenset(), ())
        return passed.state

    def replaced(self, text: str, mark: str) -> State:
        """The state where `text` stands in the place of a value, in the view of what it is a context for.

        Args:
            text: what stands before.
            mark: what such contexts take it for.
        """
        if not self._follows:
            return self.after(text)
        view = self.view(self._follows)
        if not view._marked:
            state = view.after("")
            for char in mark:
                state = state[char]
            view._marked = state.config.context
        return view._state(view.after(text).config.behind, view._marked, ())

    def passed(self, behind: int) -> Passed:
        """What stands before, as the map that follows it."""
        passed = self._passed.get(behind)
        if passed is None:
            self.remember()
            passed = self._passed[behind] = Passed(self, behind)
        return passed

    def step_behind(self, behind: int, char: str) -> int:
        """What stands before, after one more character."""
        mask = self.nfa.classify(char)
        return behind if mask == SKIPPED else self.nfa.step_behind(behind, mask) & self._looks

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
            contexts, grouped = self._cache.contexts, self._cache.groups
            config = Config(behind, contexts.setdefault(context, context), grouped.setdefault(groups, groups))
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

    # -- reading ----------------------------------------------------------------

    def move(self, config: Config, mask: int) -> State | Decision:
        """Read one character of class `mask`."""
        nfa = self.nfa
        behind, context, groups = config
        if mask == SKIPPED:
            return self.settle(Config(behind, context, tuple(map(_longer, groups))))
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

    # -- bounds -----------------------------------------------------------------

    def bound(self, rule: int) -> tuple[int, bool]:
        """The most characters a rule holds back, and whether only the limit bounds them."""
        return self._bounds.of(rule)

    @cached_property
    def _bounds(self) -> Bounds:
        return Bounds(self.patterns, self.nfa, self.starts, limit=self.limit, asking=self._asking)


def _longer(group: Group) -> Group:
    """A group after a character that is passed over."""
    matches = tuple((rule, back + 1) for rule, back in group.matches)
    over = group.over if group.threads else group.over + 1
    return group._replace(age=group.age + 1, matches=matches, over=over)
