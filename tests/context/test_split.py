"""Head, middle and tail."""

from __future__ import annotations

from typing import Any

import pytest

from streamguard.context import Budget
from streamguard.context.messages import units
from streamguard.context.split import Split, split
from streamguard.context.summary import Summary

from .test_repair import DONE, USER, answering, calling, result, using

BUDGET = Budget(20_000, 0.5, 0.2)  # a limit of 10,000, 2,000 of it for the tail, at most 3,000


def cut(messages: list[Any], sizes: list[int], *, first: int = 3, last: int = 2) -> Split:
    return split(messages, sizes, budget=BUDGET, limit=BUDGET.limit, first=first, last=last)


def lengths(parts: Split) -> tuple[int, int, int]:
    return len(parts.head), len(parts.middle), len(parts.tail)


def test_units_keep_calls_and_results_together() -> None:
    messages = [USER, calling("a", "b"), result("a"), result("b"), calling("c"), result("c"), DONE]
    assert units(messages) == [range(1), range(1, 4), range(4, 6), range(6, 7)]
    assert units([USER, using("a"), answering("a"), DONE]) == [range(1), range(1, 3), range(3, 4)]


@pytest.mark.parametrize(
    ("size", "kept"),
    [
        (400, 5),  # 2,000, the budget
        (700, 3),  # 2,100: the third begins within the budget and ends beyond it
        (1_400, 2),  # 2,800: the second ends within the ceiling
        (1_600, 2),  # 3,200: beyond the ceiling, but two are kept whatever their size
        (9_000, 2),
    ],
)
def test_the_tail_has_a_budget_a_ceiling_and_a_floor(size: int, kept: int) -> None:
    talk = [USER, *[DONE] * 30]
    assert len(cut(talk, [10] + [size] * 30).tail) == kept


def test_a_unit_that_would_pass_the_ceiling_stays_out() -> None:
    talk = [USER, DONE, *[USER, DONE] * 10]
    sizes = [10, 10] + [100] * 20
    sizes[-4] = 2_850  # 300 behind it
    assert lengths(cut(talk, sizes)) == (3, 16, 3)
    sizes[-4] = 2_700
    assert lengths(cut(talk, sizes)) == (3, 15, 4)


def test_the_tail_goes_back_to_the_users_request_if_there_is_room() -> None:
    talk: list[Any] = [USER, DONE, *[USER, DONE] * 10, USER, *[calling("a"), result("a")] * 4]
    sizes = [10] * 22 + [400] + [300] * 8
    assert lengths(cut(talk, sizes)) == (3, 19, 9)
    sizes[22] = 700  # 2,400 behind it
    assert lengths(cut(talk, sizes)) == (3, 20, 8)


def test_the_head_is_instructions_and_whole_units() -> None:
    system: Any = {"role": "system", "content": "Be good"}
    rest = [USER, DONE] * 20
    talk: list[Any] = [system, system, USER, calling("a", "b"), result("a"), result("b"), DONE, *rest]
    assert len(cut(talk, [100] * len(talk)).head) == 3  # the unit of three has no place behind one
    assert len(cut(talk, [100] * len(talk), first=4).head) == 6
    assert len(cut(talk, [100] * len(talk), first=0).head) == 2


def test_a_head_of_a_huge_message_is_not_kept() -> None:
    talk = [USER, *[DONE, USER] * 20]
    assert len(cut(talk, [5_000] + [100] * 40).head) == 0


def test_a_summary_is_never_part_of_the_head() -> None:
    summary: list[Any] = Summary("So far.").messages("user", "assistant")
    talk = [USER, *summary, *[DONE, USER] * 20]
    assert len(cut(talk, [100] * len(talk), first=10).head) == 1


def test_what_is_short_has_no_middle() -> None:
    assert lengths(cut([USER, DONE, USER], [1, 1, 1])) == (3, 0, 0)
    assert lengths(cut([], [])) == (0, 0, 0)
