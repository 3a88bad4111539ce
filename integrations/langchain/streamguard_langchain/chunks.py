"""The chunks of one response, guarded as they come.

Each chunk that comes in goes out, at once and with its own id: what is held back is missing from
it, what was held before stands in front. So a consumer that counts chunks as signs of life sees
them. Chunks whose text passes unchanged are the model's own objects.

A chunk that says why the response ended (or that it is the last) waits for the next: servers give
reasons on chunks with text behind them, on every one even, and a text that is closed too early has
been cut. So texts are closed where the stream ends. What is held leaves right before the chunks
that wait, in chunks that have the text, its place and nothing else: metadata would be doubled when
chunks are merged, and a missing `index` would make a second block of it.
"""

from __future__ import annotations

import copy
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.utils._merge import merge_dicts

from streamguard import End
from streamguard_langchain.messages import EXTRAS, FIELDS, changed_parts, declared, with_message, with_parts
from streamguard_langchain.places import grafted
from streamguard_langchain.settings import Settings, end_of_stream, reason_of
from streamguard_langchain.shapes import is_dict
from streamguard_langchain.texts import Texts

__all__ = ["ChunkGuard"]

_PLAIN = frozenset({"model_name", "model_provider", "output_version"})  # metadata of chunks that only go on
_CARRIED = ("model_provider", "output_version")  # what tells how to read the content; never doubled


class ChunkGuard:
    """Guards the chunks of one response, for `streamguard.adapting.guard_events`.

    *Delay*: that of the guard, text by text; a chunk that gives a reason waits for the next that has
    more than metadata. *Memory*: the sessions, for each open text the part of the chunk it was last
    seen in, and the chunks that wait.
    """

    __slots__ = ("_calls_tools", "_known", "_last", "_texts", "_waiting")

    def __init__(self, settings: Settings, *, json_content: bool = False) -> None:
        """Begin a response; the arguments are those of `Texts`."""
        self._texts = Texts(settings, json_content=json_content)
        self._last: ChatGenerationChunk | None = None
        self._calls_tools = False
        self._known: dict[str, Any] = {}  # what metadata says of the end
        self._waiting: list[ChatGenerationChunk] = []

    def event(self, chunk: ChatGenerationChunk, /) -> list[ChatGenerationChunk]:
        """Take the next chunk and return what may be shown now."""
        self._last = chunk
        message: Any = chunk.message
        content = message.content
        if (
            content.__class__ is str
            and not chunk.generation_info
            and (not message.response_metadata or message.response_metadata.keys() <= _PLAIN)
            and not message.additional_kwargs
            and message.__class__ is AIMessageChunk
            and not message.tool_call_chunks
            and not message.tool_calls
            and message.chunk_position is None
            and not message.__pydantic_extra__
        ):
            if not content:
                return self._after(chunk)
            if not self._known and message.response_metadata:
                self._known.update(message.response_metadata)
            plain = self._texts.plain
            if plain is None:
                return self._any(chunk)
            shown = self._texts.lanes.feed(plain, content)
            shown_chunk = chunk if shown == content else _with_text(chunk, shown)
            return self._gone_on(shown_chunk) if self._waiting else [shown_chunk]
        return self._any(chunk)

    def end(self, end: End, /) -> list[ChatGenerationChunk]:
        """Return what is still held, and behind it the chunks that wait."""
        if end is End.COMPLETE:
            end = end_of_stream(self._known, calls_tools=self._calls_tools)
        waiting, self._waiting = self._waiting, []
        held = self._release(end)
        if held and waiting and _has_text(waiting[0].message):
            text, waiting[0] = _split(waiting[0])
            return [text, *held, *waiting]
        return [*held, *waiting]

    def _any(self, chunk: ChatGenerationChunk) -> list[ChatGenerationChunk]:
        message: Any = chunk.message
        info = chunk.generation_info
        self._calls_tools = self._calls_tools or bool(getattr(message, "tool_call_chunks", None))
        known = {**(info or {}), **message.response_metadata}
        ends = reason_of(known) is not None or getattr(message, "chunk_position", None) == "last"
        self._known.update({name: value for name, value in known.items() if value})
        has_text = _has_text(message)
        touched = changed_parts(message, self._texts, None, whole=False)
        made = with_parts(message, touched)
        safe = self._texts.metadata(info) if info else info
        if made is not message or safe is not info:
            chunk = with_message(chunk, made, safe)
        if ends:
            before = self._gone_on() if has_text else []
            self._waiting.append(chunk)
            return before
        return self._gone_on(chunk) if has_text else self._after(chunk)

    def _gone_on(self, *chunks: ChatGenerationChunk) -> list[ChatGenerationChunk]:
        """Let the chunks go that waited: the response has gone on behind them."""
        waiting, self._waiting = self._waiting, []
        return [*waiting, *chunks]

    def _after(self, chunk: ChatGenerationChunk) -> list[ChatGenerationChunk]:
        """Keep the order: what has no text waits behind what waits."""
        if not self._waiting:
            return [chunk]
        self._waiting.append(chunk)
        return []

    def _release(self, end: End) -> list[ChatGenerationChunk]:
        """Close all lanes; what stands in one block, or in one call of a tool, leaves in one chunk."""
        held: dict[tuple[Any, ...], dict[str, Any]] = {}
        lanes = self._texts.lanes
        for lane in list(lanes.places):
            for place, text in lanes.close(lane, end):
                field, value = str(lane[0]), grafted(place, text)
                in_call = field != "additional_kwargs" and not isinstance(value, str)
                parts = held.setdefault(lane[1:2] if in_call else (field,), {})
                if field not in parts:
                    parts[field] = value
                elif is_dict(value):
                    parts[field] = merge_dicts(parts[field], value)
                else:
                    parts[field] += value
        return [_tail(parts, self._last) for parts in held.values() if self._last is not None]


def _has_text(message: Any) -> bool:
    return bool(
        message.content
        or message.additional_kwargs
        or getattr(message, "tool_call_chunks", None)
        or getattr(message, "tool_calls", None)
    )


def _split(chunk: ChatGenerationChunk) -> tuple[ChatGenerationChunk, ChatGenerationChunk]:
    """Make two chunks of one: what has its texts, and what says how the response ended."""
    text, last = _unended(chunk.message), _wordless(chunk.message)
    return with_message(chunk, text, None), with_message(chunk, last, chunk.generation_info)


def _tail(parts: dict[str, Any], last: ChatGenerationChunk) -> ChatGenerationChunk:
    """Make a chunk of held parts that belongs to the same message as the last one."""
    own = parts.pop(FIELDS, {})
    message = with_parts(_unended(_wordless(last.message)), {**parts, **own})
    return with_message(last, message, None)


def _unended(message: BaseMessage) -> BaseMessage:
    """Copy a chunk's message without what it says of the response: that would be doubled."""
    made = copy.copy(message)
    parts = vars(made)
    metadata = message.response_metadata
    parts["response_metadata"] = {name: metadata[name] for name in _CARRIED if name in metadata}
    for name in ("usage_metadata", "chunk_position"):
        if name in parts:
            parts[name] = None
    return made


def _wordless(message: BaseMessage) -> BaseMessage:
    """Copy a chunk's message without its texts."""
    made = copy.copy(message)
    parts = vars(made)
    parts["content"] = "" if isinstance(message.content, str) else []
    parts["additional_kwargs"] = {}
    for name in ("tool_call_chunks", "tool_calls", "invalid_tool_calls"):
        if name in parts:
            parts[name] = []
    for name in declared(type(message)):
        if isinstance(parts.get(name), str):
            parts[name] = ""
    if message.__pydantic_extra__:
        object.__setattr__(made, EXTRAS, {})
    return made


def _with_text(chunk: ChatGenerationChunk, text: str) -> ChatGenerationChunk:
    """Copy a chunk that has no other part that counts; a constructor would take three times as long."""
    message = copy.copy(chunk.message)
    vars(message)["content"] = text
    made = copy.copy(chunk)
    parts = vars(made)
    parts["message"] = message
    parts["text"] = text
    return made
