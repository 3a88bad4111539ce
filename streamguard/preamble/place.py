"""Where in a text a character stands, as far as sentences, quotations and code go.

Theory. A sentence begins at the start of the text, after a line break, and after the
punctuation that ends a sentence (with closing quotation marks and brackets behind it) if white
space follows or the punctuation is Chinese. A `Place` says how near to that the text is,
and which quotations and code are open; `advance` takes it past one character. Both are small
and finite, so the text before is never needed again.

Quotation marks come in pairs, looked for from the innermost outwards; a straight one
closes the one that is open, or opens. A single one behind a letter or digit closes only
if no letter or digit follows: otherwise it is an apostrophe. Code is what stands
between two runs of backticks of the same length. A blank line ends every quotation and all
code but that of three backticks and more: a mark somebody forgot does its harm to
one paragraph.

In doubt a text counts as quoted, and two sentences as one: then less is taken out.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

__all__ = ["BLANK", "BRACKETS", "CLOSERS", "START", "Gap", "Place", "advance", "kind_of"]

BLANK = frozenset(" \n\r")
ENDS = frozenset(".!?…")
WIDE_ENDS = frozenset("。！？｡")
BRACKETS = dict(zip(")]}）】》〉", "([{（【《〈", strict=True))
_CLOSES = {
    '"': '"',
    "'": "'",
    "”": "“„",
    "“": "„",
    "’": "‘",
    "」": "「",
    "』": "『",
    "»": "«",
}
_QUOTES = frozenset("\"'“”„‘’「」『』«»")
_OPENERS = frozenset("\"'“„‘「『«")
_APOSTROPHES = frozenset("'’")
CLOSERS = frozenset("\"'“”’」』»`*_~") | frozenset(BRACKETS)
_SPECIAL = BLANK | ENDS | WIDE_ENDS | CLOSERS | _QUOTES | frozenset(BRACKETS.values()) | frozenset(":：")
_LONGEST_RUN = 16
_CJK = "\u2e80"


class Gap(IntEnum):
    """How near the next character is to the beginning of a sentence."""

    INSIDE = 0
    NUMBER = 1
    """The line consists of digits so far: a full stop would make it a list item."""
    MARK = 2
    """Behind the end of a sentence, if white space follows."""
    CLOSED = 3
    """Behind the end of a sentence."""
    SPACE = 4
    """In the white space behind it: the next visible character begins a sentence."""
    LINE = 5
    """The same, after a line break."""


class Place(NamedTuple):
    """What is known between two characters.

    Attributes:
        opened: the marks that opened what has not been closed, outermost first; code is its backticks.
        gap: how near to the beginning of a sentence.
        last: `a` behind a letter or digit, `.a` behind a letter behind a full stop; the
            character itself for full stops, ellipses, carriage returns, possible apostrophes.
        ticks: length of the run of backticks that ends here.
    """

    opened: tuple[str, ...]
    gap: Gap
    last: str
    ticks: int


START = Place((), Gap.LINE, "", 0)


def kind_of(char: str) -> str:
    """What `advance` needs to know of a character: itself if it is special, or its class.

    Returns:
        The character, or a space for white space, `0` for digits, `a` for letters, `w` for letters of
        scripts that use no apostrophe and no spaces, `x` for the rest.
    """
    if char in _SPECIAL:
        return char
    if char.isspace():
        return " "
    if char.isdecimal():
        return "0"
    if char.isalnum():
        return "a" if char < _CJK else "w"
    return "x"


def advance(place: Place, kind: str) -> tuple[Place, bool, bool]:
    """Take a place past a character.

    Returns:
        The new place; whether the character begins a sentence; whether it is a mark of
        quotation or code.
    """
    opened, gap, last, ticks = place
    if ticks and kind != "`":
        opened, ticks = _past_backticks(opened, ticks), 0
    if last in _APOSTROPHES and kind not in {"a", "0"}:
        opened = _close(opened, last)
    code = bool(opened) and opened[-1][0] == "`"
    before = opened
    behind = last in {"a", ".a"}
    following = ""
    marked = kind == "`"
    if marked:
        ticks = min(ticks + 1, _LONGEST_RUN)
    elif not code and kind in _QUOTES:
        if behind and kind in _APOSTROPHES:
            following = kind
        else:
            marked = True
            opened = _close(opened, kind)
            if opened == before and kind in _OPENERS and kind not in opened:
                opened = (*opened, kind)
    closer = kind in CLOSERS and len(opened) <= len(before)
    blank = kind in BLANK
    starts = not blank and (
        gap >= Gap.SPACE or (gap is Gap.CLOSED and not closer and kind not in ENDS and kind not in WIDE_ENDS)
    )
    if kind in {"\n", "\r"}:
        if gap is Gap.LINE and not (kind == "\n" and last == "\r"):
            opened = tuple(mark for mark in opened if mark.startswith("```"))
        gap = Gap.LINE
        following = kind if kind == "\r" else ""
    elif kind == " ":
        if gap is not Gap.LINE:
            gap = Gap.SPACE if gap >= Gap.MARK else Gap.INSIDE
    elif code:
        gap = Gap.INSIDE
    elif kind in WIDE_ENDS or (kind == last == "…"):
        gap = Gap.CLOSED
    elif kind in ENDS:
        # Neither "1." at the start of a line nor the last full stop of "e.g." ends a sentence.
        abbreviated = kind == "." and (gap is Gap.NUMBER or last == ".a")
        gap = Gap.INSIDE if abbreviated else Gap.CLOSED if gap is Gap.CLOSED else Gap.MARK
        following = kind
    elif closer and gap in {Gap.MARK, Gap.CLOSED}:
        pass
    elif kind == "0" and gap in {Gap.LINE, Gap.NUMBER}:
        gap = Gap.NUMBER
    else:
        gap = Gap.INSIDE
    if kind in {"a", "0"}:
        following = ".a" if last == "." and kind == "a" else "a"
    return Place(opened, gap, following, ticks), starts, marked


def _close(opened: tuple[str, ...], mark: str) -> tuple[str, ...]:
    """What is open after a closing mark; the same if it closes nothing."""
    for index in range(len(opened) - 1, -1, -1):
        if opened[index] in _CLOSES.get(mark, ""):
            return opened[:index]
    return opened


def _past_backticks(opened: tuple[str, ...], ticks: int) -> tuple[str, ...]:
    run = "`" * ticks
    if opened and opened[-1][0] == "`":
        return opened[:-1] if opened[-1] == run else opened
    return (*opened, run)
