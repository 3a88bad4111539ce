"""Server-sent events in bytes that are cut anywhere, the middle of a character included.

A frame ends at an empty line; lines end at LF, CR LF or CR
(https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Frame", "FrameDecoder", "FrameTooLongError", "encode"]

_LINE_END = re.compile(rb"\r\n|\n|\r")
_FRAME_END = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")
_MAX_FRAME = 16 * 1024 * 1024


class FrameTooLongError(ValueError):
    """A frame is longer than what is kept in memory, 16 MiB."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame.

    Attributes:
        raw: its bytes, the empty line included.
        event: its type, empty if it has none.
        data: its data, `None` if it has none.
    """

    raw: bytes
    event: str
    data: bytes | None


class FrameDecoder:
    """Cuts a stream of bytes into frames. *Delay*: a frame. *Memory*: the same, 16 MiB at most."""

    __slots__ = ("_buffer", "_searched")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0

    def feed(self, data: bytes, /) -> list[Frame]:
        """Take the next bytes and return the frames they complete.

        Raises:
            FrameTooLongError: a frame is longer than 16 MiB.
        """
        self._buffer += data
        frames: list[Frame] = []
        start = 0
        while found := _FRAME_END.search(self._buffer, max(start, self._searched)):
            if found.end() == len(self._buffer) and self._buffer.endswith(b"\r"):
                break  # a line feed may follow and belong to it
            frames.append(_frame(bytes(self._buffer[start : found.end()])))
            start = self._searched = found.end()
        del self._buffer[:start]
        self._searched = max(0, len(self._buffer) - 3)
        if len(self._buffer) > _MAX_FRAME:
            raise FrameTooLongError("a frame is longer than 16 MiB")
        return frames

    def end(self) -> list[Frame]:
        """Return what came behind the last empty line, as a frame."""
        rest, self._buffer = bytes(self._buffer), bytearray()
        self._searched = 0
        return [_frame(rest + b"\n\n")] if rest.strip() else []


def _frame(raw: bytes) -> Frame:
    event, data = b"", list[bytes]()
    for line in _LINE_END.split(raw):
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        elif name == b"event":
            event = value.removeprefix(b" ")
    return Frame(raw, event.decode("utf-8", "replace"), b"\n".join(data) if data else None)


def encode(event: str, data: str) -> bytes:
    """Write a frame; the data must have no line break."""
    return (f"event: {event}\n" if event else "").encode() + f"data: {data}\n\n".encode()
