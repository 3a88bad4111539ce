"""`streamguard rules`: what the redactor knows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

import click

if TYPE_CHECKING:
    from streamguard import Rule

__all__ = ["rules"]


class _Row(TypedDict):
    set: str
    id: str
    matches: str
    hold_back: int
    policy: str


@click.command(short_help="List the redaction rules.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, for programs.")
@click.option("--set", "only", metavar="NAME", help="Only one set: secrets, or a group of its rules.")
def rules(*, as_json: bool, only: str | None) -> None:
    """List the redaction rules: what they match, how much text they may hold back.

    The hold-back is the most characters that wait until it is certain whether they are a
    value. A policy file names rules by their ids, and sets of them by the set's name.
    """
    from streamguard.policy import rule_sets

    if only is not None and only not in rule_sets():
        raise click.BadParameter(f"{only!r} is not one of {', '.join(rule_sets())}", param_hint="'--set'")
    rows = list(_rows(rule_sets(), only))
    if as_json:
        for row in rows:
            click.echo(json.dumps(row, ensure_ascii=False))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("rule", no_wrap=True)
    table.add_column("matches", ratio=1)
    table.add_column("holds back", justify="right")
    table.add_column("longer values")
    for name in dict.fromkeys(row["set"] for row in rows):
        table.add_row(Text(f"{name}:", style="cyan"))
        for row in rows:
            if row["set"] == name:
                table.add_row(
                    Text(f"  {row['id']}", style="bold"),
                    Text(row["matches"]),
                    str(row["hold_back"]),
                    row["policy"],
                )
    console.print(table)
    console.print(f"{len(rows)} rules", style="dim", highlight=False)


def _rows(sets: Mapping[str, Sequence[Rule]], only: str | None) -> Iterator[_Row]:
    """The rules of the wanted set, each under the smallest set that has it."""
    from streamguard import Redactor

    smallest: dict[str, str] = {}
    for name, members in sorted(sets.items(), key=lambda item: -len(item[1])):
        smallest.update((rule.id, name) for rule in members)
    wanted = sets[only or "secrets"]
    for rule, bound in zip(wanted, Redactor(wanted).bounds(), strict=True):
        yield {
            "set": smallest[rule.id],
            "id": rule.id,
            "matches": rule.description,
            "hold_back": bound.characters,
            "policy": bound.policy,
        }
