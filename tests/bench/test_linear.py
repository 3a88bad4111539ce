"""Time a character: the same late in a long text as at its beginning, whatever is in it."""

from __future__ import annotations

import gc
from time import process_time

import pytest

from .guards import GUARDS, PIPELINE
from .report import Report
from .texts import HOSTILE, prose

pytestmark = pytest.mark.bench
SLICE = 1 << 16
LENGTH = 1 << 22
PLACES = (1 << 18, 1 << 20, 1 << 21, LENGTH)
SLICES = 4
"""At each place, the fastest of so many slices in each of the rounds."""
ROUNDS = 2


@pytest.mark.parametrize("name", ["prose", *HOSTILE])
def test_time_a_character_is_flat(report: Report, name: str) -> None:
    text = HOSTILE.get(name, prose)(LENGTH)
    guard = GUARDS[PIPELINE]()
    slices = [list(text[at : at + SLICE]) for at in range(0, LENGTH, SLICE)]
    best = [float("inf")] * len(slices)
    for _ in range(ROUNDS):
        feed = guard.session().feed
        gc.collect()
        gc.disable()
        for index, chars in enumerate(slices):
            start = process_time()
            for char in chars:
                feed(char)
            best[index] = min(best[index], process_time() - start)
        gc.enable()

    ends = [place // SLICE for place in PLACES]
    costs = [min(best[end - SLICES : end]) / SLICE * 1e9 for end in ends]
    rows = report.table(
        "Nanoseconds a character, one character a chunk, default pipeline",
        "",
        "in the first 256 KB",
        *(f"up to {place >> 20} MB" for place in PLACES[1:]),
        "last : first",
    )
    rows.append((name, *(f"{cost:.0f}" for cost in costs), f"{costs[-1] / costs[0]:.2f}"))
    report.target(f"{name}: time a character, at 4 MB to the first", costs[-1] / costs[0], most=1.3)
