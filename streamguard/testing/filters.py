"""Any function from chunks to chunks, whoever wrote it: does it leak at some cut?

The search is one sans-IO generator that asks for the output of a list of chunks; the
two public functions only run somebody's filter for it.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator, Iterable, Iterator, Sequence

from streamguard.testing.cuts import every_cut, random_cuts
from streamguard.testing.laws import Law, LawViolation, shrinking

__all__ = ["assert_stream_safe", "assert_stream_safe_async"]


def assert_stream_safe(
    func: Callable[[Iterator[str]], Iterable[str]],
    text: str,
    forbidden: str | Iterable[str],
    /,
    *,
    seed: int = 0,
    n: int = 50,
) -> None:
    """Fail if a filter ever shows a forbidden string, or depends on how the text is cut.

    Args:
        func: the filter; called anew for every cut of `text`.
        text: what the filter is given.
        forbidden: the string, or the strings, that must not be in the joined output.
        seed: draws the random cuts.
        n: how many random cuts to try beside those of `every_cut`.

    Raises:
        LawViolation: of `PREFIX_SAFETY` if a forbidden string came out, of
            `CHUNK_INVARIANCE` if two cuts gave two outputs.
        ValueError: a forbidden string is empty.
    """
    search = _search(text, forbidden, seed, n)
    try:
        chunks = next(search)
        while True:
            chunks = search.send("".join(func(iter(chunks))))
    except StopIteration:
        return


async def assert_stream_safe_async(
    func: Callable[[AsyncIterator[str]], AsyncIterable[str]],
    text: str,
    forbidden: str | Iterable[str],
    /,
    *,
    seed: int = 0,
    n: int = 50,
) -> None:
    """Do as `assert_stream_safe` does, for a filter of asynchronous streams."""
    search = _search(text, forbidden, seed, n)
    try:
        chunks = next(search)
        while True:
            chunks = search.send("".join([part async for part in func(_Chunks(chunks))]))
    except StopIteration:
        return


class _Chunks:
    """Not an async generator: a filter may leave it unfinished, and that is no leak."""

    __slots__ = ("_chunks",)

    def __init__(self, chunks: list[str]) -> None:
        self._chunks = iter(chunks)

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        for chunk in self._chunks:
            return chunk
        raise StopAsyncIteration


def _search(text: str, forbidden: str | Iterable[str], seed: int, n: int) -> Generator[list[str], str, None]:
    words = (forbidden,) if isinstance(forbidden, str) else tuple(forbidden)
    if not all(words):
        raise ValueError("a forbidden string is empty, and so in every output")
    whole = yield [text]
    _refuse(whole, words, [text])
    for cut in (*every_cut(text), *random_cuts(text, seed=seed, n=n)):
        output = yield cut
        if output == whole and not _shown(output, words):
            continue
        # The text stays what it is: what is forbidden in it may not be in a shorter one.
        simplify = shrinking(cut, keep_text=True)
        chunks, worst = cut, output
        try:
            candidate = next(simplify)
            while True:
                found = yield candidate
                broken = bool(_shown(found, words)) or (found != whole and not _shown(worst, words))
                if broken:
                    chunks, worst = candidate, found
                candidate = simplify.send(broken)
        except StopIteration:
            _refuse(worst, words, chunks)
            raise LawViolation(
                Law.CHUNK_INVARIANCE, f"cut so: {worst!r}\n  in one chunk: {whole!r}", chunks
            ) from None


def _shown(output: str, words: Sequence[str]) -> list[str]:
    return [word for word in words if word in output]


def _refuse(output: str, words: Sequence[str], chunks: list[str]) -> None:
    for word in _shown(output, words):
        raise LawViolation(Law.PREFIX_SAFETY, f"{word!r} is shown in {output!r}", chunks)
