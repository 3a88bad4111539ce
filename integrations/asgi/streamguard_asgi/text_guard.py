"""Guard of a body that is one text."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from streamguard import End, Transformer
from streamguard.session import FindingHandler
from streamguard_asgi.body import BytesGuard
from streamguard_asgi.closing import Ending

__all__ = ["TextGuard"]


class TextGuard(BytesGuard):
    """Guards a body of plain text, characters cut anywhere.

    Bytes that are no characters of the charset stay as they are. A text that has to be ended
    ends where it is.

    *Delay*: that of the guard, and a character until it is whole. *Memory*: that of the guard.
    """

    __slots__ = ("_decode", "_encode", "_session")

    def __init__(
        self,
        guard: Transformer,
        /,
        *,
        charset: str = "utf-8",
        on_finding: FindingHandler | None = None,
    ) -> None:
        """Begin a text.

        Args:
            guard: what it goes through.
            charset: the name of its encoding.
            on_finding: called with each finding.

        Raises:
            LookupError: the charset is unknown.
        """
        super().__init__()
        self._decode = codecs.getincrementaldecoder(charset)("surrogateescape")
        self._encode = codecs.getincrementalencoder(charset)("surrogateescape")
        self._session = guard.session(on_finding=on_finding)

    def _fed(self, data: bytes) -> Iterator[bytes]:
        yield self._encode.encode(self._session.feed(self._decode.decode(data)))

    def _ended(self, end: End) -> Iterator[bytes]:
        # Half a character at the end is taken as it came, but not behind a break.
        last = "" if end is End.ERROR else self._decode.decode(b"", final=True)
        yield self._encode.encode(self._session.feed(last) + self._session.flush(end), final=True)

    def _closing(self, ending: Ending) -> bytes:
        return b""
