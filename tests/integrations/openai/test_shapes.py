"""Copies of the provider's objects, some of whose fields are left out."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from streamguard_openai.shapes import DROPPED, with_fields


def test_a_dropped_field_leaves_a_dictionary_and_is_none_in_an_object() -> None:
    pydantic = pytest.importorskip("pydantic")
    kind = pydantic.create_model("Model", a=(str, "x"), b=(int, 1))
    value = kind()
    assert with_fields(value, {"a": DROPPED, "b": 2}).model_dump(warnings=False) == {"a": None, "b": 2}
    assert value.model_dump() == {"a": "x", "b": 1}
    assert with_fields({"a": 1, "b": 2}, {"a": DROPPED, "b": 3}) == {"b": 3}
    assert with_fields(SimpleNamespace(a=1), {"a": DROPPED}) == SimpleNamespace(a=None)
