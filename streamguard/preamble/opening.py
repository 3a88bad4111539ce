"""Filler at the start of a text ("Sure! Here is the JSON:"), taken out if text follows it.

Each sentence of filler is a match of the automaton, with the white space behind it and one more
character in sight, so that something is left. It may begin at the start of the text, behind
white space, or where the filler before it has just been taken out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from streamguard.automaton import Decided, Matcher, Pattern, parse
from streamguard.automaton.nodes import Alternation, Concat
from streamguard.preamble.grammar import choose, spell

__all__ = ["LIMIT", "Opening", "opening_matcher"]

LIMIT = 256
"""Most characters of one sentence of filler, white space behind it included."""


@lru_cache(maxsize=16)
def opening_matcher(languages: tuple[str, ...]) -> Matcher:
    """The openings of the named languages, compiled."""
    sentences = Alternation(tuple(spell(pattern) for one in choose(languages) for pattern in one.openings))
    value = Concat((sentences, parse(r"\s*(?=\S)")))
    return Matcher([Pattern(value, context=parse(r"\A\s*"))], limit=LIMIT, release=True)


class Opening:
    """The start of one stream.

    Attributes:
        held: what is held back.
        cut: characters taken out so far.
        done: whether the start is over, so that the rest need not be read.
    """

    __slots__ = ("_at", "_matcher", "_report", "_state", "cut", "done", "held")

    def __init__(self, matcher: Matcher, report: Callable[[int, int], None]) -> None:
        self._matcher = matcher
        self._report = report
        self._state = matcher.start
        self._at = 0  # of the first held character, in the input
        self.held = ""
        self.cut = 0
        self.done = False

    def feed(self, text: str) -> str:
        """Take `text`, return what is no filler; report the offset and length of what is."""
        data = self.held + text
        state = self._state
        at, shown = len(self.held), 0
        out = ""
        while at < len(data) and not self.done:
            try:
                state = state[data[at]]
            except Decided as decided:
                found = decided.decision
                start, end = at + 1 - found.age, at + 1 - found.matches[0][1]
                out += data[shown:start]
                self._report(self._at + start, end - start)
                self.cut += end - start
                state = self._matcher.start
                at = shown = end
            else:
                at += 1
                self.done = state.quiet
        safe = len(data) if self.done else at - state.hold
        out += data[shown:safe]
        self.held = data[safe:]
        self._state = state
        self._at += safe
        return out
