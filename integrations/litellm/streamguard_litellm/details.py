"""The details of a call, guarded where they are written.

LiteLLM keeps the details of a call in one dictionary, which all its loggers get. Of a synchronous
stream each piece is logged by a thread of its own: while one of them calls a logger, that of the
whole writes the answer into that dictionary, and calls the hooks only then. So the dictionary that
the hooks return guards what is written into it, and is the same for all threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock, RLock
from typing import Any, Self
from weakref import WeakValueDictionary

from streamguard_litellm.assembled import answers_of
from streamguard_litellm.logs import ANSWERS, guard_detail, guard_result
from streamguard_litellm.options import Options

__all__ = ["CallDetails", "details_of"]

_UNSEEN = object()


class CallDetails(dict[str, Any]):
    """What a dictionary of LiteLLM's says, guarded; a copy of it is an ordinary dictionary.

    *Memory*: the original besides. It is looked at again with every call of a hook, for what
    threads that still have it write there.
    """

    __slots__ = ("__weakref__", "_answers", "_guards", "_lock", "_seen", "_source")

    def __init__(self, source: Mapping[str, Any]) -> None:
        super().__init__()
        self._source = source
        self._seen: dict[str, Any] = {}  # of the source
        self._answers: list[tuple[str, Any]] = []  # as they came, and as they are
        self._guards: tuple[Options, ...] = ()
        self._lock = RLock()

    def guard(self, options: Options) -> None:
        """Guard what there is and what will be written, by these options too."""
        with self._lock:
            options = answers_of(self._source, options)
            if options not in self._guards:
                self._guards = (*self._guards, options)
                for name, value in self.items():
                    self._put(name, guard_detail(name, value, options))
            for name, value in list(self._source.items()):
                if self._seen.get(name, _UNSEEN) is not value:
                    self._seen[name] = value
                    self[name] = value

    def result(self, result: Any, options: Options) -> Any:
        """Guard the result of the call: the whole, or a piece of it."""
        for name, answer in self._answers:
            if answer is result:
                return self.get(name)
        return guard_result(result, answers_of(self._source, options), piece=bool(self.get("stream")))

    def __setitem__(self, name: str, value: Any, /) -> None:
        with self._lock:
            if name in ANSWERS:
                self._answers.append((name, value))
            for options in self._guards:
                value = guard_detail(name, value, options)
            self._put(name, value)

    def _put(self, name: str, value: Any) -> None:
        if name in ANSWERS:
            self._answers.append((name, value))
        super().__setitem__(name, value)

    def setdefault(self, name: str, default: Any = None, /) -> Any:
        """Write a value unless there is one."""
        with self._lock:
            if name not in self:
                self[name] = default
            return self[name]

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Write all of these."""
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def __ior__(self, other: Any) -> Self:  # type: ignore[override,misc]  # unlike `|` it makes no other
        self.update(other)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


_made: WeakValueDictionary[int, CallDetails] = WeakValueDictionary()  # by the dictionary they are of
_making = Lock()


def details_of(source: dict[str, Any], options: Options) -> CallDetails:
    """Return the guarded details of a call, always the same ones for the same dictionary."""
    if isinstance(source, CallDetails):
        details = source
    else:
        with _making:
            found = _made.get(id(source))  # it keeps its source, so no other has that id
            details = found if found is not None else CallDetails(source)
            _made[id(source)] = details
    details.guard(options)
    return details
