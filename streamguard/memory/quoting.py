"""Whether a place in a Markdown text is quoted: told of, rather than said.

Quoted is what stands in a block of code (fenced, or indented by four blanks or a tab), in a
quotation block, in code within a line, between quotation marks in one paragraph, or right
behind a single quotation mark. All of this is known from the text before, so that a stream
can be asked at any place and does not have to wait. Who has the whole text asks `is_closed`
as well: a mark that nothing closes encloses nothing.

Characters that show nothing are not there: dropping them must not change what is quoted.

It is a reading of intent, not a parser: it errs where marks are unbalanced, and whoever writes
a text can quote what is meant. It only ever lowers a severity.
"""

from __future__ import annotations

import re
from copy import copy

from streamguard.memory.hidden import RUN

__all__ = ["FARTHEST", "Quoting"]

_OPENERS = "\u201c\u201e\u00ab\u300c\u300e"
_CLOSERS = "\u201d\u00bb\u300d\u300f"
_MARKS = f'\n`~"{_OPENERS}{_CLOSERS}'
_PIECE = re.compile(f"`+|~+|[{_MARKS}]|[^{_MARKS}]+")
_LEAD = re.compile(r"[ \t\r>]*")
_BEFORE = frozenset("'\u2018\u201a\u2039")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_TICKS = re.compile("`+")
_CLOSING = re.compile(f'["{_OPENERS}{_CLOSERS}]')  # Germans close with what others open with
_SINGLE = re.compile(r"['\u2018\u2019\u203a](?!\w)")
FARTHEST = 2_000
"""How far behind what is quoted a mark may close it."""
_LONGEST = 64
"""Longest run of backticks or tildes that is told from a longer one."""


class Quoting:
    """Reads a text piece by piece, however it is cut. *Memory*: a few numbers."""

    __slots__ = ("_beginning", "_blank", "_block", "_code", "_last", "_lead", "_quote", "_run")

    def __init__(self) -> None:
        self._block = ""  # the run that opened a block of code
        self._code = 0  # length of the run that opened code, in this paragraph
        self._quote = False  # between quotation marks, in this paragraph
        self._lead = ""  # the blanks and block quotation marks that begin this line
        self._beginning = True  # there is nothing else on this line yet
        self._blank = True  # and nothing but white space
        self._run = ""  # backticks or tildes that may go on
        self._last = ""

    def read(self, text: str) -> None:
        """Take the next piece of text."""
        for found in _PIECE.finditer(RUN.sub("", text)):
            piece = found[0]
            mark = piece[0]
            if mark in "`~":
                if self._run and self._run[0] != mark:
                    self._settle()
                self._run = (self._run + piece)[:_LONGEST]
            else:
                self._settle()
                if mark == "\n":
                    self._line()
                elif mark == '"':
                    self._quote = not self._quote and not self._last.isalnum()  # not in 27"
                    self._beginning = self._blank = False
                elif mark in _OPENERS or mark in _CLOSERS:
                    self._quote = mark in _OPENERS
                    self._beginning = self._blank = False
                else:
                    self._text(piece)
            self._last = piece[-1]

    def pass_over(self) -> None:
        """Something else stands in the place of the next piece, in the middle of a line."""
        self._settle()
        self._beginning = self._blank = False
        self._last = ""

    def is_quoted(self) -> bool:
        """Whether what comes next is; to be asked where no backtick and no tilde is next."""
        self._settle()
        indented = self._lead.startswith(("    ", "\t"))
        return bool(
            self._block or self._code or self._quote or indented or ">" in self._lead or self._last in _BEFORE
        )

    def is_closed(self, rest: str) -> bool:
        """Whether what opened in a line before, if anything did, is closed in the text behind."""
        self._settle()
        if self._block or self._lead.startswith(("    ", "\t")) or ">" in self._lead:
            return True
        end = _BLANK_LINE.search(rest, 0, FARTHEST)
        near = rest[: end.start() if end else FARTHEST]
        if self._code:
            return any(len(run) == self._code for run in _TICKS.findall(near))
        return (_CLOSING if self._quote else _SINGLE).search(near) is not None

    def is_quoted_throughout(self, text: str) -> bool:
        """Whether all of the text that comes next is: it may run on over several lines."""
        ahead = copy(self)
        for number, line in enumerate(RUN.sub("", text).split("\n")):
            lead = _LEAD.match(line)
            width = lead.end() if lead and number else 0
            ahead.read(f"\n{line[:width]}" if number else "")
            if not ahead.is_quoted():
                return False
            ahead.read(line[width:])
        return True

    def _text(self, piece: str) -> None:
        if self._beginning:
            lead = _LEAD.match(piece)
            width = lead.end() if lead else 0
            self._lead = (self._lead + piece[:width])[:_LONGEST]
            self._beginning = width == len(piece)
            self._blank = self._blank and self._beginning and ">" not in self._lead

    def _line(self) -> None:
        if self._blank and not self._block:
            self._code, self._quote = 0, False
        self._lead = ""
        self._beginning = self._blank = True

    def _settle(self) -> None:
        """The run has ended."""
        run, self._run = self._run, ""
        if not run:
            return
        if self._block:
            if self._beginning and run[0] == self._block[0] and len(run) >= len(self._block):
                self._block = ""
        elif self._beginning and len(run) >= 3:
            self._block = run
        elif run[0] == "`":
            self._code = len(run) if not self._code else 0 if len(run) == self._code else self._code
        self._beginning = self._blank = False
