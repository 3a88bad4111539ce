"""PreambleTrimmer: what a model says to itself before it calls a tool, trimmed off the text.

The stage only ever takes away the tail of a text, once its end is known, and with `opening` its
beginning. So a session is a state that says how many of the last characters are
held, and those characters. `tail` holds the rules, `place` what a sentence is, `phrases` the words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from streamguard.preamble.grammar import Grammar
from streamguard.preamble.opening import LIMIT, Opening, opening_matcher
from streamguard.preamble.tail import Machine, State
from streamguard.session import Bound, End, Finding, FindingHandler, HiddenHandler, Session, Transformer

__all__ = ["PreambleTrimmer"]

STAGE = "preamble"
OPENING = "opening"
_ENDS = {
    "end": frozenset({End.COMPLETE, End.TOOL_CALL, End.TRUNCATED}),
    "tool_call": frozenset({End.TOOL_CALL}),
}


@dataclass(frozen=True, slots=True, init=False)
class PreambleTrimmer(Transformer):
    """Trims tool preambles ("Let me update the anchors now.") off the end of a text.

    Whole sentences go that begin with a known phrase, one or several, with the white space
    before and behind them, if nothing follows. A sentence stays if it asks a question,
    if it has quotation marks, backticks or asterisks in it, if it stands inside a quotation
    or code that is open, if a colon in it is followed by text, or if it depends on the reader
    ("I'll run it if you like."). A text in which nothing else would be left stays whole.

    After `End.ERROR` what is held is dropped: it is not decided.

    Delay: a sentence that may be a preamble is held until it cannot be one or other text
        follows; white space behind the end of a sentence, to the next character. Nothing else.
    Memory: at most `max_held` characters, and what is held of an opening.

    Attributes:
        when: `"end"` trims whether the text is complete, truncated, or followed by a
            tool call; `"tool_call"` only before a tool call.
        languages: whose phrases are looked for: `"en"`, `"zh"`.
        phrases: what further preambles begin with: patterns of the subset that
            `streamguard.automaton.pattern` describes, case ignored. Colons and the reader are
            no reason for such a sentence to stay.
        opening: also takes out filler at the start of the text ("Sure! Here is the JSON:"), if text
            follows it.
        max_sentence: longest preamble, in characters. A longer sentence is other text.
        max_held: most characters held. A sentence that begins less than `max_sentence` before this is
            used up is other text.
    """

    when: Literal["end", "tool_call"]
    languages: tuple[str, ...]
    phrases: tuple[str, ...]
    opening: bool
    max_sentence: int
    max_held: int

    def __init__(
        self,
        when: Literal["end", "tool_call"] = "end",
        languages: Iterable[str] = ("en", "zh"),
        phrases: Iterable[str] = (),
        *,
        opening: bool = False,
        max_sentence: int = 240,
        max_held: int = 360,
    ) -> None:
        """Compile the phrases.

        Raises:
            PatternError: a phrase is outside the subset, longer than 100 characters, or
                contains what no preamble contains.
            ValueError: `when` is neither of the two, there are no phrases for a language,
                there is nothing to look for, or a limit is too small for the phrases.
            TypeError: `languages` or `phrases` is a string.
        """
        if when not in _ENDS:
            raise ValueError(f"when must be 'end' or 'tool_call', not {when!r}")
        for name, given in (("languages", languages), ("phrases", phrases)):
            if isinstance(given, str):
                raise TypeError(f"{name} takes several: write ({given!r},)")
        object.__setattr__(self, "when", when)
        object.__setattr__(self, "languages", tuple(dict.fromkeys(languages)))
        object.__setattr__(self, "phrases", tuple(phrases))
        object.__setattr__(self, "opening", opening)
        object.__setattr__(self, "max_sentence", max_sentence)
        object.__setattr__(self, "max_held", max_held)
        if opening and not self.languages:
            raise ValueError("opening needs the phrases of a language: name at least one")
        self._machine()

    def session(
        self,
        *,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> Session:
        """Make the state of one stream.

        Args:
            on_finding: called at the end of the stream with one `Finding` for all that is trimmed: its
                rule is the language of the first phrase, or `"custom"`. Called earlier
                with one of the rule `"opening"` for each sentence of filler, and after
                `End.ERROR` with one of the action `"dropped"` for what was held.
            on_hidden: for fences; a trimmer hides nothing.
        """
        return _Session(self, self._machine(), on_finding)

    def bounds(self) -> tuple[Bound, ...]:
        """The most characters held for each language, the caller's phrases, and openings."""
        bounds = [Bound(STAGE, name, self.max_held, "released") for name in self._machine().grammar.names]
        if self.opening:
            bounds.append(Bound(STAGE, OPENING, LIMIT, "released"))
        return tuple(bounds)

    def _machine(self) -> Machine:
        return _compile(self.languages, self.phrases, self.max_sentence, self.max_held)


@lru_cache(maxsize=64)
def _compile(
    languages: tuple[str, ...], phrases: tuple[str, ...], max_sentence: int, max_held: int
) -> Machine:
    if not languages and not phrases:
        raise ValueError("no languages and no phrases: nothing would be trimmed")
    grammar = Grammar(languages, phrases)
    if max_sentence < grammar.longest:
        raise ValueError(f"max_sentence must be at least {grammar.longest}, the length of the longest phrase")
    if max_held <= max_sentence:
        raise ValueError("max_held must be greater than max_sentence")
    return Machine(grammar, max_sentence=max_sentence, max_held=max_held)


class _Session(Session):
    __slots__ = ("_cut", "_ends", "_fed", "_held", "_machine", "_on_finding", "_opening", "_state")

    def __init__(
        self, settings: PreambleTrimmer, machine: Machine, on_finding: FindingHandler | None
    ) -> None:
        super().__init__()
        self._machine = machine
        self._ends = _ENDS[settings.when]
        self._on_finding = on_finding
        self._state: State = machine.state()
        self._held = ""
        self._fed = 0  # characters read by `_state`
        self._cut = 0  # characters of the opening, which it never read
        self._opening: Opening | None = None
        if settings.opening:
            self._opening = Opening(opening_matcher(settings.languages), self._report_opening)

    @property
    def pending(self) -> int:
        return len(self._held) + (len(self._opening.held) if self._opening is not None else 0)

    def _feed(self, text: str, /) -> str:
        if self._opening is not None:
            text = self._feed_opening(self._opening, text)
        state = self._state
        for char in text:
            state = state[char]
        self._state = state
        self._fed += len(text)
        if state.hold or self._held:
            text = self._held + text
            shown = len(text) - state.hold
            self._held = text[shown:]
            return text[:shown]
        return text

    def _feed_opening(self, opening: Opening, text: str) -> str:
        text = opening.feed(text)
        self._cut = opening.cut
        if opening.done:
            self._opening = None
        return text

    def _flush(self, end: End, /) -> str:
        if end is End.ERROR:
            if self.pending:
                self._report("undecided", "dropped", self._fed - len(self._held), self.pending)
            return ""
        out = ""
        if self._opening is not None:
            rest, self._opening = self._opening.held, None
            out = self._feed(rest)
        rule = self._machine.trims(self._state.config)
        if rule is None or end not in self._ends:
            return out + self._held
        name = self._machine.grammar.names[rule]
        self._report(name, "trimmed", self._fed - len(self._held), len(self._held))
        return out

    def _report(self, rule: str, action: str, at: int, length: int) -> None:
        if self._on_finding is not None:
            self._on_finding(Finding(STAGE, rule, action, self._cut + at, length))

    def _report_opening(self, at: int, length: int) -> None:
        if self._on_finding is not None:
            self._on_finding(Finding(STAGE, OPENING, "trimmed", at, length))
