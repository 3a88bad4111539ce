"""Guarding a whole object, leaf by leaf, without knowing its classes.

For what a provider sends at once: a response that was not streamed, a snapshot that repeats
the deltas. Each string is guarded as one text, and behind the name it stands under. Names such
as `content` make no difference, so a snapshot says what the deltas say. Dictionaries, lists
and tuples are gone through, and objects of three shapes: those with `model_copy` (pydantic),
data classes, and those that are no more than their attributes (`SimpleNamespace`). No SDK is
imported.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any, TypeVar, cast

from streamguard.adapting.copies import with_attributes
from streamguard.adapting.json_lane import JsonLane
from streamguard.adapting.keyed import Keyed
from streamguard.adapting.paths import Select, Selection
from streamguard.session import FindingHandler, Transformer

__all__ = ["guard_object"]

T = TypeVar("T")
_DROPPED: Any = object()


def guard_object(
    obj: T,
    guard: Transformer,
    /,
    *,
    select: Select | None = None,
    on_finding: FindingHandler | None = None,
) -> T:
    """Guard the strings of an object.

    Args:
        obj: any object. It is never changed. What is of no known shape is a leaf, and leaves
            that are not strings are left as they are.
        guard: what each string goes through.
        select: which leaves are what, as patterns with policies (see `streamguard.adapting.paths`)
            or a function from a path; by default every string is guarded. What is dropped
            leaves a dictionary, a list or a tuple; an attribute becomes `None`.
        on_finding: called with each finding; offsets count from the beginning of the string.

    Returns:
        The object itself if nothing changed, else a copy that shares the parts that did not.

    Raises:
        ValueError: `select` names a policy that does not exist.
        RecursionError: the object is nested too deeply, or contains itself.
        LimitExceededError: a stage was told to raise on a limit.
    """
    walk = _Walk(guard, on_finding)
    result = walk.guarded(obj, None, Selection(select))
    return cast("T", None if result is _DROPPED else result)


class _Walk:
    def __init__(self, guard: Transformer, on_finding: FindingHandler | None) -> None:
        self._keyed = Keyed(guard)
        self._json = JsonLane(guard)
        self._on_finding = on_finding

    def guarded(self, value: Any, name: str | None, place: Selection) -> Any:
        """Return the value, what becomes of it, or `_DROPPED`."""
        policy = place.settled()
        if policy == "keep":
            return value
        if policy == "drop":
            return _DROPPED
        kind = _kind(value)
        if issubclass(kind, str):
            return self._string(value, name, place)
        if issubclass(kind, dict | list | tuple):
            result = (
                self._dict(value, place) if issubclass(kind, dict) else self._sequence(value, name, place)
            )
            return _DROPPED if not result and place.drops else result
        attributes = _attributes(value)
        if attributes is None:
            return _DROPPED if place.leaf() == "drop" else value
        changed = self._changed(attributes.items(), place)
        if place.drops and all(changed.get(key) is _DROPPED for key in attributes):
            return _DROPPED
        changed = {key: None if new is _DROPPED else new for key, new in changed.items()}
        return with_attributes(value, changed) if changed else value

    def _string(self, value: str, name: str | None, place: Selection) -> Any:
        policy = place.leaf()
        if policy == "drop":
            return _DROPPED
        if policy == "keep" or isinstance(value, enum.Enum):
            return value
        if policy == "json":
            safe = self._json.scrub(value, on_finding=self._on_finding)
        else:
            safe = self._keyed.scrub(value, name, on_finding=self._on_finding)
        return value if safe == value else safe

    def _changed(self, items: Iterable[tuple[Any, Any]], place: Selection) -> dict[Any, Any]:
        changed: dict[Any, Any] = {}
        for key, value in items:
            new = self.guarded(value, key if isinstance(key, str) else None, place.below(key))
            if new is not value:
                changed[key] = new
        return changed

    def _dict(self, value: dict[Any, Any], place: Selection) -> dict[Any, Any]:
        changed = self._changed(value.items(), place)
        if not changed:
            return value
        result = copy.copy(value)
        for key, new in changed.items():
            if new is _DROPPED:
                del result[key]
            else:
                result[key] = new
        return result

    def _sequence(self, value: list[Any] | tuple[Any, ...], name: str | None, place: Selection) -> Any:
        news = [self.guarded(item, name, place.below(index)) for index, item in enumerate(value)]
        if all(new is item for new, item in zip(news, value, strict=True)):
            return value
        if isinstance(value, tuple) and hasattr(value, "_fields"):  # a named tuple keeps its length
            return _kind(value)(*(None if new is _DROPPED else new for new in news))
        kept = [new for new in news if new is not _DROPPED]
        if isinstance(value, tuple):
            return tuple(kept)
        result = copy.copy(value)
        result[:] = kept
        return result


def _kind(value: Any) -> Any:
    return value.__class__


def _attributes(value: Any) -> Mapping[str, Any] | None:
    """The attributes of an object of a known shape."""
    if isinstance(value, type):
        return None
    if callable(getattr(_kind(value), "model_copy", None)):
        return {**vars(value), **(getattr(value, "__pydantic_extra__", None) or {})}
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    return vars(value) if isinstance(value, SimpleNamespace) or _is_plain(value) else None


def _is_plain(value: Any) -> bool:
    """Tell whether an object's class is written in Python, derived from none, and no container."""
    kind = _kind(value)
    return (
        hasattr(value, "__dict__")
        and kind.__mro__[1:] == (object,)
        and kind.__module__ not in ("builtins", "types")
        and not callable(value)
        and not any(hasattr(value, name) for name in ("__iter__", "__aiter__", "__enter__"))
    )
