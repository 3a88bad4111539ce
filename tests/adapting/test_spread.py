"""One text over several blocks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamguard import (
    End,
    FenceScrubber,
    Finding,
    Pipeline,
    PreambleTrimmer,
    Redactor,
    StreamClosedError,
    Transformer,
)
from streamguard.adapting import Spread

KEY = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0" * 3
GUARD = FenceScrubber("think") | Redactor()
PARTS = st.lists(
    st.sampled_from(
        ["", "a", " word ", "<thi", "nk>", "hidden", "</think>", KEY[:9], KEY[9:], "<", "pass", " "]
    ),
    max_size=12,
)


def spread(parts: Sequence[str], guard: Transformer = GUARD, *, size: int = 10**6) -> list[tuple[int, str]]:
    text: Spread[int] = Spread(guard)
    shown: list[tuple[int, str]] = []
    for block, part in enumerate(parts):
        for at in range(0, len(part), size):
            shown += text.feed(block, part[at : at + size])
    return shown + text.flush()


def by_block(shown: list[tuple[int, str]], count: int) -> list[str]:
    return ["".join(text for block, text in shown if block == number) for number in range(count)]


@given(PARTS)
def test_blocks_are_one_text_and_come_in_order(parts: list[str]) -> None:
    shown = spread(parts)
    assert "".join(text for _, text in shown) == GUARD.scrub("".join(parts))
    assert [block for block, _ in shown] == sorted(block for block, _ in shown)


@given(PARTS)
def test_blocks_in_which_nothing_is_found_come_out_as_they_were(parts: list[str]) -> None:
    found: list[Finding] = []
    GUARD.scrub("".join(parts), on_finding=found.append)
    if not found:
        assert by_block(spread(parts), len(parts)) == parts


@given(PARTS, st.integers(1, 5))
def test_what_a_block_gets_does_not_depend_on_the_chunks(parts: list[str], size: int) -> None:
    assert by_block(spread(parts, size=size), len(parts)) == by_block(spread(parts), len(parts))


def test_a_secret_over_blocks_stands_where_it_ends() -> None:
    parts = ["The key: " + KEY[:9], KEY[9:] + " and <thi", "nk>hidden</think>done"]
    shown = by_block(spread(parts), 3)
    assert shown[0] == "The key: "
    assert shown[1].startswith("[REDACTED:openai")
    assert shown[1].endswith("] and ")
    assert shown[2] == "done"


def test_blocks_that_wait_are_named_and_ends_are_heeded() -> None:
    text: Spread[str] = Spread(FenceScrubber("think"))
    assert text.feed("a", "x <") == [("a", "x ")]
    assert (text.owing, text.pending) == ((), 1)
    assert text.feed("b", "") == []
    assert text.owing == ("a",)
    assert text.feed("b", "3") == [("a", "<"), ("b", "3")]
    assert text.owing == ()
    assert text.flush(End.ERROR) == []
    with pytest.raises(StreamClosedError):
        text.feed("b", "x")
    trimmed: Spread[int] = Spread(PreambleTrimmer() | Pipeline())
    said = [*trimmed.feed(0, "Done. "), *trimmed.feed(1, "Let me update the notes now.")]
    assert "".join(piece for _, piece in [*said, *trimmed.flush(End.TOOL_CALL)]).strip() == "Done."
