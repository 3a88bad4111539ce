"""Whether a lane's text came through as it was."""

from __future__ import annotations

import pytest

from streamguard.adapting import Unchanged


@pytest.mark.parametrize(
    ("steps", "same"),
    [
        ([], True),
        ([("ab", "ab"), ("c", "c")], True),
        ([("ab", "a"), ("c", "bc")], True),
        ([("ab", ""), ("", "ab")], True),
        ([("ab", "a"), ("c", "c")], False),
        ([("ab", "ab"), ("secret", "[x]")], False),
        ([("\ud800", ""), ("", "\ud800")], True),
    ],
)
def test_texts_are_compared_however_they_come(steps: list[tuple[str, str]], same: bool) -> None:
    unchanged = Unchanged()
    for taken, given in steps:
        unchanged.passed(taken, given)
    assert bool(unchanged) is same
