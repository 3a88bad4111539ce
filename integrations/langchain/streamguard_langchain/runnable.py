"""A guard for the text streams of a chain, behind whatever makes text of messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from langchain_core.runnables import Runnable, RunnableGenerator

from streamguard import Transformer
from streamguard.session import FindingHandler
from streamguard_langchain.errors import guard_error
from streamguard_langchain.settings import Settings

__all__ = ["guard_runnable"]


def guard_runnable(guard: Transformer, *, on_finding: FindingHandler | None = None) -> Runnable[str, str]:
    """Guard the text of a chain while it streams.

    It comes last: `prompt | model | StrOutputParser() | guard_runnable(guard)`. Guarded is what comes
    out of the chain, and no more. Callbacks, tracers, `astream_events`, and graphs in
    `stream_mode="messages"` hear the model before this runnable does: use `guard_model` for these.

    Args:
        guard: what the text goes through.
        on_finding: called with each finding.

    Raises:
        TypeError: the guard is no `Transformer`.

    Returns:
        A runnable of text. What it is given all at once it guards all at once. A stream of which
        nothing may be shown is one empty text. An error of the chain that quotes what the guard takes
        out comes through as a copy that does not, or as a `GuardedModelError`.

    *Delay*, *Memory*: those of the guard.
    """
    settings = Settings(guard)

    def transform(source: Iterator[str]) -> Iterator[str]:
        shown, failure = False, None
        try:
            for text in guard.transform_sync(source, on_finding=on_finding):
                shown = True
                yield text
        except Exception as error:
            failure = guard_error(error, settings)
        if failure is not None:
            raise failure  # not in the handler: the raw one would become its context
        if not shown:
            yield ""

    async def atransform(source: AsyncIterator[str]) -> AsyncIterator[str]:
        shown, failure = False, None
        stream = guard.transform(source, on_finding=on_finding)
        try:
            async for text in stream:
                shown = True
                yield text
        except Exception as error:
            failure = guard_error(error, settings)
        finally:
            await stream.aclose()
        if failure is not None:
            raise failure
        if not shown:
            yield ""

    return RunnableGenerator(transform, atransform, name="guard")
