"""The usual event: one that differs from the one before it in a single text.

Most events of a stream are alike but for a text. To look through all the fields of such an event
costs more than to guard its text, so what has been looked at once is not looked at again while it
stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from operator import itemgetter
from typing import Any, NamedTuple

from streamguard.adapting.copies import with_attributes
from streamguard.adapting.paths import Path

__all__ = ["Usual"]


class _Level(NamedTuple):
    """One of the objects on the way to the text."""

    kind: Any  # its class
    names: frozenset[str]  # of its fields
    varies: bool  # another object of its kind may have others
    rest_of: Callable[[dict[str, Any]], Any]  # takes the fields that stay as they are
    rest: Any
    name: str  # of the field that leads on
    listed: bool  # a list of one item is in between


class Usual:
    """What an event is like, but for one of its texts; immutable.

    An adapter makes it of an event that it has looked through, if that says nothing to be guarded
    besides the text. The next events that are like it need no more than their text guarded.

    *Memory*: the plain values of one event.
    """

    __slots__ = ("_levels", "_name", "_owned")

    def __init__(self, event: Any, path: Path, *, free: Collection[str] = (), owned: bool = False) -> None:
        """Note what an event is like.

        Args:
            event: a model of pydantic or a dictionary, and so are the parts that the path leads through.
            path: leads to the text; of a list, always to its only item.
            free: names of fields that may differ, wherever they stand.
            owned: events are nobody else's, so `with_text` may change them.

        Raises:
            ValueError: there are other parts, or other values than texts, numbers and empty lists:
                only of these it is certain that they stay what they are.
        """
        levels: list[_Level] = []
        value = event
        for name, after in zip(path, (*path[1:], ""), strict=True):
            if not isinstance(name, str):
                continue
            own = _fields(value)
            rest = {other: _plain(own[other]) for other in own if other != name and other not in free}
            rest_of: Callable[[dict[str, Any]], Any] = itemgetter(*rest) if rest else _nothing
            listed = after == 0
            level = _Level(
                value.__class__, frozenset(own), _varies(value), rest_of, rest_of(rest), name, listed
            )
            levels.append(level)
            value = own[name]
            if listed:
                (value,) = value
        self._levels = tuple(levels)
        self._name = levels[-1].name
        self._owned = owned

    def text(self, event: Any, /) -> str | None:
        """Return the text of an event that is as usual, `None` of any other."""
        value: Any = event
        for kind, names, varies, rest_of, rest, name, listed in self._levels:
            if value.__class__ is not kind:
                return None
            own: dict[str, Any]
            more: dict[str, Any] | None = None
            if kind is dict:
                own = value
            else:
                own = value.__dict__
                if more := value.__pydantic_extra__:
                    own = {**own, **more}
            try:
                if len(own) != len(names) or ((varies or more) and own.keys() != names):
                    return None
                if rest_of(own) != rest:
                    return None
                value = own[name]
                if listed:
                    (value,) = value
            except (LookupError, TypeError, ValueError):
                return None
        return value if value.__class__ is str else None

    def with_text(self, event: Any, text: str, /) -> Any:
        """Return an event that is as usual with another text: a copy, or itself if events are owned."""
        parts: list[Any] = []
        value = event
        for kind, _, _, _, _, name, listed in self._levels:
            parts.append(value)
            value = value[name] if kind is dict else getattr(value, name)
            if listed:
                (value,) = value
        if self._owned:
            last = parts[-1]
            own = last if last.__class__ is dict else last.__dict__
            (own if self._name in own else last.__pydantic_extra__)[self._name] = text
            return event
        new: Any = text
        for kind, _, _, _, _, name, listed in reversed(self._levels):
            changes = {name: [new] if listed else new}
            new = {**parts.pop(), **changes} if kind is dict else with_attributes(parts.pop(), changes)
        return new


def _fields(value: Any) -> dict[str, Any]:
    """The fields of an object, unknown ones included; not to be changed."""
    if value.__class__ is dict:
        fields: dict[str, Any] = value
        return fields
    if not hasattr(value.__class__, "__pydantic_extra__"):
        raise ValueError("an event that is neither a dictionary nor a model is not usual")
    own: dict[str, Any] = value.__dict__
    more: dict[str, Any] | None = value.__pydantic_extra__
    return {**own, **more} if more else own


def _varies(value: Any) -> bool:
    return value.__class__ is dict or bool(value.__pydantic_extra__)


def _plain(value: Any) -> Any:
    if value == [] and isinstance(value, list):
        return []
    if value is None or isinstance(value, str | int | float):
        return value
    raise ValueError("an event with parts besides the text is not usual")


def _nothing(_: object) -> tuple[()]:
    return ()
