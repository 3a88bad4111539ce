"""Reading a text: from decision to decision, and on inside of a decided value."""

from __future__ import annotations

from collections.abc import Callable
from operator import length_hint

from streamguard.automaton.folding import fold_text, shows_nothing
from streamguard.automaton.matcher import Matcher
from streamguard.automaton.nodes import MAX_LOOK_BEHIND
from streamguard.automaton.prefilter import ALL, Stop
from streamguard.automaton.states import Decided, Decision, State, Tail

__all__ = ["Scan", "swallow"]

BLOCK = 48
"""Characters walked between two looks at whether the rest can be skipped."""
SHORT_BLOCK = 12
"""The same where an anchor has been found and nothing has begun yet: most lead to nothing."""


class Scan:
    """One pass over one text: from decision to decision, skipping what is of no interest.

    Where an anchor stands only the rules it belongs to are followed, until nothing is under
    way; at the end of the text all of them are, since more may come.

    Attributes:
        data: the text.
        at: how far it has been read.
        state: the state there.
    """

    __slots__ = (
        "_again",
        "_behind",
        "_from",
        "_last",
        "_plain",
        "_stop",
        "_stops",
        "_walk_to",
        "at",
        "data",
        "matcher",
        "state",
    )

    def __init__(self, matcher: Matcher, state: State, data: str, at: int = 0, *, last: bool = False) -> None:
        """Begin at `at` in `state`; where the data is the `last`, what is not there will not come."""
        self._last = last
        self.matcher = matcher
        self.state = state
        self.data = data
        self.at: int = at
        self._from = at  # what stands before is known there
        self._behind = state.config.behind
        self._walk_to = at
        self._stops: Callable[[int], Stop] | None = None
        self._stop: Stop | None = None
        self._again: list[Stop] = []  # of what was passed over with other text before it; the next one last
        self._plain = data

    def next(self, stop: int | None = None) -> Decision | None:
        """Read on to the next decision; `None` at the end of the text, or at `stop`."""
        data, state, at = self.data, self.state, self.at
        size = len(data) if stop is None else stop
        while at < size:
            until = min(at + (SHORT_BLOCK if state.quiet else BLOCK), size)
            free = state.quiet and at >= self._walk_to
            if self._begins_nothing(state, at, size):
                state = self._follow(state, self.matcher.view(0), at)
            if state.matcher is not self.matcher or (free and size - at > BLOCK):
                ahead = self._ahead(at)
                if at >= ahead.start or free:
                    if free:
                        at = min(max(ahead.start, at), size)
                        if at == size and self._last:
                            state = self.matcher.start
                            break
                        state = self._idle(self.matcher.view(ahead.owners if at < size else ALL), at)
                    else:
                        state = self._follow(state, state.matcher.also(ahead.owners, state.config), at)
                    self._walk_to = max(self._walk_to, ahead.end)
                    self._passed()
                    continue
                until = min(until, ahead.start)
            block = iter(data[at:until])
            try:
                for char in block:
                    state = state[char]
            except Decided as decided:
                self.at = until - length_hint(block)
                self.state = state
                return decided.decision
            at = until
        if state.matcher is not self.matcher and not self._last:
            state = self.matcher.carried(state, *self._before(at))
        self.state, self.at = state, at
        return None

    def _begins_nothing(self, state: State, at: int, size: int) -> bool:
        """Whether what is under way is enough to follow: what begins from here on is found."""
        return (
            state.matcher is self.matcher
            and not state.quiet
            and self._walk_to <= at < size - BLOCK
            and self.matcher.prefilter.skips
        )

    def _follow(self, state: State, view: Matcher, at: int) -> State:
        """A state, in the view of other rules."""
        return state if state.matcher is view else view.resumed(state, self._idle(view, at))

    def _idle(self, view: Matcher, at: int) -> State:
        """The state in which nothing is under way."""
        return view.read_on(*self._before(at))

    def _before(self, at: int) -> tuple[int, str]:
        """What stands before a position: what is known of an earlier one, and the text since then."""
        if at - self._from < MAX_LOOK_BEHIND:
            return self._behind, self.data[self._from : at]
        return 0, self.data[at - MAX_LOOK_BEHIND : at]

    def resume(self, state: State, at: int, before: State | None = None) -> None:
        """Go on from `at`, which may lie before what has been read.

        Args:
            state: where to go on, in any view.
            at: the position.
            before: the state of the whole matcher with nothing under way, if `state` is of a view.
        """
        prefilter = self.matcher.prefilter
        if self._stops is None or not prefilter.skips:
            self._walk_to = max(self._walk_to, self.at)
        else:
            self._walk_to = at
            self._again = prefilter.around(self._plain, at, self.at)
        self.state, self.at = state, at
        self._from, self._behind = at, (before or state).config.behind

    def refuse(self, decision: Decision) -> Decision | None:
        """Go on as if the decided group had never begun."""
        outcome = self.state.matcher.settle(decision.refused)
        if isinstance(outcome, Decision):
            return outcome
        self.state = outcome
        return self.next()

    def _look(self) -> Callable[[int], Stop]:
        if not self.matcher.nfa.folded:
            return self.matcher.prefilter.stops(self.data, last=self._last)
        if shows_nothing(self.data):
            size = len(self.data)
            return lambda position: Stop(position, size, ALL)
        self._plain = fold_text(self.data)
        return self.matcher.prefilter.stops(self._plain, last=self._last)

    def _ahead(self, at: int) -> Stop:
        """The next place at which more rules have to be followed."""
        if self._stop is None:
            if self._stops is None:
                self._stops = self._look()
            self._stop = self._stops(at)
        return self._again[-1] if self._again and self._again[-1].start <= self._stop.start else self._stop

    def _passed(self) -> None:
        """The stop that was ahead has been reached."""
        if self._again and self._stop is not None and self._again[-1].start <= self._stop.start:
            self._again.pop()
        else:
            self._stop = None


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
