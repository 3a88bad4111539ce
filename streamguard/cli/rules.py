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
    source: str
    anchors: list[str]
    checked: bool
    examples: list[str]
    near_misses: list[str]


@click.command(short_help="List the redaction rules.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, for programs.")
@click.option("--set", "only", metavar="NAME", help="Only one set: secrets, pii, or a group of their rules.")
@click.argument("names", nargs=-1, metavar="[RULE]...")
def rules(*, as_json: bool, only: str | None, names: tuple[str, ...]) -> None:
    """List the redaction rules: what they match, how much text they may hold back.

    With the name of a RULE, all there is to know of it: its source, its anchors, texts in
    which it redacts and texts that only come near.

    The hold-back is the most characters that wait until it is certain whether they are a
    value. A policy file names rules by their ids, and sets of them by the set's name.
    """
    from streamguard.redact.selection import groups

    if only is not None and only not in groups():
        raise click.BadParameter(f"{only!r} is not one of {', '.join(groups())}", param_hint="'--set'")
    rows = list(_rows(groups(), only))
    for name in names:
        if name not in {row["id"] for row in rows}:
            hint = f"; it is a set of rules: --set {name}" if name in groups() else ""
            raise click.BadParameter(f"there is no rule {name!r}{hint}", param_hint="'RULE'")
    if names:
        rows = [row for row in rows if row["id"] in names]
        if not as_json:
            for row in rows:
                _tell(row)
            return
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
    from streamguard.redact.compiled import LIMIT, bound_of, compiled

    smallest: dict[str, str] = {}
    for name, members in sorted(sets.items(), key=lambda item: -len(item[1])):
        smallest.update((rule.id, name) for rule in members)
    wanted = sets[only] if only else (*sets["secrets"], *sets["pii"])
    # Not by a redactor, which would refuse rules whose libraries are not installed.
    matcher = compiled(wanted, LIMIT)
    for number, rule in enumerate(wanted):
        bound = bound_of(matcher, number, rule, LIMIT)
        yield {
            "set": smallest[rule.id],
            "id": rule.id,
            "matches": rule.description,
            "hold_back": bound.characters,
            "policy": bound.policy,
            "source": rule.source,
            "anchors": list(rule.anchors),
            "checked": bool(rule.checks),
            "examples": list(rule.examples),
            "near_misses": list(rule.near_misses),
        }


def _tell(row: _Row) -> None:
    """All there is to know of a rule, as lines of text."""
    longer = f", then it {row['policy']}" if row["policy"] else ""
    checked = "; a finished value is checked" if row["checked"] else ""
    click.echo(f"{row['id']} ({row['set']})")
    click.echo(f"  matches     {row['matches']}{checked}")
    click.echo(f"  source      {row['source']}")
    click.echo(f"  holds back  {row['hold_back']} characters at most{longer}")
    click.echo(f"  anchors     {' '.join(map(repr, row['anchors'])) or 'none'}")
    for name, texts in (("redacts in", row["examples"]), ("leaves", row["near_misses"])):
        for number, text in enumerate(texts):
            click.echo(f"  {name if not number else '':11} {text!r}")
