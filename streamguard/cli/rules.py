"""`streamguard rules`: what the redactor knows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TypedDict

import click

__all__ = ["rules"]


class _Row(TypedDict):
    set: str
    id: str
    matches: str
    hold_back: int
    policy: str


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, for programs.")
@click.option("--set", "only", type=click.Choice(["secrets", "pii"]), help="Only the rules of this set.")
def rules(*, as_json: bool, only: str | None) -> None:
    """List the redaction rules: what they match, how much text they may hold back.

    The hold-back is the most characters that wait until it is certain whether they are a
    value. A policy file can name rules and sets by these ids.
    """
    rows = [row for row in _rows() if only in (None, row["set"])]
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
        table.add_section()
        for row in rows:
            if row["set"] == name:
                table.add_row(
                    Text(row["id"], style="bold"), Text(row["matches"]), str(row["hold_back"]), row["policy"]
                )
    console.print(table)
    console.print(f"{len(rows)} rules; personal data (pii) is opt-in.", style="dim", highlight=False)


def _rows() -> Iterator[_Row]:
    from streamguard import PII, SECRETS, Redactor

    for name, chosen in (("secrets", SECRETS), ("pii", PII)):
        for rule, bound in zip(chosen, Redactor(chosen).bounds(), strict=True):
            yield {
                "set": name,
                "id": rule.id,
                "matches": rule.description,
                "hold_back": bound.characters,
                "policy": bound.policy,
            }
