"""The answer of a response of the Responses API: one text over its parts and its messages.

Whoever shows a response joins the texts of its parts (`output_text` of the SDK does), so a secret
or a fence may go over any of them. The text ends where a tool is called, and with the response; reasoning
and all other items that stand between do not end it. What the guard holds at the end of a part
comes out in that part (see `streamguard.adapting.Spread`), as soon as the next one has decided it.

What has been shown of each part is noted: snapshots repeat it, and cannot tell it from their own
text alone.
"""

from __future__ import annotations

from collections.abc import Callable

from streamguard import End
from streamguard.adapting import Path
from streamguard_openai.texts import Blocks, Texts

__all__ = ["Answer", "Shown", "covers"]

Shown = list[tuple[Path, str]]
"""Texts with the parts they belong to, in order."""


class Answer:
    """What the parts of one response say. A part is `(output index, "text", content index)`.

    *Delay*: that of the guard. *Memory*: that of a session, and the text that has been shown.
    """

    __slots__ = ("_called", "_closed", "_cut", "_part", "_report", "_said", "_spread", "_texts")

    def __init__(self, texts: Texts, *, report: bool = True) -> None:
        """Begin an answer.

        Args:
            texts: the texts of the response.
            report: findings are told; they have the first part of their text as their lane.
        """
        self._texts = texts
        self._report = report
        self._spread: Blocks | None = None
        self._part: Path | None = None  # the one of the last text
        self._closed = False  # that part is complete
        self._cut = False  # its message is not
        self._called = False  # a call has begun before that part was complete
        self._said: dict[Path, _Said] = {}

    def feed(self, part: Path, text: str) -> Shown:
        """Take the next text of a part and return what may be shown now."""
        if not text:
            return []
        shown: Shown = []
        if part != self._part:
            if self._called:
                shown = self.end(End.COMPLETE)
            self._part = part
        self._closed = self._cut = False
        if self._spread is None:
            self._spread = self._texts.spread(part, "content", report=self._report)
        said = self._said.setdefault(part, _Said())
        said.taken += len(text)
        said.last = text
        said.shown.append("")
        return shown + self._noted(self._spread.feed(part, text))

    def feeder(self, part: Path) -> Callable[[str], str] | None:
        """Return what feeds a part until another event comes; `None` while earlier ones get text."""
        feed = self._spread.feeder() if self._spread is not None and part == self._part else None
        if feed is None:
            return None
        said = self._said[part]
        note = said.shown.append

        def fed(text: str) -> str:
            said.taken += len(text)
            said.last = text
            shown = feed(text)
            note(shown)
            return shown

        return fed

    def close(self, parts: Path, *, cut: bool = False) -> Shown:
        """Note that a part is complete, or a message (`(output index, "text")`).

        Args:
            parts: the part, or the beginning of all parts of the message.
            cut: the message is incomplete; should no text follow, it was cut off here.

        Returns:
            What may be shown now, if that has ended the text.
        """
        if self._part is None or not covers(parts, self._part):
            return []
        self._closed = True
        self._cut = self._cut or cut
        return self.end(End.COMPLETE) if self._called and len(parts) < len(self._part) else []

    def call(self, place: int | str) -> Shown:
        """End the text before a call of a tool, if it is complete; else as soon as it is.

        Args:
            place: where the call stands in the output; one before the last part says nothing.
        """
        if self._part is None or (isinstance(place, int) and _before(place, self._part[0])):
            return []
        self._called = True
        return self.end(End.COMPLETE) if self._closed else []

    def end(self, end: End) -> Shown:
        """End the text, and return what was held and may be shown; nothing if there is none.

        Args:
            end: why, unless a call has come behind the text, or its message is incomplete.
        """
        spread = self._spread
        if spread is None:
            return []
        if self._called and end is End.COMPLETE:
            end = End.TOOL_CALL
        if self._cut and end in (End.COMPLETE, End.TOOL_CALL):
            end = End.TRUNCATED
        self._spread = self._part = None
        self._closed = self._cut = self._called = False
        return self._noted(spread.flush(end))

    def holds(self, parts: Path) -> bool:
        """Tell whether a part, or one of a message's, may still get text.

        The last one may even if nothing is held: a secret that has no end yet is replaced at its end.
        """
        spread, last = self._spread, self._part
        if spread is None or last is None:
            return False
        if covers(parts, last) and (spread.pending or not self._said[last].is_through):
            return True
        return spread.pending > 0 and any(covers(parts, part) for part in spread.owing)

    def knows(self, part: Path) -> bool:
        """Tell whether a part has been fed."""
        return part in self._said

    def said(self, part: Path, text: str) -> str | None:
        """Return what has been shown of a part; `None` if it was not all of this text."""
        said = self._said.get(part)
        if said is None:
            return None if text else ""
        return said.text() if said.taken == len(text) else None

    def _noted(self, shown: Shown) -> Shown:
        for part, text in shown:
            self._said[part].shown.append(text)
        return shown


class _Said:
    """How much of a part came, in characters, the last of it, and what has been shown."""

    __slots__ = ("last", "shown", "taken")

    def __init__(self) -> None:
        self.taken = 0
        self.last = ""
        self.shown: list[str] = []

    @property
    def is_through(self) -> bool:
        """The last text came out as it went in, so nothing is open behind it."""
        return self.shown[-1].endswith(self.last)

    def text(self) -> str:
        self.shown[:] = ["".join(self.shown)]
        return self.shown[0]


def covers(parts: Path, part: Path) -> bool:
    """Tell whether a part is the one, or one of those, that a path names."""
    return part[: len(parts)] == parts


def _before(place: int, other: str | int) -> bool:
    return isinstance(other, int) and place < other
