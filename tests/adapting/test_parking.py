"""Held text comes out before the events that close its lane."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from streamguard import End, FenceScrubber, Redactor
from streamguard.adapting import Lanes, Parking

GUARD = FenceScrubber("think") | Redactor()


@dataclass(frozen=True)
class Event:
    kind: str
    index: int = 0
    text: str = ""


def make(event: Event, text: str) -> Event:
    return replace(event, text=text)


def started(*texts: str) -> tuple[Lanes, Parking[Event]]:
    lanes = Lanes(GUARD)
    parking: Parking[Event] = Parking(lanes, make)
    for index, text in enumerate(texts):
        lanes.feed(index, text)
        parking.remember(index, Event("delta", index, text))
    return lanes, parking


def test_held_text_leaves_before_the_parked_events_in_an_event_of_the_same_shape() -> None:
    _, parking = started("Hi <th")
    parking.park(0, Event("stop"))
    parking.park(0, Event("stopped"))
    assert parking.parked == (0,)
    assert parking.release(0) == [Event("delta", 0, "<th"), Event("stop"), Event("stopped")]
    assert parking.parked == ()
    assert parking.release(0) == []


def test_nothing_held_is_no_event() -> None:
    _, parking = started("Hi")
    parking.park(0, Event("stop"))
    assert parking.release(0) == [Event("stop")]


def test_the_reason_decides_what_is_shown() -> None:
    _, parking = started('password = "h')
    parking.park(0, Event("stop"))
    assert parking.release(0, End.TRUNCATED) == [Event("stop")]


def test_text_that_comes_late_goes_before_the_parked_events() -> None:
    lanes, parking = started("Hi <th")
    parking.park(0, Event("stop"))
    assert lanes.feed(0, "ing> <") == "<thing> "
    assert parking.release(0) == [Event("delta", 0, "<"), Event("stop")]


def test_all_lanes_are_released_in_order() -> None:
    _, parking = started("a <", "b ", "c <")
    for index in (2, 1, 9):
        parking.park(index, Event("stop", index))
    assert parking.release_all() == [
        Event("delta", 0, "<"),
        Event("stop", 1),
        Event("delta", 2, "<"),
        Event("stop", 2),
        Event("stop", 9),
    ]


def test_held_text_is_never_lost_in_silence() -> None:
    lanes = Lanes(GUARD)
    lanes.feed(0, "<th")
    with pytest.raises(LookupError):
        Parking(lanes, make).release(0)
