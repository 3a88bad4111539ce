"""The console examples of the docs, run in their order: what they print is what stands there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs" / "command-line.md"


@pytest.mark.skipif(sys.platform == "win32", reason="the examples are for a POSIX shell")
def test_the_examples_print_what_the_docs_say(tmp_path: Path) -> None:
    blocks = re.findall(r"```console\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert blocks
    script = [f'streamguard() {{ {shlex.quote(sys.executable)} -m streamguard "$@"; }}', "exec 2>&1"]
    for line in "".join(blocks).splitlines():
        if line.startswith("$ "):
            script += [f"printf '%s\\n' {shlex.quote(line)}", line[2:]]
    done = subprocess.run(  # noqa: S603 - our own examples
        ["/bin/sh", "-c", "\n".join(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "STREAMGUARD_KEY"},
        timeout=300,
    )
    assert done.stdout.splitlines() == "".join(blocks).splitlines()
