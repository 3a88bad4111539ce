"""Guarding what LangGraph sends out, and nothing else: tools and states keep what the model wrote.

For `graph.stream_events(version="v3")`. The transformer runs before LangGraph's own, so that every
projection is made of guarded events. LangGraph hands an event to all transformers, also one that is
not to be sent out. So what is held is emptied in place, before the others see it. It needs `langgraph`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from langgraph.stream import StreamTransformer  # pyright: ignore[reportMissingTypeStubs] - it has none

from streamguard import End, Transformer
from streamguard.adapting import Lanes, ReasoningPolicy, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_langchain.events import EventGuard
from streamguard_langchain.settings import Settings
from streamguard_langchain.shapes import is_dict, is_tuple
from streamguard_langchain.whole import guard_value

__all__ = ["GuardedStreamTransformer", "guard_transformer"]


def guard_transformer(
    guard: Transformer,
    *,
    tool_args: ToolArgsPolicy = "guard",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    on_finding: FindingHandler | None = None,
) -> Callable[[tuple[str, ...]], StreamTransformer]:
    """Guard the events a graph streams: `builder.compile(transformers=[guard_transformer(guard)])`.

    Arguments of tools are guarded by default: the tools get those of the state, which are raw.

    Args:
        guard: what every text goes through.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to reasoning.
        tool_guard: what arguments of tools go through, if not `guard`.
        on_finding: called with each finding of what streams.

    Returns:
        What LangGraph and `create_agent` take in `transformers`.
    """
    settings = Settings(guard, tool_args, reasoning, tool_guard, None, on_finding)
    return lambda scope: GuardedStreamTransformer(scope, settings)


_NAMES = {
    "tools": ("event", "tool_call_id", "tool_name"),
    "tasks": ("id", "name"),
}


class _Seen(dict[str, Any]):
    """A payload that has been guarded: subgraphs have transformers of their own, and get the same events."""


class GuardedStreamTransformer(StreamTransformer):
    """Guards the events of one run of a graph; made by `guard_transformer`.

    What is guarded leaves as a copy, the state keeps its own. Held text leaves in an event of its own.
    """

    before_builtins: ClassVar[bool] = True
    supports_sync: ClassVar[bool] = True
    required_stream_modes: ClassVar[tuple[str, ...]] = ("messages", "tools", "values")

    def __init__(self, scope: tuple[str, ...], settings: Settings) -> None:
        """Begin a run; LangGraph gives the scope."""
        super().__init__(scope)
        self._settings = settings
        self._mux: Any = None
        self._messages: dict[str, EventGuard] = {}
        self._outputs = Lanes(settings.guard, on_finding=settings.on_finding)

    def init(self) -> dict[str, Any]:
        """Project nothing: events are guarded on their way."""
        return {}

    def _on_register(self, mux: Any) -> None:
        self._mux = mux

    def process(self, event: Any) -> bool:
        """Guard an event; those that have to go before it are sent first."""
        before, keep = self._guarded(event)
        for each in before:
            self._mux.push(each)
        return keep

    async def aprocess(self, event: Any) -> bool:
        """Guard an event; those that have to go before it are sent first."""
        before, keep = self._guarded(event)
        for each in before:
            await self._mux.apush(each)
        return keep

    def _guarded(self, event: Any) -> tuple[list[Any], bool]:
        params = event["params"]
        data = params.get("data")
        parts = data if is_tuple(data) else (data,)
        if any(isinstance(part, _Seen) for part in parts):
            return [], bool(parts[0])
        method = event["method"]
        if method == "messages" and len(parts) == 2:
            payload, metadata = parts
            if is_dict(payload):
                return self._message(event, payload, metadata)
            params["data"] = (guard_value(payload, self._settings), _Seen(metadata or {}))
            return [], True
        if method == "tools" and is_dict(data):
            return self._tool(event, data)
        if is_dict(data) and method in _NAMES:
            params["data"] = self._about(method, data)
        else:
            safe = guard_value(data, self._settings)
            params["data"] = _Seen(safe) if is_dict(safe) else safe
        return [], True

    def _message(self, event: Any, payload: dict[str, Any], metadata: Any) -> tuple[list[Any], bool]:
        run = str(metadata.get("run_id", "")) if is_dict(metadata) else ""
        guard = self._messages.get(run)
        if guard is None:
            self._messages[run] = guard = EventGuard(self._settings)
        shown = guard.event(payload)
        if payload.get("event") in ("message-finish", "error"):
            del self._messages[run]
        if not shown:
            event["params"]["data"] = (_Seen(), metadata)
            return [], False
        *before, last = shown
        event["params"]["data"] = (_Seen(last), metadata)
        return [_like(event, (_Seen(each), metadata)) for each in before], True

    def _tool(self, event: Any, data: dict[str, Any]) -> tuple[list[Any], bool]:
        """Guard what a tool is given and gives; outputs that stream are lanes."""
        key, delta = data.get("tool_call_id"), data.get("delta")
        if data.get("event") == "tool-output-delta" and isinstance(delta, str):
            event["params"]["data"] = _Seen({**data, "delta": self._outputs.feed(key, delta)})
            return [], True
        before: list[Any] = []
        if data.get("event") in ("tool-finished", "tool-error"):
            end = End.COMPLETE if data["event"] == "tool-finished" else End.ERROR
            if tail := self._outputs.flush(key, end):
                rest = _Seen({"event": "tool-output-delta", "tool_call_id": key, "delta": tail})
                before.append(_like(event, rest))
        event["params"]["data"] = self._about("tools", data)
        return before, True

    def _about(self, method: str, data: dict[str, Any]) -> _Seen:
        """Guard what tells of a task or a tool; by what names it LangGraph finds it again."""
        kept = {name: data[name] for name in _NAMES[method] if isinstance(data.get(name), str)}
        return _Seen({**guard_value(data, self._settings), **kept})


def _like(event: Any, data: Any) -> Any:
    made = {name: value for name, value in event.items() if name not in ("seq", "event_id")}
    made["params"] = {**event["params"], "data": data}
    return made
