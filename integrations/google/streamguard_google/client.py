"""A client whose generated content is guarded.

What would give out text of the model unguarded, and cannot be guarded here, is refused.
Everything else of the client is the client's own.
"""

from __future__ import annotations

import inspect
from typing import Any, TypeVar, cast

from streamguard import Transformer
from streamguard.adapting import Cover, ReasoningPolicy, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_google.policies import Policies
from streamguard_google.response import guard_response
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
    whose history is then the guarded one. What gives out text unguarded (`interactions`,
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
        result = self._inner.generate_content(*args, **kwargs)
        return self._later(result) if inspect.isawaitable(result) else self._now(result)

    def generate_content_stream(self, *args: Any, **kwargs: Any) -> Any:
        result = self._inner.generate_content_stream(*args, **kwargs)
        return self._opened(result) if inspect.isawaitable(result) else guard_any(result, self._policies)

    def _now(self, response: Any) -> Any:
        policies = self._policies
        return guard_response(
            response,
            policies.guard,
            tool_args=policies.tool_args,
            reasoning=policies.reasoning,
            tool_guard=policies.tool_guard,
            on_finding=policies.on_finding,
        )

    async def _later(self, result: Any) -> Any:
        return self._now(await result)

    async def _opened(self, result: Any) -> Any:
        return guard_any(await result, self._policies)
