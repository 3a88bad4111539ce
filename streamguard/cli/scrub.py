"""`streamguard scrub`: guard text, records or a recorded stream."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from streamguard.cli.answer import guard_recording
from streamguard.cli.exits import FOUND, OK, Failure
from streamguard.cli.findings import Tally
from streamguard.cli.guards import GuardFlags, guard_options
from streamguard.cli.jsonl import Pointer, guard_jsonl, parse_pointer
from streamguard.cli.plain import guard_plain
from streamguard.cli.recording import PROVIDERS
from streamguard.cli.rewrite import rewrite
from streamguard.cli.sources import STDIN, open_source
from streamguard.session import Transformer

__all__ = ["scrub"]


def _pointers(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...], /
) -> tuple[Pointer, ...]:
    try:
        return tuple(parse_pointer(value) for value in values)
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from None


@click.command(
    short_help="Take out of a text what must not be shown.",
    epilog="""\b
Examples:
  tail -f app.log | streamguard scrub
  streamguard scrub --fence plan --preamble answer.txt
  streamguard scrub --policy streamguard.toml --in-place *.log
  streamguard scrub --jsonl --pointer '/messages/*/content' chats.jsonl
  streamguard scrub --from sse --reasoning recording.sse

The placeholders of secrets carry 8 digits of a hash. Set STREAMGUARD_KEY to key it:
the plain hash of a weak password can be guessed. The key is never an argument.""",
)
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@guard_options
@click.option("--jsonl", is_flag=True, help="The input is JSON Lines: guard strings of each record.")
@click.option(
    "--pointer",
    "pointers",
    multiple=True,
    callback=_pointers,
    metavar="POINTER",
    help="With --jsonl: which strings, as a JSON pointer; * stands for every element."
    " Repeatable. All strings by default.",
)
@click.option(
    "--from",
    "form",
    type=click.Choice(["sse", "jsonl"]),
    help="The input is a recorded provider stream: show the guarded text of its answer.",
)
@click.option(
    "--provider",
    type=click.Choice(PROVIDERS),
    default="auto",
    show_default=True,
    help="With --from: whose stream it is.",
)
@click.option("--reasoning", is_flag=True, help="With --from: show the reasoning too, guarded.")
@click.option("--in-place", is_flag=True, help="Rewrite the files; each whole or not at all.")
@click.option(
    "--report",
    type=click.Choice(["text", "json"]),
    help="Count on stderr what was found, by stage and rule. Values are never shown.",
)
@click.option("--fail-on-findings", is_flag=True, help="Exit with 1 if anything was found.")
def scrub(
    *,
    flags: GuardFlags,
    files: tuple[str, ...],
    jsonl: bool,
    pointers: tuple[Pointer, ...],
    form: Literal["sse", "jsonl"] | None,
    provider: str,
    reasoning: bool,
    in_place: bool,
    report: str | None,
    fail_on_findings: bool,
) -> int:
    """Take what must not be shown out of FILES, or of standard input.

    By default memory and reasoning blocks are hidden and secrets are redacted. Each file
    is one text. Text is written as soon as it is safe; bytes that are not UTF-8 are kept.
    """
    if pointers and not jsonl:
        raise click.UsageError("--pointer needs --jsonl")
    if jsonl and form:
        raise click.UsageError("--jsonl guards records, --from shows an answer; give one of them")
    if not form and (reasoning or provider != "auto"):
        raise click.UsageError(f"{'--reasoning' if reasoning else '--provider'} needs --from")
    if in_place and form:
        raise click.UsageError("--in-place would replace the recording by its text; leave out one of them")
    if in_place and (not files or STDIN in files):
        raise click.UsageError("--in-place needs files")
    terminal = sys.stdout is not None and sys.stdout.isatty()
    if sys.stdout is None and not in_place:
        raise Failure("standard output is closed")
    records = (pointers or ((),)) if jsonl else None
    job = _Job(flags.guard(), Tally(), records, form, provider, reasoning)
    sources = files or (STDIN,)
    for number, name in enumerate(sources, start=1):
        with open_source(name, progress=in_place or not terminal) as source:
            content = job.guarded(name, source)
            if in_place:
                rewrite(Path(name), content)
            else:
                # An answer ends without a line break; a prompt or the next answer should not stick to it.
                apart = form is not None and (number < len(sources) or terminal)
                _write(content, end_line=apart)
    if report:
        click.echo(job.tally.as_json() if report == "json" else job.tally.as_text(), err=True)
    return FOUND if fail_on_findings and job.tally.total else OK


@dataclass(frozen=True, slots=True)
class _Job:
    guard: Transformer
    tally: Tally
    records: tuple[Pointer, ...] | None
    form: Literal["sse", "jsonl"] | None
    provider: str
    reasoning: bool

    def guarded(self, name: str, source: Iterator[bytes]) -> Iterator[bytes]:
        """What is to be written for a source; tells on stderr what could not be parsed."""
        label = "standard input" if name == STDIN else name
        self.tally.start(label)
        broken = 0

        def count() -> None:
            nonlocal broken
            broken += 1

        if self.records is not None:
            yield from guard_jsonl(
                source, self.guard, self.records, on_finding=self.tally.add, on_plain=count
            )
            told = f"{label}: lines that were not JSON, guarded as plain text"
        elif self.form is not None:
            yield from guard_recording(
                source,
                self.guard,
                self.form,
                provider=self.provider,
                reasoning=self.reasoning,
                name=label,
                on_finding=self.tally.add,
                on_broken=count,
            )
            told = f"{label}: events that were not JSON, left out"
        else:
            yield from guard_plain(source, self.guard, on_finding=self.tally.add)
            return
        if broken:
            click.echo(f"streamguard: {told}: {broken}", err=True)


def _write(content: Iterator[bytes], *, end_line: bool) -> None:
    out = sys.stdout.buffer
    last = b""
    for piece in content:
        out.write(piece)
        out.flush()
        last = piece[-1:]
    if end_line and last not in (b"", b"\n"):
        out.write(b"\n")
