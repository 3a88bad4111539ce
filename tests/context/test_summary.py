"""How a summary is handed over, read again, and asked for."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamguard.context.summary import SUMMARY_PREFIX, Summary, is_inserted, latest_request, without_model
from streamguard.context.transcript import Turn


@pytest.mark.parametrize("before", [None, "user", "assistant"])
@pytest.mark.parametrize("after", ["user", "assistant"])
def test_user_and_assistant_keep_taking_turns(before: str | None, after: str) -> None:
    messages = Summary("Body").messages(before, after)  # type: ignore[arg-type]
    sides = [before or "assistant", *(message["role"] for message in messages), after]
    assert all(a != b for a, b in pairwise(sides))
    assert sum(Summary.read(message) is not None for message in messages) == 1
    assert all(is_inserted(message) for message in messages)


@given(st.text(), st.text())
def test_a_summary_is_read_as_it_was_written(body: str, request: str) -> None:
    (message,) = Summary(body, request).messages("assistant", "assistant")
    read = Summary.read(message)
    assert read is not None
    assert read.messages("assistant", "assistant") == [message]
    if "\n\n" not in body:
        assert read.body == body.strip()


def test_other_messages_are_no_summaries() -> None:
    for content in ("Hello", None, [], [{"type": "text", "text": "x"}], f"So: {SUMMARY_PREFIX}"):
        assert Summary.read({"role": "user", "content": content}) is None
    text = SUMMARY_PREFIX + " x\n\ny"
    assert Summary.read({"role": "user", "content": [{"type": "text", "text": text}]}) == Summary("y")
    assert Summary.read({"role": "system", "content": text}) is None
    assert Summary.read({"role": "tool", "tool_call_id": "c", "content": text}) is None


def test_the_latest_request_is_the_users_last_words() -> None:
    turns = [Turn("user", "One", (), ()), Turn("user", "Two", (), ()), Turn("assistant", "3", (), ())]
    assert latest_request(turns) == "Two"
    assert latest_request(turns[2:]) == ""
    assert len(latest_request([Turn("user", "x" * 9_000, (), ())])) <= 2_000


def test_what_is_known_without_a_model_is_short() -> None:
    turns = [Turn("user", f"Ask {at} " + "x" * 5_000, ((f"tool{at}", "{}"),), ()) for at in range(500)]
    text = without_model(turns, "Before.")
    assert text.startswith("Before.\n\n500 messages were taken out here")
    assert "Ask 499" in text
    assert len(text) < 3_000
