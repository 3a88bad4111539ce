"""Server-sent events over bytes, decoded as they come (WHATWG HTML, section 9.2).

The decoders of the well-kept libraries take lines and give fields. A guard has to give back
the very bytes of an event it did not change, so this one keeps them with each event.

A line ends with LF, CRLF or CR. A CR that ends the bytes received so far may be half a CRLF, so
it waits for the next byte, except in a stream where a CR has ended a line alone before: there an
event that ended with one is complete at once. Both depend on the stream, never on how it is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from streamguard.session import StreamGuardError

__all__ = ["MAX_EVENT", "EventTooLargeError", "SSEDecoder", "ServerSentEvent", "encode_event", "newline_of"]

MAX_EVENT = 8 * 1024 * 1024
"""Bytes of one event, by default: room for a response's last snapshot, or an image in it."""

_LINE_END = re.compile(rb"\r\n|\n|\r")
_USUAL = re.compile(rb"(event: ([^\r\n]*)\n)?data: ([^\r\n]*)\n\n")  # what nearly all events look like
_BREAKS = re.compile(r"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"
_CR, _COLON = b"\r:"
_DATA_ENDS = (b":", b"")


class EventTooLargeError(StreamGuardError):
    """An event of a stream, or a body, is larger than allowed.

    Attributes:
        limit: the limit, in bytes.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(f"an event is larger than {limit} bytes")
        self.limit = limit


class ServerSentEvent(NamedTuple):
    """One event, or one comment, or an empty line between events.

    Attributes:
        raw: its bytes, with the empty line that ends it.
        data: the lines of data joined by LF; `None` if there is none.
        event: its name; empty if it has none.
        others: its other lines, in order: `event`, `id`, `retry`, comments, unknown fields.
    """

    raw: bytes
    data: str | None = None
    event: str = ""
    others: tuple[str, ...] = ()

    @property
    def id(self) -> str | None:
        """The last `id` of the event, if it has any."""
        return self._last("id")

    @property
    def retry(self) -> int | None:
        """Milliseconds before a client connects again, if the event says so."""
        value = self._last("retry")
        return int(value) if value is not None and value.isascii() and value.isdigit() else None

    @property
    def comments(self) -> tuple[str, ...]:
        """The comments, without the colon."""
        return tuple(line[1:] for line in self.others if line.startswith(":"))

    def _last(self, name: str) -> str | None:
        values = [_value(line) for line in self.others if line.partition(":")[0] == name]
        return values[-1] if values else None


class SSEDecoder:
    """Cuts bytes into server-sent events. It does no I/O.

    The `raw` of all events, joined, is what was fed. Comments come out as soon as their line
    ends, an event when the empty line behind it does.

    *Memory*: one event, at most `max_event` bytes and a chunk.
    """

    __slots__ = ("_buffer", "_data", "_event", "_first", "_line", "_lone", "_max", "_others", "_scan")

    def __init__(self, *, max_event: int | None = MAX_EVENT) -> None:
        """Begin a stream.

        Args:
            max_event: bytes of one event at most; `None` is no limit.
        """
        self._max = max_event
        self._buffer = bytearray()  # from the beginning of the event
        self._line = 0  # where the current line begins
        self._scan = 0  # before this there is no end of the current line
        self._first = True
        self._lone = False  # a CR alone has ended a line
        self._data: list[str] = []
        self._event = ""
        self._others: list[str] = []

    def feed(self, data: bytes, /) -> list[ServerSentEvent]:
        """Take the next bytes, cut anywhere, and return the events they complete.

        Raises:
            EventTooLargeError: an event is larger than `max_event`. What came before it in these
                bytes is lost with it.
        """
        return list(self.decode(data))

    def flush(self) -> list[ServerSentEvent]:
        """End the stream and return what is left, if anything is.

        By the standard an event without its empty line is none, and some clients take it all the
        same: it comes as if the line were there, except that its `raw` has none.

        Raises:
            EventTooLargeError: as for `feed`.
        """
        events = list(self.decode(b"", last=True))
        if self._buffer:
            rest = bytes(self._buffer[self._line :])
            if self._first:
                rest = rest.removeprefix(_BOM)
            if rest:
                self._take(rest)
            events.append(self._cut(bytes(self._buffer)))
            self._buffer.clear()
            self._line = self._scan = 0
        return events

    @property
    def pending(self) -> int:
        """Bytes of an event that is not complete."""
        return len(self._buffer)

    def decode(self, data: bytes, /, *, last: bool = False) -> Iterator[ServerSentEvent]:
        """As `feed`, one event at a time; it must be iterated to its end before the next call.

        Args:
            data: the bytes.
            last: nothing follows: a CR at the end is not half a CRLF.

        Raises:
            EventTooLargeError: an event is larger than `max_event`; those before it have come.
        """
        buffer = self._buffer
        buffer += data
        start, line, scan = 0, self._line, self._scan
        while True:
            if scan == start and (usual := _USUAL.match(buffer, start)) is not None:
                self._first = False
                start = line = scan = usual.end()
                yield self._usual(usual)
                continue
            found = _LINE_END.search(buffer, scan)
            if found is None:
                scan = len(buffer)
                break
            end, scan = found.span()
            if buffer[end] == _CR:
                if scan == len(buffer) and scan - end == 1 and not (self._lone or last):
                    scan = end
                    break
                self._lone = self._lone or scan - end == 1
                if self._lone:
                    scan = end + 1
            elif end == line > start and buffer[end - 1] == _CR:
                line = scan  # the second half of a CRLF
                continue
            text = bytes(buffer[line:end])
            if self._first:
                self._first = False
                text = text.removeprefix(_BOM)
            complete = not text or (text[0] == _COLON and line == start)
            if text:
                self._take(text)
            line = scan
            if complete:
                raw = bytes(buffer[start:scan])
                start = scan
                yield self._cut(raw)
        if self._max is not None and len(buffer) - start > self._max:
            raise EventTooLargeError(self._max)
        del buffer[:start]
        self._line, self._scan = line - start, scan - start

    def _usual(self, found: re.Match[bytes]) -> ServerSentEvent:
        raw, line, name, data = found.group(0, 1, 2, 3)
        if self._max is not None and len(raw) > self._max:
            raise EventTooLargeError(self._max)
        text = data.decode("utf-8", "replace")
        if line is None:
            return ServerSentEvent(raw, text)
        event = name.decode("utf-8", "replace")
        return ServerSentEvent(raw, text, event, (f"event: {event}",))

    def _take(self, line: bytes) -> None:
        if line.startswith(b"data") and line[4:5] in _DATA_ENDS:
            self._data.append(line[5:].removeprefix(b" ").decode("utf-8", "replace"))
            return
        text = line.decode("utf-8", "replace")
        self._others.append(text)
        if text.partition(":")[0] == "event":
            self._event = _value(text)

    def _cut(self, raw: bytes) -> ServerSentEvent:
        if self._max is not None and len(raw) > self._max:
            raise EventTooLargeError(self._max)
        lines = self._data
        data = None if not lines else lines[0] if len(lines) == 1 else "\n".join(lines)
        event = ServerSentEvent(raw, data, self._event, tuple(self._others))
        self._data = []
        if self._others:
            self._event = ""
            self._others = []
        return event


def encode_event(data: str | None, others: Iterable[str] = (), *, newline: str = "\n") -> bytes:
    """Write an event.

    Args:
        data: its data, a line for each line of it; `None` writes none.
        others: its other lines, such as `event: done`.
        newline: what ends each line.
    """
    lines = list(others)
    if data is not None:
        lines += [f"data: {line}" for line in _BREAKS.split(data)]
    return (newline.join(lines) + newline + newline).encode("utf-8", "replace")


def newline_of(raw: bytes) -> str:
    """Tell what ends the lines of an event."""
    if raw.endswith(b"\n"):
        return "\r\n" if raw.endswith(b"\r\n") else "\n"
    return "\r" if raw.endswith(b"\r") else "\n"


def _value(line: str) -> str:
    return line.partition(":")[2].removeprefix(" ")
