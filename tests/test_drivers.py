"""Iteration: every exit closes the source, on asyncio and on trio, and nothing else is said."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from streamguard.drivers import aclose_source, close_source, drive, drive_sync

pytestmark = pytest.mark.anyio


class SourceError(Exception):
    """Raised by a source."""


class Recorder:
    """The two functions of a session: `feed` lets text through, `flush` says how it ended."""

    def __init__(self) -> None:
        self.failures: list[Exception | None] = []

    def feed(self, text: str) -> str:
        return text

    def flush(self, failure: Exception | None) -> str:
        self.failures.append(failure)
        return "[end]" if failure is None else "[error]"


# --- sources ---------------------------------------------------------------------------------


class Chunks:
    """An asynchronous iterator that has no way to be closed."""

    def __init__(self, *chunks: str, failure: BaseException | None = None) -> None:
        self.chunks = iter(chunks)
        self.failure = failure
        self.log: list[str] = []

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        await anyio.lowlevel.checkpoint()
        for chunk in self.chunks:
            return chunk
        raise StopAsyncIteration if self.failure is None else self.failure


class WithAclose(Chunks):
    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.log.append("aclose")


class WithClose(Chunks):
    def close(self) -> None:
        self.log.append("close")


class WithCoroutineClose(Chunks):
    """As the streams of the openai package."""

    async def close(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.log.append("async close")


class WithBoth(WithAclose):
    def close(self) -> None:
        self.log.append("close")


class HandsOut:
    """An iterable whose iterator is another object; both can be closed."""

    def __init__(self, iterator: Chunks) -> None:
        self.iterator = iterator
        self.log = iterator.log

    def __aiter__(self) -> AsyncIterator[str]:
        return self.iterator

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.log.append("iterable")


class Generated:
    """An asynchronous generator that tells when it is closed."""

    def __init__(self, *chunks: str, failure: BaseException | None = None) -> None:
        self.log: list[str] = []
        self.generator = self.run(chunks, failure)

    async def run(self, chunks: Iterable[str], failure: BaseException | None) -> AsyncIterator[str]:
        try:
            for chunk in chunks:
                yield chunk
            if failure is not None:
                raise failure
        finally:
            self.log.append("generator")

    def __aiter__(self) -> AsyncIterator[str]:
        return self.generator


SOURCES: list[tuple[Callable[..., Any], list[str]]] = [
    (Generated, ["generator"]),
    (Chunks, []),
    (WithAclose, ["aclose"]),
    (WithClose, ["close"]),
    (WithCoroutineClose, ["async close"]),
    (WithBoth, ["aclose"]),
    (lambda *chunks, **how: HandsOut(WithAclose(*chunks, **how)), ["aclose", "iterable"]),
    (lambda *chunks, **how: HandsOut(Chunks(*chunks, **how)), ["iterable"]),
]
every_source = pytest.mark.parametrize(
    ("make", "closings"),
    SOURCES,
    ids=["generator", "bare", "aclose", "close", "coroutine close", "both", "two closable", "bare iterator"],
)


async def collect(stream: AsyncIterable[str], output: list[str]) -> None:
    async for text in stream:
        output.append(text)


def stream(source: AsyncIterable[str], recorder: Recorder | None = None) -> Any:
    recorder = recorder or Recorder()
    return drive(recorder.feed, recorder.flush, source)


# --- the ways out ----------------------------------------------------------------------------


@every_source
async def test_the_source_is_closed_at_its_end(make: Callable[..., Any], closings: list[str]) -> None:
    source, recorder = make("a", "b"), Recorder()
    assert [text async for text in stream(source, recorder)] == ["a", "b", "[end]"]
    assert source.log == closings
    assert recorder.failures == [None]


@every_source
async def test_the_source_is_closed_after_its_error(make: Callable[..., Any], closings: list[str]) -> None:
    failure = SourceError()
    source, recorder = make("a", failure=failure), Recorder()
    output: list[str] = []
    with pytest.raises(SourceError) as caught:
        await collect(stream(source, recorder), output)
    assert output == ["a", "[error]"]
    assert caught.value is failure
    assert recorder.failures == [failure]
    assert source.log == closings


@every_source
async def test_the_source_is_closed_when_the_consumer_stops(
    make: Callable[..., Any], closings: list[str]
) -> None:
    source, recorder = make("a", "b", "c"), Recorder()
    output = stream(source, recorder)
    async for text in output:
        assert text == "a"
        break
    await output.aclose()
    assert source.log == closings
    assert recorder.failures == []
    assert [text async for text in output] == []


@every_source
async def test_the_source_is_closed_when_feed_raises(make: Callable[..., Any], closings: list[str]) -> None:
    def feed(text: str) -> str:
        raise SourceError

    source, recorder = make("a", "b"), Recorder()
    with pytest.raises(SourceError):
        await anext(drive(feed, recorder.flush, source))
    assert source.log == closings
    assert recorder.failures == []


@every_source
async def test_the_source_is_closed_when_flush_raises(make: Callable[..., Any], closings: list[str]) -> None:
    def flush(failure: Exception | None) -> str:
        raise SourceError

    source = make("a")
    output: list[str] = []
    with pytest.raises(SourceError):
        await collect(drive(str, flush, source), output)
    assert output == ["a"]
    assert source.log == closings


@every_source
async def test_the_source_is_closed_when_the_consumer_throws(
    make: Callable[..., Any], closings: list[str]
) -> None:
    source, recorder = make("a", "b"), Recorder()
    output = stream(source, recorder)
    await anext(output)
    with pytest.raises(SourceError):
        await output.athrow(SourceError())
    assert source.log == closings
    assert recorder.failures == []


@every_source
async def test_the_consumer_may_stop_at_the_tail(make: Callable[..., Any], closings: list[str]) -> None:
    source = make(failure=SourceError())
    output = stream(source)
    assert await anext(output) == "[error]"
    await output.aclose()
    assert source.log == closings


async def test_empty_chunks_are_not_passed_on() -> None:
    async for _ in drive(lambda _: "", lambda _: "", Chunks("a", "", "b")):
        pytest.fail("an empty chunk came out")


async def test_what_is_decided_comes_out_before_the_next_chunk_is_asked_for() -> None:
    asked: list[str] = []

    async def source() -> AsyncIterator[str]:
        for chunk in ("a", "b"):
            asked.append(chunk)
            yield chunk

    output = stream(source())
    await anext(output)
    assert asked == ["a"]
    await output.aclose()


async def test_an_error_of_the_consumer_is_no_error_of_the_source() -> None:
    source, recorder = WithAclose("a", "b"), Recorder()
    with pytest.raises(ZeroDivisionError):
        async with aclosing(stream(source, recorder)) as output:
            raise ZeroDivisionError(await anext(output))
    assert source.log == ["aclose"]
    assert recorder.failures == []


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), GeneratorExit(), SystemExit()], ids=repr)
async def test_after_an_exit_nothing_is_said(failure: BaseException) -> None:
    source, recorder = WithAclose("a", failure=failure), Recorder()
    output = stream(source, recorder)
    assert await anext(output) == "a"
    with pytest.raises(type(failure)) as caught:
        await anext(output)
    assert caught.value is failure
    assert source.log == ["aclose"]
    assert recorder.failures == []


async def test_a_stray_stop_iteration_does_not_pass_for_the_end() -> None:
    """Python turns it into RuntimeError wherever a coroutine lets it out."""
    source, recorder = WithAclose("a", failure=StopIteration()), Recorder()
    with pytest.raises(RuntimeError, match="StopIteration"):
        await collect(stream(source, recorder), [])
    assert isinstance(recorder.failures[0], RuntimeError)
    assert source.log == ["aclose"]


async def test_a_close_that_fails_keeps_the_error_of_the_source() -> None:
    class Broken(Chunks):
        async def aclose(self) -> None:
            raise OSError

    failure = SourceError()
    with pytest.raises(OSError) as caught:  # noqa: PT011
        await collect(stream(Broken(failure=failure)), [])
    assert caught.value.__context__ is failure


# --- cancellation ----------------------------------------------------------------------------


class Waiting(Chunks):
    """Gives its chunks, then waits for ever; its close takes several turns of the loop."""

    def __init__(self, *chunks: str) -> None:
        super().__init__(*chunks)
        self.waits = anyio.Event()

    async def __anext__(self) -> str:
        for chunk in self.chunks:
            return chunk
        self.waits.set()
        await anyio.sleep_forever()
        raise AssertionError

    async def aclose(self) -> None:
        self.log.append("closing")
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        self.log.append("closed")


async def test_a_cancellation_closes_the_source_to_the_end() -> None:
    source, recorder = Waiting("a"), Recorder()
    output: list[str] = []

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(collect, stream(source, recorder), output)
        await source.waits.wait()
        tasks.cancel_scope.cancel()
    assert output == ["a"]
    assert source.log == ["closing", "closed"]
    assert recorder.failures == []


async def test_a_consumer_cancelled_between_two_chunks_closes_the_source_to_the_end() -> None:
    source, recorder = Waiting("a", "b"), Recorder()
    with anyio.CancelScope() as scope:
        async with aclosing(stream(source, recorder)) as output:
            async for _ in output:
                scope.cancel()
                await anyio.lowlevel.checkpoint()
    assert scope.cancelled_caught
    assert source.log == ["closing", "closed"]
    assert recorder.failures == []


async def test_a_generator_is_closed_to_the_end_in_a_cancelled_scope() -> None:
    log: list[str] = []

    async def source() -> AsyncIterator[str]:
        try:
            yield "a"
            yield "b"
        finally:
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            log.append("closed")

    with anyio.CancelScope() as scope:
        async with aclosing(stream(source())) as output:
            await anext(output)
            scope.cancel()
            await anyio.lowlevel.checkpoint()
    assert log == ["closed"]


def test_a_task_cancelled_by_asyncio_itself_closes_the_source() -> None:
    async def main() -> Waiting:
        source = Waiting("a")

        task = asyncio.create_task(collect(stream(source), []))
        await source.waits.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return source

    assert asyncio.run(main()).log == ["closing", "closed"]


# --- closing ---------------------------------------------------------------------------------


async def test_one_object_is_closed_once() -> None:
    source = WithAclose()
    await aclose_source(source, source)
    assert source.log == ["aclose"]


async def test_an_attribute_that_is_no_method_is_left_alone() -> None:
    class Odd:
        aclose = None
        close = "not callable"

    await aclose_source(Odd(), Odd())
    close_source(Odd(), Odd())


# --- synchronous sources ---------------------------------------------------------------------


class SyncChunks:
    def __init__(self, *chunks: str, failure: BaseException | None = None) -> None:
        self.chunks = iter(chunks)
        self.failure = failure
        self.log: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for chunk in self.chunks:
            return chunk
        raise StopIteration if self.failure is None else self.failure


class SyncWithClose(SyncChunks):
    def close(self) -> None:
        self.log.append("close")


class SyncHandsOut:
    def __init__(self, iterator: SyncChunks) -> None:
        self.iterator = iterator
        self.log = iterator.log

    def __iter__(self) -> Iterator[str]:
        return self.iterator

    def close(self) -> None:
        self.log.append("iterable")


class SyncGenerated:
    def __init__(self, *chunks: str, failure: BaseException | None = None) -> None:
        self.log: list[str] = []
        self.generator = self.run(chunks, failure)

    def run(self, chunks: Iterable[str], failure: BaseException | None) -> Iterator[str]:
        try:
            yield from chunks
            if failure is not None:
                raise failure
        finally:
            self.log.append("generator")

    def __iter__(self) -> Iterator[str]:
        return self.generator


SYNC_SOURCES: list[tuple[Callable[..., Any], list[str]]] = [
    (SyncGenerated, ["generator"]),
    (SyncChunks, []),
    (SyncWithClose, ["close"]),
    (lambda *chunks, **how: SyncHandsOut(SyncWithClose(*chunks, **how)), ["close", "iterable"]),
    (lambda *chunks, **how: SyncHandsOut(SyncChunks(*chunks, **how)), ["iterable"]),
]
every_sync_source = pytest.mark.parametrize(
    ("make", "closings"), SYNC_SOURCES, ids=["generator", "bare", "close", "two closable", "bare iterator"]
)


def sync_stream(source: Iterable[str], recorder: Recorder | None = None) -> Any:
    recorder = recorder or Recorder()
    return drive_sync(recorder.feed, recorder.flush, source)


@every_sync_source
def test_a_synchronous_source_is_closed_at_its_end(make: Callable[..., Any], closings: list[str]) -> None:
    source, recorder = make("a", "b"), Recorder()
    assert list(sync_stream(source, recorder)) == ["a", "b", "[end]"]
    assert source.log == closings
    assert recorder.failures == [None]


@every_sync_source
def test_a_synchronous_source_is_closed_after_its_error(
    make: Callable[..., Any], closings: list[str]
) -> None:
    failure = SourceError()
    source, recorder = make("a", failure=failure), Recorder()
    output: list[str] = []
    with pytest.raises(SourceError) as caught:
        output.extend(sync_stream(source, recorder))
    assert output == ["a", "[error]"]
    assert caught.value is failure
    assert recorder.failures == [failure]
    assert source.log == closings


@every_sync_source
def test_a_synchronous_source_is_closed_when_the_consumer_stops(
    make: Callable[..., Any], closings: list[str]
) -> None:
    source, recorder = make("a", "b"), Recorder()
    output = sync_stream(source, recorder)
    assert next(output) == "a"
    output.close()
    assert source.log == closings
    assert recorder.failures == []


@every_sync_source
def test_a_synchronous_source_is_closed_when_feed_raises(
    make: Callable[..., Any], closings: list[str]
) -> None:
    def feed(text: str) -> str:
        raise SourceError

    source = make("a")
    with pytest.raises(SourceError):
        next(drive_sync(feed, Recorder().flush, source))
    assert source.log == closings


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), GeneratorExit(), SystemExit()], ids=repr)
def test_after_an_exit_of_a_synchronous_source_nothing_is_said(failure: BaseException) -> None:
    source, recorder = SyncWithClose("a", failure=failure), Recorder()
    output = sync_stream(source, recorder)
    assert next(output) == "a"
    with pytest.raises(type(failure)):
        next(output)
    assert source.log == ["close"]
    assert recorder.failures == []


def test_an_asynchronous_end_does_not_pass_for_the_end() -> None:
    source, recorder = SyncWithClose("a", failure=StopAsyncIteration()), Recorder()
    with pytest.raises(StopAsyncIteration):
        list(sync_stream(source, recorder))
    assert recorder.failures == [source.failure]


def test_empty_chunks_of_a_synchronous_source_are_not_passed_on() -> None:
    assert list(drive_sync(lambda _: "", lambda _: "", ["a", "", "b"])) == []


# --- exits nobody thinks of ------------------------------------------------------------------


async def test_a_stream_closed_before_its_first_chunk_closes_the_source() -> None:
    source = WithAclose("a")
    await stream(source).aclose()
    assert source.log == ["aclose"]


def test_a_synchronous_stream_closed_before_its_first_chunk_closes_the_source() -> None:
    source = SyncWithClose("a")
    sync_stream(source).close()
    assert source.log == ["close"]


async def test_an_iterator_that_fails_to_close_does_not_keep_its_iterable_open() -> None:
    class Broken(Chunks):
        async def aclose(self) -> None:
            raise OSError

    source = HandsOut(Broken("a"))
    with pytest.raises(OSError):  # noqa: PT011
        await collect(stream(source), [])
    assert source.log == ["iterable"]


def test_a_synchronous_iterator_that_fails_to_close_does_not_keep_its_iterable_open() -> None:
    class Broken(SyncChunks):
        def close(self) -> None:
            raise OSError

    source = SyncHandsOut(Broken("a"))
    with pytest.raises(OSError):  # noqa: PT011
        list(sync_stream(source))
    assert source.log == ["iterable"]


async def test_an_error_that_was_handled_is_freed_with_all_it_holds() -> None:
    """Providers' errors hold the response; a reference cycle keeps it until the next collection."""

    async def source() -> AsyncIterator[str]:
        yield "a"
        raise SourceError

    async def run() -> weakref.ref[SourceError]:
        try:
            await collect(drive(str, lambda _: "", source()), [])
        except SourceError as error:
            return weakref.ref(error)
        raise AssertionError

    gc.collect()
    gc.disable()
    try:
        assert (await run())() is None
    finally:
        gc.enable()


def test_an_error_of_a_synchronous_source_is_freed_with_all_it_holds() -> None:
    def source() -> Iterator[str]:
        yield "a"
        raise SourceError

    def run() -> weakref.ref[SourceError]:
        try:
            list(drive_sync(str, lambda _: "", source()))
        except SourceError as error:
            return weakref.ref(error)
        raise AssertionError

    gc.collect()
    gc.disable()
    try:
        assert run()() is None
    finally:
        gc.enable()
