"""Cold start: each number from fresh interpreters."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .report import Report

pytestmark = pytest.mark.bench
ROUNDS = 7
TIMED = (
    "import sys, time; {setup}; t = time.process_time(); {timed}; "
    "print(time.process_time() - t, len(sys.modules))"
)
FENCES = "guard = sg.FenceScrubber('memory-context', 'think')"
PROSE = "from pydoc_data.topics import topics; text = ' '.join(' '.join(topics.values()).split())[:20000]"
FEED = "feed = guard.session().feed; [feed(text[i:i + 4]) for i in range(0, 20000, 4)]"
STEPS = {
    "import anyio": ("pass", "import anyio"),
    "import streamguard": ("pass", "import streamguard"),
    "FenceScrubber, first use": ("import streamguard as sg", f"{FENCES}; guard.session()"),
    "PreambleTrimmer, first use": (
        "import streamguard as sg",
        "guard = sg.PreambleTrimmer(); guard.session()",
    ),
    "Redactor, first use": ("import streamguard as sg", "guard = sg.Redactor(); guard.session()"),
    "a second Redactor": (
        "import streamguard as sg; sg.Redactor()",
        "guard = sg.Redactor(); guard.session()",
    ),
    "default pipeline, first use": (
        "import streamguard as sg",
        f"{FENCES} | sg.PreambleTrimmer() | sg.Redactor(); guard.session()",
    ),
}


def test_first_use(report: Report) -> None:
    best: dict[str, tuple[float, int]] = {}
    for _ in range(ROUNDS):
        for name, (setup, timed) in STEPS.items():
            code = TIMED.format(setup=setup, timed=timed)
            done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603
            taken, loaded = done.stdout.split()
            best[name] = min(best.get(name, (float("inf"), 0)), (float(taken), int(loaded)))
    rows = report.table("Cold start", "", "time", "modules loaded then")
    for name, (seconds, modules) in best.items():
        rows.append((name, f"{seconds * 1e3:.1f} ms", str(modules)))


def test_first_text(report: Report) -> None:
    """The first stream of a process makes the automaton's states as it goes."""
    rows = report.table("The first 20,000 characters of a process, four a chunk", "", "first", "again")
    guards = {
        "FenceScrubber": FENCES,
        "PreambleTrimmer": "guard = sg.PreambleTrimmer()",
        "Redactor": "guard = sg.Redactor()",
    }
    for name, make in guards.items():
        times: list[list[float]] = []
        for _ in range(ROUNDS):
            code = f"{TIMED.format(setup=f'import streamguard as sg; {PROSE}; {make}', timed=FEED)}"
            code += f"; t = time.process_time(); {FEED}; print(time.process_time() - t)"
            done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603
            first, _modules, again = done.stdout.split()
            times.append([float(first), float(again)])
        rows.append((name, *(f"{min(column) * 1e3:.1f} ms" for column in zip(*times, strict=True))))
