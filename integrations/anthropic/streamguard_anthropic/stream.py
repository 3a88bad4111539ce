"""Guarded streams with the interface of the streams they were made from.

A raw stream gets a cover that iterates over guarded events and leaves everything else to it.
The SDK's helper (`messages.stream()`) is made anew over such a cover, by its own class: its
snapshot, `text_stream` and final message are then built from guarded events, by its own code.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Iterable, Iterator
from dataclasses import replace
from types import TracebackType
from typing import Any, Generic, TypeVar, cast, get_origin

from streamguard import Transformer
from streamguard.adapting import ReasoningPolicy, Settings, ToolArgsPolicy, guard_events, guard_events_sync
from streamguard.drivers import aclose_source, close_source
from streamguard.session import FindingHandler
from streamguard_anthropic.adapter import MessagesAdapter

__all__ = ["guard_any", "guard_stream"]

S = TypeVar("S")
E = TypeVar("E")


def guard_stream(
    stream: S,
    guard: Transformer,
    *,
    tool_args: ToolArgsPolicy = "guard",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    json_content: bool = False,
    on_finding: FindingHandler | None = None,
) -> S:
    """Guard a stream of messages' events, synchronous or asynchronous.

    Args:
        stream: what `messages.create(stream=True)` returns, what `messages.stream()` returns,
            the helper that one gives, or any iterable of raw events, dictionaries included. It
            must not have been read from, and is not to be used beside the guarded one.
        guard: what every text goes through. The blocks of text are one text until one calls a tool.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to thinking. A signature is kept only with unchanged thinking.
            Dropped thinking leaves no block, and the later blocks are counted anew.
        tool_guard: what arguments go through; by default `guard`. A `PreambleTrimmer` has no
            place there.
        json_content: the text is JSON (a structured output); only its strings are guarded. So it
            is wherever the SDK's helper parses it.
        on_finding: called with each finding, a `LaneFinding` for what streams.

    Returns:
        A stream of the same interface. Closing it, leaving its context and an error close the
        one it was made from. The raw body behind `response` is not guarded.

    Raises:
        ValueError: a policy is unknown.
        TypeError: this is no stream.
    """
    settings = Settings(guard, tool_args, reasoning, tool_guard, json_content, on_finding)
    return cast("S", guard_any(stream, settings))


def guard_any(stream: Any, settings: Settings) -> Any:
    """Guard a stream, a helper or the manager of a helper, by the given settings."""
    if hasattr(stream, "_raw_stream"):
        return _rebuilt(stream, settings)
    if hasattr(stream, "__aiter__"):
        return _AsyncCover(stream, settings)
    if hasattr(stream, "__iter__"):
        return _Cover(stream, settings)
    if hasattr(stream, "__aenter__"):
        return _AsyncManager(stream, settings)
    if hasattr(stream, "__enter__"):
        return _Manager(stream, settings)
    raise TypeError(f"guard_stream() needs a stream, not {type(stream).__name__}")


def _adapter(settings: Settings) -> MessagesAdapter[Any]:
    return MessagesAdapter(settings.guard, **settings.options)


def _rebuilt(helper: Any, settings: Settings) -> Any:
    """Make a helper of the same class over the guarded raw stream."""
    kind: Any = helper.__class__
    options: dict[str, object] = {}
    if "output_format" in inspect.signature(kind).parameters:
        own = cast("dict[str, object]", vars(helper))
        (form,) = (own[name] for name in own if name.endswith("__output_format"))
        options["output_format"] = form
        if isinstance(form, type) or get_origin(form) is not None:  # it will be parsed
            settings = replace(settings, json_content=True)
    return kind(guard_any(helper._raw_stream, settings), **options)


class _Delegate:
    """Leaves what it does not have itself to the object behind it, `isinstance` included."""

    _source: Any

    @property  # type: ignore[misc]  # it answers for the class behind it
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride, reportIncompatibleVariableOverride]
        kind = cast("Any", type(self._source))
        return type(self) if kind.__module__ == "builtins" else kind  # lists and generators are used by type

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what the SDK keeps there is not guarded
            raise AttributeError(name)
        return getattr(self._source, name)


class _Cover(_Delegate, Generic[E]):
    def __init__(self, source: Iterable[E], settings: Settings) -> None:
        self._source = source
        self._events: Generator[E, None, None] = guard_events_sync(
            source, _adapter(settings), on_error=settings.for_errors
        )

    def __iter__(self) -> Iterator[E]:
        return self

    def __next__(self) -> E:
        return next(self._events)

    def __enter__(self) -> _Cover[E]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the stream and the one behind it; another thread may be waiting for an event."""
        try:
            self._events.close()
        except ValueError:  # the generator is running
            close_source(self._source, self._source)


class _AsyncCover(_Delegate, Generic[E]):
    def __init__(self, source: AsyncIterable[E], settings: Settings) -> None:
        self._source = source
        self._events: AsyncGenerator[E, None] = guard_events(
            source, _adapter(settings), on_error=settings.for_errors
        )

    def __aiter__(self) -> AsyncIterator[E]:
        return self

    async def __anext__(self) -> E:
        return await anext(self._events)

    async def __aenter__(self) -> _AsyncCover[E]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the stream and the one behind it; another task may be waiting for an event."""
        try:
            await self._events.aclose()
        except RuntimeError:  # the generator is running
            await aclose_source(self._source, self._source)

    aclose = close


class _Manager(_Delegate):
    """Gives a guarded helper where the SDK's manager gives its own."""

    def __init__(self, manager: Any, settings: Settings) -> None:
        self._source = manager
        self._settings = settings

    def __enter__(self) -> Any:
        with self._settings.for_errors:
            return guard_any(self._source.__enter__(), self._settings)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any:
        return self._source.__exit__(kind, error, trace)


class _AsyncManager(_Delegate):
    def __init__(self, manager: Any, settings: Settings) -> None:
        self._source = manager
        self._settings = settings

    async def __aenter__(self) -> Any:
        with self._settings.for_errors:
            return guard_any(await self._source.__aenter__(), self._settings)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any:
        return await self._source.__aexit__(kind, error, trace)
