"""Events of the third version of the protocol: one message, block by block.

They tell every text twice: in deltas, and whole when its block finishes. A block finishes before
the message says why it ended. So `content-block-finish` waits for the next block or for
`message-finish`, and what the block held leaves right before it, in a delta of its own. The deltas
joined are what the finished block says, since both are the same text, guarded.
"""

from __future__ import annotations

from typing import Any

from streamguard import End
from streamguard_langchain.places import Key
from streamguard_langchain.settings import Role, Settings, end_of_stream, is_tool_block
from streamguard_langchain.shapes import is_dict
from streamguard_langchain.texts import Texts

__all__ = ["EventGuard"]

Event = dict[str, Any]

_DELTAS: dict[object, tuple[str, Role]] = {
    "text-delta": ("text", "text"),
    "reasoning-delta": ("reasoning", "reasoning"),
    "tool-call-delta": ("args", "json"),
}
_NAMES = ("event", "id", "index", "message_id", "role")
_BLOCKS: dict[object, tuple[str, Role]] = {
    "text": ("text", "text"),
    "reasoning": ("reasoning", "reasoning"),
    "tool_call_chunk": ("args", "json"),
    "server_tool_call_chunk": ("args", "json"),
}


class EventGuard:
    """Guards the events of one message; events are dictionaries and are not changed.

    *Delay*: that of the guard; the end of a block waits for the next block, or the message's end.
    *Memory*: that of the guard, and an event or two for each open block.
    """

    __slots__ = ("_kinds", "_settings", "_stopped", "_texts")

    def __init__(self, settings: Settings) -> None:
        """Begin a message."""
        self._settings = settings
        self._texts = Texts(settings)
        self._kinds: dict[Any, object] = {}  # of each block, in the order they began
        self._stopped: dict[Any, Event] = {}

    def event(self, event: Event, /) -> list[Event]:
        """Take the next event and return what may be shown now."""
        match event.get("event"):
            case "content-block-delta":
                return [self._delta(event)]
            case "content-block-start":
                return self._start(event)
            case "content-block-finish":
                self._kinds.setdefault(event.get("index"), _kind(event))
                self._stopped[event.get("index")] = event
                return []
            case "message-finish":
                return self._finish(event)
            case "message-start":
                return [event]
            case "error":
                return [*self.end(End.ERROR), self._other(event)]
            case _:
                return [self._other(event)]

    def end(self, end: End, /) -> list[Event]:
        """Return what is still held; the message has broken off unless it has finished."""
        return self._release(list(self._kinds), end)

    def _start(self, event: Event) -> list[Event]:
        before = self._release(list(self._stopped), None, following=_kind(event))
        index, content = event.get("index"), event.get("content")
        self._kinds[index] = _kind(event)
        if not is_dict(content):
            return [*before, self._other(event)]
        field, role = _BLOCKS.get(content.get("type"), ("", "text"))
        opening = content.get(field)
        shown = self._fed(event, field, opening, role) if isinstance(opening, str) and opening else opening
        safe = self._whole({**content, field: ""} if field else content, End.COMPLETE)
        return [*before, {**event, "content": {**safe, field: shown} if field else safe}]

    def _delta(self, event: Event) -> Event:
        delta = event.get("delta")
        if not is_dict(delta):
            return self._other(event)
        kind = delta.get("type")
        self._kinds.setdefault(event.get("index"), kind)
        if kind == "data-delta" and delta.get("encoding") == "base64":
            return event
        field, role = _DELTAS.get(kind, ("", "text"))
        text = delta.get(field)
        if not isinstance(text, str):
            return {**event, "delta": self._texts.leaves("delta", delta)}
        shown = self._fed(event, field, text, role)
        return event if shown == text else {**event, "delta": {**delta, field: shown}}

    def _fed(self, event: Event, field: str, text: str, role: Role) -> str:
        return self._texts.text(("content", event["index"], field), (event, (field,)), text, role, None)

    def _finish(self, event: Event) -> list[Event]:
        metadata = event.get("metadata")
        known: dict[str, Any] = metadata if is_dict(metadata) else {}
        calls = any(kind == "tool_call_chunk" for kind in self._kinds.values())
        shown = self.end(end_of_stream(known, calls_tools=calls))
        changes: Event = {"metadata": self._texts.metadata(known)} if known else {}
        kwargs = event.get("additional_kwargs")
        if is_dict(kwargs):
            fields = self._texts.fields(kwargs, ("additional_kwargs",), End.COMPLETE, whole=True)
            kept = {name: fields.get(name, value) for name, value in kwargs.items()}
            changes["additional_kwargs"] = {
                name: value for name, value in kept.items() if not Texts.dropped(value)
            }
        others = {name: value for name, value in event.items() if name not in changes and name != "usage"}
        return [*shown, {**event, **self._other(others), **changes}]

    def _other(self, event: Event) -> Event:
        """Guard what stands in an event but for the names of the event itself."""
        kept = {name: event[name] for name in _NAMES if name in event}
        return {**self._texts.leaves("event", event), **kept}

    def _release(self, indices: list[Any], end: End | None, *, following: object = None) -> list[Event]:
        """Close blocks: each as the kind of the next one says, the last as the message does."""
        shown: list[Event] = []
        order = list(self._kinds)
        for index in indices:
            later = order[order.index(index) + 1 :]
            after = self._kinds[later[0]] if later else following
            ends = end if after is None else End.TOOL_CALL if is_tool_block(after) else End.COMPLETE
            shown += self._close(index, End.COMPLETE if ends is None else ends)
        for index in indices:
            if end is not None:
                self._kinds.pop(index, None)
        return shown

    def _close(self, index: Any, end: End) -> list[Event]:
        shown: list[Event] = []
        open_lanes: list[Key] = [key for key in self._texts.places if key[:2] == ("content", index)]
        for key in open_lanes:
            (template, (field,)), text = self._texts.flush(key, end)
            if text:
                kind = next(name for name, (known, _) in _DELTAS.items() if known == field)
                delta = {"type": kind, field: text}
                shown.append({**template, "event": "content-block-delta", "delta": delta})
                shown[-1].pop("content", None)
        stopped = self._stopped.pop(index, None)
        if stopped is not None:
            content = stopped.get("content")
            safe = self._whole(content, end) if is_dict(content) else content
            shown.append({**stopped, "content": safe})
        return shown

    def _whole(self, block: dict[str, Any], end: End) -> dict[str, Any]:
        """Guard a block that came whole; findings have been reported of its deltas."""
        safe = Texts(self._settings).content([block], end, whole=True)
        return safe[0] if safe else {"type": block.get("type"), "reasoning": ""}


def _kind(event: Event) -> object:
    content = event.get("content")
    return content.get("type") if is_dict(content) else None
