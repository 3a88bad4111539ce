"""Reading messages of both forms."""

from __future__ import annotations

from typing import Any

import pytest

from streamguard.context.messages import Call, Result, calls, results, side, text_of, texts


def test_what_a_content_says() -> None:
    assert text_of("plain") == "plain"
    assert text_of(None) == ""
    content: list[Any] = [
        {"type": "text", "text": "One"},
        "Two",
        {"type": "refusal", "refusal": "No"},
        {"type": "image_url", "image_url": {"url": "https://x.example/i.png"}},
        {"type": "thinking", "thinking": "hidden"},
        {"type": "tool_result", "tool_use_id": "c", "content": "elsewhere"},
        {},
    ]
    assert text_of(content) == "One\nTwo\nNo\n[image_url]\n[unknown block]"


def test_calls_of_every_form() -> None:
    function = {"id": "a", "type": "function", "function": {"name": "t", "arguments": '{"x": 1}'}}
    custom = {"id": "b", "type": "custom", "custom": {"name": "u", "input": "free text"}}
    wanted = [Call("a", "t", '{"x": 1}'), Call("b", "u", "free text")]
    assert calls({"role": "assistant", "content": None, "tool_calls": [function, custom]}) == wanted
    use = {"type": "tool_use", "id": "a", "name": "t", "input": {"x": 1}}
    assert calls({"role": "assistant", "content": [use]}) == wanted[:1]
    # A client of Anthropic's models that speaks OpenAI's language may send both.
    assert calls({"role": "assistant", "content": [use], "tool_calls": [function]}) == wanted[:1]
    assert calls({"role": "assistant", "content": "None", "tool_calls": []}) == []


def test_results_of_every_form() -> None:
    assert results({"role": "tool", "tool_call_id": "a", "content": "1"}) == [Result("a", "1")]
    block = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "1"}]}
    assert results({"role": "user", "content": [block]}) == [Result("a", "1")]
    assert results({"role": "user", "content": "1"}) == []
    assert texts({"role": "user", "content": [block, {"type": "text", "text": "And?"}]}) == ["And?", "1"]
    assert texts({"role": "tool", "tool_call_id": "a", "content": "1"}) == ["1"]


def test_results_stand_on_the_users_side() -> None:
    sides = {role: side({"role": role}) for role in ("system", "developer", "user", "tool", "assistant")}
    assert sides == {
        "system": "system",
        "developer": "system",
        "user": "user",
        "tool": "user",
        "assistant": "assistant",
    }
    for unknown in ({}, {"role": "function"}, {"role": None}, {"role": ["x"]}):
        with pytest.raises(ValueError, match="one of system"):
            side(unknown)
