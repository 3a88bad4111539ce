"""The tail of a text: preambles that may stand at its end, followed while it streams.

Theory. The tail is a run of whole sentences, each a preamble, outside quotations and code,
with the white space before and between them. It goes if the text ends there. So it is held, and
nothing else is: from the white space before its first sentence, for as long as that sentence can
still become a preamble and no other text follows. A lead ("Okay.") belongs to a run, but
no run ends with one.

The initial run of a text never goes, since nothing would be left: it is followed, to
find its end, and not held.

Invariant. `hold` characters before here the run began, and the state there held nothing. So
the text up to there, on its own, is one from which nothing is taken: trimming twice is
trimming once. For this a run that grew too long is not only let go: the sentence that made it
too long is other text, and the next run begins behind it.

The whole is a pure function from a `Config` and the kind of a character to the next
`Config`. `State` remembers its results by character, so that reading is one look-up in a
dictionary.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from streamguard.preamble.grammar import LEAD, Grammar, Verdict
from streamguard.preamble.place import BLANK, BRACKETS, START, Gap, Place, advance, kind_of

__all__ = ["Config", "Machine", "State"]

_MOST_STATES = 8_192
_MOST_MOVES = 200_000
_DEEPEST = 4
_COLON = 1
_TEXT_KILLS = 2
_COLONS = frozenset(":：")
_KILLS = frozenset("?？*")
_ASIDE = frozenset("_~")
_OPENING_BRACKETS = frozenset(BRACKETS.values())


class Run(IntEnum):
    """What the run of preambles ends with at this point."""

    NONE = 0
    """There is no run."""
    SPENT = 1
    """It was too long; the sentence that comes next begins none."""
    GAP = 2
    """White space, no sentence yet."""
    LEAD = 3
    PREAMBLE = 4


class Sentence(NamedTuple):
    """A sentence that may be a preamble.

    Attributes:
        verdict: what its phrases say.
        size: its characters so far.
        depth: brackets open in it.
        colon: whether it ends with a colon, and one that no text may follow: "Let me check: it
            is 5." says something.
    """

    verdict: Verdict
    size: int = 0
    depth: int = 0
    colon: int = 0


class Config(NamedTuple):
    """What identifies a state.

    Attributes:
        place: sentences, quotations and code.
        shown: whether other text has come by, so that something is left if a run goes.
        hold: characters of the run.
        run: what it ends with, the sentence under way not counted.
        rule: the rule of its first preamble, or -1.
        sentence: the sentence under way, if it may still belong to the run.
    """

    place: Place = START
    shown: bool = False
    hold: int = 0
    run: Run = Run.GAP
    rule: int = -1
    sentence: Sentence | None = None


class State(dict[str, "State"]):
    """A state, as the map from the next character to the next state.

    Attributes:
        hold: how many of the last characters read are held back.
    """

    __slots__ = ("config", "hold", "machine", "moves")

    def __init__(self, machine: Machine, config: Config) -> None:
        super().__init__()
        self.machine = machine
        self.config = config
        self.hold = config.hold
        self.moves: dict[tuple[str, int], State] = {}

    def __missing__(self, char: str) -> State:
        move = (kind_of(char), self.machine.grammar.classify(char))
        state = self.moves.get(move)
        if state is None:
            state = self.machine.state(self.machine.move(self.config, *move))
            self.moves[move] = state
        self.machine.count()
        self[char] = state
        return state


class Machine:
    """The rules of a trimmer, shared by every stream.

    The cache of states and moves grows as texts need it and is begun anew when it is full; states
    that are still in use let go of the others. It never changes a result, so concurrent use is safe.
    """

    def __init__(self, grammar: Grammar, *, max_sentence: int, max_held: int) -> None:
        self.grammar = grammar
        self._max_sentence = max_sentence
        self._max_held = max_held
        self._last_begin = max_held - max_sentence
        self._states: dict[Config, State] = {}
        self._moves = 0

    def state(self, config: Config | None = None) -> State:
        """The state of a configuration; by default, of the start of a text."""
        config = config or Config()
        state = self._states.get(config)
        if state is None:
            if len(self._states) >= _MOST_STATES:
                self._forget()
            state = self._states[config] = State(self, config)
        return state

    def count(self) -> None:
        """Count a move that is about to be remembered."""
        self._moves += 1
        if self._moves > _MOST_MOVES:
            self._forget()

    def _forget(self) -> None:
        for state in tuple(self._states.values()):
            state.clear()
            state.moves.clear()
        self._states.clear()
        self._moves = 0

    def trims(self, config: Config) -> int | None:
        """The rule by which the run goes if the text ends here, or `None` if it stays."""
        _, shown, _, run, rule, sentence = config
        if sentence is not None:
            found = self.grammar.ended(sentence.verdict)
            run = Run.PREAMBLE if found is not None and found != LEAD else Run.NONE
            rule = rule if rule >= 0 or found is None else found
        return rule if shown and run is Run.PREAMBLE else None

    def move(self, config: Config, kind: str, mask: int) -> Config:
        """Take a configuration past a character of a kind and of a class."""
        place, starts, marked = advance(config.place, kind)
        _, shown, hold, run, rule, sentence = config
        if sentence is not None and not starts and place.gap < Gap.SPACE:
            going_on = None if marked else self._read(sentence, config.place.gap, kind, mask)
            return self._inside(going_on, config, place)
        if sentence is not None:  # it ended before this character
            found = self.grammar.ended(sentence.verdict)
            if found is None:
                shown, hold, run, rule = True, 0, Run.NONE, -1
            elif found == LEAD:
                run = Run.LEAD
            else:
                run, rule = Run.PREAMBLE, rule if rule >= 0 else found
        if starts:
            if marked or place.opened or run is Run.SPENT or hold > self._last_begin:
                return self._other(place)
            begun = self._read(Sentence(self.grammar.start), place.gap, kind, mask)
            return self._inside(begun, Config(place, shown, hold, run, rule), place)
        if run is Run.NONE:
            return self._other(place)
        if run is not Run.SPENT:
            hold += shown
            if hold > (self._max_held if run is Run.PREAMBLE else self._last_begin):
                run, hold = Run.SPENT, 0
        return Config(place, shown, hold, run, rule)

    def _inside(self, sentence: Sentence | None, config: Config, place: Place) -> Config:
        """Behind a character of a sentence, which may have shown that it is other text."""
        hold = config.hold + config.shown
        if sentence is None or (
            # A lead behind which no sentence can begin any more.
            sentence.verdict.lead and hold + (place.gap is Gap.MARK) > self._last_begin
        ):
            return self._other(place)
        return Config(place, config.shown, hold, config.run, config.rule, sentence)

    def _other(self, place: Place) -> Config:
        """Behind other text, or in the white space with which a run begins."""
        if place.gap >= Gap.SPACE and not place.opened:
            return Config(place, shown=True, hold=1, run=Run.GAP)
        return Config(place, shown=True, run=Run.NONE)

    def _read(self, sentence: Sentence, gap: Gap, kind: str, mask: int) -> Sentence | None:
        """A sentence past one of its characters; `None` if it cannot be a preamble any more."""
        verdict, size, depth, colon = sentence
        if size >= self._max_sentence or kind in _KILLS:
            return None
        if kind in _ASIDE and gap in {Gap.MARK, Gap.CLOSED}:
            return None  # the end of emphasis that began before
        following = self.grammar.read(verdict, mask)
        if colon == _TEXT_KILLS and kind not in BLANK and following is not None:
            following = self.grammar.refute(following)
        if following is None or (
            # It has to end here, and would not be a preamble.
            size + 1 == self._max_sentence and self.grammar.ended(following) is None
        ):
            return None
        if kind in _OPENING_BRACKETS:
            depth += 1
        elif kind in BRACKETS:
            depth -= 1
        if not 0 <= depth <= _DEEPEST:
            return None
        if following.rule < 0 or following.rule == self.grammar.own:
            colon = 0
        elif kind in _COLONS:
            colon = _COLON if kind == ":" else _TEXT_KILLS
        elif colon == _COLON:
            colon = _TEXT_KILLS if kind in BLANK else 0
        return Sentence(following, size + 1, depth, colon)
