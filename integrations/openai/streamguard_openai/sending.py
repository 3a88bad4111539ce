"""The events of a Responses stream on their way out: in order, and numbered anew.

Where a closing event waits, because text of its part is still held, all behind it waits as well.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from streamguard import End
from streamguard.adapting import Path
from streamguard_openai.answer import covers
from streamguard_openai.shapes import fields, is_dict, with_fields

__all__ = ["NUMBER", "Sending"]

NUMBER = "sequence_number"


class _Closing(NamedTuple):
    event: Any
    end: End
    parts: Path  # of the answer, that it closes; empty if none


class _Ready(NamedTuple):
    event: Any  # None: one that came is not sent
    step: int  # how many more events there are than came: 1 for a new one, -1 for one that is not sent


class Sending:
    """Puts events in order.

    *Memory*: the events that wait.
    """

    __slots__ = ("_finish", "_holds", "_last", "_owned", "_queue", "shift")

    def __init__(
        self, finish: Callable[[Any, End], Any], holds: Callable[[Path], bool], *, owned: bool
    ) -> None:
        """Begin a stream.

        Args:
            finish: makes of a closing event what is shown, once its text has come out.
            holds: tells whether some parts of the answer may still get text.
            owned: the events are nobody else's: one may be changed instead of copied.
        """
        self._finish = finish
        self._holds = holds
        self._owned = owned
        self._queue: deque[_Closing | _Ready] = deque()
        self._last: int | None = None  # the number given last
        self.shift = 0
        """How many more events were sent than came."""

    def __bool__(self) -> bool:
        """Events are waiting."""
        return bool(self._queue)

    def put(self, event: Any) -> None:
        """Send an event that came, behind those that wait."""
        self._queue.append(_Ready(event, 0))

    def skip(self) -> None:
        """Note that an event that came is not sent."""
        self._queue.append(_Ready(None, -1))

    def add(self, event: Any) -> None:
        """Send an event that did not come, behind those that wait."""
        self._queue.append(_Ready(event, 1))

    def close(self, event: Any, end: End, parts: Path) -> None:
        """Send a closing event as soon as none of the parts it closes gets any more text."""
        self._queue.append(_Closing(event, end, parts))

    def drain(self, shown: list[Any], before: Collection[Path] = ()) -> None:
        """Send what does not wait any more.

        Args:
            shown: gets the events.
            before: parts that are about to get text: what closes them is not sent.
        """
        queue = self._queue
        while queue:
            first = queue[0]
            if isinstance(first, _Closing):
                parts = first.parts
                if parts and (self._holds(parts) or any(covers(parts, part) for part in before)):
                    return
                queue.popleft()
                shown.append(self.numbered(self._finish(first.event, first.end)))
                continue
            queue.popleft()
            if first.step > 0:
                shown.append(self.new(first.event))
            elif first.step < 0:
                self.shift -= 1
            else:
                shown.append(self.numbered(first.event))

    def new(self, event: Any) -> Any:
        """Number an event that did not come, and is sent now."""
        self.shift += 1
        if not isinstance(fields(event).get(NUMBER), int) or self._last is None:
            return event
        self._last += 1
        return with_fields(event, {NUMBER: self._last})

    def numbered(self, event: Any) -> Any:
        """Number an event that came, and is sent now."""
        number = event.get(NUMBER) if is_dict(event) else getattr(event, NUMBER, None)
        if not isinstance(number, int):
            return event
        self._last = number + self.shift
        if not self.shift:
            return event
        if self._owned and not is_dict(event):
            event.__dict__[NUMBER] = self._last
            return event
        return with_fields(event, {NUMBER: self._last})
