"""Two ways to watch a scene: side by side on a terminal, or chunk by chunk as lines."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from streamguard.cli.demo.scenes import Piece, Scene
from streamguard.session import Finding

__all__ = ["play_lines", "play_live", "summary"]


def play_live(scene: Scene, console: Console, pause: float) -> list[Finding]:
    """Type the raw stream beside the guarded one.

    Args:
        scene: what is played.
        console: a terminal.
        pause: seconds between two chunks.

    Returns:
        What the guard found.
    """
    findings: list[Finding] = []
    session = scene.guard.session(on_finding=findings.append)
    raw, guarded = Text(overflow="fold"), Text(overflow="fold")
    height = _height(scene.pieces, console)
    with Live(console=console, auto_refresh=False) as live:
        for piece in scene.pieces:
            raw.append(piece.text, style="bold red" if piece.hidden else "")
            guarded.append(session.feed(piece.text))
            live.update(_frame(scene, raw, guarded, session.pending, height), refresh=True)
            time.sleep(pause)
        guarded.append(session.flush(scene.end))
        live.update(_frame(scene, raw, guarded, 0, height), refresh=True)
    console.print(Text(f"  hidden: {summary(findings)}", style="green"))
    console.print()
    time.sleep(4 * pause)
    return findings


def _frame(scene: Scene, raw: Text, guarded: Text, held: int, height: int) -> Group:
    shown = guarded.copy()
    if held:
        shown.append(f" ({held} held)", style="dim")
    columns = Table.grid(expand=True, padding=(0, 1))
    columns.add_column(ratio=1)
    columns.add_column(ratio=1)
    columns.add_row(
        Panel(raw, title="what the model sends", border_style="red", height=height),
        Panel(shown, title="what the reader sees", border_style="green", height=height),
    )
    return Group(Text(scene.title, style="bold"), columns)


def _height(pieces: Sequence[Piece], console: Console) -> int:
    """Lines of the panel: fixed, so that nothing jumps while it fills."""
    inner = max(10, console.width // 2 - 6)
    whole = Text("".join(piece.text for piece in pieces) + " (99 held)", overflow="fold")
    return len(whole.wrap(console, inner)) + 2


def play_lines(scene: Scene, console: Console, pause: float) -> list[Finding]:
    """Print a line a chunk: what came, what went out for it."""
    findings: list[Finding] = []
    session = scene.guard.session(on_finding=findings.append)
    raw: list[str] = []
    shown: list[str] = []

    def line(left: str, right: str) -> None:
        console.print(f"  {left:<26}{right}".rstrip(), markup=False, highlight=False, soft_wrap=True)

    console.print(scene.title, markup=False, highlight=False, soft_wrap=True)
    line("the model sends", "the reader sees")
    for piece in scene.pieces:
        raw.append(piece.text)
        shown.append(session.feed(piece.text))
        line(_quoted(piece.text), _quoted(shown[-1]))
        time.sleep(pause)
    shown.append(session.flush(scene.end))
    line("(the end)", _quoted(shown[-1]))
    line("without streamguard:", "".join(raw))
    line("with streamguard:", "".join(shown))
    line("hidden:", summary(findings))
    console.print()
    return findings


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if text else ""


def summary(findings: Sequence[Finding]) -> str:
    """Say in a few words what was found."""
    parts = [
        f"{finding.stage}/{finding.rule} ({finding.length} characters {finding.action})"
        for finding in findings
    ]
    return ", ".join(parts) or "nothing"
