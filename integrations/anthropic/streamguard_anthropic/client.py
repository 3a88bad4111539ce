"""A client whose messages are guarded.

What would give out text of the model unguarded, and cannot be guarded here, is refused: raw
responses, the threads and tool runners which send requests by themselves, results of batches.
Everything else of the client is the client's own.
"""

from __future__ import annotations

import inspect
from typing import Any, TypeVar, cast

from streamguard import Transformer
from streamguard.adapting import Cover, ReasoningPolicy, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_anthropic.policies import Policies
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

    `create` (streamed or not), `stream` and `parse` of `messages` and `beta.messages` are. Copies
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
    policies = Policies(guard, tool_args, reasoning, tool_guard, on_finding)
    return cast("C", _Client(client, policies))


_RAW = frozenset({"with_raw_response", "with_streaming_response"})


class _Client(Cover):
    __slots__ = ()
    _refused = _RAW | {"completions"}

    @property
    def messages(self) -> _Messages:
        return _Messages(self._inner.messages, self._policies)

    @property
    def beta(self) -> _Beta:
        return _Beta(self._inner.beta, self._policies)

    def copy(self, *args: Any, **kwargs: Any) -> _Client:
        return _Client(self._inner.copy(*args, **kwargs), self._policies)

    def with_options(self, *args: Any, **kwargs: Any) -> _Client:
        return _Client(self._inner.with_options(*args, **kwargs), self._policies)

    def with_middleware(self, *args: Any, **kwargs: Any) -> _Client:
        return _Client(self._inner.with_middleware(*args, **kwargs), self._policies)

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
        return _Messages(self._inner.messages, self._policies)


class _Batches(Cover):
    __slots__ = ()
    _refused = _RAW | {"results"}


class _Messages(Cover):
    __slots__ = ()
    _refused = _RAW | {"tool_runner", "thread"}

    @property
    def batches(self) -> _Batches:
        return _Batches(self._inner.batches, self._policies)

    def create(self, *args: Any, **kwargs: Any) -> Any:
        result = self._inner.create(*args, **kwargs)
        streamed = bool(kwargs.get("stream"))
        if inspect.isawaitable(result):
            return self._later(result, streamed=streamed)
        return self._now(result, streamed=streamed)

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        result = self._inner.parse(*args, **kwargs)
        return self._later(result) if inspect.isawaitable(result) else self._now(result)

    def stream(self, *args: Any, **kwargs: Any) -> Any:
        return guard_any(self._inner.stream(*args, **kwargs), self._policies)

    def _now(self, result: Any, *, streamed: bool = False) -> Any:
        if streamed:
            return guard_any(result, self._policies)
        if not isinstance(get(result, "content"), list):
            raise TypeError(f"{type(result).__name__} is no message and cannot be guarded")
        return guard_message(result, self._policies)

    async def _later(self, result: Any, *, streamed: bool = False) -> Any:
        return self._now(await result, streamed=streamed)
