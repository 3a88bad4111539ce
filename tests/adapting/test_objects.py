"""Objects are guarded leaf by leaf, copied where they change and nowhere else."""

from __future__ import annotations

import copy
import enum
from collections import OrderedDict
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from streamguard import FenceScrubber, Finding, Redactor
from streamguard.adapting import guard_object

GUARD = FenceScrubber("think") | Redactor()
LEAK = "a<think>x</think>b"


class Color(enum.StrEnum):
    LEAK = "<think>x</think>"


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass(frozen=True, slots=True)
class Frozen:
    text: Any
    other: Any = None


@dataclass
class Derived:
    text: str
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = len(self.text)


class Plain:
    def __init__(self, text: Any) -> None:
        self.text = text


class Unknown:
    __slots__ = ("text",)

    def __init__(self) -> None:
        self.text = LEAK


def test_every_string_is_guarded_and_what_did_not_change_is_shared() -> None:
    same: dict[str, Any] = {"n": [1, None, "clean"]}
    before = {"a": LEAK, "same": same, "list": [LEAK, 2], "tuple": (LEAK,), "pair": Pair(LEAK, same)}
    kept = copy.deepcopy(before)
    after = guard_object(before, GUARD)
    assert after == {"a": "ab", "same": same, "list": ["ab", 2], "tuple": ("ab",), "pair": Pair("ab", same)}
    assert after["same"] is same
    assert type(after["pair"]) is Pair
    assert before == kept
    assert guard_object(same, GUARD) is same


def test_a_string_is_seen_behind_its_key() -> None:
    found: list[Finding] = []
    after = guard_object(
        {"password": ["hunter2hunter"], "a": "hunter2hunter", 1: "x"}, GUARD, on_finding=found.append
    )
    assert after["password"][0].startswith("[REDACTED:secret-literal:")
    assert after["a"] == "hunter2hunter"
    assert [each.rule for each in found] == ["secret-literal"]
    assert guard_object(SimpleNamespace(password="hunter2hunter"), GUARD).password.startswith("[REDACTED")


@pytest.mark.parametrize("make", [SimpleNamespace, Frozen, Plain])
def test_objects_of_known_shapes_are_copied(make: Any) -> None:
    before = make(text=[LEAK])
    after = guard_object(before, GUARD)
    assert type(after) is type(before)
    assert after.text == ["ab"]
    assert before.text == [LEAK]
    clean = make(text="clean")
    assert guard_object(clean, GUARD) is clean


def test_a_data_class_is_not_built_again() -> None:
    assert guard_object(Derived(LEAK), GUARD).size == len(LEAK)


def test_subclasses_of_dict_and_list_are_kept() -> None:
    class Items(list):  # type: ignore[type-arg]
        pass

    assert type(guard_object(OrderedDict(a=LEAK), GUARD)) is OrderedDict
    after = guard_object(Items([LEAK]), GUARD)
    assert type(after) is Items
    assert after == ["ab"]


def test_unknown_leaves_are_left_alone() -> None:
    leaves = [Unknown(), Color.LEAK, LEAK.encode(), object(), Plain, len, 1.5, {LEAK}]
    after = guard_object(leaves, GUARD)
    assert after is leaves


def test_models_of_pydantic() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Inner(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        text: str = ""
        n: int = 0

    class Outer(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        model_config = pydantic.ConfigDict(extra="allow", frozen=True)
        inner: list[Inner]
        kept: Inner

    before = Outer(inner=[Inner(text=LEAK)], kept=Inner(text="clean"), reasoning=LEAK)
    after = guard_object(before, GUARD)
    assert after.model_dump() == {
        "inner": [{"text": "ab", "n": 0}],
        "kept": {"text": "clean", "n": 0},
        "reasoning": "ab",
    }
    assert after.kept is before.kept
    assert before.inner[0].text == LEAK
    assert before.reasoning == LEAK


RESPONSE: dict[str, Any] = {
    "id": LEAK,
    "choices": [
        {
            "delta": {
                "content": LEAK,
                "tool_calls": [{"function": {"name": LEAK, "arguments": '{"password": "hunter2hunter"}'}}],
            },
            "logprobs": {"content": [LEAK]},
        },
    ],
}


def test_patterns_say_which_leaves_are_what() -> None:
    after = guard_object(
        RESPONSE,
        GUARD,
        select={
            ("choices", "*", "delta", "content"): "guard",
            ("choices", "*", "delta", "tool_calls", "**", "arguments"): "json",
            ("choices", 0, "logprobs"): "drop",
        },
    )
    (choice,) = after["choices"]
    assert after["id"] == LEAK
    assert "logprobs" not in choice
    assert choice["delta"]["content"] == "ab"
    function = choice["delta"]["tool_calls"][0]["function"]
    assert function["name"] == LEAK
    assert function["arguments"].startswith('{"password": "[REDACTED:')
    assert function["arguments"].endswith('"}')


def test_the_first_pattern_that_covers_a_place_decides() -> None:
    value = {"a": {"id": LEAK, "b": {"id": LEAK, "text": LEAK}}, "c": LEAK}
    select: Any = {("**", "id"): "keep", ("a",): "guard", ("**",): "drop"}
    assert guard_object(value, GUARD, select=select) == {"a": {"id": LEAK, "b": {"id": LEAK, "text": "ab"}}}


def test_what_is_dropped_goes_whole_unless_something_below_is_kept() -> None:
    value = {"a": [{"x": 1}, {}], "b": [{"id": 1, "x": 2}], "c": SimpleNamespace(x=[1])}
    select: Any = {("**", "id"): "keep", ("**",): "drop"}
    assert guard_object(value, GUARD, select=select) == {"b": [{"id": 1}]}


def test_what_is_dropped_from_an_object_is_none() -> None:
    select: Any = {("*", "text"): "drop", ("*", "other", 0): "drop"}
    assert guard_object([Frozen("x", ["y", "z"])], GUARD, select=select) == [Frozen(None, ["z"])]
    assert guard_object([Pair("y", 1)], GUARD, select={("*", "*"): "drop"}) == [Pair(None, None)]
    assert guard_object(("x", 1), GUARD, select={(0,): "drop"}) == (1,)
    assert guard_object("x", GUARD, select={(): "drop"}) is None


def test_a_function_may_select() -> None:
    asked: list[Any] = []

    def select(path: Any) -> Any:
        asked.append(path)
        return {"a": True, "b": False, "c": "drop", "d": True}[path[-1]]

    value = {"x": [{"a": LEAK, "b": LEAK, "c": LEAK, "d": 1}]}
    assert guard_object(value, GUARD, select=select) == {"x": [{"a": "ab", "b": LEAK, "d": 1}]}
    assert asked == [("x", 0, "a"), ("x", 0, "b"), ("x", 0, "c"), ("x", 0, "d")]


def test_an_unknown_policy_is_refused() -> None:
    wrong: Any = {("a",): "hide"}
    with pytest.raises(ValueError, match="guard, json, drop, keep"):
        guard_object({"a": "b"}, GUARD, select=wrong)
    with pytest.raises(ValueError, match="guard, json, drop, keep"):
        guard_object({"a": "b"}, GUARD, select=lambda _: wrong[("a",)])


def test_an_object_that_contains_itself_raises() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(RecursionError):
        guard_object(value, GUARD)
