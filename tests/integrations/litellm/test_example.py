"""The example starts with one command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("litellm.proxy.proxy_cli", exc_type=ImportError)
START = Path(__file__).parents[3] / "examples" / "litellm_proxy" / "start.py"


@pytest.mark.exhaustive  # the proxy takes half a minute to start
@pytest.mark.filterwarnings("ignore")
def test_the_proxy_of_the_example_answers_guarded(tmp_path: Path) -> None:
    run = subprocess.run(  # noqa: S603 - of this repository
        [sys.executable, START, "--once"],
        capture_output=True,
        cwd=tmp_path,
        text=True,
        timeout=240,
        check=True,
    )
    assert "Hello! Your key is [REDACTED:openai-project:" in run.stdout
    assert "Ada" not in run.stdout
    assert "ThisIsNoKey" not in run.stdout + run.stderr
