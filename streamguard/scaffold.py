r"""Scaffold blocks, taken out of prose line by line while it streams.

A backend puts context for the model under headers such as `=== 世界设定 ===`; weak models
recite it. A header is a line that begins with three or more `=`, ends with one or more, and
has a known key in between. Its block goes on to the next blank line, which is part of it, or to
the end. A transition ("好，开始输出。") is a line with which a model leaves its reasoning for
its prose; with the blank lines after it, it goes if it stands directly before a header or after a block.

Theory. A line is ordinary as soon as it can be neither blank nor a header nor a transition,
which is at its first or second character in nearly all prose; the rest of it passes unread. Otherwise
it is held to its end, and a transition on to the line that tells whether a header follows.

Invariant. What a line is depends on the line alone, and lines are removed whole, so the
lines that are left are what they were: no header is among them, and therefore no block and no
transition to remove. Scrubbing twice is scrubbing once.

Rejected: removing the reasoning in front of a transition as well, on the evidence of a
header anywhere later. It has been shown long before.

Known weakness: just before `max_line` a line is held though no key fits into it any more.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from itertools import accumulate, product

from streamguard.outlet import Outlet
from streamguard.session import Bound, End, Finding, FindingHandler, HiddenHandler, Session, Transformer

__all__ = ["OUTPUT_TRANSITIONS", "SCAFFOLD_HEADERS", "ScaffoldScrubber"]

SCAFFOLD_HEADERS = (
    "时间线检索锚点",
    "存档独立时间线",
    "作者文风样本",
    "ChapterFact时间线",
    "世界线收束",
    "世界设定",
    "剧本时间线锚点",
    "剧本章节事实",
    "剧本阶段摘要",
    "当前剧情阶段",
    "最近剧情摘要",
    "相关原文片段",
    "相关角色",
    "组织/势力/地点",
    "跳跃进度说明",
    "锚点章节原文",
)
"""The keys llm-scrub knows."""

OUTPUT_TRANSITIONS = tuple(
    map(
        "".join,
        product(("", "好", "好，", "好,"), ("", "现在"), ("开始",), ("输出", "正文", "写正文"), ("", "正文")),
    )
)
"""Whole lines, without white space and without the full stop, that lead over to the prose."""

_STAGE = "scaffold"
_TRANSITION = "transition"
_STOPS = ("", "。", ".", "!", "！")
_MARK = "==="


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaffoldScrubber(Transformer):
    """Removes the `=== header ===` blocks of a backend's hidden context.

    Other headers, dividers, underlines and all other text come through to the character.
    Findings have the header's key, or `transition`, for their rule.

    A text that is nothing but scaffold is not blanked: with `End.COMPLETE` it comes
    back whole, and its findings are not reported.

    Delay: the white space a line begins with is held to the character after it; a line that
        begins like a header to its end; a line that is a transition to the first character of
        the next that is no header. Other text is not held.
    Memory: what is held, and `max_restore` characters until something is shown. A block
        is never stored.

    Attributes:
        headers: the keys; a header has one of them anywhere between its marks.
        extra_headers: further keys, of your own backend.
        transitions: the transitions; white space in a line and one full stop or exclamation
            mark at its end do not matter.
        max_line: longest line, in characters, that is held as a header, and longest run of
            transitions and blank lines. Longer ones are ordinary.
        max_restore: longest text, in characters, that comes back if nothing is left of it.

    Raises:
        ValueError: a header or a transition is empty; a limit is negative.
    """

    headers: tuple[str, ...] = SCAFFOLD_HEADERS
    extra_headers: tuple[str, ...] = ()
    transitions: tuple[str, ...] = OUTPUT_TRANSITIONS
    max_line: int = 200
    max_restore: int = 1024
    _phrases: frozenset[str] = field(init=False, repr=False, compare=False)
    _beginnings: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        condensed = ["".join(phrase.split()) for phrase in self.transitions]
        if not all(self.headers + self.extra_headers) or not all(condensed):
            raise ValueError("a header or a transition is empty")
        if self.max_line < 0 or self.max_restore < 0:
            raise ValueError("max_line and max_restore must not be negative")
        phrases = frozenset(phrase + stop for phrase in condensed for stop in _STOPS)
        beginnings = phrases.union(*map(accumulate, (_MARK, *condensed)))
        object.__setattr__(self, "_phrases", phrases)
        object.__setattr__(self, "_beginnings", beginnings)

    def session(
        self,
        *,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> Session:
        """Make the state of one new stream.

        Args:
            on_finding: called with each `Finding` once its block has ended and something
                was shown.
            on_hidden: called with the header's key, or `transition`, and the text removed,
                piece by piece as it passes; also for a text that comes back.
        """
        return _ScaffoldSession(self, on_finding, on_hidden)

    def bounds(self) -> tuple[Bound, ...]:
        """The worst case: a line, the transition before it, a text that may come back."""
        return (
            Bound(_STAGE, "header", self.max_line, "released"),
            Bound(_STAGE, _TRANSITION, self.max_line, "released"),
            Bound(_STAGE, "restore", self.max_restore, "dropped"),
        )

    def _key(self, line: str, *, truncated: bool) -> str | None:
        """Return the key of a header; one that was truncated may lack its closing mark."""
        line = line.strip()
        if not truncated and not line.endswith("="):
            return None
        inner = line.strip("=")
        return next((key for key in self.headers + self.extra_headers if key in inner), None)


class _State(enum.Enum):
    SHOWN = enum.auto()
    """Ordinary lines."""
    AFTER = enum.auto()
    """Blank lines after a block."""
    BLOCK = enum.auto()
    TRANSITION = enum.auto()
    """Blank lines after a transition that was removed."""


class _ScaffoldSession(Session):
    __slots__ = (
        "_beginning",
        "_from",
        "_header",
        "_line",
        "_offset",
        "_on_hidden",
        "_ordinary",
        "_outlet",
        "_passing",
        "_rule",
        "_settings",
        "_state",
        "_waiting",
    )

    def __init__(
        self, settings: ScaffoldScrubber, on_finding: FindingHandler | None, on_hidden: HiddenHandler | None
    ) -> None:
        super().__init__()
        self._settings = settings
        self._on_hidden = on_hidden
        self._outlet = Outlet(settings.max_restore, on_finding)
        self._passing = False  # the line is ordinary, and shown as it comes
        self._state = _State.SHOWN
        self._offset = 0  # characters read
        self._line: list[str] = []  # the line, until it is ordinary or ends
        self._beginning = ""  # its characters but for white space, until it can only be a header
        self._ordinary = False
        self._waiting = ""  # a transition, and the transitions and blank lines after it
        self._rule = ""  # of what is being removed
        self._from = 0  # where that began

    @property
    def pending(self) -> int:
        kept = self._outlet.pending
        if kept is not None:
            return kept
        return 0 if self._state is _State.BLOCK else len(self._waiting) + len(self._line)

    def _feed(self, text: str, /) -> str:
        if self._passing and "\n" not in text:
            self._offset += len(text)
            return text
        outlet = self._outlet
        if outlet.blank:
            outlet.receive(text)
        at = 0
        while at < len(text):
            if self._ordinary:
                stop = text.find("\n", at) + 1
                self._ordinary = not stop
                piece = text[at:stop] if stop else text[at:]
                self._offset += len(piece)
                at += len(piece)
                if self._state is _State.BLOCK:
                    self._hide(piece)
                else:
                    outlet.show(piece)
            else:
                self._read(text[at])
                at += 1
        self._passing = self._ordinary and self._state is _State.SHOWN and not outlet.blank
        return outlet.take()

    def _flush(self, end: End, /) -> str:
        if end is not End.ERROR or self._state is _State.BLOCK:
            if self._line:
                self._end_line(truncated=end in (End.TRUNCATED, End.ERROR))
            self._outlet.show(self._waiting)
        if self._rule:
            self._finish(self._offset - len(self._line))
        return self._outlet.close(end)

    def _read(self, char: str) -> None:
        """Read a character of a line that is still undecided."""
        self._offset += 1
        self._line.append(char)
        if char == "\n":
            self._end_line()
        elif not self._open(char) or len(self._line) > self._settings.max_line:
            self._ordinary = True
            self._show_line()

    def _open(self, char: str) -> bool:
        """Whether the line may still be blank, a header or a transition."""
        if self._beginning == _MARK:
            return True
        if char.isspace():
            return not self._beginning.startswith("=")
        self._beginning += char
        return self._beginning in self._settings._beginnings

    def _end_line(self, *, truncated: bool = False) -> None:
        text, beginning = "".join(self._line), self._beginning
        key = self._settings._key(text, truncated=truncated) if beginning == _MARK else None
        if key is None and beginning and beginning not in self._settings._phrases:
            self._show_line()
            return
        self._line.clear()
        self._beginning = ""
        start = self._offset - len(text)
        if key is not None:
            if self._waiting:
                self._start(_TRANSITION, start - len(self._waiting), self._waiting)
                self._waiting = ""
            self._start(key, start, text)
            self._state = _State.BLOCK
        elif self._state is _State.BLOCK:
            self._hide(text)
            if not beginning:
                self._finish(self._offset)
                self._state = _State.AFTER
        elif beginning and self._state is not _State.SHOWN:
            self._start(_TRANSITION, start, text)
            self._state = _State.TRANSITION
        elif self._state is _State.TRANSITION:
            self._hide(text)
        elif beginning or self._waiting:
            self._waiting += text
            if len(self._waiting) > self._settings.max_line:
                self._outlet.show(self._waiting)
                self._waiting = ""
        else:
            self._outlet.show(text)

    def _show_line(self) -> None:
        """The line is ordinary: it ends what only transitions and blank lines go on with."""
        text = "".join(self._line)
        self._line.clear()
        self._beginning = ""
        if self._state is _State.BLOCK:
            self._hide(text)
            return
        if self._rule:
            self._finish(self._offset - len(text))
        self._state = _State.SHOWN
        self._outlet.show(self._waiting + text)
        self._waiting = ""

    def _start(self, rule: str, offset: int, text: str) -> None:
        """Begin to remove, with `text` already at hand."""
        if self._rule:
            self._finish(offset)
        self._rule = rule
        self._from = offset
        self._outlet.removed = True
        self._hide(text)

    def _hide(self, text: str) -> None:
        if self._on_hidden is not None:
            self._on_hidden(self._rule, text)

    def _finish(self, offset: int) -> None:
        self._outlet.report(Finding(_STAGE, self._rule, "trimmed", self._from, offset - self._from))
        self._rule = ""
