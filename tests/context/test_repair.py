"""Calls without results and results without calls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamguard.context import repair_messages
from streamguard.context.repair import LOST_RESULT

from .conversations import FORMS, Conversation, conversations

USER: Any = {"role": "user", "content": "Go"}
DONE: Any = {"role": "assistant", "content": "Done"}


def calling(*ids: str) -> Any:
    calls = [{"id": call, "type": "function", "function": {"name": "t", "arguments": "{}"}} for call in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call: str, text: str = "1") -> Any:
    return {"role": "tool", "tool_call_id": call, "content": text}


def using(*ids: str) -> Any:
    uses = [{"type": "tool_use", "id": call, "name": "t", "input": {}} for call in ids]
    return {"role": "assistant", "content": uses}


def answering(*ids: str, text: str = "") -> Any:
    answers: list[Any] = [{"type": "tool_result", "tool_use_id": call, "content": "1"} for call in ids]
    return {"role": "user", "content": answers + ([{"type": "text", "text": text}] if text else [])}


def lost(call: str) -> Any:
    return {"type": "tool_result", "tool_use_id": call, "content": LOST_RESULT, "is_error": True}


@given(conversations(longest=300))
@settings(max_examples=50)
def test_what_is_right_stays_the_same_objects(conversation: tuple[str, Conversation]) -> None:
    _, messages = conversation
    assert all(a is b for a, b in zip(repair_messages(messages), messages, strict=True))


@given(conversations(longest=100), st.data())
@settings(max_examples=100)
def test_what_is_left_of_a_conversation_is_made_right(
    conversation: tuple[str, Conversation], data: st.DataObject
) -> None:
    form, messages = conversation
    gone = data.draw(st.sets(st.integers(0, len(messages) - 1), max_size=20))
    broken = [message for at, message in enumerate(messages) if at not in gone]
    # A last word, so that no call is waiting at the end.
    broken += [USER, DONE] if broken[-1:] and broken[-1]["role"] != "user" else [DONE]
    fixed = repair_messages(broken)
    # What was missing altogether, a question or an answer, is not invented.
    wrong = [p for p in FORMS[form](fixed) if "call" in p or "place" in p or "empty" in p]
    assert wrong == []
    assert repair_messages(fixed) == fixed


@pytest.mark.parametrize(
    ("given_", "wanted"),
    [
        ([USER, calling("a", "b"), result("b"), DONE], [USER, calling("a", "b"), result("b"), "a", DONE]),
        ([USER, calling("a"), USER], [USER, calling("a"), "a", USER]),
        ([result("z"), USER, DONE], [USER, DONE]),
        ([USER, calling("a"), result("z"), result("a"), DONE], [USER, calling("a"), result("a"), DONE]),
        ([USER, calling("a"), result("a"), result("a", "2")], [USER, calling("a"), result("a")]),
        ([USER, calling("a"), result("a"), calling("a"), result("a")], "same"),
    ],
    ids=["one missing", "none there", "no call", "no such call", "twice", "an id used again"],
)
def test_messages_of_openai(given_: list[Any], wanted: Any) -> None:
    if wanted == "same":
        wanted = given_
    wanted = [result(message, LOST_RESULT) if isinstance(message, str) else message for message in wanted]
    assert repair_messages(given_) == wanted


def test_blocks_of_anthropic_one_missing() -> None:
    fixed = repair_messages([USER, using("a", "b"), answering("b", text="And?"), DONE])
    assert fixed[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "b", "content": "1"},
        lost("a"),
        {"type": "text", "text": "And?"},
    ]


def test_blocks_of_anthropic_the_user_spoke_instead() -> None:
    fixed = repair_messages([USER, using("a"), USER, DONE])
    assert fixed[2] == {"role": "user", "content": [lost("a"), {"type": "text", "text": "Go"}]}


def test_blocks_of_anthropic_the_assistant_went_on() -> None:
    assert repair_messages([USER, using("a"), DONE])[2] == {"role": "user", "content": [lost("a")]}


def test_blocks_of_anthropic_in_two_messages_and_behind_text() -> None:
    late = {"role": "user", "content": [{"type": "text", "text": "So"}, *answering("b")["content"]]}
    fixed = repair_messages([USER, using("a", "b"), answering("a"), late, DONE])
    assert [block["type"] for block in fixed[2]["content"]] == ["tool_result", "tool_result", "text"]  # type: ignore[attr-defined]
    assert len(fixed) == 4


def test_blocks_of_anthropic_without_a_call() -> None:
    assert repair_messages([USER, DONE, answering("z", text="And?"), DONE])[2]["content"] == [
        {"type": "text", "text": "And?"}
    ]
    fixed = repair_messages([USER, DONE, answering("z"), DONE])
    assert [message["role"] for message in fixed] == ["user", "assistant", "user", "assistant"]


def test_calls_at_the_end_may_still_be_running() -> None:
    for messages in ([USER, calling("a")], [USER, calling("a", "b"), result("a")], [USER, using("a")]):
        assert repair_messages(messages) == messages


def test_objects_of_an_sdk_are_read_too() -> None:
    from openai.types.chat import ChatCompletionMessage

    said: Any = ChatCompletionMessage.model_validate(calling("a"))
    fixed = repair_messages([USER, said, DONE])
    assert fixed[1] is said
    assert fixed[2] == result("a", LOST_RESULT)


def test_an_unknown_role_is_refused_without_repeating_it() -> None:
    with pytest.raises(ValueError, match="one of system") as caught:
        repair_messages([{"role": "secret-role", "content": "x"}])
    assert "secret" not in str(caught.value)
