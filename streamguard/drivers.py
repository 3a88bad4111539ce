"""Iteration over a source, around the two functions of a sans-IO session.

No branch on content. Every exit closes the source: its end, an error, a consumer that
stops early, a cancellation. After an error of the source the text that is already
decided goes out first; after anything else (the consumer is gone) nothing is said.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable

__all__ = ["aclose_source", "close_source", "drive", "drive_sync"]

Feed = Callable[[str], str]
Flush = Callable[[Exception | None], str]
"""Called once at the end, with the error the source raised, if it did."""


async def drive(feed: Feed, flush: Flush, source: AsyncIterable[str], /) -> AsyncGenerator[str, None]:
    """Yield what `feed` returns for each chunk of `source`, then what `flush` returns."""
    iterator = aiter(source)
    try:
        failure: Exception | None = None
        while True:
            try:
                chunk = await anext(iterator)
            except StopAsyncIteration:
                break
            except Exception as error:
                failure = error
                break
            if text := feed(chunk):
                yield text
        if text := flush(failure):
            yield text
        if failure is not None:
            raise failure
    finally:
        await aclose_source(iterator, source)


def drive_sync(feed: Feed, flush: Flush, source: Iterable[str], /) -> Generator[str, None, None]:
    """Do as `drive` does, for a synchronous source."""
    iterator = iter(source)
    try:
        failure: Exception | None = None
        while True:
            try:
                chunk = next(iterator)
            except StopIteration:
                break
            except Exception as error:
                failure = error
                break
            if text := feed(chunk):
                yield text
        if text := flush(failure):
            yield text
        if failure is not None:
            raise failure
    finally:
        close_source(iterator, source)


async def aclose_source(iterator: object, source: object) -> None:
    """Close an asynchronous source, shielded from cancellation.

    The iterator first, then the object it came from where that is another. Each is
    closed by `aclose()` where it has one, else by `close()`, coroutine or not.
    """
    import anyio

    with anyio.CancelScope(shield=True):
        for part in (iterator,) if iterator is source else (iterator, source):
            close = getattr(part, "aclose", None) or getattr(part, "close", None)
            if callable(close):
                outcome = close()
                if inspect.isawaitable(outcome):
                    await outcome


def close_source(iterator: object, source: object) -> None:
    """Close a synchronous source by `close()`, wherever it has one."""
    for part in (iterator,) if iterator is source else (iterator, source):
        close = getattr(part, "close", None)
        if callable(close):
            close()
