"""The ways a known value is written: as it is, and encoded.

A value that an encoding leaves as it is has one spelling, so that most values have few.
Base64 works on three bytes at a time: a value inside a longer text, such as the password
of `user:password`, comes out in one of three ways. Of each the part is taken that no
neighbour has a bit in; what stays visible is at most four bits of the first byte and four
of the last.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import quote_from_bytes

__all__ = ["BREAK", "ENCODINGS", "spellings", "wrapped"]

ENCODINGS = ("base64", "url", "json", "hex")
"""Every encoding there is a spelling for."""

LEAST = 8
"""Fewest characters of base64 that count: shorter ones stand in unrelated data."""

BREAK = re.compile(r"\r?\n[ \t>]{0,8}|\r\Z")
"""Where a line is broken: with indentation, and the sign of a quotation; or the half of it that has come."""

_PLAIN = re.compile(r"[A-Za-z0-9_.-]*").fullmatch
_ESCAPE = re.compile(r"%[0-9A-F]{2}")
_UNICODE = re.compile(r"(?<!\\)((?:\\\\)*\\u)([0-9a-f]{4})")
_TO_URL_SAFE = str.maketrans("+/", "-_")

_SAFE = ("", "/", " ", " *", "!'()*", ";,/?:@&=+$!*'()#")
"""What `quote` and its kin leave alone: Python's, forms', and both of JavaScript's.

A space in it stands for the forms that write a space as a plus sign.
"""

_MARKUP = ("", "<>&", "<>&'", "<>&'+`\"")
"""What JSON writers escape besides: none, Go's, Ruby's and PHP's, .NET's."""


def spellings(value: str, encodings: frozenset[str]) -> Iterator[str]:
    """Yield the encoded spellings of a value; some are yielded twice, or are the value.

    Args:
        value: the value, not empty.
        encodings: which of `ENCODINGS`.
    """
    for variant in _variants(value):
        yield from _spellings(variant, encodings)


def _spellings(value: str, encodings: frozenset[str]) -> Iterator[str]:
    data = _bytes(value)
    plain = _PLAIN(value) is not None
    if "url" in encodings:
        digits = data.hex()
        every = "%" + "%".join(digits[at : at + 2] for at in range(0, len(digits), 2))
        yield every
        yield every.upper()
        if not plain:
            yield from _url(data)
    if "json" in encodings and not plain:
        yield from _json(value)
    if "base64" in encodings:
        yield from _base64(data)
    if "hex" in encodings:
        yield data.hex()
        yield data.hex().upper()


def wrapped(value: str, encodings: frozenset[str]) -> Iterator[str]:
    """Yield the spellings that are wrapped at some column: base64 and hexadecimal digits."""
    for variant in _variants(value):
        data = _bytes(variant)
        if "base64" in encodings:
            yield from _base64(data)
        if "hex" in encodings:
            yield data.hex()
            yield data.hex().upper()


def _variants(value: str) -> set[str]:
    """The value with its lines ended in either way."""
    if "\n" not in value:
        return {value}
    unix = value.replace("\r\n", "\n")
    return {value, unix, unix.replace("\n", "\r\n")}


def _bytes(value: str) -> bytes:
    try:
        return value.encode("utf-8", "surrogateescape")  # as the environment decodes what is no UTF-8
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")


def _url(data: bytes) -> Iterator[str]:
    for safe in _SAFE:
        if safe and not any(char in data for char in safe.encode()):
            continue
        upper = quote_from_bytes(data, safe)
        if " " in safe:
            upper = upper.replace(" ", "+")
        for one in (upper, upper.replace("~", "%7E")):
            yield one
            yield _ESCAPE.sub(lambda found: found[0].lower(), one)


def _json(value: str) -> Iterator[str]:
    for ascii_only in (True,) if value.isascii() else (True, False):
        written = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield json.dumps(written, ensure_ascii=ascii_only)[1:-1]  # JSON inside a JSON string
        for markup in _MARKUP:
            if markup and not any(char in value for char in markup):
                continue
            lower = written
            for char in markup:
                lower = lower.replace('\\"' if char == '"' else char, f"\\u{ord(char):04x}")
            upper = _UNICODE.sub(lambda found: found[1] + found[2].upper(), lower)
            for one in (lower, upper):
                yield one
                yield one.replace("/", "\\/")


def _base64(data: bytes) -> Iterator[str]:
    for shift, first in enumerate((0, 2, 3)):
        whole = b64encode(bytes(shift) + data).decode()
        inner = whole[first : (shift + len(data)) * 8 // 6]
        if len(inner) < LEAST:
            continue
        # Where the value ends the text, what fills the last character is known as well.
        padded = whole[first:]
        for one in (inner, padded.rstrip("="), padded):
            yield one
            yield one.translate(_TO_URL_SAFE)
