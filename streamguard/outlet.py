"""The way out of a stage that removes text, and the way back for a text it would remove whole.

A message that is nothing but leakage is better shown than blank. So while nothing but
white space has been shown, a short text is kept, and comes back if the stream ends like
that. Until that is settled nothing after the first removal is shown and no finding is reported.
"""

from __future__ import annotations

from streamguard.session import End, Finding, FindingHandler

__all__ = ["Outlet"]


class Outlet:
    """What one stream shows: the text let through, or all of it again.

    Memory: `limit` characters, until something is shown.

    Attributes:
        blank: nothing but white space was shown.
        removed: something was removed.
    """

    __slots__ = (
        "_found",
        "_kept",
        "_limit",
        "_on_finding",
        "_out",
        "_shown",
        "_waiting",
        "_whole",
        "blank",
        "removed",
    )

    def __init__(self, limit: int, on_finding: FindingHandler | None) -> None:
        self._limit = limit
        self._on_finding = on_finding
        self._out: list[str] = []
        self._whole: list[str] | None = []
        self._kept = 0  # length of _whole
        self._shown = 0  # how much of _whole has been shown
        self._waiting: list[str] = []  # white space let through after a removal
        self._found: list[Finding] = []
        self.blank = True
        self.removed = False

    @property
    def pending(self) -> int | None:
        """Characters that may come back; `None` if the text cannot."""
        return self._kept - self._shown if self.removed and self._whole is not None else None

    def receive(self, text: str) -> None:
        """Note text that came in; to be called first, and as long as `blank`."""
        if self._whole is None:
            return
        self._kept += len(text)
        if self._kept > self._limit:
            self._settle()
        else:
            self._whole.append(text)

    def show(self, text: str) -> None:
        """Let text through."""
        if self.blank:
            if text.strip():
                self.blank = False
                self._settle()
            elif self.pending is not None:
                self._waiting.append(text)
                return
            else:
                self._shown += len(text)
        self._out.append(text)

    def report(self, finding: Finding) -> None:
        """Report a removal that has ended, as soon as it is certain."""
        if self._on_finding is not None:
            self._found.append(finding)
            if self._whole is None:
                self._settle()

    def take(self) -> str:
        """Return what may be shown now."""
        text = "".join(self._out)
        self._out.clear()
        return text

    def close(self, end: End) -> str:
        """Return the last of the text, or all of it if none is left and the stream is complete."""
        if self.blank and self.pending is not None:
            if end is End.COMPLETE:
                return "".join(self._whole or ())[self._shown :]
            if end is End.ERROR:
                self._waiting.clear()
        self._settle()
        return self.take()

    def _settle(self) -> None:
        self._whole = None
        self._out += self._waiting
        self._waiting.clear()
        found, self._found = self._found, []
        if self._on_finding is not None:
            for finding in found:
                self._on_finding(finding)
