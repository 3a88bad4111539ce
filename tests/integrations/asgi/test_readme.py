"""The snippets of the README run, and the application of the first does what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).parents[3] / "integrations" / "asgi" / "README.md"

if not README.exists():
    pytest.skip("the source tree is not here", allow_module_level=True)

pytestmark = pytest.mark.source_tree


def test_the_snippets_run() -> None:
    from starlette.testclient import TestClient

    names: dict[str, Any] = {}
    for snippet in re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL):
        exec(compile(snippet, str(README), "exec"), names)  # noqa: S102
    answer = TestClient(names["app"]).get("/")
    assert answer.text == "data: A \n\ndata: key\n\n"
