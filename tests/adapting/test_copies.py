"""Copies of objects with some attributes changed."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest

from streamguard.adapting import with_attributes

pydantic = pytest.importorskip("pydantic")


class Open(pydantic.BaseModel):
    """Keeps what it does not know, as the models of the SDKs do."""

    model_config = pydantic.ConfigDict(extra="allow")
    a: str = ""
    b: tuple[int, ...] = ()


class Private(Open):
    """Has an attribute of its own."""

    _note: dict[str, int] = pydantic.PrivateAttr(default_factory=dict)


class Frozen(pydantic.BaseModel, frozen=True):
    """Cannot be assigned to."""

    a: str = ""
    b: tuple[int, ...] = ()


class Copied(Open):
    """Copies itself in its own way."""

    def model_copy(self, **how: Any) -> Any:
        made = super().model_copy(**how)
        made.a = f"{made.a}!"
        return made


def state(value: Any) -> Any:
    return (
        type(value),
        vars(value),
        value.__pydantic_extra__,
        value.model_fields_set,
        value.__pydantic_private__,
        value.model_dump(),
    )


@pytest.mark.parametrize("kind", [Open, Private, Frozen, Copied])
@pytest.mark.parametrize("changes", [{"a": "new"}, {"b": (2,), "a": "x"}, {"a": None}])
@pytest.mark.parametrize("given", [{}, {"b": (1,)}, {"a": "old", "other": "kept"}])
def test_a_copy_is_what_the_model_would_make(kind: Any, changes: Any, given: Any) -> None:
    value = kind(**given)
    before = state(copy.deepcopy(value))
    made = with_attributes(value, changes)
    assert state(made) == state(value.model_copy(update=changes))
    assert state(value)[1:] == before[1:]
    assert made.b is (changes.get("b") or value.b)
    assert made.__pydantic_extra__ is None or made.__pydantic_extra__ is not value.__pydantic_extra__


def test_a_copy_of_other_objects_and_of_unknown_attributes() -> None:
    value = Open(a="x", other="y")
    made = with_attributes(value, {"other": "z"})
    assert made.model_dump() == {"a": "x", "b": (), "other": "z"}
    assert value.other == "y"
    made.more = 1
    assert "more" not in value.model_dump()
    assert with_attributes(Private(), {"a": "x"})._note == {}
    assert with_attributes(SimpleNamespace(a=1), {"a": None}) == SimpleNamespace(a=None)
