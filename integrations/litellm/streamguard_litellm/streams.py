"""Guarded streams: LiteLLM's own, with guarded items.

What a stream offers besides its items (`_hidden_params`, `model`, `logging_obj`, ...) is LiteLLM's.
What repeats the text is not: `chunks` are those that came out, `completed_response` is guarded.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Generator
from types import TracebackType
from typing import Any, Self

from streamguard import End, Transformer
from streamguard.adapting import ReasoningPolicy, Settings, ToolArgsPolicy, guard_events, guard_events_sync
from streamguard.drivers import aclose_source, close_source
from streamguard.session import FindingHandler
from streamguard_litellm.adapter import LiteLLMAdapter
from streamguard_litellm.errors import CallErrors
from streamguard_litellm.whole import guard_any, refuse_awaitable

__all__ = ["GuardedStream", "guard_stream", "guarded"]

_TEXTS = frozenset({"holding_chunk", "response_uptil_now", "thinking_content"})
_SHOWN = frozenset({"chunks", "collected_chat_completion_chunks", "collected_chunks"})
_RAW = frozenset(
    {
        "completion_stream",
        "litellm_custom_stream_wrapper",
        "litellm_model_response",
        "partial_response_on_disconnect",
        "response",
        "stream_iterator",
    }
)


_PRIVATE = frozenset({"_hidden_params", "_response_headers"})


class GuardedStream:
    """A stream of LiteLLM's whose items are guarded; synchronous or not, as it is used.

    It passes for the stream behind it, to `isinstance` as well.

    *Memory*: besides that of the adapter, the items that came out, where the stream keeps its
    own too.
    """

    _stream: Any

    def __init__(self, stream: Any, settings: Settings) -> None:
        self._stream = stream
        self._settings = settings
        self._adapter = LiteLLMAdapter(settings, stream)
        self._shown: list[Any] | None = [] if any(hasattr(stream, name) for name in _SHOWN) else None
        self._agenerator: AsyncGenerator[Any, None] | None = None
        self._generator: Generator[Any, None, None] | None = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if self._generator is None:
            self._generator = self._items()
        return next(self._generator)

    def __aiter__(self) -> Self:
        return self

    def __anext__(self) -> Awaitable[Any]:
        if self._agenerator is None:
            self._agenerator = self._aitems()
        return self._agenerator.__anext__()

    def _items(self) -> Generator[Any, None, None]:
        items = guard_events_sync(self._stream, self._adapter, on_error=CallErrors(self._settings))
        try:
            for item in items:
                if self._shown is not None:
                    self._shown.append(item)
                yield item
        finally:
            items.close()

    async def _aitems(self) -> AsyncGenerator[Any, None]:
        items = guard_events(self._stream, self._adapter, on_error=CallErrors(self._settings))
        try:
            async for item in items:
                if self._shown is not None:
                    self._shown.append(item)
                yield item
        finally:
            await items.aclose()

    @property
    def completed_response(self) -> Any:
        """The event that closed a Response, guarded."""
        event = self._stream.completed_response
        if event is None:
            return None
        (shown,) = LiteLLMAdapter(self._settings).event(event)
        return shown

    def close(self) -> None:
        """Close the stream; nothing held is shown."""
        try:
            if self._generator is not None:
                self._generator.close()
        finally:
            close_source(self._stream, self._stream)

    async def aclose(self) -> None:
        """Close the stream; nothing held is shown."""
        try:
            if self._agenerator is not None:
                await self._agenerator.aclose()
        finally:
            await aclose_source(self._stream, self._stream)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @property  # type: ignore[misc]  # it answers for the class behind it
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._stream.__class__

    def __getattr__(self, name: str) -> Any:
        if name == "_stream" or name in _RAW:
            raise AttributeError(name)
        value = getattr(self._stream, name)
        if name in _SHOWN and self._shown is not None:
            return self._shown  # for `stream_chunk_builder`
        if isinstance(value, str) and (name in _TEXTS or name.startswith("_")):
            return self._settings.guard.scrub(value, end=End.TRUNCATED)
        if name.startswith("_") and name not in _PRIVATE and _can_hold_text(value):
            raise AttributeError(name)  # nobody knows what it has kept
        return value

    def __repr__(self) -> str:
        return f"<guarded {type(self._stream).__name__}>"


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
    """Guard what a call of LiteLLM or of its `Router` returns, streamed or not.

    Args:
        stream: what `completion`, `acompletion`, `text_completion`, `responses`, `aresponses`,
            `anthropic_messages`, `agenerate_content_stream` or the same methods of a `Router`
            return, or any iterable of such items. A stream is closed on every exit.
        guard: what every text goes through.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to reasoning.
        tool_guard: what arguments go through, if not `guard`.
        json_content: the content is JSON (a structured output); only its strings are guarded.
        on_finding: called with each finding, a `streamguard.adapting.LaneFinding`.

    Returns:
        A stream that offers what the given one does; of a response that came whole, the guarded
        response.

    Raises:
        TypeError: the guard is no `Transformer`, or the answer is still to be awaited.
        ValueError: a policy is unknown.
    """
    return guarded(stream, Settings(guard, tool_args, reasoning, tool_guard, json_content, on_finding))


def guarded(answer: Any, settings: Settings) -> Any:
    """Guard an answer by the given settings, a stream or not.

    Raises:
        TypeError: it is still to be awaited.
    """
    refuse_awaitable("guard_stream", answer)
    if any(hasattr(answer, name) for name in ("__anext__", "__next__", "__aiter__")):
        return GuardedStream(answer, settings)
    return guard_any(answer, settings)


def _can_hold_text(value: Any) -> bool:
    return value is not None and not isinstance(value, bool | int | float)
