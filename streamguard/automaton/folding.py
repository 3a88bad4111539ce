"""Characters as a reader sees them: other forms of ASCII are ASCII, and what shows nothing is not there."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["fold", "fold_text", "shows_nothing"]

_OTHER = re.compile(r"[^\t\n\r\x20-\x7e]")
_INVISIBLE = re.compile(
    "[\ufe00-\ufe0f\u180b-\u180f\U000e0000-\U000e0fff\u034f\u115f\u1160\u17b4\u17b5"
    "\u2065\u3164\uffa0\ufff0-\ufff8]"
)
"""Selectors of a form, the joiner of graphemes, fillers, vowels that are not written, code
points that are to show nothing once they mean something."""
_LINE_BREAKS = "\u2028\u2029"


@lru_cache(maxsize=8192)
def fold(char: str) -> str:
    """The ASCII character it is another form of, or itself; empty for one that shows nothing.

    Other forms are full-width, mathematical, circled and the like: what NFKC makes one ASCII
    character of. Nothing is shown by characters of the categories Cc and Cf (tab and line breaks
    aside), by variation selectors, fillers and the like. Unicode's separators of lines and
    paragraphs are line breaks.
    """
    if not _OTHER.match(char):
        return char
    if unicodedata.category(char) in ("Cc", "Cf") or _INVISIBLE.match(char):
        return ""
    if char in _LINE_BREAKS:
        return "\n"
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 and plain.isascii() else char


def fold_text(text: str) -> str:
    """A text with every character folded."""
    return _OTHER.sub(_folded, text)


def shows_nothing(text: str) -> bool:
    """Whether a text has characters that show nothing."""
    return any(not fold(char) for char in _OTHER.findall(text))


def _folded(found: re.Match[str]) -> str:
    return fold(found[0])
