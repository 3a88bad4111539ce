"""Events of the third version of the protocol: one message, block by block.

They tell every text twice: in deltas, and whole when its block finishes. A block may finish before
it is known how its text goes on. So `content-block-finish` waits until the text stands in another
block or has ended, and what the block held then leaves right before it, in a delta of its own. The
finished block says what its deltas have said.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from streamguard import End
from streamguard_langchain.lanes import Piece
from streamguard_langchain.settings import Role, Settings, end_of_stream
from streamguard_langchain.shapes import is_dict
from streamguard_langchain.texts import Texts, is_signed, unsigned

__all__ = ["EventGuard"]

Event = dict[str, Any]

_DELTAS: dict[object, tuple[str, Role]] = {
    "text-delta": ("text", "text"),
    "reasoning-delta": ("reasoning", "reasoning"),
    "tool-call-delta": ("args", "json"),
}
_KINDS: dict[object, str] = {
    "text-delta": "text",
    "reasoning-delta": "reasoning",
    "tool-call-delta": "tool_call_chunk",
}
_NAMES = ("event", "id", "index", "message_id", "role")
_BLOCKS: dict[object, tuple[str, Role]] = {
    "text": ("text", "text"),
    "reasoning": ("reasoning", "reasoning"),
    "tool_call_chunk": ("args", "json"),
    "server_tool_call_chunk": ("args", "json"),
}
# Blocks that are finished with the text of their deltas.
_TOLD: dict[object, tuple[str, Role]] = {kind: _BLOCKS[kind] for kind in ("text", "reasoning")}


@dataclasses.dataclass(slots=True)
class _Block:
    """A block that has begun.

    Attributes:
        kind: of the block, as it began.
        taken: characters of its text that have come.
        shown: what of it has been shown.
        streams: it has come in deltas.
        stopped: the event that finishes it, which waits.
    """

    kind: object
    taken: int = 0
    shown: list[str] = dataclasses.field(default_factory=list[str])
    streams: bool = False
    stopped: Event | None = None


class EventGuard:
    """Guards the events of one message; events are dictionaries and are not changed.

    *Delay*: that of the guard; the end of a block may wait for the message's end.
    *Memory*: that of the guard, and for each block that has not been finished its text and an event or two.
    """

    __slots__ = ("_blocks", "_calls_tools", "_settings", "_texts")

    def __init__(self, settings: Settings) -> None:
        """Begin a message."""
        self._settings = settings
        self._texts = Texts(settings)
        self._blocks: dict[Any, _Block] = {}  # in the order they began
        self._calls_tools = False

    def event(self, event: Event, /) -> list[Event]:
        """Take the next event and return what may be shown now."""
        match event.get("event"):
            case "content-block-delta":
                shown = self._delta(event)
                return [*self._settled(), shown]
            case "content-block-start":
                shown = self._start(event)
                return [*self._settled(), shown]
            case "content-block-finish":
                self._stop(event)
                return self._settled()
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
        lanes = self._texts.lanes
        shown = self._said(lanes.late())
        for lane in list(lanes.places):
            shown += self._said(lanes.close(lane, end))
        return shown + [each for index in list(self._blocks) for each in self._finished(index, end)]

    def _begun(self, event: Event, kind: object) -> _Block:
        """Return the block of an event, which may be its first."""
        index = event.get("index")
        block = self._blocks.get(index)
        if block is None:
            self._blocks[index] = block = _Block(kind)
            self._calls_tools = self._calls_tools or kind == "tool_call_chunk"
        self._texts.lanes.blocks.begin(index, str(block.kind))
        return block

    def _start(self, event: Event) -> Event:
        block = self._begun(event, _kind(event))
        content = event.get("content")
        if not is_dict(content):
            return self._other(event)
        field, role = _BLOCKS.get(content.get("type"), ("", "text"))
        opening = content.get(field)
        shown = self._fed(block, event, field, opening, role) if isinstance(opening, str) else opening
        safe = self._whole({**content, field: ""} if field else content, End.COMPLETE)
        return {**event, "content": {**safe, field: shown} if field else safe}

    def _delta(self, event: Event) -> Event:
        delta = event.get("delta")
        if not is_dict(delta):
            return self._other(event)
        kind = delta.get("type")
        block = self._begun(event, _KINDS.get(kind, kind))
        if kind == "data-delta" and delta.get("encoding") == "base64":
            return event
        field, role = _DELTAS.get(kind, ("", "text"))
        text = delta.get(field)
        if not isinstance(text, str):
            return {**event, "delta": self._texts.leaves("delta", delta)}
        block.streams = True
        shown = self._fed(block, event, field, text, role)
        return event if shown == text else {**event, "delta": {**delta, field: shown}}

    def _fed(self, block: _Block, event: Event, field: str, text: str, role: Role) -> str:
        shown = self._texts.text(("content", event["index"], field), (event, (field,)), text, role, None)
        block.taken += len(text)
        block.shown.append(shown)
        return shown

    def _stop(self, event: Event) -> None:
        """Take the end of a block; of its text it may say more than the deltas have."""
        block = self._blocks.get(event.get("index")) or self._begun(event, _kind(event))
        block.stopped = event
        field, role = _TOLD.get(block.kind, ("", "text"))
        content = event.get("content")
        if not is_dict(content):
            return
        text = content.get(field)
        if isinstance(text, str):
            self._fed(block, event, field, text[block.taken :], role)
        if is_signed(content):
            self._texts.lanes.blocks.sign()

    def _finish(self, event: Event) -> list[Event]:
        metadata = event.get("metadata")
        known: dict[str, Any] = metadata if is_dict(metadata) else {}
        shown = self.end(end_of_stream(known, calls_tools=self._calls_tools))
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

    def _settled(self) -> list[Event]:
        """Let go what is known now of blocks before: held text, and the ends of those that have all of it."""
        lanes = self._texts.lanes
        shown = self._said(lanes.before())
        for lane, (event, _) in list(lanes.places.items()):
            if self._blocks[event["index"]].stopped is not None and lanes.blocks.ended(lane):
                shown += self._said(lanes.close(lane, End.COMPLETE))
        waiting = {event["index"] for event, _ in lanes.held()}
        for index, block in list(self._blocks.items()):
            if block.stopped is not None and index not in waiting:
                shown += self._finished(index, End.COMPLETE)
        return shown

    def _said(self, pieces: list[Piece]) -> list[Event]:
        """Make deltas of what was held, for blocks that have come in deltas."""
        shown: list[Event] = []
        for (event, (field,)), text in pieces:
            block = self._blocks[event["index"]]
            block.shown.append(text)
            if block.streams:
                kind = next(name for name, (known, _) in _DELTAS.items() if known == field)
                delta = {"type": kind, field: text}
                shown.append({**event, "event": "content-block-delta", "delta": delta})
                shown[-1].pop("content", None)
        return shown

    def _finished(self, index: Any, end: End) -> list[Event]:
        """Finish a block that is told of no more, if it has come to its end."""
        block = self._blocks.pop(index)
        event = block.stopped
        if event is None:
            return []
        content = event.get("content")
        if not is_dict(content):
            return [event]
        field, _ = _TOLD.get(block.kind, ("", "text"))
        text = content.get(field)
        if not isinstance(text, str):
            return [{**event, "content": self._whole(content, end)}]
        said = "".join(block.shown)
        safe = {**self._whole({**content, field: ""}, end), field: said}
        return [{**event, "content": safe if said == text else unsigned(safe)}]

    def _whole(self, block: dict[str, Any], end: End) -> dict[str, Any]:
        """Guard a block that came whole; findings have been reported of its deltas."""
        safe = Texts(self._settings).content([block], end, whole=True)
        return safe[0] if safe else {"type": block.get("type"), "reasoning": ""}


def _kind(event: Event) -> object:
    content = event.get("content")
    return content.get("type") if is_dict(content) else None
