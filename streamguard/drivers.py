"""Iteration over a source, around the two functions of a sans-IO session.

No branch on content. Every exit closes the source: its end, an error, a consumer that
stops early, a cancellation. After an error of the source the text that is already
decided goes out first; after anything else (the consumer is gone) nothing is said.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Coroutine, Generator, Iterable, Iterator
from typing import Any, TypeVar

__all__ = ["aclose_source", "begun", "close_source", "drive", "drive_sync"]

T = TypeVar("T")

Feed = Callable[[str], str]
Flush = Callable[[Exception | None], str]
"""Called once at the end, with the error the source raised, if it did."""


def drive(feed: Feed, flush: Flush, source: AsyncIterable[str], /) -> AsyncGenerator[str, None]:
    """Yield what `feed` returns for each chunk of `source`, then what `flush` returns."""
    return _AsyncStream(_drive(feed, flush, source), source)


def drive_sync(feed: Feed, flush: Flush, source: Iterable[str], /) -> Generator[str, None, None]:
    """Do as `drive` does, for a synchronous source."""
    return begun(_drive_sync(feed, flush, source))


class _AsyncStream(AsyncGenerator[T, None]):
    """A generator whose body has not begun runs no `finally`: the source is closed here then."""

    __slots__ = ("_generator", "_source")

    def __init__(self, generator: AsyncGenerator[T, None], source: AsyncIterable[T]) -> None:
        self._generator = generator
        self._source: AsyncIterable[T] | None = source

    def __anext__(self) -> Coroutine[Any, Any, T]:
        self._source = None
        return self._generator.__anext__()

    def asend(self, value: None, /) -> Coroutine[Any, Any, T]:
        self._source = None
        return self._generator.asend(value)

    async def athrow(self, *error: Any) -> T:
        source, self._source = self._source, None
        try:
            return await self._generator.athrow(*error)
        finally:
            if source is not None:
                await aclose_source(source, source)

    async def aclose(self) -> None:
        source, self._source = self._source, None
        await self._generator.aclose()
        if source is not None:
            await aclose_source(source, source)


def begun(generator: Generator[Any, None, None]) -> Generator[Any, None, None]:
    """Run a generator to its first `yield`, so that from now on its `finally` runs whatever happens."""
    next(generator)
    return generator


async def _drive(feed: Feed, flush: Flush, source: AsyncIterable[str], /) -> AsyncGenerator[str, None]:
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
        failure = None  # its traceback holds this frame: a cycle would keep it alive
        await aclose_source(iterator, source)


def _drive_sync(feed: Feed, flush: Flush, source: Iterable[str], /) -> Generator[str | None, None, None]:
    iterator: Iterator[str] | None = None
    try:
        yield None
        iterator = iter(source)
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
        failure = None
        close_source(iterator, source)


async def aclose_source(iterator: object, source: object) -> None:
    """Close an asynchronous source, shielded from cancellation.

    The iterator first, then the object it came from where that is another. Each is
    closed by `aclose()` where it has one, else by `close()`, coroutine or not.
    """
    import anyio

    with anyio.CancelScope(shield=True):
        try:
            await _aclose(iterator)
        finally:
            if iterator is not source:
                await _aclose(source)


async def _aclose(part: object) -> None:
    close = getattr(part, "aclose", None) or getattr(part, "close", None)
    if callable(close):
        outcome = close()
        if inspect.isawaitable(outcome):
            await outcome


def close_source(iterator: object, source: object) -> None:
    """Close a synchronous source by `close()`, wherever it has one."""
    try:
        _close(iterator)
    finally:
        if iterator is not source:
            _close(source)


def _close(part: object) -> None:
    close = getattr(part, "close", None)
    if callable(close):
        close()
