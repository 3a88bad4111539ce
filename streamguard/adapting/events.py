"""Iteration over a provider's events, around an adapter that does no I/O.

As `streamguard.drivers` does for text: no branch on content, and every exit closes the
source. After an error of the source what may still be shown goes out first, then the error.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Iterator
from typing import Protocol, TypeVar

from streamguard.drivers import _AsyncStream, aclose_source, begun, close_source
from streamguard.session import End

__all__ = ["Adapter", "guard_events", "guard_events_sync"]

E = TypeVar("E")
OnError = Callable[[Exception], Exception] | None


class Adapter(Protocol[E]):
    """The state of one response: its events in, the events to be shown out."""

    def event(self, event: E, /) -> Iterable[E]:
        """Take the next event and return what may be shown now."""
        ...

    def end(self, end: End, /) -> Iterable[E]:
        """Return what was held and may be shown; called once, last.

        Args:
            end: `COMPLETE` where the source has ended; an adapter that has seen a finish
                reason, or has missed one, knows better. `ERROR` where the source has raised.
        """
        ...


def guard_events(
    source: AsyncIterable[E], adapter: Adapter[E], /, *, on_error: OnError = None
) -> AsyncGenerator[E, None]:
    """Guard an asynchronous stream of events.

    Args:
        source: the events. It is closed on every exit: at its end, on an error, when the
            consumer stops early and on cancellation.
        adapter: made for this stream alone.
        on_error: takes an error of the source and returns what is raised in its place, such as
            an `ErrorGuard`. By default errors pass.

    Yields:
        The events the adapter returns.

    Raises:
        TypeError: the source is not asynchronous.
        Exception: whatever the source raises, after the events already decided; whatever the
            adapter raises, at once.
    """
    if not hasattr(source, "__aiter__"):
        raise TypeError(
            f"guard_events() needs an async iterable, not {type(source).__name__}; see guard_events_sync()"
        )
    return _AsyncStream(_guard(source, adapter, on_error), source)


def guard_events_sync(
    source: Iterable[E], adapter: Adapter[E], /, *, on_error: OnError = None
) -> Generator[E, None, None]:
    """Guard a synchronous stream of events; otherwise as `guard_events`."""
    if not hasattr(source, "__iter__"):
        raise TypeError(
            f"guard_events_sync() needs an iterable, not {type(source).__name__}; see guard_events()"
        )
    return begun(_guard_sync(source, adapter, on_error))


async def _guard(source: AsyncIterable[E], adapter: Adapter[E], on_error: OnError) -> AsyncGenerator[E, None]:
    iterator = aiter(source)
    try:
        failure: Exception | None = None
        while True:
            try:
                event = await anext(iterator)
            except StopAsyncIteration:
                break
            except Exception as error:
                failure = error if on_error is None else on_error(error)
                break
            for shown in adapter.event(event):
                yield shown
        for shown in adapter.end(End.COMPLETE if failure is None else End.ERROR):
            yield shown
        if failure is not None:
            raise failure
    finally:
        failure = None  # its traceback holds this frame: a cycle would keep it alive
        await aclose_source(iterator, source)


def _guard_sync(
    source: Iterable[E], adapter: Adapter[E], on_error: OnError
) -> Generator[E | None, None, None]:
    iterator: Iterator[E] | None = None
    try:
        yield None
        iterator = iter(source)
        failure: Exception | None = None
        while True:
            try:
                event = next(iterator)
            except StopIteration:
                break
            except Exception as error:
                failure = error if on_error is None else on_error(error)
                break
            yield from adapter.event(event)
        yield from adapter.end(End.COMPLETE if failure is None else End.ERROR)
        if failure is not None:
            raise failure
    finally:
        failure = None
        close_source(iterator, source)
