"""Every exit closes the source, once, and nothing is said after it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from streamguard import End
from streamguard.adapting import guard_events, guard_events_sync

pytestmark = pytest.mark.anyio


class SourceError(Exception):
    """Raised by a source."""


class Doubler:
    """Shows every event twice, and how the stream ended."""

    def event(self, event: str, /) -> list[str]:
        if event == "bad":
            raise ValueError("bad event")
        return [event, event]

    def end(self, end: End, /) -> list[str]:
        return [end.value]


class Source:
    def __init__(self, *events: str, failure: BaseException | None = None) -> None:
        self.events = iter(events)
        self.failure = failure
        self.closed = 0


class SyncSource(Source):
    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for event in self.events:
            return event
        raise StopIteration if self.failure is None else self.failure

    def close(self) -> None:
        self.closed += 1


class AsyncSource(Source):
    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        await anyio.lowlevel.checkpoint()
        for event in self.events:
            if event == "wait":
                await anyio.sleep_forever()
            return event
        raise StopAsyncIteration if self.failure is None else self.failure

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.closed += 1


def test_a_complete_stream() -> None:
    source = SyncSource("a", "b")
    assert list(guard_events_sync(source, Doubler())) == ["a", "a", "b", "b", "complete"]
    assert source.closed == 1


async def test_a_complete_asynchronous_stream() -> None:
    source = AsyncSource("a", "b")
    assert [each async for each in guard_events(source, Doubler())] == ["a", "a", "b", "b", "complete"]
    assert source.closed == 1


def test_an_error_of_the_source_comes_after_what_may_be_shown() -> None:
    source, shown = SyncSource("a", failure=SourceError()), []
    with pytest.raises(SourceError):  # noqa: PT012 - what was shown before counts
        for each in guard_events_sync(source, Doubler()):
            shown.append(each)
    assert shown == ["a", "a", "error"]
    assert source.closed == 1


async def test_an_error_of_an_asynchronous_source_comes_after_what_may_be_shown() -> None:
    source, shown = AsyncSource("a", failure=SourceError()), []
    with pytest.raises(SourceError):  # noqa: PT012 - what was shown before counts
        async for each in guard_events(source, Doubler()):
            shown.append(each)
    assert shown == ["a", "a", "error"]
    assert source.closed == 1


async def test_an_error_of_the_adapter_comes_at_once() -> None:
    source = AsyncSource("bad", "a")
    with pytest.raises(ValueError, match="bad event"):
        [each async for each in guard_events(source, Doubler())]
    assert source.closed == 1
    other = SyncSource("bad", "a")
    with pytest.raises(ValueError, match="bad event"):
        list(guard_events_sync(other, Doubler()))
    assert other.closed == 1


@pytest.mark.parametrize("taken", [0, 1, 3])
async def test_a_consumer_that_stops_early_closes_the_source(taken: int) -> None:
    other = SyncSource("a", "b", "c")
    sync = guard_events_sync(other, Doubler())
    for _ in range(taken):
        next(sync)
    sync.close()
    assert other.closed == 1
    source = AsyncSource("a", "b", "c")
    stream = guard_events(source, Doubler())
    for _ in range(taken):
        await anext(stream)
    await stream.aclose()
    assert source.closed == 1
    await stream.aclose()
    assert source.closed == 1


async def test_a_cancellation_closes_the_source_and_says_nothing() -> None:
    source, shown = AsyncSource("a", "wait"), []
    with anyio.move_on_after(0.05) as scope:
        async for each in guard_events(source, Doubler()):
            shown.append(each)
    assert scope.cancelled_caught
    assert shown == ["a", "a"]
    assert source.closed == 1


def test_the_wrong_kind_of_source_is_refused() -> None:
    wrong: Any = SyncSource()
    with pytest.raises(TypeError, match="guard_events_sync"):
        guard_events(wrong, Doubler())
    wrong = AsyncSource()
    with pytest.raises(TypeError, match="guard_events\\(\\)"):
        guard_events_sync(wrong, Doubler())
