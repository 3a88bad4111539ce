"""The events of one message, guarded block by block.

Every block is a lane of its own. `content_block_stop` comes before anything says why the block
has ended: the next block (a tool's, or not) or the stop reason. So it waits for the next event,
and what the block holds leaves right before it, in a delta like the block's last one.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from streamguard import End, Transformer
from streamguard.adapting import JsonLane, Lanes, ReasoningPolicy, Settings, ToolArgsPolicy, Unchanged
from streamguard.session import FindingHandler
from streamguard_anthropic.ends import TOOL_BLOCKS, end_of
from streamguard_anthropic.response import KEPT, guard_block, guard_leaves, guard_message, is_reasoning
from streamguard_anthropic.shape import fields, get, put

__all__ = ["MessagesAdapter"]

E = TypeVar("E")

_FIELD = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
_EVENT = frozenset({"type", "index", "delta"})
_WHOLE = frozenset({"citations_delta", "compaction_delta"})
_DERIVED = frozenset({"text", "thinking", "signature", "input_json", "citation", "compaction"})


class _Block:
    """What is known of an open block."""

    __slots__ = ("field", "head", "kind", "start", "stop", "template", "unchanged", "unknown")

    def __init__(self, kind: object) -> None:
        self.kind = kind
        self.start: Any = None  # its first event, if that has text and waits for what it may show
        self.head = ""  # what it may show of that text
        self.field = ""  # where the text of `template` stands
        self.template: Any = None
        self.stop: Any = None
        self.unknown: dict[Any, tuple[Any, tuple[str, ...]]] = {}
        self.unchanged = Unchanged()


class MessagesAdapter(Generic[E]):
    """Guards the events of one message: raw events of the SDK, or dictionaries.

    Events which the SDK's helper derives from others (`text`, `input_json`, ...) are left out:
    `guard_stream` lets the helper derive them anew.

    *Delay*: that of the guard; `content_block_stop` waits for the next event where its block
    holds something. *Memory*: that of the guard, and an event for each open block.
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
        self._lanes = Lanes(guard, on_finding=on_finding)
        self._text = self._settings.for_content
        self._json = JsonLane(self._settings.for_tools)
        self._blocks: dict[Any, _Block] = {}
        self._dropped: set[Any] = set()
        self._stopped = False

    def event(self, event: E, /) -> list[E]:
        """Take the next event and return what may be shown now."""
        shown: list[Any]
        match get(event, "type"):
            case "content_block_delta":
                shown = self._delta(event)
            case "content_block_start":
                shown = self._start(event)
            case "content_block_stop":
                shown = self._stop(event)
            case "message_start":
                shown = [self._with(event, "message", guard_message)]
            case "message_delta":
                reason = get(get(event, "delta"), "stop_reason")
                self._stopped = self._stopped or reason is not None
                shown = [*self._release_all(end_of(reason)), self._with(event, "delta", guard_leaves)]
            case "message_stop":
                shown = [*self._release_all(End.COMPLETE), self._with(event, "message", guard_message)]
                self._stopped = True
            case "error":
                shown = [*self._release_all(End.ERROR), guard_leaves(event, self._settings)]
                self._stopped = True
            case "ping":
                shown = [event]
            case kind if kind in _DERIVED:
                shown = []
            case _:
                shown = [guard_leaves(event, self._settings)]
        return shown

    def end(self, end: End, /) -> list[E]:
        """Return what is still held; without a stop reason the message has broken off."""
        broken = end is End.COMPLETE and not self._stopped
        return self._release_all(End.TRUNCATED if broken else end)

    def _start(self, event: Any) -> list[Any]:
        index, block = get(event, "index"), get(event, "content_block")
        kind = get(block, "type")
        before = self._release_stopped(End.TOOL_CALL if kind in TOOL_BLOCKS else End.COMPLETE)
        self._dropped.discard(index)
        if self._settings.reasoning == "drop" and is_reasoning(block):
            self._dropped.add(index)
            return before
        self._blocks[index] = state = _Block(kind)
        text = get(block, str(kind)) if kind in ("text", "thinking") else None
        if not (isinstance(text, str) and text) or self._keeps(kind):
            safe = guard_block(block, self._settings)
            return [*before, self._numbered(event if safe is block else put(event, content_block=safe))]
        state.head = self._lanes.feed(index, text, guard=self._text if kind == "text" else None)
        state.unchanged.passed(text, state.head)
        citations = get(block, "citations")
        if citations:
            block = put(block, citations=guard_leaves(citations, self._settings))
            event = put(event, content_block=block)
        state.start = event
        return before

    def _delta(self, event: Any) -> list[Any]:
        index, delta = get(event, "index"), get(event, "delta")
        if index in self._dropped:
            return []
        state = self._blocks.get(index)
        if state is None:
            self._blocks[index] = state = _Block(None)
        kind = get(delta, "type")
        name = _FIELD.get(kind)
        if name is None:
            return self._other(index, state, event, delta, kind)
        text = get(delta, name)
        if not isinstance(text, str):
            return [*self._begun(state), self._numbered(event)]
        if name == "partial_json":
            if self._settings.tool_args == "keep":
                return [self._numbered(event)]
            if self._settings.tool_args == "drop":
                shown = ""
            else:
                shown = self._lanes.feed(index, text, guard=self._json)
        elif name == "thinking" and self._settings.reasoning != "guard":
            return [] if self._settings.reasoning == "drop" else [self._numbered(event)]
        else:
            shown = self._lanes.feed(index, text, guard=self._text if name == "text" else None)
            if name == "thinking":
                state.unchanged.passed(text, shown)
        state.template, state.field = event, name
        return [*self._begun(state), *self._shown(event, delta, name, text, shown)]

    def _shown(self, event: Any, delta: Any, name: str, text: str, shown: str) -> list[Any]:
        if shown == text:
            return [self._numbered(event)]
        if not shown and fields(event).keys() <= _EVENT and fields(delta).keys() <= {"type", name}:
            return []  # an event that says nothing else
        return [self._numbered(put(event, delta=put(delta, **{name: shown})))]

    def _other(self, index: Any, state: _Block, event: Any, delta: Any, kind: object) -> list[Any]:
        if kind == "signature_delta":
            return self._signature(index, state, event)
        if kind in _WHOLE:
            return [*self._begun(state), self._numbered(self._with(event, "delta", guard_leaves))]
        return [*self._begun(state), self._unknown(index, state, event, kind)]

    def _unknown(self, index: Any, state: _Block, event: Any, kind: object) -> Any:
        """Guard a delta of a kind unknown here: each of its texts is a lane."""
        delta = get(event, "delta")
        texts = {name: text for name, text in fields(delta).items() if _is_text(name, text)}
        shown = {name: self._lanes.feed((index, kind, name), text) for name, text in texts.items()}
        state.unknown[kind] = (event, tuple(texts))
        safe = guard_leaves(put(delta, **dict.fromkeys(texts)), self._settings)
        return self._numbered(_with_texts(put(event, delta=safe), shown))

    def _signature(self, index: Any, state: _Block, event: Any) -> list[Any]:
        """Thinking is complete when it is signed; the signature of changed thinking is invalid."""
        if self._settings.reasoning == "drop":
            return []
        shown = self._released(index, state, End.COMPLETE)
        return [*shown, self._numbered(event)] if state.unchanged else shown

    def _stop(self, event: Any) -> list[Any]:
        before = self._release_stopped(End.COMPLETE)
        index = get(event, "index")
        if index in self._dropped:
            return before
        state = self._blocks.get(index)
        block = get(event, "content_block")
        if block is not None and (safe := guard_block(block, self._settings)) is not block:
            event = put(event, content_block=safe)
        event = self._numbered(event)
        if state is None:
            return [*before, event]
        state.stop = event
        if state.start is None and not state.unknown and not self._lanes.pending(index):
            return [*before, *self._close(index, End.COMPLETE)]
        return before

    def _begun(self, state: _Block) -> list[Any]:
        """The block's first event, if it waited."""
        start, state.start = state.start, None
        if start is None:
            return []
        block, kind = get(start, "content_block"), str(state.kind)
        changes: dict[str, object] = {} if get(block, kind) == state.head else {kind: state.head}
        if state.kind == "thinking" and not state.unchanged and get(block, "signature"):
            changes["signature"] = ""
        return [self._numbered(put(start, content_block=put(block, **changes)) if changes else start)]

    def _released(self, index: Any, state: _Block, end: End) -> list[Any]:
        text = self._lanes.flush(index, end)
        state.unchanged.passed("", text)
        if state.start is not None:
            state.head += text
            return self._begun(state)
        return [self._numbered(_with_texts(state.template, {state.field: text}))] if text else []

    def _close(self, index: Any, end: End) -> list[Any]:
        state = self._blocks.pop(index)
        shown = self._released(index, state, end)
        for kind, (template, names) in state.unknown.items():
            held = {name: self._lanes.flush((index, kind, name), end) for name in names}
            if any(held.values()):
                shown.append(self._numbered(_with_texts(template, held)))
        return shown if state.stop is None else [*shown, state.stop]

    def _release_stopped(self, end: End) -> list[Any]:
        stopped = [index for index, state in self._blocks.items() if state.stop is not None]
        return [event for index in stopped for event in self._close(index, end)]

    def _release_all(self, end: End) -> list[Any]:
        return [event for index in list(self._blocks) for event in self._close(index, end)]

    def _keeps(self, kind: object) -> bool:
        return kind == "thinking" and self._settings.reasoning == "keep"

    def _numbered(self, event: Any) -> Any:
        """Count the blocks anew where some were dropped: clients look blocks up by their index."""
        if not self._dropped:
            return event
        index = get(event, "index")
        before = sum(1 for dropped in self._dropped if dropped < index)
        return put(event, index=index - before) if before else event

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
