from __future__ import annotations

from collections.abc import Callable

import pytest

from streamguard import Bound, End, Finding, Session, Transformer
from streamguard.session import FindingHandler, HiddenHandler


class Mask(Transformer):
    """Replaces one word; the smallest guard there is, so that tests of the command line test nothing else."""

    def __init__(self, word: str, mask: str) -> None:
        self.word = word
        self.mask = mask

    def session(
        self, *, on_finding: FindingHandler | None = None, on_hidden: HiddenHandler | None = None
    ) -> Session:
        return _MaskSession(self, on_finding)

    def bounds(self) -> tuple[Bound, ...]:
        return (Bound("mask", self.word, len(self.word) - 1),)


class _MaskSession(Session):
    def __init__(self, settings: Mask, on_finding: FindingHandler | None) -> None:
        super().__init__()
        self._settings = settings
        self._on_finding = on_finding
        self._held = ""
        self._offset = 0

    @property
    def pending(self) -> int:
        return len(self._held)

    def _feed(self, text: str, /) -> str:
        word, mask = self._settings.word, self._settings.mask
        *before, rest = (self._held + text).split(word)
        for part in before:
            self._offset += len(part)
            if self._on_finding:
                self._on_finding(Finding("mask", "word", "redacted", self._offset, len(word)))
            self._offset += len(word)
        hold = next(n for n in range(min(len(word) - 1, len(rest)), -1, -1) if rest.endswith(word[:n]))
        self._held = rest[len(rest) - hold :]
        rest = rest[: len(rest) - hold]
        self._offset += len(rest)
        return "".join(part + mask for part in before) + rest

    def _flush(self, end: End, /) -> str:
        held, self._held = self._held, ""
        return "" if end in (End.ERROR, End.TRUNCATED) else held


@pytest.fixture
def mask() -> Callable[[str, str], Transformer]:
    return Mask
