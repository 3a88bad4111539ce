"""The laws by number and wording, and the counterexample that shows one broken.

A counterexample is a list of chunks. It is shrunk by one rule for every law: drop
chunks, join neighbours, drop characters, as long as the law stays broken. Each step
leaves fewer characters or fewer chunks, so shrinking ends.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Generator, Iterator, Sequence

__all__ = ["Law", "LawViolation"]

BUDGET = 1000
"""Most candidates tried for one counterexample."""


class Law(enum.Enum):
    """What every transformer and every pipeline promises, with `whole(x) = t.scrub(x)`.

    `USED_ONCE` is the rule of the contract that the numbered laws stand on.

    Attributes:
        number: the number of the law, as in "law 2".
        wording: the law itself.
    """

    USED_ONCE = (
        0,
        "A session that has been flushed, or that raised, refuses further input with StreamClosedError.",
    )
    CHUNK_INVARIANCE = (
        1,
        "For every cut of x into chunks, empty ones included, the concatenated output equals whole(x).",
    )
    PREFIX_SAFETY = (
        2,
        "At every moment what has been emitted is a prefix of whole(x + y) for EVERY continuation y.",
    )
    MINIMAL_HOLD_BACK = (3, "What is emitted is the LONGEST such prefix.")
    FRESHNESS = (4, "Two streams never influence each other, interleaved in any order.")
    TRANSPARENCY = (
        5,
        "Text with nothing to take out comes through unchanged, to the character.",
    )
    IDEMPOTENCE = (6, "whole(whole(x)) == whole(x).")
    BOUNDED_STATE = (7, "Memory per session is bounded by bounds(), whatever the input.")
    LINEAR_TIME = (8, "Every character is looked at a bounded number of times.")
    FAIL_CLOSED = (
        9,
        (
            "On an error, a cancellation or an abandoned iteration nothing held is emitted "
            "except what is already decided, and the source is closed."
        ),
    )

    number: int
    wording: str

    def __init__(self, number: int, wording: str) -> None:
        self.number = number
        self.wording = wording

    def __str__(self) -> str:
        return f"law {self.number} ({self.name.replace('_', ' ').lower()})"


class LawViolation(AssertionError):  # noqa: N818 - an assertion that failed, not an error of the library
    """A law is broken. Unlike the errors of the library itself, it shows the texts.

    Attributes:
        law: the law.
        detail: what went wrong, in words.
        chunks: the chunks that show it, shrunk as far as it stays broken.
    """

    def __init__(self, law: Law, detail: str, chunks: Sequence[str] = ()) -> None:
        super().__init__(f"{law} is broken: {law.wording}\n  chunks: {list(chunks)!r}\n  {detail}")
        self.law = law
        self.detail = detail
        self.chunks = tuple(chunks)


def shrink(chunks: Sequence[str], broken: Callable[[list[str]], bool], /) -> list[str]:
    """Return the simplest chunks found for which `broken` still holds."""
    search = shrinking(chunks)
    try:
        candidate = next(search)
        while True:
            candidate = search.send(broken(candidate))
    except StopIteration as stop:
        result: list[str] = stop.value
        return result


def shrinking(chunks: Sequence[str], /, *, keep_text: bool = False) -> Generator[list[str], bool, list[str]]:
    """Yield simpler chunks, take whether they still break the law, return the simplest."""
    best = list(chunks)
    budget = BUDGET
    progress = True
    while progress and budget:
        progress = False
        for candidate in _joined(best) if keep_text else _simpler(best):
            budget -= 1
            progress = yield candidate
            if progress:
                best = candidate
            if progress or not budget:
                break
    return best


def _simpler(chunks: list[str]) -> Iterator[list[str]]:
    for start, stop in _spans(len(chunks)):
        yield chunks[:start] + chunks[stop:]
    yield from _joined(chunks)
    for index, chunk in enumerate(chunks):
        for start, stop in _spans(len(chunk)):
            yield [*chunks[:index], chunk[:start] + chunk[stop:], *chunks[index + 1 :]]


def _joined(chunks: list[str]) -> Iterator[list[str]]:
    for start, stop in _spans(len(chunks)):
        if stop - start > 1:
            yield [*chunks[:start], "".join(chunks[start:stop]), *chunks[stop:]]
    for index in range(len(chunks) - 1):
        yield [*chunks[:index], chunks[index] + chunks[index + 1], *chunks[index + 2 :]]


def _spans(length: int) -> Iterator[tuple[int, int]]:
    """Everything, then halves, quarters, and so on down to single places."""
    size = length
    while size:
        for start in range(0, length, size):
            yield start, min(start + size, length)
        size //= 2
