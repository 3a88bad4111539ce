"""Long texts cut in the middle: of most, the beginning and the end say what it is about."""

from __future__ import annotations

__all__ = ["shorten"]


def shorten(text: str, limit: int, *, of: str = "") -> str:
    """Keep the first 70% and the last 20% of the characters allowed, with a marker between.

    Args:
        text: the text; it is returned as it is where it is short enough.
        limit: characters of the result, at most.
        of: what the marker calls the text, such as the name of a file.
    """
    if len(text) <= limit:
        return text
    tail = limit // 5
    named = f" of {of}" if of else ""

    def marker(head: int) -> str:
        return f"\n[... {len(text) - head - tail:,} of {len(text):,} characters{named} left out ...]\n"

    head = min(limit * 7 // 10, limit - tail - len(marker(0)))  # where a tenth is too short for the marker
    if head <= 0:
        return text[: max(limit, 0)]
    return text[:head] + marker(head) + text[len(text) - tail :]
