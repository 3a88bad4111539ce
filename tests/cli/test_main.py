from __future__ import annotations

import importlib.util
import subprocess
import sys
from importlib.machinery import ModuleSpec

import pytest

from streamguard import __version__
from streamguard.cli import main


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=60
    )


def test_it_runs_as_a_module() -> None:
    done = python("-m", "streamguard", "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"streamguard {__version__}\n", "")


def test_the_version_loads_nothing_heavy() -> None:
    code = "import sys; from streamguard.cli import main; main(['--version']); print(*sys.modules, sep='\\n')"
    loaded = set(python("-c", code).stdout.splitlines())
    assert "click" in loaded
    assert not loaded & {"rich", "pydantic", "streamguard.policy", "streamguard.cli.scrub", "ahocorasick_rs"}


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for command in ("scrub", "demo", "rules", "check", "serve"):
        assert f"\n  {command}  " in shown
    assert main([]) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("command", ["scrub", "demo", "rules", "check", "serve"])
def test_each_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert f"Usage: streamguard {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["scrb"], "streamguard: No such command 'scrb'."),
        (["--nope"], "streamguard: No such option '--nope'."),
        (["scrub", "--from", "xml"], "streamguard scrub: Invalid value for '--from': 'xml' is not one of"),
        (["check"], "streamguard check: Missing argument 'POLICY'."),
    ],
)
def test_bad_arguments_take_one_line(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(line)
    assert shown.err.count("\n") == 1


def test_a_missing_extra_is_one_line_that_says_how(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find_spec = importlib.util.find_spec

    def without_rich(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name in {"rich", "pydantic"} else find_spec(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without_rich)
    assert main(["demo"]) == 2
    assert capsys.readouterr().err == (
        "streamguard: the command line needs rich, pydantic: pip install 'streamguard-llm[cli]'\n"
    )
