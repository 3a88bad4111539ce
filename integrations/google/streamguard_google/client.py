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
from streamguard.adapting import Cover, ReasoningPolicy, Settings, ToolArgsPolicy
from streamguard.session import FindingHandler
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
    settings = Settings(guard, tool_args, reasoning, tool_guard, on_finding=on_finding)
    return cast("C", _Client(client, settings))


class _Client(Cover):
    __slots__ = ()
    _refused = frozenset({"interactions", "agents", "batches", "live"})

    @property
    def models(self) -> _Models:
        return _Models(self._inner.models, self._settings)

    @property
    def chats(self) -> Any:
        return self._inner.chats.__class__(modules=self.models)

    @property
    def aio(self) -> _Client:
        return _Client(self._inner.aio, self._settings)

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
        settings = _for_call(self._settings, kwargs)
        with settings.for_errors:
            result = self._inner.generate_content(*args, **kwargs)
            return _later(result, settings) if isawaitable(result) else _now(result, settings)

    def generate_content_stream(self, *args: Any, **kwargs: Any) -> Any:
        settings = _for_call(self._settings, kwargs)
        with settings.for_errors:
            result = self._inner.generate_content_stream(*args, **kwargs)
            return _opened(result, settings) if isawaitable(result) else guard_any(result, settings)


def _now(response: Any, settings: Settings) -> Any:
    return guard_response(response, settings.guard, **settings.options)


async def _later(result: Any, settings: Settings) -> Any:
    with settings.for_errors:
        return _now(await result, settings)


async def _opened(result: Any, settings: Settings) -> Any:
    with settings.for_errors:
        return guard_any(await result, settings)


def _for_call(settings: Settings, asked: Mapping[str, Any]) -> Settings:
    """Where JSON was asked for, the answer is JSON."""
    config = asked.get("config")
    kind = get(config, "response_mime_type")
    schemas = (get(config, "response_schema"), get(config, "response_json_schema"))
    if kind != "application/json" and (kind or all(schema is None for schema in schemas)):
        return settings
    return replace(settings, json_content=True)
