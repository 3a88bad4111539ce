"""Tells dictionaries and lists of LangChain's loosely typed objects apart."""

from __future__ import annotations

from typing import Any, TypeGuard

__all__ = ["index_of", "is_dict", "is_list", "is_tuple"]


def is_dict(value: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a value is a dictionary."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Tell whether a value is a list."""
    return isinstance(value, list)


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Tell whether a value is a tuple, and no named one."""
    return type(value) is tuple


def index_of(value: object) -> str | int | None:
    """Return the `index` by which LangChain merges an item of a list, if it has one."""
    index = value.get("index") if is_dict(value) else None
    return index if isinstance(index, str | int) else None
