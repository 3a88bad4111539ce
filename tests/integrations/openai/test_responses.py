from __future__ import annotations

import copy
import json
from collections import defaultdict
from typing import Any

import pytest
from streamguard_openai import ResponsesAdapter, guard_response

from streamguard import End, FenceScrubber, Pipeline, PreambleTrimmer, Redactor
from streamguard.adapting import guard_events_sync

from .support import objects, plain

SECRET = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0" * 3
GUARD = FenceScrubber("think") | Redactor()
FORMS = pytest.mark.parametrize("form", ["dict", "object"])


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **more}


def numbered(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def response(status: str, output: list[Any], **more: Any) -> dict[str, Any]:
    return {"id": "r1", "object": "response", "status": status, "model": "m", "output": output, **more}


def message(text: str, status: str = "completed", **more: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], **more}
    return {"id": "m1", "type": "message", "role": "assistant", "status": status, "content": [part]}


def stream(
    deltas: list[str], ending: str = "completed", following: list[dict[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """A stream with one message, as the API sends it."""
    text = "".join(deltas)
    whole = message(text, "completed" if ending == "completed" else "incomplete")
    where = {"item_id": "m1", "output_index": 0, "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": []}
    return numbered(
        [
            event("created", response=response("in_progress", [])),
            event(
                "output_item.added", output_index=0, item={**whole, "content": [], "status": "in_progress"}
            ),
            event("content_part.added", **where, part=empty),
            *(event("output_text.delta", **where, delta=delta, logprobs=[]) for delta in deltas),
            event("output_text.done", **where, text=text, logprobs=[]),
            event("content_part.done", **where, part=whole["content"][0]),
            event("output_item.done", output_index=0, item=whole),
            *(following or []),
            event(ending, response=response(ending, [whole])),
        ]
    )


def run(events: list[Any], form: str = "dict", guard: Any = GUARD, **options: Any) -> list[Any]:
    given = objects(events, "responses") if form == "object" else events
    before = copy.deepcopy([plain(event) for event in given])
    shown = list(guard_events_sync(given, ResponsesAdapter(guard, **options)))
    assert [plain(event) for event in given] == before, "the provider's objects were changed"
    return [plain(event) for event in shown]


def joined(events: list[Any]) -> dict[tuple[str, int], str]:
    lanes: dict[tuple[str, int], str] = defaultdict(str)
    for event in events:
        if event["type"].endswith(".delta"):
            lanes[event["type"].removesuffix(".delta"), event.get("output_index", 0)] += event["delta"]
    return dict(lanes)


@FORMS
@pytest.mark.parametrize("ending", ["completed", "incomplete", "failed"])
def test_deltas_joined_are_what_every_snapshot_says(form: str, ending: str) -> None:
    text = f"a<think>hidden</think>b {SECRET} c <"
    for cut in range(len(text) + 1):
        shown = run(stream([text[:cut], text[cut:]], ending), form)
        said = joined(shown).get(("response.output_text", 0), "")
        assert SECRET not in json.dumps(shown)
        assert "hidden" not in json.dumps(shown)
        by_kind = {event["type"]: event for event in shown}
        assert by_kind["response.output_text.done"]["text"] == said
        assert by_kind["response.content_part.done"]["part"]["text"] == said
        assert by_kind["response.output_item.done"]["item"]["content"][0]["text"] == said
        assert by_kind[f"response.{ending}"]["response"]["output"][0]["content"][0]["text"] == said
        assert [event["sequence_number"] for event in shown] == list(range(len(shown)))
        assert shown[-1]["type"] == f"response.{ending}"


@FORMS
def test_half_a_secret_is_dropped_where_the_text_is_cut_off(form: str) -> None:
    shown = run(stream(["x ", SECRET[:11]], "incomplete"), form)
    assert joined(shown) == {("response.output_text", 0): "x "}
    assert SECRET[:11] not in json.dumps(shown)


def test_half_a_secret_is_dropped_where_only_the_response_says_so() -> None:
    events = stream(["x ", SECRET[:11]], "incomplete")
    for place in (-2, -1):
        item = events[place].get("item") or events[place]["response"]["output"][0]
        item.pop("status", None)
    assert SECRET[:11] not in json.dumps(run(events))


def test_a_call_behind_the_text_is_evidence() -> None:
    call = {"id": "f", "type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    following = [
        event("output_item.added", output_index=1, item={**call, "arguments": ""}),
        event("function_call_arguments.delta", output_index=1, item_id="f", delta="{}"),
        event("function_call_arguments.done", output_index=1, item_id="f", arguments="{}"),
        event("output_item.done", output_index=1, item=call),
    ]
    events = stream(["It is in the list. Let me update the anchors now."], following=following)
    events[-1]["response"]["output"].append(call)
    shown = run(events, guard=PreambleTrimmer(when="tool_call") | Redactor())
    said = joined(shown)["response.output_text", 0]
    assert said.strip() == "It is in the list."
    assert shown[-1]["response"]["output"][0]["content"][0]["text"] == said


@pytest.mark.parametrize(
    ("kind", "field", "index", "item"),
    [
        ("function_call_arguments", "arguments", {}, {"type": "function_call", "arguments": "T"}),
        ("mcp_call_arguments", "arguments", {}, {"type": "mcp_call", "arguments": "T"}),
        ("custom_tool_call_input", "input", {}, {"type": "custom_tool_call", "input": "T"}),
        ("code_interpreter_call_code", "code", {}, {"type": "code_interpreter_call", "code": "T"}),
        (
            "shell_call_command",
            "command",
            {"command_index": 0},
            {"type": "shell_call", "action": {"commands": ["T"]}},
        ),
        (
            "reasoning_text",
            "text",
            {"content_index": 0},
            {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "T"}]},
        ),
        (
            "reasoning_summary_text",
            "text",
            {"summary_index": 0},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "T"}]},
        ),
        (
            "refusal",
            "refusal",
            {"content_index": 0},
            {"type": "message", "content": [{"type": "refusal", "refusal": "T"}]},
        ),
    ],
)
@FORMS
def test_every_kind_of_text(
    form: str, kind: str, field: str, index: dict[str, int], item: dict[str, Any]
) -> None:
    text = json.dumps({"cmd": f"x {SECRET} <", "n": [1.0]})
    where = {"output_index": 3, "item_id": "i", **index}
    whole = json.loads(json.dumps({"id": "i", **item}).replace('"T"', json.dumps(text)))
    for cut in range(0, len(text), 3):
        events = numbered(
            [
                event(f"{kind}.delta", **where, delta=text[:cut]),
                event(f"{kind}.delta", **where, delta=text[cut:]),
                event(f"{kind}.done", **where, **{field: text}),
                event("output_item.done", output_index=3, item=whole),
                event("completed", response=response("completed", [{"id": "z", "type": "x"}] * 3 + [whole])),
            ]
        )
        shown = run(events, form)
        said = joined(shown)[f"response.{kind}", 3]
        assert json.loads(said)["n"] == [1.0]
        assert SECRET not in json.dumps(shown)
        assert shown[-3][field] == said
        assert json.dumps(said) in json.dumps(shown[-2])
        assert json.dumps(said) in json.dumps(shown[-1])
    kept = run(events, form, tool_args="keep", reasoning="keep")
    assert (kept == [plain(given) for given in events]) == (kind != "refusal")


@pytest.mark.parametrize("form", ["dict", "object"])
def test_tools_and_reasoning_can_be_dropped(form: str) -> None:
    where = {"output_index": 0, "item_id": "i"}
    thought = {"id": "i", "type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    call = {"id": "f", "type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'}
    events = numbered(
        [
            event("reasoning_summary_text.delta", **where, summary_index=0, delta="hm"),
            event("reasoning_summary_text.done", **where, summary_index=0, text="hm"),
            event("output_item.done", output_index=0, item=thought),
            event("function_call_arguments.delta", output_index=1, item_id="f", delta='{"a": 1}'),
            event("function_call_arguments.done", output_index=1, item_id="f", arguments='{"a": 1}'),
            event("output_item.done", output_index=1, item=call),
        ]
    )
    shown = run(events, form, tool_args="drop", reasoning="drop")
    assert joined(shown) == {}
    assert "hm" not in json.dumps(shown)
    assert '{\\"a\\"' not in json.dumps(shown)
    assert [event["sequence_number"] for event in shown] == [0, 1, 2, 3]


def test_annotations_logprobs_and_outputs_do_not_leak() -> None:
    token = {"token": SECRET, "logprob": -1.0, "top_logprobs": []}
    note = {"type": "url_citation", "title": SECRET, "url": "https://x", "start_index": 0, "end_index": 1}
    events = stream([SECRET + " "])
    for given in events:
        if given["type"].startswith("response.output_text."):
            given["logprobs"] = [token]
    part = events[-2]["item"]["content"][0]
    part.update(logprobs=[token], annotations=[note])
    shell = {"stdout": "k " + SECRET[:20], "stderr": ""}
    events += [
        event("output_text.annotation.added", output_index=0, content_index=0, annotation=note),
        event("shell_call_output_content.delta", output_index=1, command_index=0, delta=shell),
        event(
            "shell_call_output_content.delta",
            output_index=1,
            command_index=0,
            delta={"stdout": SECRET[20:], "stderr": ""},
        ),
        event(
            "mcp_call.completed",
            output_index=2,
            item={"type": "mcp_call", "output": SECRET, "arguments": "{}"},
        ),
        event("audio.transcript.delta", delta=SECRET[:30]),
        event("audio.transcript.delta", delta=SECRET[30:]),
        event("audio.transcript.done"),
        event("never.heard.of", data={"x": [SECRET]}),
        {"type": "error", "message": SECRET, "code": "e"},
    ]
    shown = run(events)
    assert SECRET not in json.dumps(shown)
    assert SECRET[20:] not in json.dumps(shown)
    assert SECRET[30:] not in json.dumps(shown)


def test_log_probabilities_stay_beside_the_same_text() -> None:
    events = stream(["hello. ", "you. "])
    for given in events:
        if given["type"] == "response.output_text.delta":
            given["logprobs"] = [{"token": given["delta"], "logprob": -1.0}]
        if given["type"] == "response.output_text.done":
            given["logprobs"] = [{"token": "hello. you. ", "logprob": -1.0}]
    assert run(events) == events


def test_what_a_response_repeats_of_the_request_is_guarded_where_it_is_text() -> None:
    events = stream(["hi. "])
    events[0]["response"]["instructions"] = f"<think>memory</think>{SECRET}"
    shown = run(events)
    assert "memory" not in json.dumps(shown)
    assert SECRET not in json.dumps(shown)


def test_a_stream_that_breaks_off_shows_what_is_decided() -> None:
    shown = run(stream(["a < ", SECRET[:11]])[:5])
    assert joined(shown) == {("response.output_text", 0): "a < "}
    shown = run(stream(["a. ", SECRET[:11]])[:6])
    assert joined(shown) == {("response.output_text", 0): "a. "}
    assert shown[-1]["type"] == "response.output_text.done"
    assert shown[-1]["text"] == "a. "


def test_a_text_begun_by_the_event_that_opens_it_goes_on_in_its_deltas() -> None:
    where = {"item_id": "m1", "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": SECRET[:20]}
    events = [
        event("content_part.added", **where, part=part),
        event("output_text.delta", **where, delta=SECRET[20:] + " "),
        event("output_text.done", **where, text=SECRET + " "),
        event("completed", response=response("completed", [message(SECRET + " ")])),
    ]
    shown = run(events)
    assert SECRET[20:] not in json.dumps(shown)
    assert shown[0]["part"]["text"] + joined(shown)["response.output_text", 0] == shown[-2]["text"]


def test_a_whole_response_says_what_its_stream_says() -> None:
    call = {
        "id": "f",
        "type": "function_call",
        "call_id": "c",
        "name": "f",
        "arguments": json.dumps({"k": SECRET}),
    }
    given = response(
        "completed", [message(f"a<think>x</think> {SECRET} <"), call], output_text=f"a {SECRET} <"
    )
    safe = guard_response(given, GUARD)
    assert SECRET not in json.dumps(safe)
    assert safe["output"][0]["content"][0]["text"] == GUARD.scrub(f"a {SECRET} <")
    assert json.loads(safe["output"][1]["arguments"])["k"] != SECRET
    cut = guard_response(response("incomplete", [message(f"a {SECRET[:11]}", "incomplete")]), GUARD)
    assert cut["output"][0]["content"][0]["text"] == "a "


def test_an_empty_pipeline_changes_nothing() -> None:
    events = stream(["a <", SECRET])
    shown = run(events, guard=Pipeline())
    assert all(new is old for new, old in zip(shown, events, strict=True))


@FORMS
def test_what_stands_beside_a_delta_is_guarded(form: str) -> None:
    place: dict[str, Any] = {"item_id": "m1", "output_index": 0, "content_index": 0}
    odd: dict[str, Any] = {"note": "<think>hidden</think>", "more": {"deep": ["<think>hidden</think>"]}}
    for kind in ("output_text", "reasoning_text", "function_call_arguments", "brand_new"):
        events = numbered([event(f"{kind}.delta", **place, delta=text, **odd) for text in ("a <", "b", " <")])
        shown = run(events, form)
        assert "hidden" not in json.dumps(shown)
        assert "".join(one["delta"] for one in shown) == "a <b <"
    place["logprobs"] = "<think>hidden"
    said = [event("output_text.delta", **place, delta=text) for text in ("a ", "b ")]
    assert "hidden" not in json.dumps(run(numbered(said), form))


def test_what_a_consumer_does_to_deltas_loses_nothing() -> None:
    place = {"item_id": "m1", "output_index": 0, "content_index": 0}
    given = [event("output_text.delta", **place, delta=text, logprobs=[]) for text in ("a ", "b ", "<thi")]
    adapter = ResponsesAdapter(GUARD, owned=True)
    shown = ""
    for one in objects(numbered(given), "responses"):
        for sent in adapter.event(one):
            shown += sent.delta
            sent.delta = None
    assert shown + "".join(sent.delta for sent in adapter.end(End.COMPLETE)) == "a b <thi"
