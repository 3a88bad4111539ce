"""How much text the sessions of one answer hold back, for the metrics."""

from __future__ import annotations

from streamguard import End, Pipeline, Session, Transformer
from streamguard.session import FindingHandler, HiddenHandler

__all__ = ["Holding"]


class Holding(Pipeline):
    """The guard of one answer, which knows what the sessions it has made hold back."""

    __slots__ = ("_open",)
    _open: set[_Watched]

    def __init__(self, guard: Transformer) -> None:
        super().__init__(guard)
        object.__setattr__(self, "_open", set())

    def session(
        self, *, on_finding: FindingHandler | None = None, on_hidden: HiddenHandler | None = None
    ) -> Session:
        """Make the state of one text."""
        session = _Watched(super().session(on_finding=on_finding, on_hidden=on_hidden), self._open)
        self._open.add(session)
        return session

    @property
    def held(self) -> int:
        """Characters held back now, in all texts."""
        return sum(session.pending for session in self._open)


class _Watched(Session):
    __slots__ = ("_inner", "_open")

    def __init__(self, inner: Session, others: set[_Watched]) -> None:
        super().__init__()
        self._inner = inner
        self._open = others

    @property
    def pending(self) -> int:
        return self._inner.pending

    def _feed(self, text: str, /) -> str:
        return self._inner._feed(text)

    def _flush(self, end: End, /) -> str:
        self._open.discard(self)
        return self._inner._flush(end)
