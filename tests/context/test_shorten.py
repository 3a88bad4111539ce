"""Texts cut in the middle."""

from hypothesis import given
from hypothesis import strategies as st

from streamguard.context.shorten import shorten


def test_seventy_percent_of_the_beginning_and_twenty_of_the_end() -> None:
    text = "a" * 50_000 + "b" * 50_000
    short = shorten(text, 20_000, of="AGENTS.md")
    head, marker, tail = short.split("\n")
    assert (head, tail) == ("a" * 14_000, "b" * 4_000)
    assert marker == "[... 82,000 of 100,000 characters of AGENTS.md left out ...]"


@given(st.text(max_size=400), st.integers(-5, 500))
def test_it_is_never_longer_than_allowed(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= max(limit, 0)
    if len(text) <= limit:
        assert short == text
