"""What is told to a memory provider, which is somebody else's: messages without secrets.

Messages are of many shapes, so every text in them is guarded, the keys of mappings too. The
shape stays; what is neither text nor a number nor holds any is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import cast

__all__ = ["guarded"]

_DEPTH = 64
"""How deep a message is followed; what lies deeper is left out."""


def guarded(value: object, clean: Callable[[str], str], /, depth: int = _DEPTH) -> object:
    """A copy of a value with every text in it guarded; `None` for what cannot be looked through."""
    if isinstance(value, str):
        return clean(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if not depth:
        return None
    dump: object = getattr(value, "model_dump", None)
    if isinstance(value, Mapping):
        return {
            guarded(key, clean, depth - 1): guarded(one, clean, depth - 1)
            for key, one in cast("Mapping[object, object]", value).items()
        }
    if isinstance(value, (Sequence, Set)) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [guarded(one, clean, depth - 1) for one in cast("Sequence[object]", value)]
    return guarded(dump(), clean, depth - 1) if callable(dump) else None
