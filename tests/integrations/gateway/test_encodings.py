from __future__ import annotations

import gzip
import zlib

import pytest
from streamguard_gateway.encodings import PIECE, EncodingError, Inflater, can_decode

TEXT = b"".join(b"line %d\n" % number for number in range(4000))


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


FORMS = {
    "gzip": ("gzip", gzip.compress(TEXT)),
    "members": ("gzip", gzip.compress(TEXT[:1000]) + gzip.compress(TEXT[1000:])),
    "zlib": ("deflate", zlib.compress(TEXT)),
    "raw": ("deflate", raw_deflate(TEXT)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("every", [1, 7, 1 << 20])
def test_every_form_is_read_however_it_is_cut(form: str, every: int) -> None:
    encoding, data = FORMS[form]
    inflater = Inflater(encoding)
    out = b"".join(p for at in range(0, len(data), every) for p in inflater.feed(data[at : at + every]))
    inflater.end()
    assert out == TEXT


def test_what_was_flushed_comes_out_at_once() -> None:
    packer = zlib.compressobj(wbits=31)
    inflater = Inflater("gzip")
    for event in (b"data: 1\n\n", b"data: 2\n\n", b"x" * (PIECE + 100)):
        sent = packer.compress(event) + packer.flush(zlib.Z_SYNC_FLUSH)
        assert b"".join(inflater.feed(sent)) == event


def test_a_bomb_comes_in_bounded_pieces() -> None:
    bomb = gzip.compress(bytes(50 << 20))
    sizes = [len(piece) for piece in Inflater("gzip").feed(bomb)]
    assert sum(sizes) == 50 << 20
    assert max(sizes) <= PIECE


@pytest.mark.parametrize("form", FORMS)
def test_a_body_that_is_cut_off_is_told_from_a_whole_one(form: str) -> None:
    encoding, data = FORMS[form]
    inflater = Inflater(encoding)
    list(inflater.feed(data[:-5]))
    with pytest.raises(EncodingError):
        inflater.end()


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_what_is_not_compressed_is_refused(encoding: str) -> None:
    with pytest.raises(EncodingError):
        list(Inflater(encoding).feed(b"\xffplain text, no compression at all" * 10))


def test_an_empty_body_is_whole() -> None:
    Inflater("gzip").end()


def test_only_what_zlib_reads_can_be_decoded() -> None:
    assert can_decode("gzip")
    assert not can_decode("br")
    assert not can_decode("gzip, gzip")
