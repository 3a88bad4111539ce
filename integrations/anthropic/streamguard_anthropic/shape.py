"""Reading and copying the SDK's objects and plain dictionaries alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from streamguard.adapting import with_attributes

__all__ = ["fields", "get", "put"]


def get(obj: object, name: str) -> Any:
    """Return a field, or `None` where there is none."""
    if isinstance(obj, dict):
        return cast("dict[str, Any]", obj).get(name)
    return getattr(obj, name, None)


def put(obj: Any, **changes: object) -> Any:
    """Return a copy with some fields changed; the rest is shared."""
    if isinstance(obj, dict):
        return {**cast("dict[str, Any]", obj), **changes}
    return with_attributes(obj, changes)


def fields(obj: object) -> Mapping[str, Any]:
    """Return all fields, those unknown to the SDK included."""
    if isinstance(obj, dict):
        return cast("dict[str, Any]", obj)
    own: dict[str, Any] = getattr(obj, "__dict__", {})
    extra: dict[str, Any] | None = getattr(obj, "__pydantic_extra__", None)
    return {**own, **extra} if extra else own
