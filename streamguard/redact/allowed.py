"""Values that stay, though a rule matches them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

__all__ = ["Allowed"]


class Allowed:
    """Whole values, and patterns of whole values."""

    __slots__ = ("_limit", "_patterns", "_sorted", "_values")

    def __init__(self, allow: Iterable[str | re.Pattern[str]], limit: int) -> None:
        """Tell values and patterns apart.

        Args:
            allow: strings that are whole values, and compiled patterns that match one.
            limit: most characters of a value that a pattern is asked about.

        Raises:
            TypeError: something is neither.
            ValueError: a value is empty.
        """
        values: set[str] = set()
        patterns: list[re.Pattern[str]] = []
        if isinstance(allow, str):
            raise TypeError("allow takes a list of values, not one string")
        for one in allow:
            if isinstance(one, re.Pattern):
                if not isinstance(one.pattern, str):
                    raise TypeError("allow takes patterns of text, not of bytes")
                patterns.append(one)
            elif isinstance(one, str):
                values.add(one)
            else:
                raise TypeError(f"allow takes strings and compiled patterns, not {type(one).__name__}")
        if "" in values:
            raise ValueError("an empty value is never redacted: leave it out of allow")
        self._values = frozenset(values)
        self._sorted = sorted(values)
        self._patterns = tuple(patterns)
        self._limit = limit

    def __bool__(self) -> bool:
        return bool(self._values or self._patterns)

    def __call__(self, value: str) -> bool:
        """Whether a whole value stays."""
        return value in self._values or any(pattern.fullmatch(value) for pattern in self._patterns)

    def may_become(self, text: str) -> bool:
        """Whether a value that begins like this may still be one that stays."""
        if self._patterns and len(text) <= self._limit:
            return True
        at = bisect_left(self._sorted, text)
        return at < len(self._sorted) and self._sorted[at].startswith(text)
