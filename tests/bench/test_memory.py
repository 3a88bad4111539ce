"""Memory of a stream, shared automata not counted."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from .guards import GUARDS, PIPELINE, reachable
from .report import Report
from .texts import HOSTILE, chunks, prose

pytestmark = pytest.mark.bench
STREAMS = 20_000
SIZE = 4_000
LOOKS = 24

# Characters that take four bytes each, alone and all through a string.
_WIDE = "\U0001f511"
_THIN = "\u200b" * 4
_ALL = (
    "It is so.\npassword: "  # the redactor holds a value that has not ended,
    + "{wide}" * 250
    + "."
    + " Let me check the {wide} file." * 4  # the trimmer preambles and an unfinished one,
    + " Let me look at the "
    + "{wide}" * 210
    + "<"  # the scrubber a tag with all it may contain
    + _THIN
    + _THIN.join("memory-context")
    + " "
    + "{wide}" * 98
)
TEXTS: dict[str, Callable[[int], str]] = {
    "prose": prose,
    **HOSTILE,
    "as much held as possible": lambda _size: _ALL.format(wide="é"),
    "as much held as possible, in emoji": lambda _size: _ALL.format(wide=_WIDE),
}
HERE = Path(__file__).parent
SHARED = """
import gc, sys, tracemalloc
sys.path.insert(0, {folder!r})
from guards import GUARDS, cached_states
from texts import chunks, prose
import streamguard.redact.rules

pieces = chunks(prose(), 4)
tracemalloc.start()
before = tracemalloc.get_traced_memory()[0]
guard = GUARDS[{name!r}]()
gc.collect()
compiled = tracemalloc.get_traced_memory()[0] - before
session = guard.session()
for piece in pieces[:1 << 14]:
    session.feed(piece)
early = cached_states(guard)
for piece in pieces[1 << 14:]:
    session.feed(piece)
gc.collect()
print(compiled, tracemalloc.get_traced_memory()[0] - before, cached_states(guard), early)
"""


def test_many_open_streams(report: Report) -> None:
    """Each stream stands in the middle of prose, at a place of its own."""
    pieces = chunks(prose(1 << 16), 4)
    for name, make in GUARDS.items():
        guard = make()
        session = guard.session()
        for piece in pieces:  # fills the shared cache
            session.feed(piece)
        streams = [None] * STREAMS
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for index in range(STREAMS):
            session = guard.session()
            start = index % (len(pieces) - 30)
            for piece in pieces[start : start + 30]:
                session.feed(piece)
            streams[index] = session  # type: ignore[call-overload]
        gc.collect()
        size = (tracemalloc.get_traced_memory()[0] - before) / STREAMS
        tracemalloc.stop()
        rows = report.table(
            f"Memory of a stream, {STREAMS} open in the middle of prose", "", "bytes a stream"
        )
        rows.append((name, f"{size:.0f}"))
    report.target("pipeline, bytes a stream, open in prose", size, most=4096)


def test_the_greediest_text(report: Report) -> None:
    guard = GUARDS[PIPELINE]()
    rows = report.table(
        "Memory of one session of the default pipeline", "text", "most bytes", "most characters held"
    )
    worst = 0
    for name, make in TEXTS.items():
        text = make(SIZE)
        session = guard.session()
        most = held = 0
        looks = {len(text) - 1, *range(0, len(text), len(text) // LOOKS)}
        for index, char in enumerate(text):
            session.feed(char)
            held = max(held, session.pending)
            if index in looks:
                private = reachable(session, reachable(guard.session()))
                most = max(most, sum(map(sys.getsizeof, private.values())))
        worst = max(worst, most)
        rows.append((name, str(most), str(held)))
    report.target("pipeline, bytes of a session, any text", worst, most=4096)


def test_shared_caches(report: Report) -> None:
    """Counted in a fresh interpreter: other tests have filled the caches of this one."""
    counted: list[list[float]] = []
    for name in GUARDS:
        code = SHARED.format(folder=str(HERE), name=name)
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603
        counted.append([float(number) for number in done.stdout.split()])
    rows = report.table(
        "What all streams share, in a process that has guarded a megabyte of prose",
        "",
        "compiled",
        "with cached states",
        "cached states",
        "of these by 64 KB",
    )
    for name, (compiled, full, states, early) in zip(GUARDS, counted, strict=True):
        rows.append(
            (name, f"{compiled / 1e6:.1f} MB", f"{full / 1e6:.1f} MB", f"{states:.0f}", f"{early:.0f}")
        )
