"""`streamguard demo`: what leaks without a guard, side by side, in ten seconds."""

from __future__ import annotations

import click

__all__ = ["demo"]

_PAUSE = 0.11
"""Seconds between two chunks at speed 1: about what a hosted model takes for a token or two."""


@click.command(short_help="Watch what leaks without a guard, in ten seconds.")
@click.option(
    "--speed",
    type=click.FloatRange(min=0, min_open=True),
    metavar="FACTOR",
    help="2 plays twice as fast. Where the output is no terminal nothing waits unless this is given.",
)
def demo(*, speed: float | None) -> None:
    """Play short model streams: what the model sends beside what a reader sees.

    The streams ship with the program and are cut at the places that hurt: inside a tag,
    inside a key. On a terminal they run in real time, elsewhere as lines of text.
    """
    from rich.console import Console

    from streamguard.cli.demo.scenes import load_scenes
    from streamguard.cli.demo.screen import play_lines, play_live, summary

    console = Console()
    live = console.is_terminal and not console.is_dumb_terminal
    pause = _PAUSE / speed if speed else _PAUSE if live else 0.0
    play = play_live if live else play_lines
    findings = [finding for scene in load_scenes() for finding in play(scene, console, pause)]
    console.print(
        f"What no reader saw: {summary(findings)}.", markup=False, highlight=False, soft_wrap=not live
    )
