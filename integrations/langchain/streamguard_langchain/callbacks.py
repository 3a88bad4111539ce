"""Guarding one callback handler, where the model cannot be wrapped.

The handler is told what the model says, guarded: tokens by a session for each run, what was held
before `on_llm_end`, and there a result made anew. Everything else it is told is guarded as it is:
inputs, outputs of chains and tools, errors. What could not be guarded is not told.

Nobody else is protected by it: not the caller, not other handlers and tracers, not the state of a
graph. Wrap the model (`guard_model`) wherever that is possible.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

from streamguard import End, Transformer
from streamguard.adapting import ReasoningPolicy, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_langchain.chunks import ChunkGuard
from streamguard_langchain.events import EventGuard
from streamguard_langchain.settings import Settings
from streamguard_langchain.whole import guard_value

__all__ = ["GuardedCallbackHandler"]

Call = tuple[str, tuple[Any, ...], dict[str, Any]]

_MODEL = ("on_llm_new_token", "on_stream_event", "on_llm_end", "on_llm_error")
_OTHERS = (
    "on_llm_start",
    "on_chat_model_start",
    "on_chain_start",
    "on_chain_end",
    "on_chain_error",
    "on_tool_start",
    "on_tool_end",
    "on_tool_error",
    "on_retriever_start",
    "on_retriever_end",
    "on_retriever_error",
    "on_agent_action",
    "on_agent_finish",
    "on_text",
    "on_custom_event",
)
_IGNORES = (
    "ignore_llm",
    "ignore_retry",
    "ignore_chain",
    "ignore_agent",
    "ignore_retriever",
    "ignore_chat_model",
    "ignore_custom_event",
)
_ABOUT = ("run_id", "parent_run_id", "tags")  # of what is told with a token; the rest may repeat it raw


@dataclass(slots=True)
class _Run:
    """What is held of one run of a model."""

    chunks: ChunkGuard
    events: EventGuard
    token: dict[str, Any] = field(default_factory=dict[str, Any])
    event: dict[str, Any] = field(default_factory=dict[str, Any])


class GuardedCallbackHandler(BaseCallbackHandler):
    """Tells a handler what runs tell, guarded. One serves any number of runs at once.

    With an `AsyncCallbackHandler` inside it is one itself. `on_retry` is not passed on.

    *Delay*: that of the guard. *Memory*: that of the guard for each run that has not ended.
    """

    inner: BaseCallbackHandler

    def __new__(cls, inner: BaseCallbackHandler, *_: Any, **__: Any) -> GuardedCallbackHandler:
        """Choose the asynchronous kind for a handler that is asynchronous."""
        kind: Any = _AsyncGuarded if isinstance(inner, AsyncCallbackHandler) else cls
        made: GuardedCallbackHandler = super().__new__(kind)
        return made

    def __init__(
        self,
        inner: BaseCallbackHandler,
        guard: Transformer,
        *,
        tool_args: ToolArgsPolicy = "guard",
        reasoning: ReasoningPolicy = "guard",
        tool_guard: Transformer | None = None,
        on_finding: FindingHandler | None = None,
    ) -> None:
        """Guard a handler.

        Args:
            inner: the handler.
            guard: what every text goes through.
            tool_args: what happens to the arguments of tools.
            reasoning: what happens to reasoning.
            tool_guard: what arguments of tools go through, if not `guard`.
            on_finding: called with each finding.
        """
        super().__init__()
        self.inner = inner
        self.raise_error = inner.raise_error
        self.run_inline = inner.run_inline
        self._settings = Settings(guard, tool_args, reasoning, tool_guard, None, on_finding)
        self._runs: dict[UUID, _Run] = {}

    def _calls(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Call]:
        """What the handler is to be told in place of this."""
        if name not in _MODEL:
            return [self._other(name, args, kwargs)]
        run_id = kwargs["run_id"]
        if name in ("on_llm_end", "on_llm_error"):
            end = End.COMPLETE if name == "on_llm_end" else End.ERROR
            run = self._runs.pop(run_id, None)
            held = [] if run is None else self._held(run, end)
            return [*held, self._other(name, args, kwargs)]
        run = self._runs.get(run_id)
        if run is None:
            run = _Run(ChunkGuard(self._settings), EventGuard(self._settings))
            self._runs[run_id] = run
        if name == "on_stream_event":
            run.event = kwargs
            return [(name, (event,), kwargs) for event in run.events.event(args[0])]
        return self._token(run, args[0] if args else kwargs.get("token"), kwargs)

    def _token(self, run: _Run, token: Any, kwargs: dict[str, Any]) -> list[Call]:
        chunk = kwargs.get("chunk")
        run.token = {about: kwargs[about] for about in _ABOUT if about in kwargs}
        run.token["chunk"] = chunk if isinstance(chunk, ChatGenerationChunk) else None
        if not isinstance(chunk, ChatGenerationChunk):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=token or ""))
        return self._tokens(run, run.chunks.event(chunk))

    def _tokens(self, run: _Run, chunks: list[ChatGenerationChunk]) -> list[Call]:
        plain = run.token["chunk"] is None
        calls: list[Call] = []
        for chunk in chunks:
            about = {**run.token, "chunk": None if plain else chunk}
            calls.append(("on_llm_new_token", (chunk.message.content,), about))
        return calls

    def _held(self, run: _Run, end: End) -> list[Call]:
        events: list[Call] = [("on_stream_event", (event,), run.event) for event in run.events.end(end)]
        return [*(self._tokens(run, run.chunks.end(end)) if run.token else ()), *events]

    def _other(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        start = 1 if name.endswith("_start") else 0  # how a runnable is made is no text of a model
        safe = tuple(arg if at < start else self._safe(arg) for at, arg in enumerate(args))
        end = End.ERROR if name == "on_llm_error" else None  # what it has said so far is told there
        return name, safe, {key: self._safe(value, end) for key, value in kwargs.items()}

    def _safe(self, value: Any, end: End | None = None) -> Any:
        return guard_value(value, self._settings, end=end)


class _AsyncGuarded(GuardedCallbackHandler, AsyncCallbackHandler):
    """Guards an asynchronous handler."""


def _sync(name: str) -> Callable[..., Any]:
    def told(self: GuardedCallbackHandler, *args: Any, **kwargs: Any) -> Any:
        answer: Any = None
        for method, given, named in self._calls(name, args, kwargs):
            answer = getattr(self.inner, method)(*given, **named)
        return answer

    return told


def _async(name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    async def told(self: _AsyncGuarded, *args: Any, **kwargs: Any) -> Any:
        answer: Any = None
        for method, given, named in self._calls(name, args, kwargs):
            answer = await getattr(self.inner, method)(*given, **named)
        return answer

    return told


def _ignores(name: str) -> property:
    return property(lambda self: getattr(self.inner, name))


for _name in (*_MODEL, *_OTHERS):
    setattr(GuardedCallbackHandler, _name, _sync(_name))
    setattr(_AsyncGuarded, _name, _async(_name))
for _name in _IGNORES:
    setattr(GuardedCallbackHandler, _name, _ignores(_name))
