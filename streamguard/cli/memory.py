"""`streamguard memory`: the memory files of an agent, for people."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from streamguard.cli.exits import FOUND, OK, Failure
from streamguard.cli.sources import STDIN
from streamguard.cli.terminal import shown as shown_text

if TYPE_CHECKING:
    from streamguard.memory import MemoryStore, Target, Usage

__all__ = ["memory"]

_T = TypeVar("_T")
_USER = click.option("--user", is_flag=True, help="USER.md instead of MEMORY.md.")


@click.group(short_help="Read and change the memory files of an agent.")
@click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False),
    envvar="STREAMGUARD_MEMORY",
    default=".",
    show_envvar=True,
    help="Where MEMORY.md and USER.md are; the current directory by default.",
)
@click.pass_context
def memory(context: click.Context, *, directory: str) -> None:
    """Read and change the memory files of an agent.

    Entries are named by a piece of their text that no other entry has. What is written passes
    the guard: poison is refused, secrets are redacted.
    """
    from streamguard import Redactor
    from streamguard.memory import MemoryGuard, MemoryStore
    from streamguard.policy import KEY_VARIABLE

    secret = os.environ.get(KEY_VARIABLE, "")
    key = secret.encode("utf-8", "surrogateescape") or None
    context.obj = MemoryStore(directory, guard=MemoryGuard(Redactor(key=key)))


@memory.command()
@_USER
@click.argument("text")
@click.pass_obj
def add(store: MemoryStore, *, user: bool, text: str) -> None:
    """Store TEXT as another entry; a dash reads it from standard input."""
    _tell(user, _written(lambda: store.add(_target(user), _given(text))))


@memory.command()
@_USER
@click.argument("old")
@click.argument("text")
@click.pass_obj
def replace(store: MemoryStore, *, user: bool, old: str, text: str) -> None:
    """Put TEXT in the place of the entry that has the text OLD."""
    _tell(user, _written(lambda: store.replace(_target(user), old, _given(text))))


@memory.command()
@_USER
@click.argument("old")
@click.pass_obj
def remove(store: MemoryStore, *, user: bool, old: str) -> None:
    """Remove the entry that has the text OLD."""
    _tell(user, _written(lambda: store.remove(_target(user), old)))


@memory.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@click.pass_obj
def list_(store: MemoryStore, *, as_json: bool) -> None:
    """Show the entries as a model sees them: secrets redacted, poison blocked."""
    shown: dict[Target, tuple[str, ...]] = {target: store.shown(target) for target in _targets()}
    if as_json:
        click.echo(json.dumps(shown, ensure_ascii=False))
        return
    for target, entries in shown.items():
        click.echo(f"{_file(target)} [{store.usage(target)}]")
        for number, entry in enumerate(entries, 1):
            click.echo(f"{number:3}. " + shown_text(entry).replace("\n", "\n     "))


@memory.command()
@click.pass_obj
def check(store: MemoryStore) -> int:
    """Say what is wrong with the files: poisoned entries, secrets, files that are too long.

    Exit code 1: something is.
    """
    code = OK
    for target in _targets():
        name = _file(target)
        usage = store.usage(target)
        if usage.used > usage.limit:
            click.echo(f"{name}: is too long ({usage})")
            code = FOUND
        poisoned = store.poisoned(target)
        for number, entry in enumerate(store.read(target), 1):
            if number in poisoned:
                click.echo(f"{name}: entry {number} is poisoned ({', '.join(poisoned[number])})")
            elif store.guard.clean(entry) != entry:
                click.echo(f"{name}: entry {number} has a secret, a fence or hidden characters")
            else:
                continue
            code = FOUND
    if code == OK:
        click.echo("nothing is wrong")
    return code


def _target(user: bool) -> Target:  # noqa: FBT001 - the flag of every command
    return "user" if user else "memory"


def _targets() -> tuple[Target, ...]:
    return ("memory", "user")


def _file(target: Target) -> str:
    return f"{target.upper()}.md"


def _given(text: str) -> str:
    if text != STDIN:
        return text
    if sys.stdin is None:
        raise Failure("standard input is closed")
    return sys.stdin.read()


def _written(write: Callable[[], _T]) -> _T:
    try:
        return write()
    except ModuleNotFoundError as missing:
        raise Failure(str(missing)) from None


def _tell(user: bool, usage: Usage) -> None:  # noqa: FBT001 - the flag of every command
    click.echo(f"{_file(_target(user))} [{usage}]")
