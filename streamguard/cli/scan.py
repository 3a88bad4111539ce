"""`streamguard scan`: is there anything in these files that a model should not read?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from streamguard.cli.exits import FOUND, OK
from streamguard.cli.plain import decoded
from streamguard.cli.sources import STDIN, open_source
from streamguard.cli.terminal import shown as shown_text

if TYPE_CHECKING:
    from streamguard.memory import Scope

__all__ = ["Problem", "scan"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something found in a file; never its text.

    Attributes:
        file: the file, as it was given.
        rule: the name of the threat or of the secret.
        what: `"injection"` or `"secret"`.
        severity: `"low"`, `"medium"` or `"high"`.
        quoted: whether it stands in code or in a quotation.
        start: line and column of its beginning, from 1.
        end: line and column behind it.
    """

    file: str
    rule: str
    what: str
    severity: str
    quoted: bool
    start: tuple[int, int]
    end: tuple[int, int]


@click.command(short_help="Look for prompt injection and secrets in files.")
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    help="Lines for people, one JSON object, or SARIF for code hosts.",
)
@click.option(
    "--scope",
    type=click.Choice(["context", "memory"]),
    default="context",
    help="Files of instructions and documentation, or what goes into a memory, which is stricter.",
)
@click.option("--all", "everything", is_flag=True, help="Also what is low: quoted attacks, stray characters.")
@click.option("--no-secrets", is_flag=True, help="Look for prompt injection alone.")
def scan(*, files: tuple[str, ...], form: str, scope: Scope, everything: bool, no_secrets: bool) -> int:
    """Look through FILES for text that tries to take a model over, and for secrets.

    A dash is standard input. Attacks that are only quoted, in blocks of code, in
    quotations or between quotation marks, are low: they are shown with --all and never fail.
    Nothing of a file's text is printed. Exit code 1: something was found that is not low.
    """
    problems = [one for file in files for one in _problems(file, scope, secrets=not no_secrets)]
    grave = [one for one in problems if one.severity != "low"]
    shown = problems if everything else grave
    if form == "sarif":
        from streamguard.cli.sarif import sarif

        click.echo(json.dumps(sarif(shown), indent=2))
    elif form == "json":
        click.echo(json.dumps({"findings": [_as_json(one) for one in shown]}))
    else:
        for one in shown:
            quoted = ", quoted" if one.quoted else ""
            line, column = one.start
            click.echo(
                f"{shown_text(one.file)}:{line}:{column}: {one.severity}: {one.what} {one.rule}{quoted}"
            )
    return FOUND if grave else OK


def _problems(file: str, scope: Scope, *, secrets: bool) -> list[Problem]:
    """What is in a file, in the order of its text."""
    from streamguard import Redactor
    from streamguard.memory.injection import scan as scan_text
    from streamguard.session import Finding

    with open_source(file, progress=False) as source:
        text = "".join(decoded(source))
    name = "<stdin>" if file == STDIN else file
    found = [
        (one.offset, one.length, one.pattern, "injection", one.severity.name.lower(), one.quoted)
        for one in scan_text(text, scope=scope)
    ]
    if secrets:
        values: list[Finding] = []
        Redactor().scrub(text, on_finding=values.append)
        found += [(one.offset, one.length, one.rule, "secret", "high", False) for one in values]
    found.sort()
    ends = sorted({at for offset, length, *_ in found for at in (offset, offset + length)})
    places = dict(zip(ends, _places(text, ends), strict=True))
    return [
        Problem(name, rule, what, severity, quoted, places[offset], places[offset + length])
        for offset, length, rule, what, severity, quoted in found
    ]


def _places(text: str, offsets: list[int]) -> Iterator[tuple[int, int]]:
    """Line and column of each offset; they come in order."""
    line, before = 1, 0
    for offset in offsets:
        line += text.count("\n", before, offset)
        before = offset
        yield line, offset - text.rfind("\n", 0, offset)


def _as_json(one: Problem) -> dict[str, object]:
    return {
        "file": one.file,
        "line": one.start[0],
        "column": one.start[1],
        "kind": one.what,
        "rule": one.rule,
        "severity": one.severity,
        "quoted": one.quoted,
    }
