"""A reminder to write something down, every so many turns in which nothing was."""

from __future__ import annotations

__all__ = ["NUDGE", "WriteNudge"]

NUDGE = (
    "[System note: Several turns have passed since anything was saved to memory. If something of them "
    "will matter in later conversations, save it now with the memory tool; otherwise go on.]"
)


class WriteNudge:
    """Counts the turns of one conversation.

    Args:
        every: turns without a write after which it reminds; 0 for never.
        text: the reminder.
    """

    __slots__ = ("_every", "_text", "_turns")

    def __init__(self, every: int = 10, *, text: str = NUDGE) -> None:
        if every < 0:
            raise ValueError("a number of turns is 0 or more")
        self._every = every
        self._text = text
        self._turns = 0

    def turn(self) -> str:
        """Count a turn of the user; returns the reminder that goes with it, mostly empty."""
        self._turns += 1
        if not self._every or self._turns < self._every:
            return ""
        self._turns = 0
        return self._text

    def wrote(self) -> None:
        """Something was saved: begin counting anew."""
        self._turns = 0
