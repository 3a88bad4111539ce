"""Where the bytes come from: files or standard input, and a progress bar for big ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from streamguard.cli.exits import Failure

__all__ = ["STDIN", "open_source"]

STDIN = "-"
_READ = 1 << 16
_BIG = 16 << 20
"""From this size on a file gets a progress bar."""


@contextmanager
def open_source(name: str, /, *, progress: bool) -> Generator[Iterator[bytes], None, None]:
    """Open a source, and give its bytes as they come: a read waits for some, never for many.

    Args:
        name: a path, or `"-"` for standard input.
        progress: show a bar while a big file is read.

    Raises:
        OSError: it cannot be opened.
        Failure: standard input is closed.
    """
    if name == STDIN:
        if sys.stdin is None:
            raise Failure("standard input is closed")
        stream = sys.stdin.buffer
        if stream.isatty():
            click.echo("streamguard: reading what you type; end with Ctrl-D", err=True)
        yield _chunks(stream)
        return
    path = Path(name)
    with path.open("rb") as file:
        size = path.stat().st_size
        if progress and size >= _BIG and sys.stderr.isatty():
            with closing(_with_bar(_chunks(file), path.name, size)) as chunks:
                yield chunks
        else:
            yield _chunks(file)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    # `read` of a pipe waits until the block is full, `read1` returns what is there.
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    while chunk := read(_READ):
        yield chunk


def _with_bar(chunks: Iterator[bytes], name: str, size: int) -> Generator[bytes, None, None]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=size)
        for chunk in chunks:
            yield chunk
            bar.advance(task, len(chunk))
