"""How the program ends: its exit codes, and one line for every failure.

No traceback reaches the terminal, and no message holds text that went through a guard.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import click

from streamguard.session import StreamGuardError

__all__ = [
    "BROKEN_PIPE",
    "FAILURE",
    "FOUND",
    "INTERRUPTED",
    "OK",
    "Failure",
    "forget_stdout",
    "reason",
    "run",
]

OK = 0
FOUND = 1
"""`--fail-on-findings` and something was found, or `check` found a broken law."""
FAILURE = 2
"""Bad arguments, a file that cannot be read, a policy that is none."""
INTERRUPTED = 130
BROKEN_PIPE = 141


class Failure(click.ClickException):
    """Something that is told in one line and ends the program with `FAILURE`."""

    exit_code = FAILURE


def reason(error: OSError) -> str:
    """Say why the system refused, without the errno."""
    return (error.strerror or type(error).__name__).lower()


def run(command: Callable[[], object], program: str) -> int:
    """Call `command` and turn whatever it raises into an exit code and at most one line.

    A `PolicyError` with several problems takes one line for each.
    """
    try:
        outcome = command()
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        forget_stdout()
        return BROKEN_PIPE
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        _tell(context.command_path if context else program, error.format_message())
    except StreamGuardError as error:
        for line in str(error).splitlines():
            _tell(program, line)
    except OSError as error:
        name = f"{error.filename}: " if isinstance(error.filename, str) else ""
        _tell(program, f"{name}{reason(error)}")
        forget_stdout()
    except Exception as error:
        # Only the type: the message of an unforeseen error can quote what was being read.
        _tell(program, f"internal error ({type(error).__name__}); set STREAMGUARD_DEBUG=1 to see where")
        if os.environ.get("STREAMGUARD_DEBUG"):
            raise
    else:
        return outcome if isinstance(outcome, int) else OK
    return FAILURE


def _tell(program: str, message: str) -> None:
    click.echo(f"{program}: {' '.join(message.split())}", err=True)


def forget_stdout() -> None:
    """Keep the interpreter from flushing into a broken pipe or a full disk once more on its way out."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # closed, or replaced by something that is no file
        return
