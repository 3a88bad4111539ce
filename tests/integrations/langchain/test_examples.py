"""The examples run and show what they promise."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
SHOWN = {
    "langchain_chat.py": ["Bot: The plan has three steps. a < b.", "password: [REDACTED:"],
    "langchain_agent.py": ["It says: [production]", "region = eu-west-1", "access_key = [REDACTED:"],
    "langchain_graph.py": ["Dear Ada, the password: [REDACTED:", "In the store: Dear Ada"],
}


@pytest.mark.source_tree
@pytest.mark.parametrize("name", SHOWN)
def test_an_example_shows_what_it_promises(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    shown = capsys.readouterr().out
    assert all(part in shown for part in SHOWN[name])
    assert not any(word in shown for word in ("hunter2", "budget", "Careful", "AKIA", "owes"))
