"""How the API is used, as the type checkers see it. Checked, not run."""

from collections.abc import AsyncGenerator, AsyncIterator, Generator
from typing import assert_type

from streamguard import (
    MEMORY,
    SECRETS,
    Bound,
    End,
    Fence,
    FenceScrubber,
    Finding,
    Pipeline,
    PreambleTrimmer,
    Redactor,
    Rule,
    Session,
    StateOpScrubber,
    Transformer,
)


async def tokens() -> AsyncIterator[str]:
    """Stand in for a model."""
    yield "text"


async def asynchronous(guard: Transformer) -> None:
    """An async stream in, an async generator out."""
    stream = guard.transform(tokens(), end=lambda: End.COMPLETE)
    assert_type(stream, AsyncGenerator[str, None])
    async for text in stream:
        assert_type(text, str)
    await stream.aclose()


def composition() -> Transformer:
    """Stages compose to a pipeline, which is a transformer."""
    fences = FenceScrubber("think", Fence("[[", "]]"), *MEMORY, where="line_start", trim="lines")
    guard = fences | PreambleTrimmer(when="tool_call") | StateOpScrubber()
    assert_type(guard, Pipeline)
    own = Redactor([*SECRETS, Rule("ticket", "TICKET-[0-9]+")], key=b"0123456789abcdef")
    assert_type(guard | own, Pipeline)
    assert_type(own.bounds(), tuple[Bound, ...])
    return guard | own


def synchronous(guard: Transformer) -> str:
    """A session, a whole text, an ordinary stream."""
    findings: list[Finding] = []
    session = guard.session(on_finding=findings.append, on_hidden=print)
    assert_type(session, Session)
    shown = session.feed("text") + session.flush(End.TRUNCATED)
    assert_type(session.pending, int)
    stream = guard.transform_sync(["a", "b"], end=End.TOOL_CALL)
    assert_type(stream, Generator[str, None, None])
    return shown + "".join(stream) + guard.scrub("whole")
