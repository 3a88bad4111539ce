"""A client whose messages are guarded.

What would give out text of the model unguarded, and cannot be guarded here, is refused: raw
responses, the threads and tool runners which send requests by themselves, results of batches.
Everything else of the client is the client's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from inspect import isawaitable
from typing import Any, TypeVar, cast, get_origin

from streamguard import Transformer
from streamguard.adapting import Cover, ReasoningPolicy, Settings, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_anthropic.response import guard_message
from streamguard_anthropic.shape import get
from streamguard_anthropic.stream import guard_any

__all__ = ["wrap"]

C = TypeVar("C")


def wrap(
    client: C,
    guard: Transformer,
    *,
    tool_args: ToolArgsPolicy = "guard",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    on_finding: FindingHandler | None = None,
) -> C:
    """Return a client whose messages are guarded.

    `create` (streamed or not), `stream` and `parse` of `messages` and `beta.messages` are, with the
    errors they raise. Text that was asked for as JSON is guarded as JSON. Copies
    (`copy`, `with_options`) are guarded like it. What gives out text unguarded (`with_raw_response`,
    `with_streaming_response`, `tool_runner`, `thread`, `batches.results`, `completions`) raises
    `AttributeError`: use the client itself for that.

    Args:
        client: `Anthropic`, `AsyncAnthropic` or a client of that interface; it is not changed.
        guard: what every text goes through.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to thinking.
        tool_guard: what arguments of tools go through; by default `guard`.
        on_finding: called with each finding.

    Raises:
        ValueError: a policy is unknown.
        TypeError: later, by a call that did not return a message.
    """
    settings = Settings(guard, tool_args, reasoning, tool_guard, on_finding=on_finding)
    return cast("C", _Client(client, settings))


_RAW = frozenset({"with_raw_response", "with_streaming_response"})


class _Client(Cover):
    __slots__ = ()
    _refused = _RAW | {"completions"}

    @property
    def messages(self) -> _Messages:
        return _Messages(self._inner.messages, self._settings)

    @property
    def beta(self) -> _Beta:
        return _Beta(self._inner.beta, self._settings)

    def copy(self, *args: Any, **kwargs: Any) -> _Client:
        return _Client(self._inner.copy(*args, **kwargs), self._settings)

    def with_options(self, *args: Any, **kwargs: Any) -> _Client:
        return _Client(self._inner.with_options(*args, **kwargs), self._settings)

    def with_middleware(self, *args: Any, **kwargs: Any) -> _Client:
        return _Client(self._inner.with_middleware(*args, **kwargs), self._settings)

    def __enter__(self) -> _Client:
        self._inner.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._inner.__exit__(*error)

    async def __aenter__(self) -> _Client:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._inner.__aexit__(*error)


class _Beta(Cover):
    __slots__ = ()
    _refused = _RAW

    @property
    def messages(self) -> _Messages:
        return _Messages(self._inner.messages, self._settings)


class _Batches(Cover):
    __slots__ = ()
    _refused = _RAW | {"results"}


class _Messages(Cover):
    __slots__ = ()
    _refused = _RAW | {"tool_runner", "thread"}

    @property
    def batches(self) -> _Batches:
        return _Batches(self._inner.batches, self._settings)

    def create(self, *args: Any, **kwargs: Any) -> Any:
        return self._answer(self._inner.create, args, kwargs, streamed=bool(kwargs.get("stream")))

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        return self._answer(self._inner.parse, args, kwargs, streamed=False)

    def stream(self, *args: Any, **kwargs: Any) -> Any:
        settings = _for_call(self._settings, kwargs)
        with settings.for_errors:
            return guard_any(self._inner.stream(*args, **kwargs), settings)

    def _answer(self, method: Any, args: Any, kwargs: Any, *, streamed: bool) -> Any:
        settings = _for_call(self._settings, kwargs)
        with settings.for_errors:
            result = method(*args, **kwargs)
            return (
                _later(result, settings, streamed=streamed)
                if isawaitable(result)
                else _now(result, settings, streamed=streamed)
            )


def _now(result: Any, settings: Settings, *, streamed: bool) -> Any:
    if streamed:
        return guard_any(result, settings)
    if not isinstance(get(result, "content"), list):
        raise TypeError(f"{type(result).__name__} is no message and cannot be guarded")
    return guard_message(result, settings)


async def _later(result: Any, settings: Settings, *, streamed: bool) -> Any:
    with settings.for_errors:
        return _now(await result, settings, streamed=streamed)


def _for_call(settings: Settings, asked: Mapping[str, Any]) -> Settings:
    """Where JSON was asked for, the text is JSON."""
    form = asked.get("output_format")
    if not (isinstance(form, type) or get_origin(form) is not None):
        forms = (form, get(asked.get("output_config"), "format"))
        if not any(str(get(one, "type")).startswith("json") for one in forms):
            return settings
    return replace(settings, json_content=True)
