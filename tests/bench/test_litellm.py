"""What guarding costs beside LiteLLM's own work: a chunk of its SDK, a chunk of its proxy."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any

import pytest

from streamguard import FenceScrubber, Redactor

from ..integrations.litellm.upstream import Script, Upstream  # noqa: TID252 - the server of the tests
from .report import Report
from .rounds import Turn, interleave
from .texts import chunks as chunks_of
from .texts import prose

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    litellm = pytest.importorskip("litellm")
    pytest.importorskip("litellm.proxy.proxy_server", exc_type=ImportError)

from litellm.proxy._types import UserAPIKeyAuth
from litellm.proxy.guardrails.guardrail_hooks.litellm_content_filter.content_filter import (
    ContentFilterGuardrail,
)
from litellm.proxy.proxy_server import async_data_generator
from litellm.types.guardrails import ContentFilterAction, ContentFilterPattern
from litellm.types.utils import Delta, ModelResponseStream, StreamingChoices
from streamguard_litellm import StreamGuardGuardrail, StreamGuardLogger, guard_stream

pytestmark = [pytest.mark.bench, pytest.mark.filterwarnings("ignore")]
ROUNDS = 5
GUARD = FenceScrubber("memory-context", "think") | Redactor()
POLICY = {"stage": [{"type": "fence", "fences": ["memory-context", "think"]}, {"type": "redactor"}]}
TEXT = prose(6_000)
PIECES = chunks_of(TEXT, 3)  # as `mock_response` cuts


def chunk(text: str) -> ModelResponseStream:
    return ModelResponseStream(
        id="c1", model="m", choices=[StreamingChoices(index=0, delta=Delta(content=text))]
    )


async def source(items: list[Any]) -> AsyncIterator[Any]:
    for item in items:
        yield item


def seconds(run: Any, server: Callable[[], float] = lambda: 0.0) -> Turn:
    """Time the iteration over what `run` makes, in processor time without that of the server."""

    async def turn() -> float:
        start = process_time() - server()
        async for _ in await run():
            pass
        return process_time() - server() - start

    return lambda: asyncio.run(turn())


def test_a_chunk_of_the_sdk(report: Report) -> None:
    chunks = [chunk(piece) for piece in PIECES]
    asked: dict[str, Any] = {"model": "openai/gpt-4o", "api_key": "k", "stream": True}
    with Upstream() as upstream:
        prompt = [{"role": "user", "content": upstream.say(Script(content=TEXT, cut=3))}]
        asked |= {"messages": prompt, "api_base": f"{upstream.url}/v1"}
        _sdk(report, asked, chunks, upstream.processor_time)


def _sdk(report: Report, asked: dict[str, Any], chunks: list[Any], server: Callable[[], float]) -> None:
    async def completion() -> Any:
        return await litellm.acompletion(**asked)

    async def mocked() -> Any:
        return await litellm.acompletion(**asked, mock_response=TEXT)

    async def bare() -> Any:
        return source(chunks)

    async def guarded() -> Any:
        return guard_stream(source(chunks), GUARD)

    turns = {
        "from loopback": seconds(completion, server),
        "mock_response": seconds(mocked, server),
        "iteration": seconds(bare, server),
        "guarded": seconds(guarded, server),
    }
    times = {name: best / len(PIECES) * 1e6 for name, best in interleave(turns, ROUNDS).items()}
    guard = times["guarded"] - times["iteration"]
    rows = report.table(
        "Microseconds a chunk of the SDK, three characters a chunk",
        "acompletion",
        "itself",
        "the guard",
        "share",
    )
    for name in ("from loopback", "mock_response"):
        rows.append((name, f"{times[name]:.0f}", f"{guard:.1f}", f"{guard / times[name]:.1%}"))
    report.note("The guard is what iterating over the same chunks takes longer.")


@contextmanager
def callbacks(*given: Any) -> Iterator[None]:
    before, litellm.callbacks = litellm.callbacks, list(given)
    try:
        yield
    finally:
        litellm.callbacks = before


def proxied(*given: Any) -> Turn:
    """The generator that writes the proxy's frames, with these callbacks."""
    chunks = [chunk(piece) for piece in PIECES]
    request = {"model": "m", "messages": [{"role": "user", "content": "x"}], "metadata": {}}
    key = UserAPIKeyAuth(api_key="k", request_route="/v1/chat/completions")

    async def frames() -> Any:
        return async_data_generator(source(chunks), key, dict(request))

    def turn() -> float:
        with callbacks(*given):
            return seconds(frames)()

    return turn


def test_a_chunk_of_the_proxy(report: Report) -> None:
    one = ContentFilterPattern(
        pattern_type="regex", name="key", pattern=r"sk-[A-Za-z0-9]{20,}", action=ContentFilterAction.MASK
    )
    every: dict[str, Any] = {"event_hook": "post_call", "default_on": True}
    guardrail = StreamGuardGuardrail(guardrail_name="streamguard", streamguard={"policy": POLICY}, **every)
    turns = {
        "nothing": proxied(),
        "streamguard, as a logger": proxied(StreamGuardLogger(GUARD)),
        "streamguard, as a guardrail": proxied(guardrail),
        "LiteLLM's content filter, one pattern": proxied(
            ContentFilterGuardrail(guardrail_name="filter", patterns=[one], **every)
        ),
    }
    times = {name: best / len(PIECES) * 1e6 for name, best in interleave(turns, ROUNDS).items()}
    rows = report.table("Microseconds a chunk of the proxy", "with", "whole", "added")
    for name, whole in times.items():
        rows.append((name, f"{whole:.0f}", f"{whole - times['nothing']:.0f}"))
    report.note("Of a guardrail most is LiteLLM's: it takes each chunk apart for any of them.")
