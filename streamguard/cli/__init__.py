"""The command line: `streamguard scrub`, `scan`, `memory`, `demo`, `rules`, `check`, `serve`.

One module a command; each is imported when it is called, and what is heavy (rich,
pydantic, the stages) when a command needs it. The extra `cli` brings the packages.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence

__all__ = ["main"]

_PACKAGES = ("click", "rich", "pydantic")


def main(arguments: Sequence[str] | None = None, /) -> int:
    """Run the command line.

    Args:
        arguments: what follows the program's name; `sys.argv[1:]` by default.

    Returns:
        The exit code, see `streamguard.cli.exits`.
    """
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        what = ", ".join(missing)
        print(
            f"streamguard: the command line needs {what}: pip install 'streamguard-llm[cli]'", file=sys.stderr
        )
        return 2

    from streamguard.cli.app import app

    outcome = app.main(arguments, prog_name="streamguard", standalone_mode=False)
    return outcome if isinstance(outcome, int) else 0
