"""What a removing stage shows, or gives back."""

from __future__ import annotations

import pytest

from streamguard import End, Finding
from streamguard.outlet import Outlet

FINDING = Finding("stage", "rule", "trimmed", 0, 4)


def outlet(text: str, *, limit: int = 9, found: list[Finding] | None = None) -> Outlet:
    """Make an outlet that was given a text and has had all of it removed."""
    made = Outlet(limit, None if found is None else found.append)
    made.receive(text)
    made.removed = True
    made.report(FINDING)
    return made


def test_text_is_shown_as_it_comes() -> None:
    plain = Outlet(9, None)
    plain.receive("a")
    plain.show("a")
    assert not plain.blank
    assert plain.pending is None
    assert plain.take() == "a"
    plain.show(" ")
    assert plain.take() == " "
    assert plain.close(End.COMPLETE) == ""


def test_a_text_removed_whole_comes_back_at_a_complete_end() -> None:
    found: list[Finding] = []
    full = outlet("leak", found=found)
    assert full.take() == ""
    assert full.pending == 4
    assert full.close(End.COMPLETE) == "leak"
    assert found == []


@pytest.mark.parametrize(("end", "shown"), [(End.TOOL_CALL, "\n"), (End.TRUNCATED, "\n"), (End.ERROR, "")])
def test_at_another_end_only_white_space_is_shown(end: End, shown: str) -> None:
    found: list[Finding] = []
    full = outlet("leak\n", found=found)
    full.show("\n")
    assert full.take() == ""
    assert full.close(end) == shown
    assert found == [FINDING]


def test_what_was_shown_before_does_not_come_again() -> None:
    leading = Outlet(9, None)
    leading.receive("\nleak")
    leading.show("\n")
    assert leading.take() == "\n"
    leading.removed = True
    assert leading.pending == 4
    assert leading.close(End.COMPLETE) == "leak"


def test_white_space_after_a_removal_waits_for_text() -> None:
    found: list[Finding] = []
    full = outlet("leak\na", found=found)
    full.show("\n")
    assert found == []
    full.show("a")
    assert full.take() == "\na"
    assert found == [FINDING]
    full.report(FINDING)
    assert found == [FINDING, FINDING]


def test_a_text_that_is_too_long_stays_away() -> None:
    found: list[Finding] = []
    full = outlet("leak", limit=4, found=found)
    full.receive("\n")
    assert found == [FINDING]
    assert full.pending is None
    full.receive("more")
    full.show("\n")
    assert full.take() == "\n"
    assert full.close(End.COMPLETE) == ""
