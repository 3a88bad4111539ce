"""Objects whose names a model, a tool or a user has chosen: no name in them is harmless."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamguard_openai import guard_response, guard_stream
from streamguard_openai.texts import KEPT

from streamguard import FenceScrubber, Pipeline, Redactor

from .support import chunk

TOKEN = "ghp_" + "aB3dEf6hIj9kLm2nOp5q" + "Rs8tUv1wXy4zAb3d"
GUARD = FenceScrubber("think") | Redactor()
SHAPED = {**dict.fromkeys(sorted(KEPT), TOKEN), "q": [{"id": f"a {TOKEN}"}], "n": 1}
SAFE = json.loads(json.dumps(SHAPED).replace(TOKEN, GUARD.scrub(TOKEN)))


def call(arguments: Any) -> dict[str, Any]:
    return {"index": 0, "id": "t", "type": "function", "function": {"name": "f", "arguments": arguments}}


def response(*output: Any) -> dict[str, Any]:
    return {"id": "r", "object": "response", "status": "completed", "output": list(output)}


def search(arguments: Any) -> dict[str, Any]:
    return {
        "type": "tool_search_call",
        "id": "x",
        "call_id": "c",
        "arguments": arguments,
        "status": "completed",
    }


ITEMS = [
    search(SHAPED),
    {"type": "local_shell_call", "id": "x", "action": {"type": "exec", "command": ["a"], "env": SHAPED}},
    {
        "type": "file_search_call",
        "id": "x",
        "queries": [],
        "results": [{"file_id": "f", "attributes": SHAPED}],
    },
    {"type": "unknown_call", "id": "x", "arguments": SHAPED, "input": SHAPED},
]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["type"])
def test_items_of_a_response(item: Any) -> None:
    shown = guard_response(response(item), GUARD)
    assert TOKEN not in json.dumps(shown)
    assert json.dumps(SAFE) in json.dumps(shown)
    assert shown["output"][0]["id"] == "x"
    events = [
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response(item)},
    ]
    found: list[Any] = []
    assert TOKEN not in json.dumps(list(guard_stream(events, GUARD, on_finding=found.append)))
    assert list(guard_stream(events, Pipeline())) == events
    assert found


def test_arguments_that_are_objects_follow_the_policy() -> None:
    def shown(**policies: Any) -> Any:
        return guard_response(response(search(SHAPED)), GUARD, **policies)["output"][0]["arguments"]

    assert shown() == SAFE
    assert shown(tool_args="keep") == SHAPED
    assert shown(tool_args="drop") == {}
    assert shown(tool_guard=Pipeline()) == SHAPED


def test_what_an_object_hides_is_reported_once() -> None:
    found: list[Any] = []
    events = [
        {"type": "response.output_item.done", "output_index": 0, "item": search({"name": TOKEN})},
        {"type": "response.completed", "response": response(search({"name": TOKEN}))},
    ]
    list(guard_stream(events, GUARD, on_finding=found.append))
    assert len(found) == 1


def test_arguments_of_a_chat() -> None:
    events = [chunk({"tool_calls": [call(SHAPED)]}), chunk({}, "tool_calls")]
    shown = list(guard_stream(events, GUARD))
    assert shown[0]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] == SAFE
    assert TOKEN not in json.dumps(shown)
    assert list(guard_stream(events, Pipeline())) == events
    message = {"role": "assistant", "tool_calls": [call(SHAPED)], "function_call": {"arguments": SHAPED}}
    whole = {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    assert TOKEN not in json.dumps(guard_response(whole, GUARD))
    for policy, wanted in (("keep", SHAPED), ("drop", {})):
        shown = list(guard_stream(events, GUARD, tool_args=policy))
        assert shown[0]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] == wanted
        safe = guard_response(whole, GUARD, tool_args=policy)["choices"][0]["message"]
        assert safe["tool_calls"][0]["function"]["arguments"] == wanted
        assert safe["function_call"]["arguments"] == wanted


def test_deltas_of_arguments_that_are_objects() -> None:
    event = {"type": "response.mcp_call.arguments.delta", "output_index": 0, "delta": SHAPED}
    (shown,) = guard_stream([event], GUARD)
    assert shown["delta"] == SAFE


def test_metadata_of_what_is_unknown() -> None:
    event = {"choices": [], "extra": {"metadata": {"name": TOKEN}}, "metadata": {"id": TOKEN}}
    assert TOKEN not in json.dumps(list(guard_stream([event], GUARD)))
    assert TOKEN not in json.dumps(guard_response(response() | {"metadata": {"id": TOKEN}}, GUARD))
