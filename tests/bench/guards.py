"""What is measured: the stages, the default pipeline, and what is cached in them."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable

from streamguard import FenceScrubber, Pipeline, PreambleTrimmer, Redactor, Transformer

__all__ = ["GUARDS", "PIPELINE", "STAGES", "cached_states", "reachable"]

PIPELINE = "default pipeline"

STAGES: dict[str, Callable[[], Transformer]] = {
    "FenceScrubber": lambda: FenceScrubber("memory-context", "think"),
    "PreambleTrimmer": PreambleTrimmer,
    "Redactor": Redactor,
}
"""The stages of the default pipeline, in order."""

GUARDS = {**STAGES, PIPELINE: lambda: Pipeline(*(make() for make in STAGES.values()))}


def reachable(root: object, known: dict[int, object] | None = None) -> dict[int, object]:
    """Every object reached from `root` that is not known, classes and modules aside."""
    found: dict[int, object] = {}
    todo = [root]
    while todo:
        part = todo.pop()
        if id(part) in found or (known and id(part) in known) or isinstance(part, type | type(gc)):
            continue
        found[id(part)] = part
        todo.extend(gc.get_referents(part) if not callable(part) else _bound(part))
    return found


def _bound(function: object) -> list[object]:
    """What a bound method or a closure keeps; not the globals of its module."""
    cells = getattr(function, "__closure__", None) or ()
    return [getattr(function, "__self__", None), *cells]


def cached_states(transformer: Transformer) -> int:
    """How many states of automata its sessions share, so far."""
    kinds = Counter(type(part).__name__ for part in reachable(transformer.session()).values())
    return kinds["State"] + kinds["Tail"]
