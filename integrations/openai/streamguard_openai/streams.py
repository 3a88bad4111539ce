"""Guarded streams: the SDK's own streams, with guarded events.

The protocol is known by the first event. Everything a stream offers besides iteration
(`response`, `close`, context managers) is the SDK's.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, cast, overload

from streamguard import End, Transformer
from streamguard.adapting import ReasoningPolicy, Settings, ToolArgsPolicy, guard_events, guard_events_sync
from streamguard.session import FindingHandler
from streamguard_openai.chat import ChatAdapter, CompletionAdapter
from streamguard_openai.errors import CallErrors
from streamguard_openai.responses import ResponsesAdapter
from streamguard_openai.shapes import fields, is_dict, text_of

__all__ = ["AsyncGuardedStream", "GuardedStream", "StreamAdapter", "guard_stream", "guarded"]


class StreamAdapter:
    """Guards the events of a response of any of the three protocols, told by their shape."""

    __slots__ = ("_adapters", "_known", "_owned", "_settings")

    def __init__(self, settings: Settings, *, owned: bool = False) -> None:
        """Begin a stream.

        Args:
            settings: what the user has chosen.
            owned: the events are nobody else's.
        """
        self._settings = settings
        self._owned = owned
        self._adapters: dict[type, ChatAdapter | ResponsesAdapter] = {}
        self._known: dict[type, ChatAdapter | ResponsesAdapter] = {}

    def event(self, event: Any, /) -> Iterable[Any]:
        """Take the next event and return what may be shown now."""
        adapter = self._known.get(event.__class__)
        return adapter.event(event) if adapter is not None else self._choose(event).event(event)

    def _choose(self, event: Any) -> ChatAdapter | ResponsesAdapter:
        kind = _protocol(event)
        adapter = self._adapters.get(kind)
        if adapter is None:
            chosen = self._settings
            adapter = self._adapters[kind] = kind(chosen.guard, owned=self._owned, **chosen.options)
        if not is_dict(event):
            self._known[type(event)] = adapter  # a class of the SDK belongs to one protocol
        return adapter

    def end(self, end: End, /) -> Iterable[Any]:
        """Return what was held and may be shown."""
        return [shown for adapter in self._adapters.values() for shown in adapter.end(end)]


def _protocol(event: Any) -> type[ChatAdapter] | type[ResponsesAdapter]:
    own = fields(event)
    if "choices" not in own and text_of(event, "type"):
        return ResponsesAdapter
    return CompletionAdapter if own.get("object") == "text_completion" else ChatAdapter


def _adapter(stream: object, settings: Settings) -> StreamAdapter:
    """The adapter of a stream. The SDK makes an event, hands it on and keeps nothing of it."""
    return StreamAdapter(settings, owned=type(stream).__module__.partition(".")[0] == "openai")


class _Delegating:
    """What is not defined here is the SDK stream's own, `isinstance` included."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        if name == "_stream":
            raise AttributeError(name)
        return getattr(self._stream, name)

    @property  # type: ignore[misc]  # it answers for the class behind it
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride, reportIncompatibleVariableOverride]
        return cast("Any", type(self._stream))

    def __repr__(self) -> str:
        return f"<guarded {type(self._stream).__name__}>"


class GuardedStream(_Delegating):
    """A synchronous stream whose events are guarded."""

    def __init__(self, stream: Iterable[Any], settings: Settings) -> None:
        super().__init__(stream)
        self._events = guard_events_sync(stream, _adapter(stream, settings), on_error=CallErrors(settings))

    def __iter__(self) -> Iterator[Any]:
        return self._events

    def __next__(self) -> Any:
        return next(self._events)

    def close(self) -> None:
        """Close the stream; nothing held is shown. Another thread may be waiting for an event."""
        try:
            close = getattr(self._stream, "close", None)
            if close is not None:
                close()
        finally:
            with suppress(ValueError):  # the generator is running: it ends with the stream
                self._events.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncGuardedStream(_Delegating):
    """An asynchronous stream whose events are guarded."""

    def __init__(self, stream: AsyncIterable[Any], settings: Settings) -> None:
        super().__init__(stream)
        self._events = guard_events(stream, _adapter(stream, settings), on_error=CallErrors(settings))

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._events

    async def __anext__(self) -> Any:
        return await anext(self._events)

    async def close(self) -> None:
        """Close the stream; nothing held is shown. Another task may be waiting for an event."""
        try:
            close = getattr(self._stream, "close", None) or getattr(self._stream, "aclose", None)
            if close is not None:
                await close()
        finally:
            with suppress(RuntimeError):  # the generator is running: it ends with the stream
                await self._events.aclose()

    async def aclose(self) -> None:
        """Close the stream; the same as `close`."""
        await self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def guarded(stream: Any, settings: Settings) -> Any:
    """Guard a stream of either kind.

    A helper of the SDK (`stream()`) reads a stream of the SDK, and makes events and snapshots of its
    own. That stream is what is guarded. It begins to read when its first event is asked for, so it
    is not too late.

    Raises:
        TypeError: it is no stream.
    """
    if hasattr(stream, "_raw_stream"):
        stream._raw_stream = guarded(stream._raw_stream, settings)
        return stream
    if hasattr(stream, "__aiter__"):
        return AsyncGuardedStream(stream, settings)
    if not hasattr(stream, "__iter__"):
        raise TypeError(f"guard_stream() needs a stream, not {type(stream).__name__}")
    return GuardedStream(stream, settings)


@overload
def guard_stream(
    stream: AsyncIterable[Any],
    guard: Transformer,
    /,
    *,
    tool_args: ToolArgsPolicy = "guard",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    json_content: bool = False,
    on_finding: FindingHandler | None = None,
) -> AsyncGuardedStream: ...
@overload
def guard_stream(
    stream: Iterable[Any],
    guard: Transformer,
    /,
    *,
    tool_args: ToolArgsPolicy = "guard",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    json_content: bool = False,
    on_finding: FindingHandler | None = None,
) -> GuardedStream: ...
def guard_stream(
    stream: Any,
    guard: Transformer,
    /,
    *,
    tool_args: ToolArgsPolicy = "guard",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    json_content: bool = False,
    on_finding: FindingHandler | None = None,
) -> Any:
    """Guard a stream of chat completions, completions or Responses.

    Args:
        stream: what `create(stream=True)` returns, the helper that `stream()` gives, or any iterable
            of events, objects or dictionaries, asynchronous or not. It is closed on every exit.
            Chunks and deltas of a stream of the SDK itself may be changed in place: the guard alone
            reads it. Other events are never changed.
        guard: what every text goes through.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to reasoning.
        tool_guard: what arguments go through, if not `guard`.
        json_content: the content is JSON (a structured output); only its strings are guarded.
        on_finding: called with each finding, a `streamguard.adapting.LaneFinding`.

    Returns:
        A stream of the same kind. What it offers besides its events is the given stream's. Of a
        helper it is the helper, which now reads guarded events.

    Raises:
        TypeError: it is no stream, or the guard is no `Transformer`.
        ValueError: a policy is unknown.
    """
    return guarded(stream, Settings(guard, tool_args, reasoning, tool_guard, json_content, on_finding))
