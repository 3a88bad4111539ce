"""Running detectors over folders of texts: child processes on one core, judged by processor time."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .detectors import DETECTORS

__all__ = ["Outcome", "Span", "Tool", "tools"]

Span = tuple[int, int, str]
ROOT = Path(__file__).parents[2]
"""The checkout: whose streamguard is measured."""
LONGEST = 1800.0
"""Seconds after which a tool is given up."""
RUNS = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool did.

    Attributes:
        version: which release it is.
        setup: processor seconds before the first text.
        found: for each folder, for each text, what it reported.
        seconds: for each folder, the processor time of each pass.
    """

    version: str
    setup: float
    found: list[list[list[Span]]]
    seconds: list[list[float]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A detector, which may be absent.

    Attributes:
        name: what it is called in the report.
        own: beginnings of the sources its own project wrote: what it finds there says little.
        screened: the keyword lines were chosen with this tool, among lines it leaves alone.
        binary: its command, if it is not a library of Python.
    """

    name: str
    own: tuple[str, ...] = ()
    screened: bool = False
    binary: str = ""

    def run(self, places: Sequence[Path], folders: Sequence[Path], scratch: Path) -> Outcome | str:
        """Search the folders, with what is installed in the places; a reason if that cannot be."""
        try:
            if self.binary:
                return _run_binary(self.binary, places, folders, scratch)
            return _run_python(self.name, places, folders, scratch)
        except subprocess.TimeoutExpired:
            return f"given up after {LONGEST:.0f} s"


GITLEAKS = "gitleaks/gitleaks"


def tools() -> list[Tool]:
    """All of them; ours first. What betterleaks and kingfisher look for began as gitleaks' rules."""
    binaries = [
        Tool("betterleaks", (GITLEAKS,), screened=True, binary="betterleaks"),
        Tool("gitleaks", (GITLEAKS,), screened=True, binary="gitleaks"),
        Tool("kingfisher", (GITLEAKS,), screened=True, binary="kingfisher"),
    ]
    own = {
        "detect-secrets": ("Yelp/detect-secrets",),
        "Presidio without a model": ("microsoft/presidio",),
        "LangChain PII detectors": ("langchain",),
    }
    libraries = [Tool(name, own.get(name, ())) for name in DETECTORS]
    ours = [tool for tool in libraries if tool.name.startswith("streamguard")]
    return [*ours, *binaries, *(tool for tool in libraries if tool not in ours)]


def _one_core() -> list[str]:
    if shutil.which("taskset") is None or not hasattr(os, "sched_getaffinity"):
        return []
    return ["taskset", "-c", str(max(os.sched_getaffinity(0)))]


def _child(command: Sequence[str]) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Run to the end; the processor time it and its children took."""
    environment = {
        **os.environ,
        "GOMAXPROCS": "1",
        "PYTHONPATH": str(ROOT),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(  # noqa: S603
        [*_one_core(), *command],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LONGEST,
        check=False,
        env=environment,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def _run_python(name: str, places: Sequence[Path], folders: Sequence[Path], scratch: Path) -> Outcome | str:
    script = Path(__file__).with_name("detectors.py")
    result = scratch / "result.json"
    interpreters = [sys.executable]
    if not name.startswith("streamguard"):
        interpreters += [str(place / "bin" / "python") for place in places]
    reason = "not installed"
    for interpreter in interpreters:
        result.unlink(missing_ok=True)
        _, done = _child([interpreter, "-P", str(script), name, str(result), *map(str, folders)])
        if result.exists():
            answer = json.loads(result.read_text())
            return Outcome(
                answer["version"],
                answer["setup"],
                [[[tuple(span) for span in text] for text in one["found"]] for one in answer["folders"]],
                [one["seconds"] for one in answer["folders"]],
            )
        last = done.stderr.strip().rpartition("\n")[2]
        if "ModuleNotFoundError" not in last:
            reason = f"failed: {last[:200]}"
    return reason


ARGUMENTS = {
    "betterleaks": ("{folder}", "-o", "{report}"),
    "gitleaks": ("dir", "{folder}", "--no-banner", "--report-path", "{report}"),
    "kingfisher": (
        *("scan", "{folder}", "-j", "1", "--no-update-check", "--no-validate", "--no-dedup"),
        *("--format", "json", "-o", "{report}"),
    ),
}


def _run_binary(name: str, places: Sequence[Path], folders: Sequence[Path], scratch: Path) -> Outcome | str:
    beside = [Path(sys.executable).parent, *(place / "bin" for place in places)]
    paths = [str(path / name) for path in beside if (path / name).exists()]
    paths += [path for path in (shutil.which(name),) if path]
    for path in paths:
        answer = _child([path, "--version"])[1].stdout.strip()
        # betterleaks installs a copy of itself as `gitleaks`: only the real one names itself.
        if name == "gitleaks" and not answer.startswith("gitleaks"):
            continue
        return _scan(name, path, answer.rpartition(" ")[2], folders, scratch)
    return "not installed"


def _scan(name: str, path: str, release: str, folders: Sequence[Path], scratch: Path) -> Outcome:
    """A run over nothing tells what the start costs: it may outweigh the search, so the least of
    several counts for both. The first fills a cache."""
    empty = scratch / "empty"
    empty.mkdir(exist_ok=True)
    report = scratch / "report.json"

    def run(folder: Path) -> float:
        report.unlink(missing_ok=True)
        values = {"folder": str(folder), "report": str(report)}
        return _child([path, *(part.format(**values) for part in ARGUMENTS[name])])[0]

    setup = min(run(empty) for _ in range(RUNS))
    found: list[list[list[Span]]] = []
    seconds: list[list[float]] = []
    for folder in folders:
        seconds.append([max(min(run(folder) for _ in range(RUNS)) - setup, 1e-3)])
        files = sorted(folder.iterdir())
        by_name: dict[str, list[Report]] = {file.name: [] for file in files}
        content = json.loads(report.read_text() or "[]") if report.exists() else []
        for one in READERS[name](content):
            by_name[one.file].append(one)
        found.append([_placed(file, by_name[file.name]) for file in files])
    return Outcome(release, setup, found, seconds)


@dataclass(frozen=True, slots=True)
class Report:
    """A finding as the binaries tell it: a value, and the lines and columns it stands at."""

    file: str
    rule: str
    value: str
    first: tuple[int, int]
    last: tuple[int, int]


Fields = dict[str, object]


def _report(file: object, rule: object, value: object, *numbers: object) -> Report:
    """Of a line, a column, and those of the end, which may be left out."""
    line, column, last, end = (int(str(number)) if number is not None else 0 for number in numbers)
    return Report(Path(str(file)).name, str(rule), str(value), (line, column), (last or line, end))


def _of_gitleaks(content: list[Fields]) -> Iterable[Report]:
    columns = ("StartLine", "StartColumn", "EndLine", "EndColumn")
    for one in content:
        yield _report(one["File"], one["RuleID"], one["Secret"], *map(one.get, columns))


def _of_betterleaks(content: dict[str, list[dict[str, Fields]]]) -> Iterable[Report]:
    columns = ("start_line", "start_column", "end_line", "end_column")
    for one in content["findings"] if content else ():
        place = one["location"]
        yield _report(place["path"], one["rule_id"], one["match"]["value"], *map(place.get, columns))


def _of_kingfisher(content: dict[str, list[dict[str, Fields]]]) -> Iterable[Report]:
    columns = ("line", "column_start", "line", "column_end")
    for one in content["findings"] if content else ():
        place = one["finding"]
        yield _report(place["path"], one["rule"]["id"], place["snippet"], *map(place.get, columns))


READERS: dict[str, Callable[[Any], Iterable[Report]]] = {
    "gitleaks": _of_gitleaks,
    "betterleaks": _of_betterleaks,
    "kingfisher": _of_kingfisher,
}


def _placed(file: Path, reports: Sequence[Report]) -> list[Span]:
    """Where the values stand in the text. A value that is not there as it was told was decoded."""
    if not reports:
        return []
    text = file.read_bytes().decode()
    starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    spans: list[Span] = []
    for one in reports:
        line = min(max(one.first[0], 1), len(starts) - 1)
        last = min(max(one.last[0], line), len(starts) - 1)
        at = _nearest(text, one.value, starts[line - 1], starts[line], starts[line - 1] + one.first[1] - 1)
        if at >= 0:
            spans.append((at, at + len(one.value), one.rule))
        else:
            begin = starts[line - 1] + max(one.first[1] - 1, 0)
            spans.append((begin, max(begin + 1, starts[last - 1] + one.last[1]), one.rule))
    return spans


def _nearest(text: str, value: str, start: int, end: int, column: int) -> int:
    """The place on a line at which a value begins, next to a column; else anywhere. Columns are
    bytes in one tool and characters in another."""
    best = -1
    at = text.find(value, start) if value else -1
    while 0 <= at <= end:
        if best < 0 or abs(at - column) < abs(best - column):
            best = at
        at = text.find(value, at + 1)
    return best if best >= 0 else text.find(value) if value else -1
