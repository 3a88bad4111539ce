"""Guard of a stream of server-sent events: those of providers, and an application's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from streamguard_openai.shapes import fields, text_of

from streamguard import End, Transformer
from streamguard.adapting import JsonLane, Lanes, ReasoningPolicy, Settings, ToolArgsPolicy
from streamguard.adapting.sse import MAX_EVENT, ServerSentEvent, SSEDecoder, encode_event, newline_of
from streamguard.session import FindingHandler
from streamguard_asgi.body import BytesGuard
from streamguard_asgi.closing import DONE, Ending, closing_events
from streamguard_asgi.plain import closed_by
from streamguard_asgi.protocols import Events, Parsed, StreamProtocol, family_of, parsed
from streamguard_asgi.reading import dumped, is_cut, loaded

__all__ = ["SSEGuard"]


class SSEGuard(BytesGuard):
    """Guards a stream of server-sent events.

    Events that do not change keep their very bytes. An event comes out when the empty line
    behind it has come; text that is held comes out in an event like the last of its lane.

    *Delay*: an event until it is complete, and that of the guard. *Memory*: an event of at most
    `max_event` bytes, and that of the adapters.
    """

    __slots__ = (
        "_clean",
        "_decoder",
        "_events",
        "_finished",
        "_lanes",
        "_last",
        "_named",
        "_protocol",
        "_response",
        "_settings",
        "_spoken",
    )

    def __init__(
        self,
        guard: Transformer,
        /,
        *,
        protocol: StreamProtocol = "auto",
        tool_args: ToolArgsPolicy = "guard",
        reasoning: ReasoningPolicy = "guard",
        tool_guard: Transformer | None = None,
        json_content: bool = False,
        text_fields: frozenset[str] | None = None,
        on_finding: FindingHandler | None = None,
        max_event: int | None = MAX_EVENT,
    ) -> None:
        """Begin a stream.

        Args:
            guard: what every text goes through.
            protocol: what the events are; by default their shape tells.
            tool_args: what happens to the arguments of tools.
            reasoning: what happens to reasoning.
            tool_guard: what arguments go through, if not `guard`.
            json_content: the content of an OpenAI stream is JSON; only its strings are guarded.
            text_fields: in JSON of no known provider, the names of strings that are pieces of a
                text; by default `TEXT_FIELDS`.
            on_finding: called with each finding, a `LaneFinding` for what streams.
            max_event: bytes of one event at most; a larger one ends the stream.

        Raises:
            ValueError: a policy is unknown.
            TypeError: the guard is no `Transformer`.
        """
        super().__init__()
        self._settings = Settings(guard, tool_args, reasoning, tool_guard, json_content, on_finding)
        self._protocol: StreamProtocol = protocol
        self._decoder = SSEDecoder(max_event=max_event)
        self._events = Events(self._settings, protocol, text_fields)
        self._lanes = Lanes(guard, on_finding=on_finding)  # texts that are no JSON, by event name
        self._spoken: dict[str, str] = {}  # what texts of a name are: "text", or "json" strings
        self._clean: set[str] = set()
        self._last: tuple[ServerSentEvent, Any] | None = None  # the last event of JSON
        self._response: dict[str, Any] = {}  # what is known of a response of the Responses API
        self._named = False  # events are named after their type
        self._finished = False

    def _fed(self, data: bytes) -> Iterator[bytes]:
        for event in self._decoder.decode(data):
            yield self._event(event)

    def _ended(self, end: End) -> Iterator[bytes]:
        rest = b""
        if end is not End.ERROR:
            for event in self._decoder.flush():
                if self._is_half(event):
                    end, self.cut = End.ERROR, True
                else:
                    rest = self._event(event)
                    yield rest
        held = self._end(end)
        if end is End.ERROR and not self._finished:
            held += self._closing("broken")
        if held and rest and not rest.endswith((b"\n\n", b"\r\r", b"\r\n\r\n")):
            yield b"\n\n"
        yield held

    def _is_half(self, event: ServerSentEvent) -> bool:
        """Tell whether the last event was cut off: it lacks its data, or the rest of its JSON."""
        if event.raw.endswith((b"\n\n", b"\r\r", b"\r\n\r\n")):
            return False
        if not event.data:
            return any(line and not line.startswith(":") for line in event.others) or event.data == ""
        return self._protocol != "text" and event.data.strip() != DONE and is_cut(event.data)

    def _event(self, event: ServerSentEvent) -> bytes:
        if event.others and not self._clean.issuperset(event.others):
            event = self._cleaned(event)
        data = event.data
        if not data:
            return event.raw
        if data.strip() == DONE:
            self._finished = True
            return self._end(End.COMPLETE) + event.raw
        if self._protocol != "text" and data.lstrip()[:1] in ("{", "["):
            try:
                value, faithful = loaded(data)
            except json.JSONDecodeError:
                if self._events.family is not None:
                    safe = JsonLane(self._settings.guard).scrub(data, end=End.TRUNCATED)
                    return event.raw if safe == data else encode_event(safe, event.others)
            else:
                if not faithful:
                    data = dumped(value, data)
                    raw = encode_event(data, event.others, newline=newline_of(event.raw))
                    event = event._replace(raw=raw, data=data)
                if value:
                    return self._json(event, value)
        return self._text(event, data)

    def _json(self, event: ServerSentEvent, value: Any) -> bytes:
        came = parsed(value, event)
        self._last = (event, came)
        kind = text_of(came, "type")
        self._named = self._named or (event.event != "" and event.event == kind)
        self._finished = self._finished or kind in _LAST
        if kind == "response.created":
            response = fields(fields(came).get("response"))
            self._response = {name: response[name] for name in _KNOWN if name in response}
        before = b""
        if event.event and family_of(value) is None and (end := closed_by(event.event)) is not None:
            before = self._end(end)
        shown = list(self._events.event(came, event.event))
        if len(shown) == 1 and shown[0][1] is came:
            return before + event.raw
        return before + b"".join(
            self._written(name, item, event, came if at == len(shown) - 1 else None)
            for at, (name, item) in enumerate(shown)
        )

    def _written(self, name: str, item: Any, event: ServerSentEvent, came: Any) -> bytes:
        """Write an event; `came` is what it was made of, if that came in `event`."""
        if isinstance(item, Parsed):
            raw: bytes = item.source.raw
            return raw
        if item is came:
            return event.raw
        kind = text_of(item, "type")
        others: Iterable[str] = ()
        if came is not None and kind == text_of(came, "type"):
            others = event.others
        elif name or (self._named and kind):
            others = (f"event: {name or kind}",)
        return encode_event(dumped(item, event.data or ""), others, newline=newline_of(event.raw))

    def _text(self, event: ServerSentEvent, data: str) -> bytes:
        """Guard data that is no JSON, or a string of JSON: a piece of the text of its name."""
        name = event.event if event.event in self._spoken or len(self._spoken) < _REMEMBERED else ""
        end = closed_by(name)
        before = b"" if end is None else self._end(end, but=name)
        piece = self._piece(name, data)
        if piece is None:
            return before + event.raw
        shown = self._lanes.feed(name, piece)
        if end is not None:
            shown += self._lanes.flush(name, end)
        if shown == piece:
            return before + event.raw
        if not shown:
            return before
        return before + encode_event(self._spelled(name, shown), event.others, newline=newline_of(event.raw))

    def _piece(self, name: str, data: str) -> str | None:
        """Return the text in an event's data; `None` if it has none, such as a number of JSON.

        The first data of a name decides whether its texts are strings of JSON.
        """
        spoken = self._spoken.get(name, "json" if data.startswith('"') else "text")
        if spoken == "json" and self._protocol != "text":
            try:
                value = json.loads(data)
            except json.JSONDecodeError:
                spoken = "text"
            else:
                self._spoken[name] = spoken
                return value if isinstance(value, str) else None
        self._spoken[name] = "text"
        return data

    def _spelled(self, name: str, text: str) -> str:
        return json.dumps(text) if self._spoken.get(name) == "json" else text

    def _end(self, end: End, *, but: str | None = None) -> bytes:
        """Let out what is held, but for the text of one name."""
        like = self._last[0] if self._last is not None else ServerSentEvent(b"")
        out = [self._written(name, item, like, None) for name, item in self._events.end(end)]
        for key in self._lanes.open:
            name = str(key)
            if name != but and (text := self._lanes.flush(name, end)):
                out.append(encode_event(self._spelled(name, text), [f"event: {name}"] if name else []))
        return b"".join(out)

    def _closing(self, ending: Ending) -> bytes:
        last = self._last[1] if self._last is not None else _FIRST.get(self._protocol)
        closing = closing_events(self._events.family or "", last, ending, response=self._response)
        return b"".join(
            encode_event(item if item is DONE else json.dumps(item), [f"event: {name}"] if name else [])
            for name, item in closing
        )

    def _cleaned(self, event: ServerSentEvent) -> ServerSentEvent:
        """Leave out names, ids and comments in which the guard finds something."""
        kept = [line for line in event.others if self._is_clean(line)]
        if len(kept) == len(event.others):
            return event
        named = any(line.partition(":")[0] == "event" for line in kept)
        raw = encode_event(event.data, kept, newline=newline_of(event.raw))
        return ServerSentEvent(raw, event.data, event.event if named else "", tuple(kept))

    def _is_clean(self, line: str) -> bool:
        if line in self._clean:
            return True
        clean: bool = self._settings.guard.scrub(line, on_finding=self._settings.on_finding) == line
        if clean and len(self._clean) < _REMEMBERED and len(line) <= _SHORT:
            self._clean.add(line)
        return clean


_LAST = frozenset({"message_stop", "response.completed", "response.incomplete", "response.failed", "error"})
_KNOWN = ("id", "created_at", "model")
_FIRST = {
    "openai-responses": {"type": "response.created"},
    "openai-completions": {"object": "text_completion"},
}
_REMEMBERED, _SHORT = 64, 64  # names of events, and lines; characters of one
