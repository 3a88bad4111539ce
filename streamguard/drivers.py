"""Iteration over a source, around a sans-IO session. No branch on content.

Every exit closes the source: its end, an error, a consumer that stops early, a
cancellation. After an error of the source the text that is already decided goes out
first; after anything else (the consumer is gone) nothing more is said.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable

from streamguard.session import End, FindingHandler, HiddenHandler, Transformer

__all__ = ["aclose_source", "close_source", "transform", "transform_sync"]


async def transform(
    transformer: Transformer,
    source: AsyncIterable[str],
    /,
    *,
    end: End | Callable[[], End] = End.COMPLETE,
    on_finding: FindingHandler | None = None,
    on_hidden: HiddenHandler | None = None,
) -> AsyncGenerator[str, None]:
    """See `Transformer.transform`."""
    if not hasattr(source, "__aiter__"):
        raise TypeError(f"transform() needs an async iterable, not {type(source).__name__}; see transform_sync()")
    session = transformer.session(on_finding=on_finding, on_hidden=on_hidden)
    feed = session.feed
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
            text = feed(chunk)
            if text:
                yield text
        text = session.flush(End.ERROR if failure else end() if callable(end) else end)
        if text:
            yield text
        if failure is not None:
            raise failure
    finally:
        await aclose_source(iterator, source)


def transform_sync(
    transformer: Transformer,
    source: Iterable[str],
    /,
    *,
    end: End | Callable[[], End] = End.COMPLETE,
    on_finding: FindingHandler | None = None,
    on_hidden: HiddenHandler | None = None,
) -> Generator[str, None, None]:
    """See `Transformer.transform_sync`."""
    if not hasattr(source, "__iter__"):
        raise TypeError(f"transform_sync() needs an iterable, not {type(source).__name__}; see transform()")
    session = transformer.session(on_finding=on_finding, on_hidden=on_hidden)
    feed = session.feed
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
            text = feed(chunk)
            if text:
                yield text
        text = session.flush(End.ERROR if failure else end() if callable(end) else end)
        if text:
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
