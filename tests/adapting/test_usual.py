"""Events that differ from the one before in a single text."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from streamguard.adapting import Usual

pydantic = pytest.importorskip("pydantic")


class Model(pydantic.BaseModel):
    """Keeps what it does not know, as the models of the SDKs do."""

    model_config = pydantic.ConfigDict(extra="allow")


class Delta(Model):
    content: str | None = None
    refusal: str | None = None


class Choice(Model):
    index: int = 0
    delta: Delta


class Chunk(Model):
    id: str = "c"
    logprobs: list[Any] = pydantic.Field(default_factory=list)
    choices: list[Choice]


PATH = ("choices", 0, "delta", "content")


def data(text: Any = "x", **more: Any) -> dict[str, Any]:
    return {"id": "c", "logprobs": [], "choices": [{"index": 0, "delta": {"content": text}}], **more}


def model(text: Any = "x", **more: Any) -> Chunk:
    return Chunk.model_validate(data(text, **more))


MAKE = pytest.mark.parametrize("make", [data, model])


@MAKE
def test_the_text_of_a_usual_event(make: Any) -> None:
    usual = Usual(make("x"), PATH, free=("id",))
    for text in ("", "y", "long " * 1000):
        assert usual.text(make(text)) == text
    assert usual.text(make("y", id="another")) == "y"


@MAKE
@pytest.mark.parametrize(
    "other",
    [
        {"id": "another"},
        {"logprobs": [{"token": "y"}]},
        {"note": "something to be guarded"},
        {"choices": []},
        {"choices": [{"index": 0, "delta": {"content": "y"}}, {"index": 1, "delta": {"content": "z"}}]},
        {"choices": [{"index": 1, "delta": {"content": "y"}}]},
        {"choices": [{"index": 0, "delta": {"content": "y"}, "note": "z"}]},
        {"choices": [{"index": 0, "delta": {"content": "y", "refusal": "z"}}]},
        {"choices": [{"index": 0, "delta": {"content": "y", "thought": "z"}}]},
        {"choices": [{"index": 0, "delta": {"content": None}}]},
        {"choices": [{"index": 0, "delta": {}}]},
    ],
)
def test_an_event_with_another_difference_is_not_usual(make: Any, other: dict[str, Any]) -> None:
    assert Usual(make("x"), PATH).text(make("y", **other)) is None


@MAKE
def test_another_field_in_the_place_of_a_free_one_is_not_usual(make: Any) -> None:
    usual = Usual(make("x", padding="p"), PATH, free=("padding",))
    assert usual.text(make("y", padding="pp")) == "y"
    assert usual.text(make("y", note="something to be guarded")) is None
    assert usual.text(make("y")) is None


def test_an_object_that_lacks_a_field_is_not_usual() -> None:
    usual = Usual(model("x"), PATH)
    for more in ({}, {"note": "something to be guarded"}, {"note": "a", "other": "b"}):
        event = model("y", **more)
        del event.id
        assert usual.text(event) is None


def test_events_of_other_kinds_are_not_usual() -> None:
    for event in (model(), None, "text", [], {}, {"choices": "x"}, {"choices": {}}):
        assert Usual(data(), PATH).text(event) is None
    for event in (data(), None, "text", []):
        assert Usual(model(), PATH).text(event) is None
    assert Usual({"text": "x"}, ("text",)).text({"text": "y"}) == "y"
    assert Usual({"text": "x"}, ("text",)).text({"other": "y"}) is None


@MAKE
def test_a_text_among_unknown_fields(make: Any) -> None:
    first = make("x", choices=[{"index": 0, "delta": {"content": None, "thought": "x"}}])
    usual = Usual(first, ("choices", 0, "delta", "thought"))
    event = make("x", choices=[{"index": 0, "delta": {"content": None, "thought": "y"}}])
    assert usual.text(event) == "y"
    made = usual.with_text(event, "z")
    assert usual.text(made) == "z"
    assert usual.text(event) == "y"


@MAKE
def test_a_copy_has_another_text_and_shares_the_rest(make: Any) -> None:
    event = make("x", note="n")
    before = copy.deepcopy(event)
    made = Usual(event, PATH).with_text(event, "new")
    assert event == before
    assert made == make("new", note="n")
    assert type(made) is type(event)


@MAKE
def test_an_owned_event_is_changed_itself(make: Any) -> None:
    event = make("x")
    assert Usual(event, PATH, owned=True).with_text(event, "new") is event
    assert event == make("new")


@MAKE
def test_what_is_done_to_the_first_event_later_makes_no_other_usual(make: Any) -> None:
    first = make("x")
    usual = Usual(first, PATH)
    logprobs = first["logprobs"] if make is data else first.logprobs
    logprobs.append({"token": "y"})
    assert usual.text(first) is None
    assert usual.text(make("y")) == "y"


@pytest.mark.parametrize("part", [["a"], {"a": 1}, {}, object(), b"x"])
def test_an_event_with_more_parts_is_refused(part: Any) -> None:
    with pytest.raises(ValueError, match="not usual"):
        Usual({**data(), "more": part}, PATH)


def test_an_event_of_another_kind_is_refused() -> None:
    class Plain:
        text = "x"

    with pytest.raises(ValueError, match="not usual"):
        Usual(Plain(), ("text",))
