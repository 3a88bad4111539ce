"""Messages' events: lane by lane, closing events last, nothing lost, nothing leaked."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamguard_anthropic import MessagesAdapter, guard_response, guard_stream
from streamguard_anthropic.response import KEPT

from streamguard import End, FenceScrubber, Finding, Pipeline, PreambleTrimmer, Redactor, Rule
from streamguard.adapting import guard_events_sync

sys.path.insert(0, str(Path(__file__).parent))
from anthropic_events import (
    CANARY,
    DATA,
    GUARD,
    RECORDINGS,
    TOKEN,
    Event,
    changed,
    delta,
    leaks,
    leaves,
    message,
    planted,
    read,
    rest,
    start,
    stop,
    texts,
)

recordings = pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem[-40:])
UNFOUND = FenceScrubber("never-there") | Redactor([Rule("never", r"NEVER-[0-9]{8}")])


def guarded(events: list[Event], guard: Any = GUARD, **options: Any) -> list[Any]:
    before = copy.deepcopy(events)
    shown = list(guard_stream(iter(events), guard, **options))
    assert events == before
    return shown


@recordings
def test_an_empty_pipeline_changes_nothing(path: Path) -> None:
    events = read(path)
    assert guarded(events, Pipeline()) == events


@recordings
def test_a_guard_with_nothing_to_find_changes_no_text(path: Path) -> None:
    events = read(path)
    shown = guarded(events, UNFOUND)
    assert texts(shown) == texts(events)
    assert rest(shown) == rest(events)


@recordings
def test_a_planted_canary_never_comes_out_wherever_it_is_cut(path: Path) -> None:
    events = read(path)
    for key, whole, copied in planted(events):
        shown = guarded(copied)
        assert not leaks(shown)
        expected = texts(events)
        if key[1] == "input_json_delta":
            assert json.loads(texts(shown)[key]) != json.loads(whole)
            expected[key] = texts(shown)[key]
        else:
            expected[key] = GUARD.scrub(whole)
        assert texts(shown) == expected
        signed = [e for e in rest(events) if e.get("delta", {}).get("type") == "signature_delta"]
        dropped = signed if key[1] == "thinking_delta" else []
        assert rest(shown) == [event for event in rest(events) if event not in dropped]


@recordings
def test_a_canary_in_what_comes_whole_never_comes_out(path: Path) -> None:
    events = read(path)
    for at, event in enumerate(events):
        if event["type"] == "content_block_delta" and event["delta"]["type"] != "citations_delta":
            continue
        for leaf in leaves(event):
            names = [part for part in leaf if isinstance(part, str)]
            if any(n in KEPT or n.endswith("_id") or n.startswith("encrypted") for n in names):
                continue
            if leaf[-1] in ("data", "server_name"):
                continue
            copied = [*events[:at], changed(event, leaf, lambda text: text + CANARY), *events[at + 1 :]]
            assert not leaks(guarded(copied)), leaf


@pytest.mark.skipif(not (DATA / "stream_cases.jsonl").exists(), reason="no data")
def test_every_collected_case() -> None:
    cases = [json.loads(line) for line in (DATA / "stream_cases.jsonl").read_text().splitlines()]
    cases = [case for case in cases if case["kind"] == "anthropic"]
    assert cases
    for case in cases:
        shown = guarded(case["chunks"], FenceScrubber("think"))
        joined = {str(index): text for (index, _), text in texts(shown).items()}
        assert joined == case["wanted"]["text"]
        assert rest(shown) == rest(case["chunks"])


def test_held_text_comes_out_before_its_block_is_closed() -> None:
    events = message(start(0), delta(0, "a <"), stop(0), start(1), delta(1, "b"), stop(1))
    assert guarded(events, FenceScrubber("think"))[1:8] == [
        start(0),
        delta(0, "a "),
        delta(0, "<"),
        stop(0),
        start(1),
        delta(1, "b"),
        stop(1),
    ]


def test_the_placeholder_of_an_endless_secret_comes_before_its_block_is_closed() -> None:
    secret = "sk-ant-api03-" + "a1B2c3" * 300
    shown = guarded(message(start(0), delta(0, secret[:900]), delta(0, secret[900:]), stop(0)))
    assert shown[2:4] == [delta(0, GUARD.scrub(secret)), stop(0)]


def test_a_ping_does_not_wait() -> None:
    adapter: MessagesAdapter[Event] = MessagesAdapter(FenceScrubber("think"))
    for event in message(start(0), delta(0, "a <"))[:3]:
        adapter.event(event)
    assert adapter.event(stop(0)) == []
    assert adapter.event({"type": "ping"}) == [{"type": "ping"}]
    assert adapter.event(start(1)) == []
    assert adapter.event(delta(1, "b")) == [delta(0, "<"), stop(0), start(1), delta(1, "b")]


def test_a_block_that_holds_nothing_is_closed_at_once() -> None:
    adapter: MessagesAdapter[Event] = MessagesAdapter(GUARD)
    adapter.event(start(0))
    adapter.event(delta(0, "done. "))
    assert adapter.event(stop(0)) == [stop(0)]


@pytest.mark.parametrize("tool", ["tool_use", "server_tool_use", "mcp_tool_use"])
def test_a_sentence_before_a_tool_call_is_trimmed_on_that_evidence(tool: str) -> None:
    trimmer = PreambleTrimmer(when="tool_call")
    said = [start(0), delta(0, "It is 5. Let me check the weather now."), stop(0)]
    shown = guarded(message(*said, start(1, tool), stop(1)), trimmer)
    assert texts(shown)[0, "text_delta"].rstrip() == "It is 5."
    whole = {"content": [{"type": "text", "text": said[1]["delta"]["text"]}, {"type": tool, "input": {}}]}
    assert guard_response(whole, trimmer)["content"][0]["text"] == texts(shown)[0, "text_delta"]
    shown = guarded(message(*said), trimmer)
    assert texts(shown)[0, "text_delta"] == "It is 5. Let me check the weather now."


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "refusal"])
def test_half_a_secret_is_dropped_where_the_message_is_cut_off(reason: str) -> None:
    half = f"key {TOKEN[:20]}"
    shown = guarded(message(start(0), delta(0, half), stop(0), reason=reason))
    assert TOKEN[:20] not in texts(shown)[0, "text_delta"]
    shown = guarded(message(start(0), delta(0, half), stop(0)))
    assert texts(shown)[0, "text_delta"] == half


def test_a_stream_that_breaks_off_shows_nothing_undecided() -> None:
    events = message(start(0), delta(0, f"key {TOKEN[:20]}"))[:3]
    assert not leaks(guarded(events))
    assert texts(guarded(events))[0, "text_delta"] == "key "


def test_an_error_event_and_an_error_of_the_source_end_every_lane() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": f"at {TOKEN}"}}
    events = message(start(0), delta(0, f"key {TOKEN[:20]}"))[:3]
    shown = guarded([*events, error])
    assert texts(shown)[0, "text_delta"] == "key "
    assert shown[-1]["error"]["type"] == "overloaded_error"
    assert not leaks(shown)

    def broken() -> Any:
        yield from events
        raise OSError("gone")

    seen: list[Event] = []
    with pytest.raises(OSError, match="gone"):
        seen.extend(guard_stream(broken(), GUARD))
    assert texts(seen)[0, "text_delta"] == "key "


def test_a_signature_is_kept_only_with_unchanged_thinking() -> None:
    def thought(text: str) -> list[Event]:
        pieces = [delta(0, piece, "thinking_delta") for piece in text]
        return message(start(0, "thinking"), *pieces, delta(0, "sig==", "signature_delta"), stop(0))

    plain = thought("I think a < b")
    shown = guarded(plain)
    assert texts(shown) == texts(plain)
    assert [e for e in shown if e.get("delta", {}).get("type") == "signature_delta"]
    assert shown.index(stop(0)) == len(shown) - 3
    shown = guarded(thought(f"I think {TOKEN} b"))
    assert not leaks(shown)
    assert not [e for e in shown if e.get("delta", {}).get("type") == "signature_delta"]


def test_dropped_thinking_leaves_no_block_and_the_others_are_counted_anew() -> None:
    events = message(
        start(0, "thinking"),
        delta(0, "hm", "thinking_delta"),
        delta(0, "sig==", "signature_delta"),
        stop(0),
        start(1, "redacted_thinking", data="xx"),
        stop(1),
        start(2),
        delta(2, "a <"),
        stop(2),
        start(3, "tool_use"),
        delta(3, "{}", "input_json_delta"),
        stop(3),
    )
    shown = guarded(events, reasoning="drop")
    assert [event["index"] for event in shown if "index" in event] == [0, 0, 0, 0, 1, 1, 1]
    assert texts(shown) == {(0, "text_delta"): "a <", (1, "input_json_delta"): "{}"}
    shown = guarded(message(start(0, "thinking"), delta(0, CANARY, "thinking_delta")), reasoning="keep")
    assert texts(shown) == {(0, "thinking_delta"): CANARY}


def test_arguments_of_tools_stay_json_and_follow_the_policy() -> None:
    arguments = json.dumps({"password": "hunter2hunter", "n": 1.5, "t": f"é {TOKEN} \U0001f600"})
    for size in (1, 3, 1000):
        pieces = [arguments[at : at + size] for at in range(0, len(arguments), size)]
        deltas = [delta(0, piece, "input_json_delta") for piece in pieces]
        events = message(start(0, "tool_use"), *deltas, stop(0), reason="tool_use")
        shown = guarded(events)
        value = json.loads(texts(shown)[0, "input_json_delta"])
        assert not leaks(shown)
        assert "hunter2" not in value["password"]
        assert value["n"] == 1.5
        assert texts(guarded(events, tool_args="keep")) == texts(events)
        assert not texts(guarded(events, tool_args="drop"))
        assert texts(guarded(events, tool_guard=Pipeline())) == texts(events)


def test_a_tool_block_that_comes_whole_is_guarded_like_its_deltas() -> None:
    block = start(0, "tool_use", input={"password": "hunter2hunter", "q": CANARY})
    events = message(block, stop(0))
    assert not leaks(guarded(events))
    assert guarded(events, tool_args="keep") == events
    assert guarded(events, tool_args="drop")[1]["content_block"]["input"] == {}


@pytest.mark.parametrize("kind", ["text", "thinking"])
@pytest.mark.parametrize("cut", range(len(CANARY) + 1))
def test_text_in_the_first_event_of_a_block_belongs_to_its_lane(kind: str, cut: int) -> None:
    block = start(0, kind, **{kind: "x " + CANARY[:cut]}, citations=[{"cited_text": CANARY}])
    more = [delta(0, CANARY[cut:], f"{kind}_delta")] if cut < len(CANARY) else []
    shown = guarded(message(block, *more, stop(0)))
    assert not leaks(shown)
    joined = shown[1]["content_block"][kind] + "".join(texts(shown).values())
    assert joined == GUARD.scrub("x " + CANARY)
    assert shown[1]["type"] == "content_block_start"


def test_a_signed_block_that_comes_whole_loses_its_signature_if_changed() -> None:
    events = message(start(0, "thinking", thinking=f"so {TOKEN} ", signature="sig=="), stop(0))
    shown = guarded(events)
    assert not leaks(shown)
    assert shown[1]["content_block"]["signature"] == ""
    events = message(start(0, "thinking", thinking="so <", signature="sig=="), stop(0))
    assert guarded(events) == events


def test_deltas_of_an_unknown_kind_are_lanes_too() -> None:
    for cut in range(len(CANARY) + 1):
        deltas = [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "new_delta", "news": piece, "n": 1}}
            for piece in ("a " + CANARY[:cut], CANARY[cut:], "b")
        ]
        shown = guarded(message(start(0, "new"), *deltas, stop(0)))
        assert not leaks(shown)
        joined = "".join(e["delta"]["news"] for e in shown if e["type"] == "content_block_delta")
        assert joined == GUARD.scrub("a " + CANARY + "b")


def test_odd_orders_pass() -> None:
    """Events no server sends in this order: without a first event, without text, after the end."""
    none: Event = {**delta(0, ""), "delta": {"type": "text_delta", "text": None}}
    citation: Event = {**none, "delta": {"type": "citations_delta", "citation": {"cited_text": CANARY}}}
    shown = guarded([none, citation, stop(0), stop(0)])
    assert not leaks(shown)
    assert [event["type"] for event in shown] == ["content_block_delta"] * 2 + ["content_block_stop"] * 2
    signed = [delta(0, "hm", "thinking_delta"), delta(0, "sig==", "signature_delta")]
    assert texts(guarded(signed, reasoning="drop")) == {}
    again = message(start(0), delta(0, "a <"), stop(0), delta(0, "b <"))
    assert texts(guarded(again, FenceScrubber("think"))) == {(0, "text_delta"): "a <b <"}


def test_events_a_helper_derives_are_left_out_and_its_snapshots_guarded() -> None:
    text: Event = {"type": "text", "text": CANARY, "snapshot": CANARY}
    closing = {**stop(0), "content_block": {"type": "text", "text": CANARY}}
    *events, last = message(start(0), delta(0, CANARY), text, closing)
    last = {**last, "message": {"content": [{"type": "text", "text": CANARY}]}}
    shown = guarded([*events, last])
    assert not leaks(shown)
    assert text["type"] not in [event["type"] for event in shown]
    assert shown[-1]["message"]["content"][0]["text"] == GUARD.scrub(CANARY)


def test_unknown_events_and_fields_pass() -> None:
    odd: Event = {"type": "brand_new", "text": f"{TOKEN} x", "id": "i", "n": None}
    events = message(start(0, extra=[1]), {**delta(0, "x. "), "extra": 1}, odd, stop(0))
    shown = guarded(events)
    assert not leaks(shown)
    assert shown[1:3] == events[1:3]
    assert shown[3]["id"] == "i"
    held = delta(0, "<thi")
    held["delta"]["extra"] = 2
    shown = guarded(message(start(0), held, stop(0)), FenceScrubber("think"))
    assert shown[2]["delta"] == {"type": "text_delta", "text": "", "extra": 2}
    shown = guarded(message(start(0), {**delta(0, "<thi"), "extra": 3}, stop(0)), FenceScrubber("think"))
    assert shown[2] == {**delta(0, ""), "extra": 3}


def test_blocks_do_not_influence_each_other_in_any_order() -> None:
    half = len(CANARY) // 2
    events = message(
        start(0),
        start(1),
        delta(0, CANARY[:half]),
        delta(1, CANARY[:half]),
        delta(1, CANARY[half:]),
        delta(0, CANARY[half:]),
        stop(1),
        stop(0),
    )
    shown = guarded(events)
    assert not leaks(shown)
    assert set(texts(shown).values()) == {GUARD.scrub(CANARY)}


def test_a_whole_message_says_what_its_stream_says() -> None:
    whole: Event = {
        "id": "msg_1",
        "content": [
            {"type": "thinking", "thinking": CANARY, "signature": "sig=="},
            {
                "type": "text",
                "text": f"a {CANARY}",
                "citations": [{"type": "c", "cited_text": CANARY}],
                "parsed_output": {"name": CANARY, "id": CANARY},
            },
            {"type": "tool_use", "id": "t", "name": "n", "input": {"q": CANARY, "n": 1}},
            {"type": "mcp_tool_result", "content": [{"type": "text", "text": CANARY}]},
            {"type": "web_fetch_tool_result", "content": {"source": {"type": "base64", "data": "QUJD"}}},
            {"type": "redacted_thinking", "data": "opaque"},
        ],
        "stop_reason": "end_turn",
        "stop_details": {"explanation": CANARY, "type": "refusal"},
        "usage": {"output_tokens": 3},
    }
    before = copy.deepcopy(whole)
    shown = guard_response(whole, GUARD)
    assert whole == before
    assert not leaks(shown)
    assert shown["content"][0] == {"type": "thinking", "thinking": GUARD.scrub(CANARY), "signature": ""}
    assert shown["content"][1]["text"] == GUARD.scrub(f"a {CANARY}")
    assert shown["content"][4:] == whole["content"][4:]
    assert shown["usage"] is whole["usage"]
    assert guard_response(whole, Pipeline()) is whole
    kept = guard_response(whole, GUARD, reasoning="keep", tool_args="keep")
    assert kept["content"][0] == whole["content"][0]
    assert kept["content"][2] == whole["content"][2]
    less = guard_response(whole, GUARD, reasoning="drop", tool_args="drop")
    assert [block["type"] for block in less["content"]][:2] == ["text", "tool_use"]
    assert less["content"][1]["input"] == {}
    cut_off = {"content": [{"type": "text", "text": f"key {TOKEN[:20]}"}], "stop_reason": "max_tokens"}
    assert guard_response(cut_off, GUARD)["content"][0]["text"] == "key "


def test_findings_name_their_lane_and_objects_of_any_class_do() -> None:
    found: list[Finding] = []
    events = [
        SimpleNamespace(type="content_block_start", index=0, content_block=SimpleNamespace(type="text")),
        SimpleNamespace(
            type="content_block_delta",
            index=0,
            delta=SimpleNamespace(type="text_delta", text=f"a {TOKEN} b"),
        ),
        SimpleNamespace(type="content_block_stop", index=0),
    ]
    adapter: MessagesAdapter[Any] = MessagesAdapter(GUARD, on_finding=found.append)
    shown = list(guard_events_sync(events, adapter))
    assert TOKEN in events[1].delta.text
    assert TOKEN not in shown[1].delta.text
    assert [finding.lane for finding in found] == [0]  # type: ignore[attr-defined]


def test_what_is_no_stream_and_unknown_policies_are_refused() -> None:
    with pytest.raises(TypeError, match="needs a stream"):
        guard_stream(3, GUARD)
    with pytest.raises(ValueError, match="is one of guard, keep, drop"):
        guard_response({}, GUARD, tool_args="gaurd")  # type: ignore[arg-type]
    assert MessagesAdapter(GUARD).end(End.COMPLETE) == []


def test_unknown_fields_are_guarded_wherever_they_stand() -> None:
    odd = {"note": "<think>hidden</think>", "more": {"deep": ["<think>hidden</think>"]}}
    text = {"type": "text", "text": "hi <", **odd}
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}, **odd}
    message = {
        "type": "message",
        "role": "assistant",
        "content": [text, call],
        "stop_reason": "end_turn",
        **odd,
    }
    shown = guard_response(message, GUARD)
    assert "hidden" not in str(shown)
    assert shown["content"][0]["text"] == "hi <"
    assert shown["content"][0]["note"] == ""
    events = [
        {"type": "message_start", "message": {**message, "content": []}, **odd},
        {"type": "content_block_start", "index": 0, "content_block": {**text, "text": ""}, **odd},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "a <", **odd},
            **odd,
        },
        {"type": "ping", **odd},
        {"type": "content_block_stop", "index": 0, **odd},
        {"type": "content_block_start", "index": 1, "content_block": call, **odd},
        {"type": "content_block_stop", "index": 1, **odd},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", **odd}, "usage": {}, **odd},
        {"type": "message_stop", **odd},
    ]
    sent = list(guard_stream(iter(events), GUARD))
    assert "hidden" not in str(sent)
    deltas = [event["delta"] for event in sent if event["type"] == "content_block_delta"]
    assert "".join(delta["text"] for delta in deltas) == "a <"
    assert all(event["note"] == "" for event in sent)
