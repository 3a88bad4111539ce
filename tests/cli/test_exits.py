from __future__ import annotations

import click
import pytest

from streamguard import StreamGuardError
from streamguard.cli.exits import BROKEN_PIPE, FAILURE, INTERRUPTED, Failure, run


def raising(error: BaseException) -> object:
    raise error


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (Failure("a.log: broken\n\n beyond repair"), FAILURE, "streamguard: a.log: broken beyond repair\n"),
        (click.UsageError("no such thing"), FAILURE, "streamguard: no such thing\n"),
        (StreamGuardError("one\ntwo"), FAILURE, "streamguard: one\nstreamguard: two\n"),
        (
            FileNotFoundError(2, "No such file or directory", "x"),
            FAILURE,
            "streamguard: x: no such file or directory\n",
        ),
        (OSError("odd"), FAILURE, "streamguard: oserror\n"),
        (KeyboardInterrupt(), INTERRUPTED, ""),
        (click.Abort(), INTERRUPTED, ""),
        (BrokenPipeError(), BROKEN_PIPE, ""),
        (click.exceptions.Exit(5), 5, ""),
    ],
)
def test_every_failure_is_a_code_and_a_line(
    error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(lambda: raising(error), "streamguard") == code
    assert capsys.readouterr() == ("", line)


def test_an_unforeseen_error_never_shows_its_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(lambda: raising(RuntimeError("text of the user")), "streamguard") == FAILURE
    shown = capsys.readouterr().err
    assert "RuntimeError" in shown
    assert "text of the user" not in shown
    assert shown.count("\n") == 1


def test_an_unforeseen_error_can_be_debugged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMGUARD_DEBUG", "1")
    with pytest.raises(RuntimeError):
        run(lambda: raising(RuntimeError()), "streamguard")


def test_a_command_chooses_its_code() -> None:
    assert run(lambda: 1, "streamguard") == 1
    assert run(lambda: None, "streamguard") == 0
