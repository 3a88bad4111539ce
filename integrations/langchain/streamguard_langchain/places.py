"""Where a text stands in a message, and how a chunk is made that has a text at this place alone."""

from __future__ import annotations

import copy
from typing import Any

__all__ = ["Key", "Place", "appended", "grafted"]

Key = tuple[str | int, ...]
"""Names a lane: the field of the message, then names and indices."""

Place = tuple[Any, tuple[str | int, ...]]
"""A field's value, and the way in it to a text."""


def grafted(place: Place, text: str) -> Any:
    """Make a field's value that has this text at its place, and nothing else but what names the place.

    Only items of lists are named, by `index` and `type`: in any other place LangChain would join
    the second `type` to the first.
    """
    value, path = place
    return _graft(value, path, text)


def appended(value: Any, path: tuple[str | int, ...], text: str) -> Any:
    """Copy a value with this text behind the one at the end of the way."""
    if not path:
        return value + text
    made: Any = copy.copy(value)
    made[path[0]] = appended(value[path[0]], path[1:], text)
    return made


def _graft(value: Any, path: tuple[str | int, ...], text: str, *, item: bool = False) -> Any:
    if not path:
        return text
    part, rest = path[0], path[1:]
    if isinstance(part, int):
        return [_graft(value[part], rest, text, item=True)]
    kept = {name: value[name] for name in ("index", "type") if item and value.get(name) is not None}
    return {**kept, part: _graft(value.get(part), rest, text)}
