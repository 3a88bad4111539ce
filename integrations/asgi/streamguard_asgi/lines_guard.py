"""Guard of JSON Lines: a value on each line, as Ollama streams."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from streamguard import End, Session, Transformer
from streamguard.adapting import JsonLane, Lanes, ReasoningPolicy, Settings, ToolArgsPolicy
from streamguard.adapting.sse import MAX_EVENT, EventTooLargeError
from streamguard.session import FindingHandler
from streamguard_asgi.body import BytesGuard
from streamguard_asgi.closing import Ending, error_line
from streamguard_asgi.protocols import Events, Parsed, parsed
from streamguard_asgi.reading import dumped, is_cut, loaded

__all__ = ["NDJSONGuard"]

_STRINGS = "strings"


class NDJSONGuard(BytesGuard):
    """Guards a stream of JSON values, one on each line.

    Lines that do not change keep their very bytes. Lines in a row that are no JSON are one text.
    A stream that has to be ended ends with `{"error": "..."}`.

    *Delay*: a line until it ends, and that of the guard. *Memory*: a line of at most `max_event`
    bytes, and that of the adapters.
    """

    __slots__ = ("_broken", "_events", "_lanes", "_last", "_max", "_settings", "_size", "_started")

    def __init__(
        self,
        guard: Transformer,
        /,
        *,
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
            tool_args: what happens to the arguments of tools.
            reasoning: what happens to reasoning.
            tool_guard: what arguments go through, if not `guard`.
            json_content: the content of an OpenAI stream is JSON; only its strings are guarded.
            text_fields: the names of strings that are pieces of a text; by default `TEXT_FIELDS`.
            on_finding: called with each finding, a `LaneFinding` for what streams.
            max_event: bytes of one line at most; a larger one ends the stream.

        Raises:
            ValueError: a policy is unknown.
            TypeError: the guard is no `Transformer`.
        """
        super().__init__()
        self._settings = Settings(guard, tool_args, reasoning, tool_guard, json_content, on_finding)
        self._events = Events(self._settings, "auto", text_fields)
        self._lanes = Lanes(guard, on_finding=on_finding)
        self._broken: Session | None = None
        self._max = max_event
        self._started: list[bytes] = []
        self._size = 0  # of what is started
        self._last = ""

    def _fed(self, data: bytes) -> Iterator[bytes]:
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self._check(len(piece))
            line = b"".join((*self._started, piece, b"\n"))
            self._started.clear()
            self._size = 0
            yield self._line(line)
        self._check(len(rest))
        if rest:
            self._started.append(rest)
            self._size += len(rest)

    def _check(self, more: int) -> None:
        if self._max is not None and self._size + more > self._max:
            raise EventTooLargeError(self._max)

    def _ended(self, end: End) -> Iterator[bytes]:
        rest = b"".join(self._started)
        shown = b""
        if rest and end is not End.ERROR:
            if is_cut(rest.decode("utf-8", "replace")):
                end, self.cut = End.ERROR, True
            else:
                shown = self._line(rest)
        held = self._end_broken()
        held += b"".join(self._written(item, None) for _, item in self._events.end(end))
        if text := self._lanes.flush(_STRINGS, end):
            held += _encoded(json.dumps(text))
        if end is End.ERROR:
            held += self._closing("broken")
        if shown and held and not shown.endswith(b"\n"):
            shown += b"\n"
        yield shown + held

    def _closing(self, ending: Ending) -> bytes:
        return _encoded(json.dumps(error_line(ending)))

    def _line(self, line: bytes) -> bytes:
        text = line.decode("utf-8", "replace").removeprefix("\ufeff")
        if not text.strip():
            return line
        try:
            value, faithful = loaded(text)
        except json.JSONDecodeError:
            if self._broken is None:
                lane = JsonLane(self._settings.guard)
                self._broken = lane.session(on_finding=self._settings.on_finding)
            safe = self._broken.feed(text)
            return line if safe == text else safe.encode("utf-8", "replace")
        if not faithful:
            line = _encoded(dumped(value, text))
        self._last = text
        before = self._end_broken()
        if isinstance(value, str):
            return before + self._string(line, value)
        came = parsed(value, line)
        if not isinstance(value, dict | list):
            return before + line
        shown = self._events.event(came)
        return before + b"".join(line if item is came else self._written(item, text) for _, item in shown)

    def _string(self, line: bytes, value: str) -> bytes:
        shown = self._lanes.feed(_STRINGS, value)
        if shown == value:
            return line
        return _encoded(json.dumps(shown)) if shown else b""

    def _end_broken(self) -> bytes:
        session, self._broken = self._broken, None
        if session is None:
            return b""
        shown = session.flush(End.TRUNCATED)
        return shown.encode("utf-8", "replace")

    def _written(self, item: Any, like: str | None) -> bytes:
        if isinstance(item, Parsed):
            raw: bytes = item.source
            return raw
        return _encoded(dumped(item, self._last if like is None else like))


def _encoded(text: str) -> bytes:
    return (text + "\n").encode("utf-8", "replace")
