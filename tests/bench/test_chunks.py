"""Speed on a stream: a megabyte of prose, four characters a chunk, without I/O."""

from __future__ import annotations

from time import process_time

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from streamguard import SECRETS, Redactor

from .guards import GUARDS, PIPELINE
from .peers import Peers
from .report import Report
from .rounds import Turn, feeding, interleave, per_second, streaming
from .texts import chunks, prose

pytestmark = pytest.mark.bench
ROUNDS = 4
CONTEXT = "hermes-agent StreamingContextScrubber"
THINK = "hermes-agent StreamingThinkScrubber"


@pytest.mark.benchmark(group="a megabyte of prose, four characters a chunk", timer=process_time)
@pytest.mark.parametrize("name", GUARDS)
def test_each_stage(benchmark: BenchmarkFixture, name: str) -> None:
    """For comparing two versions of streamguard with `--benchmark-compare`."""
    guard = GUARDS[name]()
    pieces = chunks(prose(), 4)

    def run(feed: object) -> None:
        assert callable(feed)
        for piece in pieces:
            feed(piece)

    benchmark.pedantic(run, setup=lambda: ((guard.session().feed,), {}), rounds=5, warmup_rounds=1)


def test_beside_peers(peers: Peers, report: Report) -> None:
    pieces = chunks(prose(), 4)
    guards = {name: make() for name, make in GUARDS.items()}
    turns: dict[str, Turn] = {"the loop itself, calling str()": feeding(lambda: str, pieces)}
    for name, guard in guards.items():
        turns[name] = streaming(guard, pieces)
    for name, make in peers.streaming.items():
        turns[name] = feeding(make, pieces)
    times = interleave(turns, ROUNDS)

    rows = report.table(
        "A megabyte of prose, four characters a chunk",
        "",
        "a chunk",
        "speed",
        "x faster than hermes context",
        "x faster than hermes think",
    )
    for name, seconds in times.items():
        ratios = (f"{times[peer] / seconds:.2f}" if peer in times else "" for peer in (CONTEXT, THINK))
        rows.append(
            (name, f"{seconds / len(pieces) * 1e9:.0f} ns", per_second(len(prose()), seconds), *ratios)
        )
    if CONTEXT in times and THINK in times:
        report.target(
            "FenceScrubber, times as fast as hermes context", times[CONTEXT] / times["FenceScrubber"], 6
        )
        report.target("pipeline, times as fast as hermes context", times[CONTEXT] / times[PIPELINE], 1)
        report.target("pipeline, times as fast as hermes think", times[THINK] / times[PIPELINE], 5)


def test_all_rules_beside_one(report: Report) -> None:
    """What is looked for makes hardly a difference where nothing is found."""
    pieces = chunks(prose(), 4)
    one = next(rule for rule in SECRETS if rule.id == "anthropic")
    redactors = {"one rule": Redactor((one,)), f"all {len(SECRETS)} rules of secrets": Redactor(SECRETS)}
    turns = {name: streaming(redactor, pieces) for name, redactor in redactors.items()}
    times = interleave(turns, ROUNDS)
    rows = report.table("A megabyte of prose, four characters a chunk, by rules", "", "a chunk", "speed")
    for name, seconds in times.items():
        rows.append((name, f"{seconds / len(pieces) * 1e9:.0f} ns", per_second(len(prose()), seconds)))
    alone, together = times.values()
    report.target("4-character chunks of prose: all secrets beside one rule", together / alone, most=2)


def test_sizes_of_chunks(report: Report) -> None:
    sizes = (1, 4, 16, 64, 256, 4096)
    guards = {name: make() for name, make in GUARDS.items()}
    turns: dict[tuple[str, int], Turn] = {}
    for size in sizes:
        pieces = chunks(prose(), size)
        for name, guard in guards.items():
            turns[name, size] = streaming(guard, pieces)
    times = interleave(turns, ROUNDS)
    rows = report.table("Nanoseconds a character, by size of chunks", "", *map(str, sizes))
    for name in guards:
        rows.append((name, *(f"{times[name, size] / len(prose()) * 1e9:.1f}" for size in sizes)))
