"""Where known values meet placeholders."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

__all__ = ["Edges"]


class Edges:
    """Where literals meet placeholders.

    A literal that ends as a placeholder begins, such as one with a bracket last, would
    match together with the placeholder of the value behind it when the output is redacted
    again. It is looked for without that end; the same for its beginning.
    """

    def __init__(self, marks: set[str]) -> None:
        self.marks = sorted(marks - {""})
        self._backwards = sorted(mark[::-1] for mark in self.marks)
        first = {mark[0] for mark in self.marks}
        last = {mark[-1] for mark in self.marks}
        self._first = _any_of(first)
        self._last = _any_of(last)
        self._either = _any_of(first | last)

    def trimmed(self, text: str) -> str:
        """Return the literal without what may be part of a placeholder; empty if one is in it."""
        if not self._either.search(text):
            return text
        size = -1
        while size != len(text):
            size = len(text)
            for found in self._first.finditer(text):
                rest = text[found.start() :]
                if _begins(self.marks, rest):
                    text = text[: found.start()]
                    break
                at = bisect_right(self.marks, rest) - 1
                if at >= 0 and rest.startswith(self.marks[at]):
                    return ""
            backwards = text[::-1]
            for found in self._last.finditer(backwards):
                rest = backwards[found.start() :]
                if _begins(self._backwards, rest):
                    text = text[len(rest) :]
                    break
        return text


def _any_of(chars: set[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(chars))) or "(?!)")


def _begins(ordered: list[str], text: str) -> bool:
    """Whether one of the strings begins with the text."""
    at = bisect_left(ordered, text)
    return at < len(ordered) and ordered[at].startswith(text)
