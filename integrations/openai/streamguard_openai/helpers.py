"""The SDK's `stream` helpers, which keep a snapshot and make events of their own.

They read a stream of the SDK. That is what is guarded, so that every event and every snapshot
is made of guarded chunks.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, cast

from streamguard.adapting import Settings
from streamguard_openai.errors import CallErrors
from streamguard_openai.streams import guarded

__all__ = ["GuardedManager"]


class GuardedManager:
    """The context manager `stream()` returns; its stream reads guarded chunks."""

    def __init__(self, manager: Any, settings: Settings) -> None:
        self._manager = manager
        self._settings = settings

    @property  # type: ignore[misc]  # it answers for the class behind it
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride, reportIncompatibleVariableOverride]
        return cast("Any", type(self._manager))

    def __enter__(self) -> Any:
        with CallErrors(self._settings):
            return self._guarded(self._manager.__enter__())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any:
        return self._manager.__exit__(kind, error, trace)

    async def __aenter__(self) -> Any:
        with CallErrors(self._settings):
            return self._guarded(await self._manager.__aenter__())

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any:
        return await self._manager.__aexit__(kind, error, trace)

    def _guarded(self, helper: Any) -> Any:
        if not hasattr(helper, "_raw_stream"):
            raise TypeError(f"{type(helper).__name__} reads no stream that could be guarded")
        return guarded(helper, self._settings)
