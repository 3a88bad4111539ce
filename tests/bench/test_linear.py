"""Time a character: the same in a long text as in a short one, whatever is in it."""

from __future__ import annotations

import pytest

from .guards import GUARDS, PIPELINE
from .report import Report
from .rounds import interleave, streaming
from .texts import HOSTILE, prose

pytestmark = pytest.mark.bench
SIZES = (1 << 16, 1 << 18, 1 << 20, 1 << 22)
LONG = 1 << 20


@pytest.mark.parametrize("name", ["prose", *HOSTILE])
def test_time_a_character_is_flat(report: Report, name: str) -> None:
    make = HOSTILE.get(name, prose)
    guard = GUARDS[PIPELINE]()
    times = dict.fromkeys(SIZES, float("inf"))
    for size in (*SIZES, *reversed(SIZES)):  # so that no size has all of a quiet or a busy moment
        turn = streaming(guard, list(make(size)))
        times[size] = min(times[size], interleave({size: turn}, 1 if size > LONG else 3)[size])

    rows = report.table(
        "Nanoseconds a character, one character a chunk, default pipeline",
        "",
        *(f"{size >> 10} KB" for size in SIZES),
        "longest : shortest",
    )
    costs = [times[size] / size * 1e9 for size in SIZES]
    rows.append((name, *(f"{cost:.0f}" for cost in costs), f"{costs[-1] / costs[0]:.2f}"))
    report.target(f"{name}: time a character, 4 MB to 64 KB", costs[-1] / costs[0], most=1.3)
