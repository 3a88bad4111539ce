"""Plain text: bytes in, guarded bytes out.

Bytes that are not UTF-8 go through unchanged: they are decoded to lone surrogates
(`surrogateescape`) and encoded back. A character cut between two reads waits in the
incremental decoder.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from streamguard.session import FindingHandler, Transformer

__all__ = ["decoded", "guard_plain"]


def decoded(source: Iterable[bytes]) -> Iterator[str]:
    """Decode chunks of UTF-8; what is not UTF-8 becomes lone surrogates."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    for chunk in source:
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def guard_plain(
    source: Iterable[bytes], guard: Transformer, /, *, on_finding: FindingHandler
) -> Iterator[bytes]:
    """Guard one text.

    Delay: what the guard holds back, and at most three bytes of a character.
    """
    for text in guard.transform_sync(decoded(source), on_finding=on_finding):
        yield text.encode("utf-8", "surrogateescape")
