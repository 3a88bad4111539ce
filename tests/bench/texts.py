"""What is fed: prose, and what an adversary would write."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import cycle, islice
from pydoc_data.topics import topics

__all__ = ["HOSTILE", "chunks", "prose", "wrapped_prose"]

MEGABYTE = 1_000_000


@cache
def prose(size: int = MEGABYTE) -> str:
    """English prose: the language reference that comes with Python, a paragraph a line, repeated.

    It has more quotation marks, colons, brackets and `<` than what a model writes to a user.
    """
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n\s*\n", _reference()))
    return _repeated("\n\n".join(part for part in paragraphs if part), size)


@cache
def wrapped_prose(size: int = MEGABYTE) -> str:
    """The same as it is printed: lines of 72 characters, indented."""
    return _repeated(_reference(), size)


def _reference() -> str:
    return "".join(topics[name] for name in sorted(topics))


def _repeated(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]


def chunks(text: str, size: int) -> list[str]:
    """Cut a text into chunks of one size."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def _endless(head: str, body: str) -> Callable[[int], str]:
    def make(size: int) -> str:
        return head + "".join(islice(cycle(body), size - len(head)))

    return make


HOSTILE: dict[str, Callable[[int], str]] = {
    "unclosed fence": _endless("<think>", "So the answer has to be 42, or so it seems. "),
    "unclosed PEM block": _endless("-----BEGIN RSA " + "PRIVATE KEY-----\n", "Fake" * 16 + "\n"),
    "endless password": _endless("password=", "a"),
    "flood of <": _endless("", "<"),
    "flood of openers": _endless("", "<think>"),
    "flood of closers": _endless("", "</think>"),
    "flood of attributes": _endless("", "<think a='1' "),
    "flood of assignments": _endless("", "api_key: "),
    "flood of preambles": _endless("Done. ", "Let me check that. "),
}
"""Texts of a given length that keep each stage as busy as we know how."""
