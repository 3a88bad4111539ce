"""Compressed bodies, decompressed in pieces of bounded size.

The gateway asks for none; this is for upstreams that compress all the same. A few bytes may
stand for gigabytes, so each step yields at most `PIECE` bytes. A body that ends before its
compressed form does was cut off.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

__all__ = ["PIECE", "EncodingError", "Inflater", "can_decode"]

PIECE = 1 << 16

_GZIP = frozenset({"gzip", "x-gzip", "deflate"})


class EncodingError(Exception):
    """A body is not what its encoding says, or ends too early."""


def can_decode(encoding: str, /) -> bool:
    """Tell whether a `Content-Encoding`, in lower case, can be decoded."""
    return encoding in _GZIP


class Inflater:
    """Decompresses one body. *Memory*: what zlib needs, and `PIECE`."""

    __slots__ = ("_deflate", "_zlib")

    def __init__(self, encoding: str) -> None:
        self._deflate = encoding == "deflate"
        self._zlib: zlib._Decompress | None = None

    def feed(self, data: bytes, /) -> Iterator[bytes]:
        """Decompress what has come.

        Raises:
            EncodingError: it is not compressed as it should be.
        """
        full = False
        while data or full:
            if self._zlib is None or (self._zlib.eof and data):
                self._zlib = self._begin(data[0])  # members of gzip may follow one another
            try:
                piece = self._zlib.decompress(data, PIECE)
            except zlib.error:
                raise EncodingError("not compressed as its encoding says") from None
            data = self._zlib.unused_data if self._zlib.eof else self._zlib.unconsumed_tail
            full = len(piece) == PIECE and not self._zlib.eof  # then zlib may hold more
            if piece:
                yield piece

    def end(self) -> None:
        """End the body.

        Raises:
            EncodingError: it ends too early.
        """
        if self._zlib is not None and not self._zlib.eof:
            raise EncodingError("ended before its compressed form did")

    def _begin(self, first: int) -> zlib._Decompress:
        # Some send deflate without the header of zlib, which begins with an 8.
        raw = self._deflate and first & 0x0F != 8
        return zlib.decompressobj(-zlib.MAX_WBITS if raw else zlib.MAX_WBITS | 32)
