"""Characters that show nothing and carry something: what people do not see and models read.

What is grave is dropped: nobody sees a difference, and sentences read the same without it.
Whether a character counts depends on the visible characters on both sides of its run and on
what stands in the run before it. Dropping changes neither, so doing it twice changes nothing.

Left alone are zero-width joiners and non-joiners wherever scripts and emoji need them, which
is everywhere but between two ASCII letters and in long runs; flags made of tag characters; a byte order
mark at the start; selectors of a form. A quotation is no excuse: who reads the page
cannot see that it is one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from streamguard.memory.threat import STAGE, OnMatch, Severity
from streamguard.session import End, Finding, Session, StreamBlocked

__all__ = ["HIDDEN", "LIMIT", "RUN", "Hidden", "HiddenSession"]

LIMIT = 256
"""Most characters without width that wait for what comes after them; more are dropped."""

_TAGS = "\U000e0000-\U000e007f"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_BIDI = "\u202a-\u202e\u2066-\u2069"
_JOINERS = "\u200c\u200d"
_ZERO_WIDTH = "\u180e\u200b\u2060-\u2064\ufeff"
_IS_TAG = re.compile(f"[{_TAGS}]").match
_IS_SELECTOR = re.compile(f"[{_SELECTORS}]").match
_HAS_NO_WIDTH = re.compile(f"[{_JOINERS}{_ZERO_WIDTH}]").match
_IS_BIDI = re.compile(f"[{_BIDI}]").match
RUN = re.compile(f"[{_TAGS}{_SELECTORS}{_BIDI}{_JOINERS}{_ZERO_WIDTH}]+")
"""Characters that may be dropped, whether they are or not."""

_FLAG = "\U0001f3f4"
_FLAG_TAGS = 7
"""England's flag and others are this one and so many tags."""

_FEW = 3
"""Selectors in a row that may select a form, and joiners that may join; more are data."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """A kind of characters that show nothing.

    Attributes:
        id: its name.
        severity: how grave it is.
        description: what it is, for people.
        examples: texts with it.
        near_misses: texts without.
    """

    id: str
    severity: Severity
    description: str
    examples: tuple[str, ...]
    near_misses: tuple[str, ...]


_TEXT = Hidden(
    "hidden-text",
    Severity.HIGH,
    "text in tag characters, or bytes in selectors of a form or in characters without width",
    ("a\U000e0068\U000e0069b", "\U0001f3f4" + "\U000e0061" * 9, "a" + "\ufe00\ufe01" * 4),
    ("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "\u2764\ufe0f"),
)
_OVERRIDE = Hidden(
    "bidi-override",
    Severity.MEDIUM,
    "makes text read in another order than it is written in",
    ("a\u202eb", "\u202da"),
    ("\u200fa",),
)
_CONTROL = Hidden(
    "bidi-control", Severity.LOW, "changes the direction of text", ("\u2067a", "a\u202c"), ("\u200ea",)
)
_IN_WORD = Hidden(
    "invisible-characters",
    Severity.MEDIUM,
    "characters without width inside a word",
    ("ig\u200bnore", "a\u200d\ufe0f\u2060b"),
    ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\U0001f469\u200d\U0001f4bb", "a\u200c"),
)
_OTHER = Hidden(
    "zero-width", Severity.LOW, "characters without width", ("a \u200bb", "a\ufeff"), ("\ufeffa",)
)

HIDDEN = (_TEXT, _OVERRIDE, _CONTROL, _IN_WORD, _OTHER)


def _is_letter(char: str) -> bool:
    return char.isascii() and char.isalpha()


def _outside(char: str) -> Hidden | None:
    """What a character without width is where it splits no word."""
    return None if char in _JOINERS else _OTHER


class HiddenSession(Session):
    """Drops what is grave enough and reports all of it; the state of one text.

    *Delay*: joiners and the like behind an ASCII letter wait for the next visible character.
    *Memory*: at most `LIMIT` characters.
    """

    __slots__ = (
        "_before",
        "_blocked",
        "_joiners",
        "_last",
        "_least",
        "_on_match",
        "_open",
        "_ready",
        "_rejects",
        "_run",
        "_selectors",
        "_tags",
        "reached",
    )

    def __init__(self, least: Severity, on_match: OnMatch, *, rejects: bool = False) -> None:
        super().__init__()
        self._least = least
        self._on_match = on_match
        self._rejects = rejects
        self._blocked: StreamBlocked | None = None
        self._before = ""  # the visible character before the run
        self._tags = self._selectors = self._joiners = 0  # of the run
        self._open = False  # the run is too long to wait for its end
        self._run: list[
            tuple[str, Hidden | None, bool]
        ] = []  # what waits: what it is, and whether that is open
        self._ready = 0  # how many of them are shown or dropped already, and only wait to be told
        self._last: tuple[Hidden, str, int, int] | None = None  # what was found last: it may go on
        self.reached = 0
        """How much of the input is decided, in characters."""

    @property
    def pending(self) -> int:
        """Characters that wait for the next visible one."""
        return len(self._run) - self._ready

    def _feed(self, text: str, /) -> str:
        out: list[str] = []
        done = 0
        for run in RUN.finditer(text):
            self._visible(text[done : run.start()], out)
            for char in run[0]:
                self._read(char, out)
            done = run.end()
        self._visible(text[done:], out)
        if self._blocked is not None and not out:
            raise self._blocked
        return "".join(out)

    def _flush(self, end: End, /) -> str:
        out: list[str] = []
        self._settle("", out)
        self._tell()
        if self._blocked is not None:
            raise self._blocked
        return "".join(out)

    def _visible(self, text: str, out: list[str]) -> None:
        if not text or self._blocked is not None:
            return
        self._settle(text[0], out)
        self._tell()
        if self._blocked is None:
            out.append(text)
            self.reached += len(text)
        self._before = text[-1]
        self._tags = self._selectors = self._joiners = 0
        self._open = False

    def _read(self, char: str, out: list[str]) -> None:
        """Take a character of a run."""
        found: Hidden | None = None
        waits = False
        if _IS_TAG(char):
            self._tags += 1
            found = None if self._before == _FLAG and self._tags <= _FLAG_TAGS else _TEXT
        elif _IS_SELECTOR(char):
            self._selectors += 1
            found = None if self._selectors <= _FEW else _TEXT
        elif _IS_BIDI(char):
            found = _OVERRIDE if char in "\u202d\u202e" else _CONTROL
        elif _HAS_NO_WIDTH(char) and self._many():
            found = _TEXT
        elif self._open:
            found = _IN_WORD
        elif _is_letter(self._before):
            waits = True
        elif self.reached or self._run or char != "\ufeff":
            found = _outside(char)
        self._run.append((char, found, waits))
        if len(self._run) > LIMIT:
            self._open = True
            self._settle("a", out)
        elif not self._run[0][2]:
            self._settle("", out)
        else:
            self._let(out)

    def _many(self) -> bool:
        """Count a character without width: is it one too many?"""
        self._joiners += 1
        return self._joiners > _FEW

    def _drops(self, found: Hidden | None) -> bool:
        return found is not None and found.severity >= self._least

    def _let(self, out: list[str]) -> None:
        """Show or drop what fares the same whatever comes after the run."""
        while self._ready < len(self._run):
            char, found, waits = self._run[self._ready]
            drops = self._drops(_outside(char) if waits else found)
            if (waits and drops is not self._drops(_IN_WORD)) or (drops and self._rejects):
                return
            if not drops:
                out.append(char)
            self._ready += 1

    def _settle(self, after: str, out: list[str]) -> None:
        """Let go what has waited; `after` is the next visible character."""
        in_word = _is_letter(after)
        for number, (char, found, waited) in enumerate(self._run):
            kind = found if not waited else _IN_WORD if in_word else _outside(char)
            if kind is not None:
                self._note(kind)
            self.reached += 1
            if self._blocked is not None:
                break
            if number >= self._ready and not self._drops(kind):
                out.append(char)
        self._run.clear()
        self._ready = 0

    def _note(self, kind: Hidden) -> None:
        """Remember what is found at the next character, together with what was found right before."""
        at = self.reached
        action = "flagged" if not self._drops(kind) else "blocked" if self._rejects else "dropped"
        last = self._last
        if last is not None and last[:2] == (kind, action) and last[3] == at:
            self._last = (kind, action, last[2], at + 1)
        else:
            self._tell()
            self._last = (kind, action, at, at + 1)
        if action == "blocked":
            self._blocked = StreamBlocked(Finding(STAGE, kind.id, action, at, 1))
            self._tell()

    def _tell(self) -> None:
        last, self._last = self._last, None
        if last is not None:
            found, action, start, end = last
            finding = Finding(STAGE, found.id, action, start, end - start)
            self._on_match(finding, found.severity, False)  # noqa: FBT003 - an OnMatch
