"""The states of a matcher, and the maps from a character to the next one.

What identifies a state is its `Config`; the theory is told in `matcher`. States, tails and
what stands before a position are made by a `Matcher`, when a character is first read there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from streamguard.automaton.nfa import SKIPPED
from streamguard.automaton.prefilter import ALL

if TYPE_CHECKING:
    from streamguard.automaton.matcher import Matcher

__all__ = ["Cache", "Config", "Decided", "Decision", "Group", "Passed", "Residue", "State", "Tail"]

MAX_CACHED_STATES = 40_000
"""Most states a matcher remembers, of some three kilobytes each; code of all kinds needs most of them."""
MAX_CACHED_CHARACTERS = 1_000
"""Most characters one state remembers the next state for."""
MAX_CACHED_MOVES = 500_000
"""Most of them over all states, which take about 50 MB."""


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
        behind: what stands there before.
        state: the state there, if it has been asked for.
    """

    __slots__ = ("behind", "matcher", "state")

    def __init__(self, matcher: Matcher, behind: int) -> None:
        super().__init__()
        self.matcher = matcher
        self.behind = behind
        self.state: State | None = None

    def __missing__(self, char: str) -> Passed:
        matcher = self.matcher
        passed = matcher.passed(matcher.step_behind(self.behind, char))
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
        if mask == SKIPPED:
            return self
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
        if mask == SKIPPED:
            return -1
        if self.forced >= 0 or not self.waiting:
            return self.rule
        rule = self.lates.get(mask)
        if rule is None:
            accepts = self.matcher.nfa.closure(self.threads, self.behind, mask).accepts
            rule = self.lates[mask] = accepts[0] if accepts else -1
        return rule


class Cache:
    """How much a matcher and its views remember; they begin anew together.

    Attributes:
        views: by the rules that can begin.
        contexts: those of states; many states have one in common.
        groups: those of states, likewise.
    """

    def __init__(self, whole: Matcher) -> None:
        self.views: dict[int, Matcher] = {ALL: whole}
        self.contexts: dict[frozenset[int], frozenset[int]] = {}
        self.groups: dict[tuple[Group, ...], tuple[Group, ...]] = {}
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
        self.contexts.clear()
        self.groups.clear()
        self._states = self._moves = 0
