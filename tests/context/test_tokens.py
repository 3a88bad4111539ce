"""Counting tokens, and what goes to what."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from streamguard.context import Budget, Message, estimate_tokens
from streamguard.context.tokens import Ledger


def test_a_token_is_four_bytes() -> None:
    assert estimate_tokens({"role": "user", "content": "x" * 400}) == 104
    assert estimate_tokens({"role": "user", "content": "数" * 400}) == 304


def test_all_that_is_said_counts_in_both_forms() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "t" * 40, "arguments": "a" * 400}}
    assert estimate_tokens({"role": "assistant", "content": None, "tool_calls": [call]}) == 114
    use = {"type": "tool_use", "id": "c", "name": "t" * 40, "input": "a" * 398}
    assert estimate_tokens({"role": "assistant", "content": [use]}) == 114
    result = {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "r" * 400}]}
    assert estimate_tokens({"role": "user", "content": [result]}) == 104
    assert estimate_tokens({"role": "tool", "tool_call_id": "c", "content": "r" * 400}) == 104
    assert (
        estimate_tokens({"role": "assistant", "content": [{"type": "thinking", "thinking": "t" * 400}]})
        == 104
    )


def test_an_image_counts_as_one_and_not_by_its_data() -> None:
    image: Any = {"type": "image", "source": {"type": "base64", "data": "A" * 1_000_000}}
    inside = {"type": "tool_result", "tool_use_id": "c", "content": [image, image]}
    assert 1600 < estimate_tokens({"role": "user", "content": [image]}) < 1620
    assert 3200 < estimate_tokens({"role": "user", "content": [inside]}) < 3230


@pytest.mark.parametrize(
    ("window", "replaced", "wanted"),
    [
        (200_000, 20_000, 4_000),  # a fifth
        (200_000, 6_000, 2_000),  # at least 2,000
        (200_000, 1_000_000, 10_000),  # a twentieth of the window
        (1_000_000, 1_000_000, 12_000),  # at most 12,000
        (20_000, 100_000, 2_000),  # a small window: 2,000 all the same
        (200_000, 1_000, 500),  # but never more than half of what it replaces
    ],
)
def test_tokens_of_a_summary(window: int, replaced: int, wanted: int) -> None:
    assert Budget(window).summary(replaced) == wanted


@pytest.mark.parametrize("wrong", [(0, 0.5, 0.2), (100, 0, 0.2), (100, 1.1, 0.2), (100, 0.5, 0.6)])
def test_budgets_that_make_no_sense(wrong: tuple[int, float, float]) -> None:
    with pytest.raises(ValueError, match=r"a window|a threshold"):
        Budget(*wrong)


def test_a_counter_is_asked_once_for_a_message() -> None:
    asked: list[Message] = []

    def counter(message: Message) -> int:
        asked.append(message)
        return 7

    async def main() -> None:
        ledger = Ledger(counter)
        message = {"role": "user", "content": "x"}
        assert await ledger.total([message, message]) == 14
        assert await ledger.sizes([message, {**message}]) == [7, 7]
        assert len(asked) == 2

    asyncio.run(main())
