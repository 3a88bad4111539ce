"""The chunks of one response, guarded as they come.

Each chunk that comes in goes out, at once and with its own id: what is held back is missing from
it, what was held before stands in front. So nothing waits but text, and a consumer that counts
chunks as signs of life sees them. Chunks whose text passes unchanged are the model's own objects.

The chunk that says why the response ended (or that it is the last) closes every text. What is
held leaves right before it, in chunks that have the text, its place and nothing else: metadata
would be doubled when chunks are merged, and a missing `index` would make a second block of it.
"""

from __future__ import annotations

import copy
from typing import Any, cast

from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

from streamguard import End
from streamguard_langchain.messages import changed_parts, with_message, with_parts
from streamguard_langchain.places import Key, grafted
from streamguard_langchain.settings import Settings, end_of, reason_of
from streamguard_langchain.texts import Texts

__all__ = ["ChunkGuard"]

_CONTENT: Key = ("content",)
_PLAIN = frozenset({"model_name", "model_provider", "output_version"})  # metadata of chunks that only go on
_CARRIED = ("model_provider", "output_version")  # what tells how to read the content; never doubled


class ChunkGuard:
    """Guards the chunks of one response, for `streamguard.adapting.guard_events`.

    *Delay*: that of the guard, text by text; no chunk waits. *Memory*: the sessions, and for each
    open text the part of the chunk it was last seen in.
    """

    __slots__ = ("_calls_tools", "_last", "_texts")

    def __init__(self, settings: Settings, *, json_content: bool = False) -> None:
        """Begin a response; the arguments are those of `Texts`."""
        self._texts = Texts(settings, json_content=json_content)
        self._last: ChatGenerationChunk | None = None
        self._calls_tools = False

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
                return [chunk]
            texts = self._texts
            open_lane = _CONTENT in texts.places  # all that is to be said of the lane has been said then
            shown = texts.lanes.feed(_CONTENT, content) if open_lane else texts.content(content, None)
            return [chunk if shown == content else _with_text(chunk, shown)]
        return self._any(chunk)

    def end(self, end: End, /) -> list[ChatGenerationChunk]:
        """Return what is still held, like the last chunk."""
        if end is End.COMPLETE and self._calls_tools:
            end = End.TOOL_CALL
        return self._release(end)

    def _any(self, chunk: ChatGenerationChunk) -> list[ChatGenerationChunk]:
        message: Any = chunk.message
        info = chunk.generation_info
        self._calls_tools = self._calls_tools or bool(getattr(message, "tool_call_chunks", None))
        reason = reason_of({**(info or {}), **message.response_metadata})
        end: End | None = None
        if reason is not None or getattr(message, "chunk_position", None) == "last":
            end = end_of(reason, calls_tools=self._calls_tools)
        touched = changed_parts(message, self._texts, end, whole=False)
        before = [] if end is None else self._release(end)
        made = with_parts(message, touched)
        safe = self._texts.metadata(info) if info else info
        if made is not message or safe is not info:
            chunk = with_message(chunk, made, safe)
        return [*before, chunk]

    def _release(self, end: End) -> list[ChatGenerationChunk]:
        """Close all lanes; what stands in one block, or in one call of a tool, leaves in one chunk."""
        held: dict[tuple[Any, ...], dict[str, Any]] = {}
        texts = self._texts
        for key in cast("tuple[Key, ...]", texts.lanes.open):
            in_block = key[0] == "content" and key != _CONTENT
            place, text = texts.flush(key, texts.block_end(key[1], end) if in_block else end)
            if not text:
                continue
            field, value = str(key[0]), grafted(place, text)
            parts = held.setdefault(key[1:2] if field != "additional_kwargs" else (field,), {})
            if field == "additional_kwargs" and field in parts:
                parts[field] = {**parts[field], **value}
            elif field in parts:
                parts[field] = [*parts[field], *value]
            else:
                parts[field] = value
        return [_tail(parts, self._last) for parts in held.values() if self._last is not None]


def _tail(parts: dict[str, Any], last: ChatGenerationChunk) -> ChatGenerationChunk:
    """Make a chunk of held parts that belongs to the same message as the last one."""
    message: Any = last.message
    metadata = message.response_metadata
    parts.setdefault("content", "" if isinstance(message.content, str) else [])
    kept = {name: metadata[name] for name in _CARRIED if name in metadata}
    return ChatGenerationChunk(message=type(message)(**parts, id=message.id, response_metadata=kept))


def _with_text(chunk: ChatGenerationChunk, text: str) -> ChatGenerationChunk:
    """Copy a chunk that has no other part that counts; a constructor would take three times as long."""
    message = copy.copy(chunk.message)
    vars(message)["content"] = text
    made = copy.copy(chunk)
    parts = vars(made)
    parts["message"] = message
    parts["text"] = text
    return made
