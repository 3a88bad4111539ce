"""Benchmarks run when asked for: by `-m`, `--benchmark-only`, or a path into this folder."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from .peers import Peers
from .report import Report

HERE = Path(__file__).parent
REPORT = pytest.StashKey[Report]()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the folder out of a run that is about something else."""
    if not collection_path.is_relative_to(HERE):
        return None
    named = (Path(config.invocation_params.dir, argument.split("::")[0]) for argument in config.args)
    marked: str = config.getoption("markexpr")
    asked = (
        ("bench" in marked and "not bench" not in marked)
        or config.getoption("benchmark_only", default=False)
        or any(path.resolve().is_relative_to(HERE) for path in named)
    )
    return None if asked and importlib.util.find_spec("pytest_benchmark") else True


def pytest_configure(config: pytest.Config) -> None:
    config.stash[REPORT] = Report()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for line in config.stash[REPORT].lines():
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def report(pytestconfig: pytest.Config) -> Report:
    """Where the numbers go."""
    return pytestconfig.stash[REPORT]


@pytest.fixture(scope="session")
def peers(pytestconfig: pytest.Config, report: Report) -> Peers:
    """The other libraries; those that are absent are named in the report."""
    assert pytestconfig.cache is not None
    found = Peers(pytestconfig.cache.mkdir("bench-peers"))
    for reason in found.absent:
        report.note(reason)
    return found
