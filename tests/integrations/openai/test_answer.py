"""The answer of a response is one text over its parts and messages, streamed or whole."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamguard_openai import ResponsesAdapter, guard_response

from streamguard import End, FenceScrubber, Pipeline, PreambleTrimmer, Redactor
from streamguard.adapting import guard_events_sync

from .support import objects, plain

SECRET = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0" * 3
GUARD = FenceScrubber("think") | Redactor()
TRIMMED = PreambleTrimmer(when="tool_call") | Redactor()
GUARDS: dict[str, Any] = {"guard": GUARD, "trimmed": TRIMMED, "empty": Pipeline()}
TEXTS = st.sampled_from(
    [
        "",
        "a",
        " word. ",
        "<thi",
        "nk>",
        "hidden",
        "</think>",
        SECRET[:9],
        SECRET[9:],
        SECRET,
        SECRET + "\n",
        "<",
        "Let me update the anchors now.",
    ]
)
Item = tuple[str, Any]


def part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}


def refusal(text: str) -> dict[str, Any]:
    return {"type": "refusal", "refusal": text}


def item(place: int, kind: str, what: Any) -> dict[str, Any]:
    if kind == "message":
        parts = [one if isinstance(one, dict) else part(one) for one in what]
        return {
            "id": f"i{place}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": parts,
        }
    if kind == "reasoning":
        return {"id": f"i{place}", "type": "reasoning", "summary": [{"type": "summary_text", "text": what}]}
    return {
        "id": f"i{place}",
        "type": "function_call",
        "call_id": "c",
        "name": "f",
        "arguments": what,
        "status": "completed",
    }


def response(items: list[Item], ending: str = "completed") -> dict[str, Any]:
    output = [item(place, *one) for place, one in enumerate(items)]
    if ending == "incomplete" and output and "status" in output[-1]:
        output[-1]["status"] = "incomplete"
    return {"id": "r", "object": "response", "status": ending, "model": "m", "output": output}


def stream(items: list[Item], size: int = 10**6, ending: str = "completed") -> list[dict[str, Any]]:
    """A stream of a response as the API sends it, in deltas of a size; of size 0 it has none."""
    whole = response(items, ending)
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}
    ]

    def text(kind: str, where: dict[str, Any], name: str, said: str) -> None:
        for at in range(0, len(said) if size else 0, size or 1):
            events.append({"type": f"response.{kind}.delta", **where, "delta": said[at : at + size]})
        events.append({"type": f"response.{kind}.done", **where, name: said})

    for place, one in enumerate(whole["output"]):
        here = {"output_index": place, "item_id": one["id"]}
        empty = {**one, **({"arguments": ""} if "arguments" in one else {}), "status": "in_progress"}
        empty |= {name: [] for name in ("content", "summary") if name in one}
        events.append({"type": "response.output_item.added", "output_index": place, "item": empty})
        if one["type"] == "function_call":
            text("function_call_arguments", here, "arguments", one["arguments"])
        for index, said in enumerate(one.get("summary", [])):
            text("reasoning_summary_text", {**here, "summary_index": index}, "text", said["text"])
        for index, said in enumerate(one.get("content", [])):
            where = {**here, "content_index": index}
            name = "text" if "text" in said else "refusal"
            begun = {**said, name: ""}
            events.append({"type": "response.content_part.added", **where, "part": begun})
            text("output_text" if name == "text" else "refusal", where, name, said[name])
            events.append({"type": "response.content_part.done", **where, "part": said})
        events.append({"type": "response.output_item.done", "output_index": place, "item": one})
    events.append({"type": f"response.{ending}", "response": whole})
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def run(events: list[Any], guard: Any = GUARD, form: str = "dict", **options: Any) -> list[Any]:
    given = objects(events, "responses") if form == "object" else events
    return [plain(event) for event in guard_events_sync(given, ResponsesAdapter(guard, **options))]


def parts_of(response: dict[str, Any]) -> dict[tuple[int, int], str]:
    return {
        (place, index): said["text"]
        for place, one in enumerate(response["output"])
        for index, said in enumerate(one.get("content", []))
        if "text" in said
    }


def deltas_of(events: list[Any]) -> dict[tuple[int, int], str]:
    """What each part says, and that none says anything behind its end."""
    said: dict[tuple[int, int], str] = defaultdict(str)
    for event in events:
        if event["type"] == "response.output_text.delta":
            said[event["output_index"], event["content_index"]] += event["delta"]
        if event["type"] == "response.output_text.done":
            assert said[event["output_index"], event["content_index"]] == event["text"]
        if event["type"] == "response.content_part.done" and "text" in event["part"]:
            assert said[event["output_index"], event["content_index"]] == event["part"]["text"]
        if event["type"] == "response.output_item.done":
            place = event["output_index"]
            ended = {
                (place, index): text for (_, index), text in parts_of({"output": [event["item"]]}).items()
            }
            assert ended == {key: said[key] for key in ended}
    return said


def stretches(items: list[Item], guard: Any, ending: str) -> str:
    """The answer, of which each stretch between calls is guarded as one text."""
    shown, text = "", ""
    for kind, what in items:
        if kind == "call":
            shown += guard.scrub(text, end=End.TOOL_CALL)
            text = ""
        if kind == "message":
            text += "".join(one for one in what if isinstance(one, str))
    ends = {"completed": End.COMPLETE, "incomplete": End.TRUNCATED, "failed": End.ERROR}
    return shown + guard.scrub(text, end=ends[ending])


ITEMS = st.lists(
    st.one_of(
        st.tuples(
            st.just("message"), st.lists(st.one_of(TEXTS, TEXTS, TEXTS.map(refusal)), min_size=1, max_size=4)
        ),
        st.tuples(st.just("reasoning"), TEXTS),
        st.tuples(st.just("call"), TEXTS.map(lambda text: json.dumps({"a": text}))),
    ),
    max_size=5,
)


@settings(deadline=None, max_examples=300)
@given(
    ITEMS,
    st.sampled_from([1, 2, 3, 7, 10**6]),
    st.sampled_from(["completed", "incomplete", "failed"]),
    st.sampled_from(sorted(GUARDS)),
    st.sampled_from(["dict", "object"]),
)
def test_a_stream_its_snapshots_and_the_whole_say_the_same(
    items: list[Item], size: int, ending: str, name: str, form: str
) -> None:
    guard = GUARDS[name]
    events = stream(items, size, ending)
    told: list[Any] = []
    shown = run(events, guard, form, on_finding=told.append)
    found: list[Any] = []
    whole = guard_response(response(items, ending), guard, on_finding=found.append)
    said = deltas_of(shown)
    assert plain(shown[-1])["response"] == whole
    assert {key: text for key, text in parts_of(whole).items() if text} == {
        key: text for key, text in said.items() if text
    }
    assert "".join(parts_of(whole).values()) == stretches(items, guard, ending)
    assert [event["sequence_number"] for event in shown] == list(range(len(shown)))
    others = [event["type"] for event in events if not event["type"].endswith(".delta")]
    assert [event["type"] for event in shown if not event["type"].endswith(".delta")] == others
    in_answer = [one for one in told if one.lane[1] == "text"]
    assert in_answer == [one for one in found if one.lane[1] == "text"]
    if not in_answer:
        assert parts_of(whole) == parts_of(response(items, ending))


@settings(deadline=None, max_examples=100)
@given(ITEMS, st.sampled_from(["completed", "incomplete"]), st.integers(0, 60))
def test_a_stream_that_breaks_off_says_the_same_in_deltas_and_snapshots(
    items: list[Item], ending: str, length: int
) -> None:
    shown = run(stream(items, 5, ending)[:length])
    said = deltas_of(shown)
    assert SECRET not in "".join(said.values())
    assert [event["sequence_number"] for event in shown] == list(range(len(shown)))


@given(ITEMS, st.sampled_from(["completed", "incomplete"]))
def test_parts_that_are_not_streamed_are_one_text(items: list[Item], ending: str) -> None:
    shown = run(stream(items, 0, ending))
    whole = guard_response(response(items, ending), GUARD)
    assert parts_of(shown[-1]["response"]) == parts_of(whole)
    done = {
        (event["output_index"], event["content_index"]): event["text"]
        for event in shown
        if event["type"] == "response.output_text.done"
    }
    assert done == parts_of(whole)


PARTS = ["The key: " + SECRET[:9], SECRET[9:] + " and <thi", "nk>hidden</think>done"]
SAFE = ["The key: ", GUARD.scrub(SECRET) + " and ", "done"]


@pytest.mark.parametrize("form", ["dict", "object"])
@pytest.mark.parametrize(
    "items",
    [
        [("message", PARTS)],
        [("message", [text]) for text in PARTS],
        [("message", PARTS[:1]), ("reasoning", "hm"), ("message", PARTS[1:])],
        [("message", [PARTS[0], refusal("no"), PARTS[1]]), ("message", PARTS[2:])],
    ],
)
def test_a_secret_and_a_fence_over_parts(items: list[Item], form: str) -> None:
    shown = run(stream(items), form=form)
    assert list(parts_of(shown[-1]["response"]).values()) == SAFE
    assert "hidden" not in json.dumps(shown)


def test_a_call_ends_the_text() -> None:
    items: list[Item] = [
        ("message", ["x " + SECRET[:9]]),
        ("reasoning", "hm"),
        ("call", "{}"),
        ("message", [SECRET[9:] + " y"]),
    ]
    shown = run(stream(items))
    assert list(parts_of(shown[-1]["response"]).values()) == list(parts_of(response(items)).values())


def test_what_a_call_announces_is_trimmed_though_reasoning_stands_between() -> None:
    said = ["It is in the list.", " Let me update the anchors now."]
    items: list[Item] = [("message", said), ("reasoning", "hm"), ("call", "{}")]
    shown = run(stream(items), TRIMMED)
    assert parts_of(shown[-1]["response"]) == {(0, 0): said[0], (0, 1): ""}
    assert deltas_of(shown)[0, 0] == said[0]


def test_what_comes_between_waits_only_while_something_is_held() -> None:
    items: list[Item] = [
        ("message", ["a. ", "b <"]),
        ("reasoning", "c. "),
        ("message", ["th", "at. "]),
    ]
    adapter = ResponsesAdapter(GUARD)
    events = stream(items)
    sent = [len(list(adapter.event(event))) for event in events]
    held, decided = (
        next(place for place, event in enumerate(events) if event.get("delta") == text)
        for text in ("b <", "at. ")
    )
    assert all(count or events[place]["type"].endswith(".done") for place, count in enumerate(sent[:held]))
    assert sum(sent[:held]) == held
    assert sent[held : decided + 1] == [1, *[0] * (decided - held - 1), decided - held + 1]


@pytest.mark.parametrize("form", ["dict", "object"])
@pytest.mark.parametrize(
    "behind", [[], [("reasoning", "hm")], [("message", [refusal("no")])], [("call", "{}")]]
)
def test_a_part_whose_end_is_a_secret_that_could_go_on_is_closed_behind_it(
    form: str, behind: list[Item]
) -> None:
    items = [("message", ["x ", SECRET]), *behind]
    for size in (1, 7, 10**6):
        shown = run(stream(items, size), form=form)
        safe = {(0, 0): "x ", (0, 1): GUARD.scrub(SECRET)}
        assert deltas_of(shown) == parts_of(shown[-1]["response"]) == safe


def test_a_part_that_no_event_closes_does_not_let_the_next_one_be_closed_early() -> None:
    items: list[Item] = [("message", [SECRET[:9], "<thi"]), ("call", "{}")]
    events = [event for event in stream(items) if event.get("content_index") != 0 or "delta" in event]
    shown = run(events)
    assert deltas_of(shown) == parts_of(shown[-1]["response"]) == parts_of(response(items))


def test_a_part_is_closed_only_by_its_own_end() -> None:
    """A message may go on while a call has begun."""
    items: list[Item] = [("message", ["x " + SECRET[:30] + SECRET[30:] + " y"]), ("call", "{}")]
    events = stream(items, 20)
    added = next(event for event in events if event.get("item", {}).get("type") == "function_call")
    events.remove(added)
    events.insert(6, added)
    shown = run(events)
    assert SECRET[20:] not in json.dumps(shown)
    assert deltas_of(shown) == {(0, 0): GUARD.scrub(f"x {SECRET} y")}


def test_a_text_that_is_open_when_a_call_begins_ends_before_the_next_part() -> None:
    said = "It is in the list. Let me update the anchors now."
    items: list[Item] = [("message", [said]), ("call", "{}"), ("message", ["done. "])]
    unclosed = {"response.output_text.done", "response.content_part.done", "response.output_item.done"}
    events = [event for event in stream(items) if event["type"] not in unclosed]
    for length in (len(events), len(events) - 1):
        shown = run(events[:length], TRIMMED)
        assert deltas_of(shown) == {(0, 0): "It is in the list.", (2, 0): "done. "}


@pytest.mark.parametrize("behind", [[], [("call", "{}")]])
def test_half_a_secret_is_dropped_where_only_the_message_says_that_it_is_incomplete(
    behind: list[Item],
) -> None:
    events = stream([("message", ["x ", SECRET[:11]]), *behind])
    events[-1]["response"]["output"][0]["status"] = "incomplete"  # and so says the event that closes it
    shown = run(events)
    assert deltas_of(shown)[0, 1] == parts_of(shown[-1]["response"])[0, 1] == ""
    assert guard_response(events[-1]["response"], GUARD) == shown[-1]["response"]


def test_a_call_before_the_text_does_not_end_it() -> None:
    items: list[Item] = [("call", "{}"), ("message", PARTS)]
    events = stream(items)
    ended = next(event for event in events if event["type"] == "response.output_item.done")
    events.remove(ended)
    events.insert(8, ended)
    assert events[7]["type"] == "response.output_text.done"
    assert list(deltas_of(run(events)).values()) == SAFE


def test_a_closing_event_that_says_something_else_than_the_deltas_is_guarded_by_itself() -> None:
    events = stream([("message", ["a. "])])
    for event in events:
        if event["type"] == "response.output_text.done":
            event["text"] = f"a. {SECRET} <"
        if event["type"] == "response.content_part.done":
            event["part"] = part(f"<think>hidden</think>{SECRET} ")
    shown = run(events)
    assert shown[4]["text"] == GUARD.scrub(f"a. {SECRET} <")
    assert shown[5]["part"]["text"] == GUARD.scrub(f"{SECRET} ")
    assert [event.get("delta") for event in shown if "delta" in event] == ["a. "]


def test_a_snapshot_of_more_than_was_streamed_is_guarded_by_itself() -> None:
    events = stream([("message", PARTS)], 12)
    resumed = [event for event in events if event["type"] != "response.output_text.delta"][-3:]
    shown = run([events[4], *resumed])
    assert list(parts_of(shown[-1]["response"]).values()) == SAFE
    assert list(parts_of({"output": [shown[-2]["item"]]}).values()) == SAFE
    shown = run([events[-1]])
    assert list(parts_of(shown[-1]["response"]).values()) == SAFE


def test_the_joined_text_of_a_response_says_what_its_parts_say() -> None:
    items: list[Item] = [("message", PARTS), ("call", "{}"), ("message", ["<"])]
    whole = {**response(items), "output_text": "".join(PARTS) + "<"}
    assert guard_response(whole, GUARD)["output_text"] == "".join(SAFE) + "<"
    assert SECRET not in guard_response({**whole, "output_text": SECRET}, GUARD)["output_text"]


@settings(deadline=None, max_examples=100)
@given(ITEMS, st.integers(1, 9))
def test_json_over_parts_stays_json(items: list[Item], size: int) -> None:
    text = json.dumps({"a": f"x {SECRET} <", "b": [1.0, "<think>hidden</think>"]})
    cuts = [text[at : at + 17 * size] for at in range(0, len(text), 17 * size)]
    shown = run(stream([("message", cuts)], size), json_content=True)
    said = "".join(deltas_of(shown).values())
    assert json.loads(said)["b"] == [1.0, ""]
    assert SECRET not in said
    whole = guard_response(response([("message", cuts)]), GUARD, json_content=True)
    assert parts_of(whole) == parts_of(shown[-1]["response"])


@given(st.lists(st.one_of(TEXTS, TEXTS.map(lambda text: [text])), max_size=6))
def test_the_parts_of_a_message_of_a_chat_are_one_text(parts: list[Any]) -> None:
    """And so is what it thinks between them."""
    content = [
        {"type": "text", "text": one}
        if isinstance(one, str)
        else {"type": "thinking", "thinking": [{"type": "text", "text": one[0]}]}
        for one in parts
    ]
    message = {"role": "assistant", "content": content}
    whole = {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    found: list[Any] = []
    shown = guard_response(whole, GUARD, on_finding=found.append)["choices"][0]["message"]["content"]
    for kind in (str, list):
        given = [one if isinstance(one, str) else one[0] for one in parts if isinstance(one, kind)]
        names = ("text",) if kind is str else ("thinking", 0, "text")
        said = []
        for one in shown:
            value: Any = one
            if names[0] in one:
                for name in names:
                    value = value[name]
                said.append(value)
        assert "".join(said) == GUARD.scrub("".join(given))
        if not found:
            assert said == given
