"""What asynchronous iteration adds: one hop a stream, however many stages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from time import process_time

import pytest

from streamguard import Pipeline, Transformer

from .guards import STAGES
from .report import Report
from .rounds import Turn, interleave, streaming
from .texts import chunks, prose

pytestmark = pytest.mark.bench
ROUNDS = 7
PIECES = chunks(prose(200_000), 4)


async def _source() -> AsyncIterator[str]:
    for piece in PIECES:
        yield piece


def _iterating(*guards: Transformer) -> Turn:
    async def run() -> float:
        stream: AsyncIterator[str] = _source()
        for guard in guards:
            stream = guard.transform(stream)
        start = process_time()
        async for _ in stream:
            pass
        return process_time() - start

    return lambda: asyncio.run(run())


def test_one_hop(report: Report) -> None:
    one, two, three = (make() for make in STAGES.values())
    guards = {1: Pipeline(one), 3: Pipeline(one, two, three), 6: Pipeline(*[one, two, three] * 2)}
    turns: dict[tuple[str, int], Turn] = {("source", 0): _iterating()}
    for count, guard in guards.items():
        turns["sans-IO", count] = streaming(guard, PIECES)
        turns["transform", count] = _iterating(guard)
        turns["nested", count] = _iterating(*guard.stages)
    times = {key: seconds / len(PIECES) * 1e9 for key, seconds in interleave(turns, ROUNDS).items()}

    rows = report.table(
        "Nanoseconds a chunk on asyncio, four characters a chunk",
        "stages",
        "sans-IO",
        "transform",
        "the hop",
        "a transform for each stage",
    )
    bare = times["source", 0]
    for count in guards:
        alone, whole, nested = (times[kind, count] for kind in ("sans-IO", "transform", "nested"))
        rows.append(
            (str(count), f"{alone:.0f}", f"{whole:.0f}", f"{whole - alone - bare:.0f}", f"{nested:.0f}")
        )
    report.note(f"The hop is transform less sans-IO less {bare:.0f} ns for iterating over the source alone.")
