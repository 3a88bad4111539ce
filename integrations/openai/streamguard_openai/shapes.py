"""The provider's objects by their shape: dictionaries, models of pydantic, plain objects.

Nothing here changes an object. What is not different is not copied.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard, cast

from streamguard.adapting import with_attributes

__all__ = [
    "DROPPED",
    "fields",
    "fields_or_none",
    "graft",
    "has_fields",
    "is_dict",
    "is_list",
    "is_sequence",
    "only",
    "text_of",
    "with_fields",
]

DROPPED: Any = object()
"""In place of a value: the field leaves a dictionary and becomes `None` in an object."""

_CARRIED = ("index", "type")


def is_dict(value: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a value is a dictionary."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Tell whether a value is a list."""
    return isinstance(value, list)


def is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    """Tell whether a value is a list or a tuple."""
    return isinstance(value, list | tuple)


def has_fields(value: object) -> bool:
    """Tell whether a value is an object with named fields."""
    return is_dict(value) or hasattr(value, "__dict__")


def fields_or_none(value: Any) -> Mapping[str, Any] | None:
    """Return the fields of an object, or `None` if it is none, such as a text or a number."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    own: dict[str, Any] | None = getattr(value, "__dict__", None)
    if own is None:
        return None
    extra: dict[str, Any] | None = getattr(value, "__pydantic_extra__", None)
    return {**own, **extra} if extra else own


def fields(value: Any) -> Mapping[str, Any]:
    """Return the fields of an object, unknown ones included; not to be changed."""
    own = fields_or_none(value)
    return {} if own is None else own


def text_of(value: Any, name: str) -> str:
    """Return a field that is a string, else nothing."""
    text = fields(value).get(name)
    return text if isinstance(text, str) else ""


def with_fields(value: Any, changes: Mapping[str, Any]) -> Any:
    """Copy an object with some of its fields changed."""
    if isinstance(value, dict):
        result: Any = copy.copy(cast("dict[str, Any]", value))
        for name, new in changes.items():
            if new is DROPPED:
                result.pop(name, None)
            else:
                result[name] = new
        return result
    for dropped in changes.values():
        if dropped is DROPPED:
            changes = {name: None if new is DROPPED else new for name, new in changes.items()}
            break
    return with_attributes(value, changes)


def only(value: Any, kept: Mapping[str, Any]) -> Any:
    """Make an object of the same class that has these fields and no others, but for private ones."""
    if is_dict(value):
        return dict(kept)
    construct = getattr(value, "model_construct", None)
    if callable(construct):
        made: Any = construct(**kept)
        private: dict[str, Any] | None = getattr(value, "__pydantic_private__", None)
        if private is not None:  # such as what LiteLLM notes of a chunk
            object.__setattr__(made, "__pydantic_private__", dict(private))
        return made
    return with_fields(value, {**dict.fromkeys(fields(value)), **kept})


def graft(value: Any, path: Sequence[str | int], text: str) -> Any:
    """Make an object that has this text at the end of a path, and little else.

    What tells the place from others (`index`, `type`) is carried along the path.
    """
    if not path:
        return text
    part, rest = path[0], path[1:]
    if isinstance(part, int):
        return [graft(value[part], rest, text)]
    own = fields(value)
    kept = {name: own[name] for name in _CARRIED if own.get(name) is not None}
    return only(value, {**kept, part: graft(own.get(part), rest, text)})
