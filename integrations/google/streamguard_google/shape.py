"""Reading and copying the SDK's objects and plain dictionaries alike.

Fields go by the SDK's names (`finish_reason`); the JSON of the API spells them its own way
(`finishReason`), and dictionaries may have either.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from streamguard.adapting import with_attributes

__all__ = ["fields", "get", "listed", "plain", "put"]


def get(obj: object, name: str) -> Any:
    """Return a field, or `None` where there is none."""
    if isinstance(obj, dict):
        own = cast("dict[str, Any]", obj)
        return own.get(_spelled(own, name))
    return getattr(obj, name, None)


def put(obj: Any, **changes: object) -> Any:
    """Return a copy with some fields changed; the rest is shared.

    Where a dictionary has no such field, `None` adds none.
    """
    if isinstance(obj, dict):
        result = dict(cast("dict[str, Any]", obj))
        for name, value in changes.items():
            key = _spelled(result, name)
            if value is not None:
                result[key] = value
            else:
                result.pop(key, None)
        return result
    return with_attributes(obj, changes)


def fields(obj: object) -> Mapping[str, Any]:
    """Return the fields that have a value, by the SDK's names where it has any."""
    if isinstance(obj, dict):
        items = cast("dict[str, Any]", obj).items()
        return {_snake(name): value for name, value in items if value is not None}
    own: dict[str, Any] = getattr(obj, "__dict__", {})
    return {name: value for name, value in own.items() if value is not None}


def listed(obj: object, name: str) -> list[Any]:
    """Return a field that is a list; empty where it is none."""
    value = get(obj, name)
    return cast("list[Any]", cast("object", value)) if isinstance(value, list) else []


def plain(obj: Any, kept: tuple[str, ...]) -> Any:
    """Return a copy of which only some fields are left."""
    if isinstance(obj, dict):
        own = cast("dict[str, Any]", obj)
        return {name: value for name, value in own.items() if _snake(name) in kept}
    return put(obj, **{name: None for name in fields(obj) if name not in kept})


def _spelled(own: Mapping[str, Any], name: str) -> str:
    return name if name in own or "_" not in name else _camel(name)


@cache
def _camel(name: str) -> str:
    first, *more = name.split("_")
    return first + "".join(map(str.capitalize, more))


def _snake(name: str) -> str:
    if name.islower():
        return name
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)
