"""Copies of objects with some attributes changed: of an SDK's events, which are never changed."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

__all__ = ["with_attributes"]

_new, _set = object.__new__, object.__setattr__


def with_attributes(value: Any, changes: Mapping[str, Any], /) -> Any:
    """Copy an object, frozen or not, with other values of some attributes; the rest is shared.

    Args:
        value: a model of pydantic, whose copy is what `model_copy(update=changes)` gives, or an
            object that `copy.copy` copies.
        changes: the new values by name.
    """
    if _is_plain_model(value.__class__) and not value.__pydantic_private__:
        own: dict[str, Any] = value.__dict__
        for name in changes:
            if name not in own:
                break
        else:
            extra = value.__pydantic_extra__
            result: Any = _new(value.__class__)
            _set(result, "__dict__", {**own, **changes})
            _set(result, "__pydantic_extra__", None if extra is None else extra.copy())
            _set(result, "__pydantic_fields_set__", value.__pydantic_fields_set__.union(changes))
            _set(result, "__pydantic_private__", None)
            return result
    if callable(getattr(value.__class__, "model_copy", None)):
        return value.model_copy(update=changes)
    result = copy.copy(value)
    for name, new in changes.items():
        _set(result, name, new)
    return result


@lru_cache(maxsize=256)
def _is_plain_model(kind: type) -> bool:
    """Tell whether a class is a model of pydantic that copies its objects as pydantic does.

    All state of such a model is in the four attributes that pydantic documents. Copying them takes
    two thirds of the time of `model_copy`, and of a guarded stream every third event is a copy.
    """
    for base in kind.__mro__:
        if base.__name__ == "BaseModel" and base.__module__ == "pydantic.main":
            names = ("model_copy", "__copy__", "__new__", "__setstate__", "__pydantic_private__")
            own: Any = kind
            return all(getattr(own, name, None) is getattr(base, name, None) for name in names)
    return False
