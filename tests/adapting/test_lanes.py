"""Every lane is a stream of its own."""

from __future__ import annotations

import pytest

from streamguard import End, FenceScrubber, Finding, Redactor, StreamClosedError
from streamguard.adapting import JsonLane, LaneFinding, Lanes
from streamguard.session import LimitExceededError

GUARD = FenceScrubber("think") | Redactor()


def test_lanes_do_not_influence_each_other() -> None:
    lanes = Lanes(GUARD)
    assert lanes.feed("a", "one <thi") == "one "
    assert lanes.feed(("b", 0), "two <think>x") == "two "
    assert lanes.feed("a", "ng>") == "<thing>"
    assert lanes.feed(("b", 0), "</think>!") == "!"


def test_lanes_are_closed_in_the_order_they_were_opened() -> None:
    lanes = Lanes(GUARD)
    for key in ("b", "a", "c"):
        lanes.feed(key, "" if key == "a" else f"{key} <th")
    assert lanes.open == ("b", "a", "c")
    assert lanes.pending("b") == 3
    assert lanes.flush_all() == [("b", "<th"), ("c", "<th")]
    assert lanes.open == ()
    assert lanes.closed == {"a", "b", "c"}
    assert lanes.pending("b") == 0


def test_the_reason_of_the_end_is_passed_on() -> None:
    lanes = Lanes(GUARD)
    lanes.feed("a", 'password = "h')
    assert lanes.flush("a", End.TRUNCATED) == ""


def test_text_behind_the_end_opens_a_lane_anew() -> None:
    lanes = Lanes(GUARD)
    lanes.feed("a", "<think>x")
    assert lanes.flush("a") == ""
    assert lanes.closed == {"a"}
    assert lanes.feed("a", "more") == "more"
    assert lanes.open == ("a",)
    assert lanes.closed == frozenset()


def test_a_lane_that_was_never_open_has_nothing_to_show() -> None:
    lanes = Lanes(GUARD)
    assert lanes.flush("a") == ""
    assert lanes.closed == frozenset()


def test_a_lane_may_go_through_a_guard_of_its_own() -> None:
    lanes = Lanes(GUARD)
    assert lanes.feed("args", '{"password": "hunt', guard=JsonLane(GUARD)) == '{"password": "'
    assert lanes.feed("args", 'er2hunter"}').startswith("[REDACTED:")


def test_a_finding_says_its_lane() -> None:
    found: list[Finding] = []
    hidden: list[tuple[str, str]] = []
    lanes = Lanes(GUARD, on_finding=found.append, on_hidden=lambda name, text: hidden.append((name, text)))
    lanes.feed(("choice", 1), "<think>x</think>")
    assert found == [LaneFinding("fence", "think", "hidden", 0, 16, ("choice", 1))]
    assert "".join(text for _, text in hidden) == "x"


def test_a_lane_that_raised_refuses_more() -> None:
    lanes = Lanes(FenceScrubber("think", max_block=4, on_limit="raise"))
    with pytest.raises(LimitExceededError):
        lanes.feed("a", "<think>too long for it")
    with pytest.raises(StreamClosedError):
        lanes.feed("a", "x")
    assert lanes.feed("b", "x") == "x"
