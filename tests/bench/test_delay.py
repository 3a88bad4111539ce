"""Hold-back: how much is not shown yet, after each character of prose."""

from __future__ import annotations

import pytest

from .guards import GUARDS, PIPELINE
from .report import Report
from .texts import prose, wrapped_prose

pytestmark = pytest.mark.bench


WRAPPED = f"{PIPELINE}, lines wrapped and indented"


@pytest.mark.parametrize("name", [*GUARDS, WRAPPED])
def test_held_characters(report: Report, name: str) -> None:
    guard = GUARDS[PIPELINE if name == WRAPPED else name]()
    session = guard.session()
    held: list[int] = []
    for char in wrapped_prose() if name == WRAPPED else prose():
        session.feed(char)
        held.append(session.pending)
    mean = sum(held) / len(held)
    free = held.count(0) / len(held)
    # Each stage holds text of its own, so what a pipeline holds at most is a sum over stages.
    most: dict[str, int] = {}
    for bound in guard.bounds():
        most[bound.stage] = max(most.get(bound.stage, 0), bound.characters)
    rows = report.table(
        "Characters held back on a megabyte of prose, after each character",
        "",
        "mean",
        "nothing held",
        "longest",
        "bounds() allows",
    )
    rows.append((name, f"{mean:.3f}", f"{free:.1%}", str(max(held)), str(sum(most.values()))))
    if name == PIPELINE:
        report.target("pipeline, mean characters held on prose", mean, most=0.5)
        report.target("pipeline, share of positions with nothing held", free, 0.8)
