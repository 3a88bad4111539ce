r"""JSON state operations, taken out of prose while it streams.

A state operation is JSON with a marker key (`"op"`, `"path"`, `"question"`) at its top
level: in an object, or in an object that is an element of an array. It stands in a
fence of three backticks and a listed name, or bare in the prose; it may be malformed.

Theory. A candidate begins at a bracket or a backtick. After each character it is still open, ruled
out, closed without a marker (then it is data), or decided by the colon after a marker key. A
decided block ends

- bare: with its last bracket; or, missing that, before a blank line after which no JSON follows;
- fenced: with the closing fence; or, missing that, after its last bracket;
- at the end of the stream.

The white space in front of a block goes with it.

Invariant. A removed block leaves no trace: the session is put back into the state it
was in before that white space. So the text that is shown, if it is read again, leads through the
same states and meets no block: nothing can be assembled from the two sides of a block, and scrubbing
twice is scrubbing once. For this, a candidate that is followed by the beginning of another one
waits: it is ruled out together with that one, or else goes on after it. `_open` is
the stack of those that wait.

Code. A fence that is no candidate opens a code block, and the next run of backticks closes it.
Rejected: fences at the start of a line only. What is the start of a line depends on what was removed.
A listed name always begins a candidate, so that a stray fence does not disarm all that follow.

Known weakness: just before `max_candidate` a candidate is held though no marker fits any more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from streamguard.outlet import Outlet
from streamguard.session import Bound, End, Finding, FindingHandler, HiddenHandler, Session, Transformer
from streamguard.stateops.reading import (
    MAX_GAP,
    STATE_OP_FENCES,
    STATE_OP_MARKERS,
    Block,
    Candidate,
    Place,
    Verdict,
)

__all__ = ["StateOpScrubber"]

_STAGE = "state_ops"
_SPECIAL = re.compile(r"[\[{`]|\s\Z").search


@dataclass(frozen=True, slots=True, kw_only=True)
class StateOpScrubber(Transformer):
    """Removes JSON state operations that a model leaks into its prose.

    Other JSON, code blocks in other languages and all other text come through to the
    character. White space goes with a block: up to 64 characters in front of it, and all
    of it between a block and the beginning or the end of what is shown. Findings are of the
    rules `fenced`, `bare` and `truncated`.

    A text that is nothing but state operations is not blanked: with `End.COMPLETE` it comes
    back whole, and its findings are not reported.

    Delay: white space, brackets and backticks are held to the character that decides what
        they are; JSON until it closes, at most `max_candidate` characters. Other text is not held.
    Memory: what is held, and `max_restore` characters until something is shown. A block
        is never stored.

    Attributes:
        markers: keys that make an object a state operation.
        fences: names, in lower case, of fences that may hold some; `""` is a fence without a name.
        max_candidate: most characters held while it is undecided whether JSON is a state
            operation. Longer JSON is shown, and counts as data to its end.
        max_restore: longest text, in characters, that comes back if nothing is left of it.

    Raises:
        ValueError: there is no marker, or one is empty; a limit is negative.
    """

    markers: tuple[str, ...] = STATE_OP_MARKERS
    fences: tuple[str, ...] = STATE_OP_FENCES
    max_candidate: int = 512
    max_restore: int = 1024

    def __post_init__(self) -> None:
        if not self.markers or not all(self.markers):
            raise ValueError("markers must be keys that are not empty, at least one")
        if self.max_candidate < 0 or self.max_restore < 0:
            raise ValueError("max_candidate and max_restore must not be negative")

    def session(
        self,
        *,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> Session:
        """Make the state of one new stream.

        Args:
            on_finding: called with each `Finding` once its block has ended and something
                was shown. Its length counts the block and the white space in front of it.
            on_hidden: called with `"fenced"` or `"bare"` and the text of a block, its fences
                included, piece by piece as it passes; also for a text that comes back.
        """
        return _StateOpSession(self, on_finding, on_hidden)

    def bounds(self) -> tuple[Bound, ...]:
        """The worst case: candidates that wait, white space around them, a text that may come back."""
        return (
            Bound(_STAGE, "candidate", self.max_candidate, "released"),
            Bound(_STAGE, "white_space", 2 * MAX_GAP + 2, "released"),
            Bound(_STAGE, "restore", self.max_restore, "dropped"),
        )


class _StateOpSession(Session):
    __slots__ = (
        "_after",
        "_block",
        "_held",
        "_leading",
        "_offset",
        "_on_hidden",
        "_open",
        "_outlet",
        "_passed",
        "_place",
        "_quiet",
        "_settings",
    )

    def __init__(
        self, settings: StateOpScrubber, on_finding: FindingHandler | None, on_hidden: HiddenHandler | None
    ) -> None:
        super().__init__()
        self._settings = settings
        self._on_hidden = on_hidden
        self._outlet = Outlet(settings.max_restore, on_finding)
        self._quiet = False  # no block or candidate is open, the last block is forgotten, something was shown
        self._offset = 0  # characters read
        self._held: list[str] = []  # the characters of the open candidates, and white space
        self._open: list[Candidate] = []
        self._place = Place.PROSE  # where the text stands, outside of the open candidates
        self._block: Block | None = None
        self._passed: list[str] = []  # of the block, and not yet given to on_hidden
        self._leading = False  # a block stood where the text begins
        self._after = False  # nothing but white space came since the end of a block

    @property
    def pending(self) -> int:
        kept = self._outlet.pending
        if kept is not None:
            return kept
        return len(self._held) + (len(self._block.tail) if self._block else 0)

    def _feed(self, text: str, /) -> str:
        # Three searches at the speed of C: for a chunk of a token's length, half of what a pattern costs.
        if self._quiet and not ("[" in text or "{" in text or "`" in text):
            prose = text.rstrip()
            if prose == text and not self._held:
                self._offset += len(text)
                return text
            gap = text[len(prose) :]
            if prose and len(gap) <= MAX_GAP:
                self._offset += len(text)
                if self._held:
                    prose = "".join(self._held) + prose
                    self._held.clear()
                self._held += gap
                return prose
        outlet = self._outlet
        if outlet.blank:
            outlet.receive(text)
        at = 0
        while at < len(text):
            if self._block is not None:
                at += self._hide(text[at], self._block)
            elif self._open:
                self._read(text[at])
                at += 1
            else:
                at = self._skip(text, at)
        if self._block is not None:
            self._pass(self._block)
        self._quiet = not (self._open or self._block or self._after or outlet.blank)
        return outlet.take()

    def _flush(self, end: End, /) -> str:
        if self._block is not None:
            if not self._block.complete:
                self._block.tail.clear()
            self._finish(self._block, truncated=not self._block.complete)
        if end is not End.ERROR:
            while end is End.TRUNCATED and self._open and self._open[-1].at_marker:
                self._finish(self._decide(), truncated=True)
            text = "".join(self._held)
            self._show(text.rstrip() if self._after else text)
        return self._outlet.close(end)

    def _skip(self, text: str, at: int) -> int:
        """Show all up to the next character that may mean something, read that, return where it ends."""
        found = _SPECIAL(text, at)
        prose = text[at:] if found is None else text[at : found.start()].rstrip()
        if prose:
            self._offset += len(prose)
            self._after = False
            self._held.append(prose)
            self._show_held()
        if found is None:
            return len(text)
        for char in text[at + len(prose) : found.end()]:
            self._read(char)
        return found.end()

    def _read(self, char: str) -> None:
        """Read a character that is part of no decided block."""
        self._offset += 1
        held, top = self._held, self._open[-1] if self._open else None
        if char.isspace() and not (top and top.quoted):
            held.append(char)
            self._limit()
            return
        self._after = False
        spaced = bool(held) and held[-1].isspace()
        verdict = top.step(char, spaced=spaced) if top else Verdict.OUT
        if verdict is Verdict.OPEN:
            held.append(char)
            self._limit()
        elif verdict is Verdict.MARKER:
            held.append(char)
            self._block = self._decide()
        else:
            place = top.place_after(spaced=spaced) if top else self._place
            if verdict is Verdict.OUT and (char == "`" or (char in "[{" and place is not Place.FOREIGN)):
                self._begin(char, place)
            else:
                held.append(char)
                self._release(place)

    def _begin(self, char: str, place: Place) -> None:
        """Open a candidate; the one before it waits."""
        held = self._held
        candidate = Candidate(self._settings.markers, self._settings.fences, place)
        candidate.step(char, spaced=False)
        candidate.begin = candidate.cut = len(held)
        while candidate.cut and held[candidate.cut - 1].isspace():
            candidate.cut -= 1
        candidate.offset = self._offset - 1 - (candidate.begin - candidate.cut)
        self._open.append(candidate)
        held.append(char)
        self._limit()

    def _limit(self) -> None:
        """Show what is held where it is too much, or known to be data."""
        top = self._open[-1] if self._open else None
        spaced = self._held[-1].isspace() and not (top and top.quoted)
        if top is None or top.data:
            if not spaced or len(self._held) > MAX_GAP:
                self._show_held()
        elif len(self._held) - self._open[0].begin > self._settings.max_candidate:
            if top.is_json:
                top.data = True
                top.begin = 0
                self._open[:] = [top]
                self._show_held()
            else:
                self._release(top.place_after(spaced=spaced))

    def _release(self, place: Place) -> None:
        """Show all that is held, since none of it is a block, and go on in `place`."""
        self._place = place
        self._open.clear()
        self._show_held()

    def _show_held(self) -> None:
        text = "".join(self._held)
        self._held.clear()
        self._show(text)

    def _show(self, text: str) -> None:
        self._outlet.show(text.lstrip() if self._leading and self._outlet.blank else text)

    def _decide(self) -> Block:
        """Take out the newest candidate, and go back to the state before it."""
        decided, held = self._open.pop(), self._held
        self._passed = held[decided.begin :]
        length = len(held) - decided.cut
        del held[decided.cut :]
        self._leading |= self._outlet.blank and not self._open
        self._outlet.removed = True
        return Block(decided.rule, depth=decided.depth, offset=decided.offset, length=length)

    def _hide(self, char: str, block: Block) -> int:
        """Read a character of a decided block; return how many were read: none if it had ended."""
        verdict = block.step(char)
        if verdict is Verdict.OUT:
            block.length -= len(block.tail)
            self._offset -= len(block.tail)
            self._finish(block)
            for past in block.tail:
                self._read(past)
            return 0
        self._offset += 1
        block.length += 1
        self._passed.append(char)
        if verdict is Verdict.CLOSED:
            self._finish(block)
        return 1

    def _pass(self, block: Block) -> None:
        stop = len(self._passed) - len(block.tail)
        if stop and self._on_hidden is not None:
            self._on_hidden(block.rule, "".join(self._passed[:stop]))
        del self._passed[:stop]

    def _finish(self, block: Block, *, truncated: bool = False) -> None:
        self._pass(block)
        self._block = None
        self._after = True
        rule = "truncated" if truncated else block.rule
        self._outlet.report(Finding(_STAGE, rule, "trimmed", block.offset, block.length))
