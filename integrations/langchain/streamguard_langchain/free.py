"""Data of any form, as states, tools and applications have it: every text in it is guarded.

Dictionaries with their keys, lists, tuples, sets, bytes, and objects that are their fields
(pydantic's, data classes, those with slots) are gone through. What has not changed comes back itself.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
from collections.abc import Callable
from typing import Any

from streamguard import Transformer
from streamguard.adapting import guard_object
from streamguard.session import FindingHandler
from streamguard_langchain.kinds import is_kept_in
from streamguard_langchain.shapes import is_dict, is_list

__all__ = ["FreeData"]

_UNKNOWN: Any = object()


class FreeData:
    """Goes through data of any form; one serves any number of values."""

    __slots__ = ("_guard", "_known", "_on_finding", "_urls")

    def __init__(
        self,
        guard: Transformer,
        *,
        on_finding: FindingHandler | None = None,
        known: Callable[[Any], Any] | None = None,
        urls: bool = True,
    ) -> None:
        """Say how to guard.

        Args:
            guard: what each text goes through.
            on_finding: called with each finding.
            known: is given each value first, and returns `None` where it is to be gone through.
            urls: whether what stands under `url` is guarded; a `data:` URL never is.
        """
        self._guard = guard
        self._on_finding = on_finding
        self._known = known
        self._urls = urls

    def guarded(self, value: Any, name: str | None = None, where: tuple[object, ...] = ()) -> Any:
        """Guard a value.

        Args:
            value: anything; it is not changed.
            name: what it stands under; texts are looked at behind it as well.
            where: the names on the way to it.
        """
        if self._known is not None:
            made = self._known(value)
            if made is not None:
                return made
        if isinstance(value, str):
            return self._string(value, name)
        if isinstance(value, bytes | bytearray):
            text = value.decode("utf-8", "surrogateescape")
            safe = self._string(text, name)
            return value if safe is text else type(value)(safe.encode("utf-8", "surrogateescape"))
        if is_dict(value):
            return self._dict(value, where)
        if is_list(value) or isinstance(value, tuple | set | frozenset):
            return self._items(value, name, where)
        fields = _fields(value)
        if fields is None:
            return guard_object({name: value}, self._guard, on_finding=self._on_finding)[name]
        news = {key: self.guarded(item, key, (*where, key)) for key, item in fields.items()}
        changed = {key: new for key, new in news.items() if new is not fields[key]}
        return _with(value, changed) if changed else value

    def _string(self, text: str, name: str | None) -> str:
        if isinstance(text, enum.Enum):
            return text
        if name in ("url", "image_url") and (not self._urls or text.startswith("data:")):
            return text
        return guard_object({name: text}, self._guard, on_finding=self._on_finding)[name]

    def _dict(self, value: dict[Any, Any], where: tuple[object, ...]) -> Any:
        made: dict[Any, Any] = {}
        same = True
        for key, item in value.items():
            name = str(key)
            new_key = self.guarded(key) if isinstance(key, str | bytes | tuple) else key
            kept = isinstance(item, str) and is_kept_in(value, name, where)
            new = item if kept else self.guarded(item, name, (*where, name))
            same = same and new is item and new_key is key
            made[new_key] = new
        return value if same else made

    def _items(self, value: Any, name: str | None, where: tuple[object, ...]) -> Any:
        items = list(value)
        news = [self.guarded(item, name, where) for item in items]
        if all(new is item for new, item in zip(news, items, strict=True)):
            return value
        kind: Any = value.__class__
        if hasattr(kind, "_make"):  # a named tuple
            return kind._make(news)
        plain: Any = next(known for known in (list, tuple, frozenset, set) if issubclass(kind, known))
        return plain(news)


def _fields(value: Any) -> dict[str, Any] | None:
    """The fields of an object that is no more than these."""
    kind: Any = value.__class__
    if isinstance(value, type):
        return None
    if callable(getattr(kind, "model_copy", None)):
        return {**vars(value), **(getattr(value, "__pydantic_extra__", None) or {})}
    if dataclasses.is_dataclass(value):
        names: list[str] = [field.name for field in dataclasses.fields(value)]
    elif kind.__module__.startswith("langgraph.") and isinstance(getattr(kind, "__slots__", None), tuple):
        names = list(kind.__slots__)
    else:
        return None
    found = {name: getattr(value, name, _UNKNOWN) for name in names}
    return {name: item for name, item in found.items() if item is not _UNKNOWN}


def _with(value: Any, changed: dict[str, Any]) -> Any:
    if callable(getattr(value.__class__, "model_copy", None)):
        return value.model_copy(update=changed)
    made = copy.copy(value)
    for name, new in changed.items():
        object.__setattr__(made, name, new)
    return made
