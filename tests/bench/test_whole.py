"""Speed on whole texts: a megabyte of prose at once."""

from __future__ import annotations

from time import process_time

import ahocorasick_rs
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from streamguard import PII, SECRETS, Redactor, presets
from streamguard.redact.compiled import compiled as _compile

from .guards import GUARDS
from .peers import Peers
from .report import Report
from .rounds import calling, interleave, per_second
from .texts import prose

pytestmark = pytest.mark.bench
ROUNDS = 15
SEARCH = "bare Aho-Corasick search"


@pytest.mark.benchmark(group="a megabyte of prose at once", timer=process_time)
@pytest.mark.parametrize("name", GUARDS)
def test_each_stage(benchmark: BenchmarkFixture, name: str) -> None:
    guard = GUARDS[name]()
    benchmark.pedantic(guard.scrub, (prose(),), rounds=ROUNDS, warmup_rounds=1)


def test_beside_a_bare_search(peers: Peers, report: Report) -> None:
    text = prose()
    guards = {name: make() for name, make in GUARDS.items()}
    redactor = Redactor()
    anchors = sorted(_compile(redactor.rules, redactor.limit).prefilter.strings)
    search = ahocorasick_rs.AhoCorasick(anchors).find_matches_as_indexes
    dfa = ahocorasick_rs.AhoCorasick(anchors, implementation=ahocorasick_rs.Implementation.DFA)
    turns = {name: calling(guard.scrub, text) for name, guard in guards.items()}
    turns[SEARCH] = calling(search, text)
    turns[f"{SEARCH}, as a DFA"] = calling(dfa.find_matches_as_indexes, text)
    turns["roleplay preset"] = calling(presets.roleplay().scrub, text)
    if peers.scrub is not None:
        turns["llm-scrub scrub"] = calling(peers.scrub, text)
    times = interleave(turns, ROUNDS)

    rows = report.table("A megabyte of prose at once", "", "time", "speed")
    for name, seconds in times.items():
        rows.append((name, f"{seconds * 1e3:.2f} ms", per_second(len(text), seconds)))
    report.target("FenceScrubber, whole text, MB/s", len(text) / times["FenceScrubber"] / 1e6, 500)
    report.target(
        f"Redactor, whole text, share of a bare search for its {len(anchors)} anchors",
        times[SEARCH] / times["Redactor"],
        0.5,
    )


def test_with_personal_data(report: Report) -> None:
    text = prose()
    redactors = {
        "secrets": Redactor(SECRETS),
        "personal data": Redactor(PII),
        "both": Redactor((*SECRETS, *PII)),
    }
    times = interleave({name: calling(one.scrub, text) for name, one in redactors.items()}, ROUNDS)
    rows = report.table("A megabyte of prose at once, by rules", "", "rules", "time", "speed")
    for name, seconds in times.items():
        rules = str(len(redactors[name].rules))
        rows.append((name, rules, f"{seconds * 1e3:.2f} ms", per_second(len(text), seconds)))
    report.target("whole ordinary text with personal data on, MB/s", len(text) / times["both"] / 1e6, 15)
