from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from streamguard import Finding, Pipeline, Transformer
from streamguard.cli.plain import guard_plain

MakeMask = Callable[[str, str], Transformer]

AWKWARD = (
    "plain é 中 🙂 e\u0301".encode()
    + b"\xff\xfe\x00\x80"  # never UTF-8
    + b"\xed\xa0\x80\xed\xb0\x80"  # surrogates, as CESU-8 has them
    + b"\xc0\xaf\xf8\x88"  # overlong forms
    + b"\xe4\xb8a\xf0\x9f\x98"  # characters broken off, the last by the end
)


def cuts(data: bytes) -> Iterator[list[bytes]]:
    yield [data]
    yield [data[at : at + 1] for at in range(len(data))]
    for at in range(len(data) + 1):
        yield [data[:at], data[at:]]


def guard(chunks: list[bytes], transformer: Transformer, found: list[Finding] | None = None) -> bytes:
    findings: list[Finding] = [] if found is None else found
    return b"".join(guard_plain(chunks, transformer, on_finding=findings.append))


@pytest.mark.parametrize("nothing", [Pipeline(), "mask"])
def test_bytes_that_are_not_utf8_come_through_at_every_cut(nothing: object, mask: MakeMask) -> None:
    transformer = nothing if isinstance(nothing, Transformer) else mask("never there", "x")
    for chunks in cuts(AWKWARD):
        assert guard(chunks, transformer) == AWKWARD


def test_guarded_at_every_cut_with_broken_bytes_around(mask: MakeMask) -> None:
    data = b"\xff" + "schlüssel".encode() + b"\xe4" + "schlüssel".encode() + b"\xb8"
    for chunks in cuts(data):
        found: list[Finding] = []
        assert guard(chunks, mask("schlüssel", "*"), found) == b"\xff*\xe4*\xb8"
        assert len(found) == 2


def test_line_breaks_and_byte_order_marks_are_not_translated() -> None:
    data = b"\xef\xbb\xbfa\r\nb\rc\n\x0b\x0c\xc2\x85\xe2\x80\xa8"
    assert guard([data], Pipeline()) == data


def test_what_is_safe_leaves_before_the_next_chunk_is_read(mask: MakeMask) -> None:
    def source() -> Iterator[bytes]:
        yield b"shown at once, sec"
        raise AssertionError("read too early")

    assert (
        next(iter(guard_plain(source(), mask("secret", "*"), on_finding=lambda _: None)))
        == b"shown at once, "
    )
