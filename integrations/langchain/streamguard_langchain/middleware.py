"""Middleware for `create_agent`: each call of the model goes to a guarded one. It needs `langchain`.

A middleware that only edits the model's response comes too late: the tokens have streamed. This one
puts a guarded model in the request's place. Middleware inside of it (later in the list) could put
the raw one back, and middleware that has a model of its own calls that: `check_middleware` warns of
both. What comes back is looked at once more: should it have gone past the guard, the state gets it
guarded, and a warning says that the stream did not.
"""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable

from streamguard import End, Transformer
from streamguard.adapting import ReasoningPolicy, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_langchain.messages import guard_message
from streamguard_langchain.settings import Settings, end_of, reason_of
from streamguard_langchain.shapes import is_dict, is_list
from streamguard_langchain.wrapping import guard_by, is_guarded

__all__ = ["StreamGuardMiddleware", "UnguardedModelWarning", "check_middleware"]

_DEPTH = 3  # how far attributes of attributes are looked at


class UnguardedModelWarning(UserWarning):
    """A model's text may go past the guard, or has gone."""


class StreamGuardMiddleware(AgentMiddleware[Any, Any, Any]):
    """Guards the model of an agent. It belongs at the end of the list of middleware."""

    def __init__(
        self,
        guard: Transformer,
        *,
        tool_args: ToolArgsPolicy = "keep",
        reasoning: ReasoningPolicy = "guard",
        tool_guard: Transformer | None = None,
        input_guard: Transformer | None = None,
        on_finding: FindingHandler | None = None,
    ) -> None:
        """Guard an agent's model; the arguments are those of `guard_model`."""
        super().__init__()
        self._settings = Settings(guard, tool_args, reasoning, tool_guard, input_guard, on_finding)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the guarded model."""
        return self._checked(handler(self._guarded(request)))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the guarded model."""
        return self._checked(await handler(self._guarded(request)))

    def _guarded(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        model = guard_by(self._settings, request.model)
        return request.override(model=cast("BaseChatModel", model))

    def _checked(self, response: ModelResponse[Any]) -> ModelResponse[Any]:
        messages = [self._again(message) for message in response.result]
        if all(new is old for new, old in zip(messages, response.result, strict=True)):
            return response
        return replace(response, result=messages)

    def _again(self, message: BaseMessage) -> BaseMessage:
        """Guard an answer that should have been guarded; of one that was cut off only its end may differ."""
        if not isinstance(message, AIMessage):
            return message
        safe = guard_message(message, replace(self._settings, on_finding=None), end=End.COMPLETE)
        cut_off = end_of(reason_of(message.response_metadata), calls_tools=False) is not End.COMPLETE
        if safe is not message and not (cut_off and message.text.startswith(safe.text)):
            warnings.warn(
                "the answer came to StreamGuardMiddleware unguarded: another middleware, inside of it,"
                " has replaced the model; the state is guarded, what has streamed was not",
                UnguardedModelWarning,
                stacklevel=3,
            )
        return safe


def check_middleware(middleware: Sequence[AgentMiddleware[Any, Any, Any]], /) -> list[Any]:
    """Warn of middleware that can go past the guard: `create_agent(..., middleware=check_middleware([...]))`.

    Warns with `UnguardedModelWarning` if there is no `StreamGuardMiddleware`, if one that wraps calls
    of the model stands behind it (it could replace the model), if one has a model of its own that is
    not guarded, and if one would have one but was given none: it calls the agent's.

    Returns:
        The middleware, as a list.
    """
    places = [at for at, each in enumerate(middleware) if isinstance(each, StreamGuardMiddleware)]
    if not places:
        _warn("there is no StreamGuardMiddleware")
    for each in middleware[places[-1] + 1 :] if places else ():
        if _wraps_calls(each):
            _warn(f"{each.name} stands behind StreamGuardMiddleware and can replace its model; put it before")
    for each in middleware:
        if not _all_guarded(vars(each).values()):
            _warn(f"{each.name} has an unguarded model of its own; give it guard_model(model, guard)")
        elif vars(each).get("model", each) is None and _wraps_calls(each):
            _warn(f"{each.name} has no model of its own and calls the agent's: give it guard_model(...)")
    return list(middleware)


def _all_guarded(values: Iterable[object]) -> bool:
    """Tell whether all models in some values are guarded."""
    return all(is_guarded(part) for part in _runnables(values))


def _runnables(values: Iterable[object], depth: int = _DEPTH) -> Iterator[object]:
    for value in values:
        if isinstance(value, Runnable):
            yield cast("object", value)
        elif is_list(value) or isinstance(value, tuple | set):
            yield from _runnables(cast("Iterable[object]", value), depth)
        elif is_dict(value):
            yield from _runnables(value.values(), depth)
        elif depth and not isinstance(value, type | ModuleType) and hasattr(value, "__dict__"):
            yield from _runnables(vars(value).values(), depth - 1)


def _wraps_calls(middleware: AgentMiddleware[Any, Any, Any]) -> bool:
    cls = type(middleware)
    return (
        cls.wrap_model_call is not AgentMiddleware.wrap_model_call
        or cls.awrap_model_call is not AgentMiddleware.awrap_model_call
    )


def _warn(message: str) -> None:
    warnings.warn(message, UnguardedModelWarning, stacklevel=3)
