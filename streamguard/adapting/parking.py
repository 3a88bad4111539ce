"""Parking: the events that close a lane wait until the text it holds has come out.

The event that closes a lane often comes before the one that says why it was closed, and
only the reason tells what may be shown of the text still held. So closing events are parked,
all others go on, and when the reason is known the held text leaves in an event of the same
shape as the lane's last one, with the parked events behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from streamguard.adapting.lanes import Lanes
from streamguard.session import End

__all__ = ["Parking"]

E = TypeVar("E")


class Parking(Generic[E]):
    """Puts held text before the closing events of its lane. It does no I/O.

    *Delay*: closing events wait for `release`; nothing else does. *Memory*: the last event
    of each lane with text, and the events parked.
    """

    __slots__ = ("_lanes", "_make", "_parked", "_templates")

    def __init__(self, lanes: Lanes, make: Callable[[E, str], E], /) -> None:
        """Park the events of one response.

        Args:
            lanes: where the text is held.
            make: makes an event that carries a text, like the given one in all else. It must
                not change the given one.
        """
        self._lanes = lanes
        self._make = make
        self._templates: dict[Hashable, E] = {}
        self._parked: dict[Hashable, list[E]] = {}

    def remember(self, key: Hashable, event: E, /) -> None:
        """Note an event of a lane: text that is held leaves in one like it."""
        self._templates[key] = event

    def park(self, key: Hashable, event: E, /) -> None:
        """Hold an event that closes a lane, until `release`."""
        self._parked.setdefault(key, []).append(event)

    def release(self, key: Hashable, end: End = End.COMPLETE, /) -> list[E]:
        """Close a lane.

        Returns:
            An event with the text that was held, if there is any, then the parked events.

        Raises:
            LookupError: the lane has text to show, and no event of it was remembered.
        """
        events: list[E] = []
        if text := self._lanes.flush(key, end):
            if key not in self._templates:
                raise LookupError("a lane holds text and no event of it was remembered")
            events.append(self._make(self._templates[key], text))
        self._templates.pop(key, None)
        return events + self._parked.pop(key, [])

    def release_all(self, end: End = End.COMPLETE, /) -> list[E]:
        """Close every lane: in the order they were opened, then those with parked events only."""
        keys = dict.fromkeys((*self._lanes.open, *self._parked))
        return [event for key in keys for event in self.release(key, end)]

    @property
    def parked(self) -> tuple[Hashable, ...]:
        """The lanes with events that wait, in the order these came."""
        return tuple(self._parked)
