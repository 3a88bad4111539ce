"""Timing on a machine that has other things to do.

All candidates take turns in one process, and each is judged by its fastest turn, in processor
time: what disturbs a turn can only make it slower. So only ratios within one run mean anything.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping
from time import process_time
from typing import TypeVar

from streamguard import Transformer

__all__ = ["Turn", "calling", "feeding", "interleave", "per_second", "streaming"]

Key = TypeVar("Key")
Turn = Callable[[], float]
"""Runs once and returns the seconds that count."""


def interleave(turns: Mapping[Key, Turn], rounds: int) -> dict[Key, float]:
    """The fastest turn of each candidate, in seconds."""
    best = dict.fromkeys(turns, float("inf"))
    for _ in range(rounds):
        for key, turn in turns.items():
            gc.collect()
            gc.disable()
            try:
                best[key] = min(best[key], turn())
            finally:
                gc.enable()
    return best


def feeding(make: Callable[[], Callable[[str], object]], chunks: Iterable[str]) -> Turn:
    """Feed all chunks to what `make` makes; making it is not counted."""

    def turn() -> float:
        feed = make()
        start = process_time()
        for chunk in chunks:
            feed(chunk)
        return process_time() - start

    return turn


def streaming(guard: Transformer, chunks: Iterable[str]) -> Turn:
    """Feed all chunks to a session of a guard."""
    return feeding(lambda: guard.session().feed, chunks)


def calling(function: Callable[[str], object], text: str) -> Turn:
    """Call a function on a text."""

    def turn() -> float:
        start = process_time()
        function(text)
        return process_time() - start

    return turn


def per_second(characters: int, seconds: float) -> str:
    """A speed in megabytes a second, taking a character for a byte."""
    return f"{characters / seconds / 1e6:.1f} MB/s"
