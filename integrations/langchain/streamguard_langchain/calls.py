"""Calls of the model inside, cut off from whoever listens.

A model that is called while a run is on finds that run's callbacks in a context variable. Were the
model inside to call another, or itself by a public method, all of them would hear it unguarded. So
while it runs, the variable names no callbacks. It is set before each step and set back after it,
since the steps of a generator run in the context of whoever asks for the next.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TypeVar

from langchain_core.runnables.config import RunnableConfig, var_child_runnable_config

from streamguard.drivers import aclose_source, close_source
from streamguard_langchain.errors import guard_error
from streamguard_langchain.settings import Settings

__all__ = ["AsyncSteps", "Steps", "acall", "call"]

T = TypeVar("T")


def call(settings: Settings, function: Callable[[], T], /) -> T:
    """Call a method of the model inside.

    Raises:
        Exception: what the method raises, without text that the guard takes out.
    """
    before = _silence()
    try:
        return function()
    except Exception as error:
        failure = guard_error(error, settings)
    finally:
        if before is not None:
            var_child_runnable_config.set(before)
    raise failure  # not in the handler: the raw one would become its context


async def acall(settings: Settings, function: Callable[[], Awaitable[T]], /) -> T:
    """Call an asynchronous method of the model inside; otherwise as `call`."""
    before = _silence()
    try:
        return await function()
    except Exception as error:
        failure = guard_error(error, settings)
    finally:
        if before is not None:
            var_child_runnable_config.set(before)
    raise failure


class Steps(Iterator[T]):
    """A stream of the model inside, each step of which is such a call."""

    __slots__ = ("_settings", "_source", "_step")

    def __init__(self, settings: Settings, source: Iterator[T]) -> None:
        self._settings = settings
        self._source = source
        self._step = source.__next__

    def __next__(self) -> T:
        before = _silence()
        try:
            return self._step()
        except StopIteration:
            raise
        except Exception as error:
            failure = guard_error(error, self._settings)
        finally:
            if before is not None:
                var_child_runnable_config.set(before)
        raise failure

    def close(self) -> None:
        """Close the stream inside."""
        close_source(self._source, self._source)


class AsyncSteps(AsyncIterator[T]):
    """An asynchronous stream of the model inside; otherwise as `Steps`."""

    __slots__ = ("_settings", "_source", "_step")

    def __init__(self, settings: Settings, source: AsyncIterator[T]) -> None:
        self._settings = settings
        self._source = source
        self._step = source.__anext__

    async def __anext__(self) -> T:
        before = _silence()
        try:
            return await self._step()
        except StopAsyncIteration:
            raise
        except Exception as error:
            failure = guard_error(error, self._settings)
        finally:
            if before is not None:
                var_child_runnable_config.set(before)
        raise failure

    async def aclose(self) -> None:
        """Close the stream inside."""
        await aclose_source(self._source, self._source)


def _silence() -> RunnableConfig | None:
    """Take the callbacks out of the context, if there are any; return what to set back."""
    before = var_child_runnable_config.get()
    if before is None or not before.get("callbacks"):
        return None
    var_child_runnable_config.set({**before, "callbacks": None})
    return before
