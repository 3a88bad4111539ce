"""A guard for the text streams of a chain, behind whatever makes text of messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from langchain_core.runnables import Runnable, RunnableGenerator

from streamguard import Transformer
from streamguard.session import FindingHandler

__all__ = ["guard_runnable"]


def guard_runnable(guard: Transformer, *, on_finding: FindingHandler | None = None) -> Runnable[str, str]:
    """Guard the text of a chain while it streams.

    It comes last: `prompt | model | StrOutputParser() | guard_runnable(guard)`. Guarded is what comes
    out of the chain, and no more. Callbacks, tracers, `astream_events`, and graphs in
    `stream_mode="messages"` hear the model before this runnable does: use `guard_model` for these.

    Args:
        guard: what the text goes through.
        on_finding: called with each finding.

    Returns:
        A runnable of text. What it is given all at once it guards all at once. A stream of which
        nothing may be shown is one empty text.

    *Delay*, *Memory*: those of the guard.
    """

    def transform(source: Iterator[str]) -> Iterator[str]:
        shown = False
        for text in guard.transform_sync(source, on_finding=on_finding):
            shown = True
            yield text
        if not shown:
            yield ""

    async def atransform(source: AsyncIterator[str]) -> AsyncIterator[str]:
        shown = False
        stream = guard.transform(source, on_finding=on_finding)
        try:
            async for text in stream:
                shown = True
                yield text
        finally:
            await stream.aclose()
        if not shown:
            yield ""

    return RunnableGenerator(transform, atransform, name="guard")
