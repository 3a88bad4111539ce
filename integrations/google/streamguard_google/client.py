"""A client whose generated content is guarded.

What would give out text of the model unguarded, and cannot be guarded here, is refused.
Everything else of the client is the client's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from inspect import isawaitable
from typing import Any, TypeVar, cast

from streamguard import Transformer
from streamguard.adapting import Cover, ReasoningPolicy, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_google.policies import Policies
from streamguard_google.response import guard_response
from streamguard_google.shape import get
from streamguard_google.stream import guard_any

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
    """Return a client whose generated content is guarded.

    `generate_content` and `generate_content_stream` of `models` and `aio.models` are, and chats,
    whose history is then the guarded one, with the errors they raise. An answer that was asked for
    as JSON is guarded as JSON. What gives out text unguarded (`interactions`,
    `agents`, `batches`, `live`) raises `AttributeError`: use the client itself for that.

    Args:
        client: a `genai.Client` or its `aio`; it is not changed.
        guard: what every text goes through.
        tool_args: what happens to the arguments of tools. Functions that the SDK calls by
            itself within `models.generate_content` get them as they came; those of a chat get
            them guarded.
        reasoning: what happens to thoughts.
        tool_guard: what arguments of tools go through; by default `guard`.
        on_finding: called with each finding.

    Raises:
        ValueError: a policy is unknown.
    """
    policies = Policies(guard, tool_args, reasoning, tool_guard, on_finding)
    return cast("C", _Client(client, policies))


class _Client(Cover):
    __slots__ = ()
    _refused = frozenset({"interactions", "agents", "batches", "live"})

    @property
    def models(self) -> _Models:
        return _Models(self._inner.models, self._policies)

    @property
    def chats(self) -> Any:
        return self._inner.chats.__class__(modules=self.models)

    @property
    def aio(self) -> _Client:
        return _Client(self._inner.aio, self._policies)

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


class _Models(Cover):
    __slots__ = ()

    def generate_content(self, *args: Any, **kwargs: Any) -> Any:
        policies = _for_call(self._policies, kwargs)
        with policies.for_errors:
            result = self._inner.generate_content(*args, **kwargs)
            return _later(result, policies) if isawaitable(result) else _now(result, policies)

    def generate_content_stream(self, *args: Any, **kwargs: Any) -> Any:
        policies = _for_call(self._policies, kwargs)
        with policies.for_errors:
            result = self._inner.generate_content_stream(*args, **kwargs)
            return _opened(result, policies) if isawaitable(result) else guard_any(result, policies)


def _now(response: Any, policies: Policies) -> Any:
    return guard_response(
        response,
        policies.guard,
        tool_args=policies.tool_args,
        reasoning=policies.reasoning,
        tool_guard=policies.tool_guard,
        json_content=policies.json_content,
        on_finding=policies.on_finding,
    )


async def _later(result: Any, policies: Policies) -> Any:
    with policies.for_errors:
        return _now(await result, policies)


async def _opened(result: Any, policies: Policies) -> Any:
    with policies.for_errors:
        return guard_any(await result, policies)


def _for_call(policies: Policies, asked: Mapping[str, Any]) -> Policies:
    """Where JSON was asked for, the answer is JSON."""
    config = asked.get("config")
    kind = get(config, "response_mime_type")
    schemas = (get(config, "response_schema"), get(config, "response_json_schema"))
    if kind != "application/json" and (kind or all(schema is None for schema in schemas)):
        return policies
    return replace(policies, json_content=True)
