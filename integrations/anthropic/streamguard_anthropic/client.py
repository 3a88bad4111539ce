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
        return self._answer(self._inner.create, args, kwargs, streamed=bool(kwargs.get("stream")))

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        return self._answer(self._inner.parse, args, kwargs, streamed=False)

    def stream(self, *args: Any, **kwargs: Any) -> Any:
        policies = _for_call(self._policies, kwargs)
        with policies.for_errors:
            return guard_any(self._inner.stream(*args, **kwargs), policies)

    def _answer(self, method: Any, args: Any, kwargs: Any, *, streamed: bool) -> Any:
        policies = _for_call(self._policies, kwargs)
        with policies.for_errors:
            result = method(*args, **kwargs)
            return (
                _later(result, policies, streamed=streamed)
                if isawaitable(result)
                else _now(result, policies, streamed=streamed)
            )


def _now(result: Any, policies: Policies, *, streamed: bool) -> Any:
    if streamed:
        return guard_any(result, policies)
    if not isinstance(get(result, "content"), list):
        raise TypeError(f"{type(result).__name__} is no message and cannot be guarded")
    return guard_message(result, policies)


async def _later(result: Any, policies: Policies, *, streamed: bool) -> Any:
    with policies.for_errors:
        return _now(await result, policies, streamed=streamed)


def _for_call(policies: Policies, asked: Mapping[str, Any]) -> Policies:
    """Where JSON was asked for, the text is JSON."""
    form = asked.get("output_format")
    if not (isinstance(form, type) or get_origin(form) is not None):
        forms = (form, get(asked.get("output_config"), "format"))
        if not any(str(get(one, "type")).startswith("json") for one in forms):
            return policies
    return replace(policies, json_content=True)
