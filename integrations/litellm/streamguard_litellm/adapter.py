"""The items of one stream of LiteLLM, whatever its protocol.

Chat completions, completions and Responses come as objects; Anthropic's messages and Google's
generated content as server-sent events in bytes. The protocol is known from the shape of the
first event. Bytes are cut into frames, the JSON of each is guarded as an event, and frames of
which nothing changed come out as they came in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from streamguard_anthropic import MessagesAdapter
from streamguard_google import GenerateContentAdapter
from streamguard_openai import ResponsesAdapter
from streamguard_openai.shapes import fields, has_fields, is_dict, text_of, with_fields

from streamguard import End
from streamguard.adapting import Settings
from streamguard.adapting.sse import ServerSentEvent, SSEDecoder, encode_event
from streamguard_litellm.finish import is_made_up, may_end, source_of
from streamguard_litellm.sealed import SEALED, unsealed
from streamguard_litellm.thinking import ThinkingChatAdapter

__all__ = ["LiteLLMAdapter"]

_MESSAGES = frozenset(
    {
        "content_block_delta",
        "content_block_start",
        "content_block_stop",
        "message_delta",
        "message_start",
        "message_stop",
        "ping",
    }
)
_GOOGLE = frozenset({"candidates", "promptFeedback", "usageMetadata", "prompt_feedback", "usage_metadata"})
_HIDDEN = "_hidden_params"
_DELTA = ("content", "role", "function_call", "tool_calls", "audio")
_WRITTEN = {
    *_DELTA,
    "annotations",
    "images",
    "provider_specific_fields",
    "reasoning_content",
    "refusal",
    "thinking_blocks",
}
_Adapter = ThinkingChatAdapter | ResponsesAdapter | MessagesAdapter[Any] | GenerateContentAdapter[Any]


_NAME = re.compile(r"[\w.-]+", re.ASCII)


class OpenResponsesAdapter(ResponsesAdapter):
    """Guards the events of Responses, and of their sealed reasoning what can be read."""

    __slots__ = ("_sealed",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        settings = ("tool_args", "reasoning", "tool_guard", "json_content")
        self._sealed = Settings(*args, **{name: kwargs[name] for name in settings if name in kwargs})

    def event(self, event: Any, /) -> Iterable[Any]:
        """Take the next event and return what may be shown now."""
        own = fields(event)
        if "item" in own or "response" in own:
            event = unsealed(event, self._sealed)
        return super().event(event)


class LiteLLMAdapter:
    """Guards the items of one stream: LiteLLM's objects, dictionaries, bytes or texts of frames.

    *Delay*: that of the guard, and for bytes a frame. *Memory*: that of the adapter of the
    protocol, and a frame. Items are never changed. Frames whose data is no JSON are not shown.
    """

    __slots__ = (
        "_adapter",
        "_adapters",
        "_decoder",
        "_events",
        "_known",
        "_settings",
        "_source",
        "_texts",
        "blocks",
        "first",
        "last",
    )

    def __init__(self, settings: Settings, stream: Any = None) -> None:
        """Begin a stream.

        Args:
            settings: how it is guarded.
            stream: where the items come from. One of LiteLLM's own tells whether the provider
                has sent a finish reason; if not, the texts have broken off.
        """
        self._settings = settings
        self._source = source_of(stream)  # until the first finish reason
        self._adapters: dict[type, _Adapter] = {}
        self._known: dict[type, _Adapter] = {}
        self._adapter: _Adapter | None = None  # the one of the last event that was known
        self._decoder: SSEDecoder | None = None
        self._events = False  # frames say their type
        self._texts = False  # frames come as `str`
        self.first: Any = None
        """The first event that was taken, an object or a dictionary."""
        self.last: Any = None
        """The last event that was taken."""
        self.blocks: set[int] = set()
        """The blocks of a message that are open for those who read what is shown."""

    def event(self, item: Any, /) -> Iterable[Any]:
        """Take the next item and return what may be shown now."""
        if self._source is not None and may_end(self._source, item):
            made_up = is_made_up(self._source)
            self._source = None
            if made_up:
                return [*self._released(End.TRUNCATED), *self.event(item)]
        adapter = self._known.get(item.__class__)
        if adapter is not None:
            self.last = item
            shown = list(adapter.event(item))
            if len(shown) != 1 or shown[0] is not item:
                for other in shown:
                    _dated(_whole(other), item)
            return shown
        if isinstance(item, bytes | bytearray | str):
            return self._raw(item)
        return self._event(item)

    def end(self, end: End, /) -> Iterable[Any]:
        """Return what was held and may be shown."""
        shown: list[Any] = []
        if self._decoder is not None:
            for frame in self._decoder.flush():
                shown += self._frame(frame)
        return shown + self._released(end)

    def framed(self, event: Any, /) -> Any:
        """Make an event like the items that came: a dictionary is a frame in a stream of bytes."""
        if not isinstance(event, dict):
            return _whole(event)
        if self._decoder is None:
            return cast("dict[str, Any]", event)
        kind = cast("dict[str, Any]", event).get("type")
        named = self._events and isinstance(kind, str) and _NAME.fullmatch(kind)
        raw = encode_event(_dumped(event), [f"event: {kind}"] if named else [])
        return raw.decode() if self._texts else raw

    def _event(self, event: Any) -> Iterable[Any]:
        self.last = event
        if self.first is None:
            self.first = _copied(event)
        adapter = self._choose(event)
        if not isinstance(event, dict):
            self._known[event.__class__] = adapter
        return adapter.event(event)

    def _choose(self, event: Any) -> _Adapter:
        kind: Any
        own = fields(event)
        if "choices" in own:
            kind = ThinkingChatAdapter
        elif own.keys() & _GOOGLE:
            kind = GenerateContentAdapter
        elif text_of(event, "type") in _MESSAGES:
            kind = MessagesAdapter
        elif self._adapter is not None:
            return self._adapter  # an error, or something unknown
        else:
            kind = OpenResponsesAdapter if text_of(event, "type") else ThinkingChatAdapter
        self._adapter = self._adapters.get(kind)
        if self._adapter is None:
            self._adapter = self._adapters[kind] = self._make(kind)
        return self._adapter

    def _make(self, kind: Any) -> _Adapter:
        settings = self._settings
        if kind is ThinkingChatAdapter:
            return ThinkingChatAdapter(settings)
        made: _Adapter = kind(
            settings.guard,
            **settings.options,
        )
        return made

    def _raw(self, item: bytes | bytearray | str) -> Iterator[Any]:
        """Take bytes. What its first frames show is out before a later one raises."""
        self._texts = isinstance(item, str)
        if self._decoder is None:
            self._decoder = SSEDecoder()
        data = item.encode("utf-8", "surrogatepass") if isinstance(item, str) else bytes(item)
        for frame in self._decoder.decode(data):
            yield from self._frame(frame)

    def _frame(self, frame: ServerSentEvent) -> list[Any]:
        if frame.data is None:  # a comment that keeps the connection alive, or a mere type
            return [self._as_it_came(b": ping\n\n")] if frame.raw.strip() else []
        if frame.data.strip() == "[DONE]":
            return [*self._released(End.COMPLETE), self._as_it_came(b"data: [DONE]\n\n")]
        self._events = self._events or frame.event != ""
        try:
            event, single = _loaded(frame.data)
        except ValueError:
            return []
        # Nobody guards what a name given twice, the name of the event or a comment says.
        kind = text_of(event, "type")
        bare = single and all(line == f"event: {kind}" for line in frame.others)
        seen = unsealed(event, self._settings) if SEALED in frame.data else event
        bare = bare and seen is event
        out: list[Any] = []
        for shown in self._event(seen):
            self._note(shown)
            out.append(self._as_it_came(frame.raw) if shown is seen and bare else self.framed(shown))
        return out

    def _note(self, event: Any) -> None:
        match text_of(event, "type"):
            case "content_block_start":
                self.blocks.add(event.get("index", 0))
            case "content_block_stop":
                self.blocks.discard(event.get("index", 0))
            case _:
                pass

    def _as_it_came(self, raw: bytes) -> bytes | str:
        return raw.decode("utf-8", "replace") if self._texts else raw

    def _released(self, end: End) -> list[Any]:
        released = [shown for adapter in self._adapters.values() for shown in adapter.end(end)]
        for shown in released:
            _dated(shown, self.last)
        return [self.framed(shown) for shown in released]


def _dumped(event: Any) -> str:
    text = json.dumps(event, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character; the other is in the next frame
        return json.dumps(event)
    return text


def _loaded(data: str) -> tuple[Any, bool]:
    """Read JSON, and tell whether no object in it has a name twice."""
    single = True

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal single
        own = dict(pairs)
        single = single and len(own) == len(pairs)
        return own

    return json.loads(data, object_pairs_hook=made), single


def _copied(event: Any) -> Any:
    """Copy an event, and the response in it: those who read it after us write ids of theirs into it."""
    response = fields(event).get("response")
    return with_fields(event, {"response": with_fields(response, {})}) if has_fields(response) else event


def _whole(event: Any) -> Any:
    """Give the choices of a chunk made anew the fields that LiteLLM reads unasked."""
    for choice in getattr(event, "choices", None) or ():
        delta = fields(choice).get("delta")
        if delta is None:
            continue
        held = fields(delta)  # to ask for attributes takes longer
        if "content" not in held and not hasattr(delta, "content"):
            own = {name for name, value in held.items() if value is not None}
            if own and own.isdisjoint(_WRITTEN):
                delta.provider_specific_fields = {}  # else the proxy takes it for one with content alone
            for name in _DELTA:
                if not hasattr(delta, name):
                    setattr(delta, name, None)
    return event


def _dated(chunk: Any, last: Any) -> None:
    """Date a chunk made anew like the last one that came: LiteLLM builds answers in the order of dates."""
    own = getattr(chunk, "__pydantic_private__", None)
    latest = getattr(last, "__pydantic_private__", None)
    if not own or not latest or own.get(_HIDDEN) is latest.get(_HIDDEN):
        return
    notes, others = own.get(_HIDDEN), latest.get(_HIDDEN)
    if is_dict(notes) and is_dict(others) and "created_at" in notes and "created_at" in others:
        own[_HIDDEN] = {**notes, "created_at": others["created_at"]}
