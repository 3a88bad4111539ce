"""What tells one guard from another in the key of a cache, and tells nobody what it holds.

The guards of this library are told by their settings, so the same ones have the same fingerprint in
each process. Where settings are withheld from a `repr` (a key, the values that stay) a digest could be
used to try guesses: it is keyed then, by a key that no other process has. What cannot be told by its
settings is told by what it is: a guard of known values, one that an application has written, a lambda.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import inspect
import re
import secrets
import sys
import weakref
from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any

from streamguard_langchain.shapes import is_dict

__all__ = ["fingerprint"]

_KEY = secrets.token_bytes(32)


def fingerprint(*parts: object) -> str:
    """Name settings in sixteen hexadecimal digits.

    Equal ones have equal names. Names of settings that are withheld, or that are told by what they are, hold
    for this process and while these objects live.
    """
    telling = _Telling()
    told = telling.of(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(told, digest_size=8, key=_KEY if telling.withheld else b"").hexdigest()


class _Names:
    """Names objects at random. *Memory*: a name for each that lives."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], str]] = {}

    def of(self, value: object) -> str:
        """The name of an object; of one that cannot be referred to weakly, another each time."""
        at = id(value)
        known = self._known.get(at)
        if known is not None and known[0]() is value:
            return known[1]
        name = secrets.token_hex(16)
        try:
            self._known[at] = (weakref.ref(value, lambda _: self._known.pop(at, None)), name)
        except TypeError:
            return name
        return self._known[at][1]


_NAMES = _Names()


class _Telling:
    """Tells settings in a text; `withheld` says whether the text is to be kept."""

    def __init__(self) -> None:
        self.withheld = False

    def of(self, value: Any) -> str:
        kind: Any = value.__class__
        if value is None or kind in (str, bytes, int, float, bool):
            return repr(value)
        if isinstance(value, enum.Enum):
            return f"{kind.__module__}.{kind.__qualname__}.{value.name}"
        if kind in (tuple, list):
            return f"({self._all(value)})"
        if kind in (set, frozenset):
            return f"{{{','.join(sorted(map(self.of, value)))}}}"
        if is_dict(value):
            return f"{{{self._fields(value)}}}"
        if kind is re.Pattern:  # the `repr` of one is cut at 200 characters
            return f"/{value.pattern!r}/{value.flags}"
        if isinstance(value, FunctionType):
            return self._function(value)
        if _is_ours(kind.__module__) and _is_equal_by_fields(kind):
            return f"{kind.__module__}.{kind.__qualname__}({self._fields(self._settings(value))})"
        return _NAMES.of(value)

    def _all(self, values: Iterable[Any]) -> str:
        return ",".join(map(self.of, values))

    def _fields(self, fields: Mapping[Any, Any]) -> str:
        return ",".join(f"{self.of(name)}:{self.of(value)}" for name, value in fields.items())

    def _settings(self, value: Any) -> dict[str, Any]:
        """The fields by which it is equal to another; the rest is made of these."""
        made: dict[str, Any] = {}
        for field in dataclasses.fields(value):
            if field.compare:
                made[field.name] = item = getattr(value, field.name)
                self.withheld = self.withheld or (not field.repr and bool(item))
        return made

    def _function(self, function: FunctionType) -> str:
        """A function by its name, if that leads to it in each process."""
        name = f"{function.__module__}.{function.__qualname__}"
        found: Any = sys.modules.get(function.__module__)
        for part in function.__qualname__.split("."):
            found = getattr(found, part, None)
        if found is function and function.__module__ != "__main__":
            return name
        if _is_ours(function.__module__) and not function.__defaults__:
            return f"{name}({self._fields(inspect.getclosurevars(function).nonlocals)})"
        return _NAMES.of(function)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "streamguard"


def _is_equal_by_fields(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) and kind.__eq__ is not object.__eq__
