"""The example: what the user of an agent that remembers gets to see."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "memory_agent.py"


@pytest.mark.source_tree
def test_the_user_sees_a_clean_answer() -> None:
    done = subprocess.run(  # noqa: S603 - our own example
        [sys.executable, EXAMPLE],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "PYTHONIOENCODING": "utf-8",
        },
    )
    assert done.returncode == 0, done.stderr
    before, after = done.stdout.split("--- the user sees:\n")
    shown, saved = after.split("--- the model saves what it has learned:\n")
    assert "<memory-context>" in before
    assert shown.startswith("You take it without milk, Ada. Your key is [REDACTED:")
    assert "FakeKey" not in done.stdout
    assert "Evil" not in done.stdout
    assert [line[:16] for line in saved.splitlines()[:2]] == ['{"success": true', '{"success": fals']
    assert saved.endswith("Ada takes her tea without milk.\n")
