"""What stands in the place of a redacted value."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

__all__ = [
    "DIGEST_SIZE",
    "PLACEHOLDER",
    "Digest",
    "PlaceholderFunction",
    "digest",
    "placeholder",
    "placeholder_of",
]

DIGEST_SIZE = 8
_WORD = "[a-z]{1,12}[0-9]{0,2}[a-z]?"
PLACEHOLDER = rf"\[REDACTED:{_WORD}(?:-{_WORD}){{0,3}}(?::[0-9a-f]{{{DIGEST_SIZE}}})?\]"
"""Matches placeholders of the standard form, whatever rules made them: ids made of words.

A key in the place of the id makes no placeholder.
"""


def placeholder_of(rule: str, *, hashed: bool) -> str:
    """A pattern of the placeholders of one rule; `hashed`: they always carry a digest."""
    return rf"\[REDACTED:{rule}(?::[0-9a-f]{{{DIGEST_SIZE}}}){'' if hashed else '?'}\]"


PlaceholderFunction = Callable[[str, str], str]
"""Makes a placeholder of the rule's id and the digest, which is empty where none is due."""


def placeholder(rule: str, digest: str) -> str:
    """The standard form: `[REDACTED:<rule>:<8 hex digits>]`, or without the digest."""
    return f"[REDACTED:{rule}:{digest}]" if digest else f"[REDACTED:{rule}]"


class Digest:
    """The first hex digits of a value's SHA-256, or of its HMAC under a key.

    It tells two values apart, and nothing else: a plain hash of a guessable value (a weak
    password, a telephone number) is found by trying all of them, in seconds. Use a key.

    *Memory*: that of one hash object, however long the value.
    """

    __slots__ = ("_hash",)

    def __init__(self, key: bytes | None) -> None:
        self._hash = hashlib.sha256() if key is None else hmac.new(key, digestmod=hashlib.sha256)

    def update(self, text: str) -> None:
        """Take the next part of the value."""
        self._hash.update(text.encode("utf-8", "surrogatepass"))

    def __str__(self) -> str:
        return self._hash.hexdigest()[:DIGEST_SIZE]


def digest(value: str, key: bytes | None = None) -> str:
    """The digest of a whole value: what its placeholder carries.

    Args:
        value: the value.
        key: the key of the redactor, where it has one.
    """
    whole = Digest(key)
    whole.update(value)
    return str(whole)
