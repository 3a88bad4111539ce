"""The events of one message, guarded text by text.

The blocks of text are one text until one calls a tool: whoever shows an answer joins them, and each
citation makes a new one. Other blocks in between do not end it. Thinking is one text a block, for
its signature is valid for that block alone, and so are the arguments of a tool.

`content_block_stop` comes before anything says how its block goes on: in the next text, before a
tool's block, or with the stop reason. Where the block holds something, it waits for that, and all
that follows waits with it (see `Line`). What is held leaves right before it, in a delta.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from streamguard import End, Transformer
from streamguard.adapting import Lanes, ReasoningPolicy, Settings, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_anthropic.blocks import Block, Line
from streamguard_anthropic.ends import TOOL_BLOCKS, end_of
from streamguard_anthropic.response import (
    KEPT,
    guard_beside,
    guard_block,
    guard_leaves,
    guard_message,
    is_reasoning,
    text_of,
)
from streamguard_anthropic.shape import fields, get, put
from streamguard_anthropic.texts import Texts

__all__ = ["MessagesAdapter"]

E = TypeVar("E")

_FIELD = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
_EVENT = frozenset({"type", "index", "delta"})
_KINDS = {f"content_block_{step}" for step in ("start", "delta", "stop")} | {
    *(f"message_{step}" for step in ("start", "delta", "stop")),
    "ping",
}
_KNOWN = _EVENT | {"content_block", "message", "usage"}
_WHOLE = frozenset({"citations_delta", "compaction_delta"})
_DERIVED = frozenset({"text", "thinking", "signature", "input_json", "citation", "compaction"})


class MessagesAdapter(Generic[E]):
    """Guards the events of one message: raw events of the SDK, or dictionaries.

    Events which the SDK's helper derives from others (`text`, `input_json`, ...) are left out:
    `guard_stream` lets the helper derive them anew. A finding's lane is the index of the block in
    which its text began.

    *Delay*: that of the guard. Where a block that stops holds something, its `content_block_stop`
    and what follows, but for `ping`, wait until the next text, a tool's block or the end of the message
    decides it. *Memory*: that of the guard, an event for each text, and the events that wait.
    """

    def __init__(
        self,
        guard: Transformer,
        *,
        tool_args: ToolArgsPolicy = "guard",
        reasoning: ReasoningPolicy = "guard",
        tool_guard: Transformer | None = None,
        json_content: bool = False,
        on_finding: FindingHandler | None = None,
    ) -> None:
        """Make the state of one message; the arguments are those of `guard_stream`.

        Raises:
            ValueError: a policy is unknown.
        """
        self._settings = Settings(guard, tool_args, reasoning, tool_guard, json_content, on_finding)
        self._lanes = Lanes(guard, on_finding=on_finding)  # deltas of unknown kinds
        self._blocks: dict[Any, Block] = {}  # those that are open, or hold something of their own
        self._line = Line()
        self._texts = Texts(self._settings, self._line)
        self._stopped = False

    def event(self, event: E, /) -> list[E]:
        """Take the next event and return what may be shown now."""
        kind = get(event, "type")
        if kind in _KINDS and not fields(event).keys() <= _KNOWN:
            event = guard_beside(event, _KNOWN, self._settings)
        match kind:
            case "content_block_delta":
                self._delta(event)
            case "content_block_start":
                self._start(event)
            case "content_block_stop":
                self._stop(event)
            case "message_start":
                self._line.add(self._with(event, "message", guard_message))
            case "message_delta":
                reason = get(get(event, "delta"), "stop_reason")
                if reason is not None:
                    self._stopped = True
                    self._end_all(end_of(reason))
                self._line.add(self._with(event, "delta", guard_leaves))
            case "message_stop":
                self._stopped = True
                self._end_all(End.COMPLETE)
                self._line.add(self._with(event, "message", guard_message))
            case "error":
                self._stopped = True
                self._end_all(End.ERROR)
                self._line.add(guard_leaves(event, self._settings))
            case "ping":
                return [event]  # it keeps the connection alive, and has no place among the others
            case _ if kind in _DERIVED:
                pass
            case _:
                self._line.add(guard_leaves(event, self._settings))
        return self._line.shown()

    def end(self, end: End, /) -> list[E]:
        """Return what is still held; without a stop reason the message has broken off."""
        self._end_all(End.TRUNCATED if end is End.COMPLETE and not self._stopped else end)
        return self._line.shown()

    def _start(self, event: Any) -> None:
        index, content = get(event, "index"), get(event, "content_block")
        kind = get(content, "type")
        if (before := self._blocks.get(index)) is not None:
            before.stopped = True
        self._next(End.TOOL_CALL if kind in TOOL_BLOCKS else End.COMPLETE)
        self._line.dropped.discard(index)
        if self._settings.reasoning == "drop" and is_reasoning(content):
            self._line.dropped.add(index)
            return
        self._blocks[index] = block = Block(index, kind)
        event = self._with(event, "content_block", guard_block)
        said = text_of(content)
        if said is None or self._keeps(kind):
            self._line.add(event)
        else:
            self._texts.feed_whole(block, event, said)

    def _delta(self, event: Any) -> None:
        index, delta = get(event, "index"), get(event, "delta")
        if index in self._line.dropped:
            return
        block = self._blocks.get(index)
        if block is None or (block.stopped and not block.waits):
            self._blocks[index] = block = Block(index, None)
        kind = get(delta, "type")
        name = _FIELD.get(kind)
        if name is None:
            self._other(block, event, kind)
            return
        if len(fields(delta)) > 2 and (safe := guard_beside(delta, (name,), self._settings)) is not delta:
            event = put(event, delta=safe)
        text = get(delta, name)
        if not isinstance(text, str) or self._keeps(name):
            self._line.add_delta(event, block)
        elif name == "thinking" and self._settings.reasoning == "drop":
            pass
        elif name == "partial_json" and self._settings.tool_args == "drop":
            self._show(block, event, name, text, "")
        else:
            self._show(block, event, name, text, self._texts.feed(block, event, name, text))

    def _show(self, block: Block, event: Any, name: str, text: str, shown: str) -> None:
        if shown != text:
            delta = get(event, "delta")
            if not shown and fields(event).keys() <= _EVENT and fields(delta).keys() <= {"type", name}:
                return  # an event that says nothing else
            event = put(event, delta=put(delta, **{name: shown}))
        self._line.add_delta(event, block)

    def _other(self, block: Block, event: Any, kind: object) -> None:
        if kind == "signature_delta":
            self._signature(block, event)
        elif kind in _WHOLE:
            self._line.add_delta(self._with(event, "delta", guard_leaves), block)
        else:
            self._unknown(block, event, kind)

    def _unknown(self, block: Block, event: Any, kind: object) -> None:
        """Guard a delta of a kind unknown here: each of its texts is a lane."""
        delta = get(event, "delta")
        texts = {name: text for name, text in fields(delta).items() if _is_text(name, text)}
        shown = {name: self._lanes.feed((block.index, kind, name), text) for name, text in texts.items()}
        block.unknown[kind] = (event, tuple(texts))
        safe = guard_leaves(put(delta, **dict.fromkeys(texts)), self._settings)
        self._line.add_delta(_with_texts(put(event, delta=safe), shown), block)

    def _signature(self, block: Block, event: Any) -> None:
        """Thinking is complete when it is signed; the signature of changed thinking is invalid."""
        if self._settings.reasoning != "drop":
            self._texts.end_own(block, End.COMPLETE)
            if block.text is None or not block.text.is_changed:
                self._line.add_delta(event, block)

    def _stop(self, event: Any) -> None:
        self._next(End.COMPLETE)
        index, content = get(event, "index"), get(event, "content_block")
        if index in self._line.dropped:
            return
        event = self._with(event, "content_block", guard_block)
        block = self._blocks.get(index)
        said = text_of(content)
        copied = said is not None and not self._keeps(get(content, "type"))
        if block is not None:
            self._texts.end_signed(block)
            self._line.add_stop(None if copied else event, block)
        elif not copied:
            self._line.add(event)
        if said is not None and copied:
            self._blocks["copy", index] = copy = Block(index, get(content, "type"), is_copy=True)
            copy.stopped = True
            self._texts.feed_whole(copy, event, said)
            self._texts.end_signed(copy)

    def _next(self, end: End) -> None:
        """Another block begins or stops: it decides those that have stopped.

        The text of the message goes on, but for a tool.
        """
        stopped = [block for block in self._blocks.values() if block.stopped]
        if stopped:
            self._blocks = {key: block for key, block in self._blocks.items() if not block.stopped}
        for block in stopped:
            self._close(block, end)
        if end is End.TOOL_CALL:
            self._texts.end_stopped(end)

    def _end_all(self, end: End) -> None:
        blocks, self._blocks = self._blocks, {}
        for block in blocks.values():
            self._close(block, end)
        self._texts.end_shared(end)

    def _close(self, block: Block, end: End) -> None:
        self._texts.end_own(block, end)
        for kind, (template, names) in block.unknown.items():
            held = {name: self._lanes.flush((block.index, kind, name), end) for name in names}
            if any(held.values()):
                self._line.add_delta(_with_texts(template, held), block)
        block.unknown.clear()

    def _keeps(self, kind: object) -> bool:
        """Tell whether texts of a kind of block, or of a field, are left as they are."""
        if kind == "partial_json":
            return self._settings.tool_args == "keep"
        return kind == "thinking" and self._settings.reasoning == "keep"

    def _with(self, event: Any, name: str, guard: Any) -> Any:
        part = get(event, name)
        if part is None:
            return event
        safe = guard(part, self._settings)
        return event if safe is part else put(event, **{name: safe})


def _is_text(name: str, value: object) -> bool:
    return (
        isinstance(value, str)
        and name not in KEPT
        and not name.endswith("_id")
        and not name.startswith("encrypted_")
    )


def _with_texts(event: Any, texts: dict[str, str]) -> Any:
    return put(event, delta=put(get(event, "delta"), **texts))
