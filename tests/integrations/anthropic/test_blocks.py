"""The texts of a message over its blocks: one text for all who read it, each block with its own part."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamguard_anthropic import MessagesAdapter, guard_response, guard_stream
from streamguard_anthropic.ends import TOOL_BLOCKS, end_of

from streamguard import End, FenceScrubber, Finding, Pipeline, PreambleTrimmer, Redactor
from streamguard.adapting import JsonLane, LaneFinding

sys.path.insert(0, str(Path(__file__).parent))
from anthropic_events import CANARY, GUARD, TOKEN, Event, delta, message, start, stop, texts

KEY = "AKIA" + "QWERTYUIOPASDF23"
ENDLESS = "sk-ant-api03-" + "a1B2c3" * 30
GUARDS = [PreambleTrimmer() | GUARD, PreambleTrimmer(when="tool_call") | GUARD]
REASONS = st.sampled_from(["end_turn", "max_tokens", "pause_turn", "refusal", "tool_use", None])
KINDS = ["text", "text", "text", "text", "thinking", "server_tool_use", "tool_use", "result", "image"]
FENCED = ["<thi", "nk>", "hidden", "</think>", "<"]
SECRETS = [KEY[:9], KEY[9:], TOKEN[:20], TOKEN[20:], ENDLESS, ENDLESS[13:]]
SAID = [
    "",
    "a",
    " word. ",
    " ",
    "key ",
    "Let me check the weather now.",
    " Let me check the",
    " weather now. ",
]
WORDS = [*FENCED, *SECRETS, *SAID]


@st.composite
def contents(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Blocks as a provider sends them, signed and cited."""
    blocks: list[dict[str, Any]] = []
    for index, kind in enumerate(draw(st.lists(st.sampled_from(KINDS), max_size=8))):
        text = "".join(draw(st.lists(st.sampled_from(WORDS), max_size=3)))
        match kind:
            case "text":
                block = {"type": kind, "text": text}
                if draw(st.booleans()):
                    block["citations"] = [{"type": "c", "cited_text": CANARY}]
            case "thinking":
                block = {"type": kind, "thinking": text, "signature": draw(st.sampled_from(["", "sig=="]))}
            case "result":
                result = {"type": "tool_result", "url": text}
                block = {"type": "web_search_tool_result", "tool_use_id": f"t{index}", "content": [result]}
            case "image":
                block = {"type": kind, "source": {"type": "base64", "data": "QUJD"}}
            case _:
                block = {"type": kind, "id": f"t{index}", "name": "t", "input": {"q": text, "n": [1]}}
        blocks.append(block)
    if blocks and blocks[-1]["type"] in TOOL_BLOCKS:
        blocks.append({"type": "image"})  # arguments that are cut off are no JSON: they have no whole
    return blocks


def pieces(draw: st.DrawFn, text: str) -> list[str]:
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=5)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True) if a < b]


@st.composite
def streams(draw: st.DrawFn, blocks: list[dict[str, Any]], *, copies: bool) -> list[Event]:
    """The events of blocks, cut anywhere; with `copies` a closing event has its block."""
    events: list[Event] = []
    for index, block in enumerate(blocks):
        kind, begun = block["type"], copy.deepcopy(block)
        more: list[Event] = []
        if kind in TOOL_BLOCKS:
            begun["input"] = {}
            said = pieces(draw, json.dumps(block["input"]))
            more += [delta(index, piece, "input_json_delta") for piece in said]
        elif kind in ("text", "thinking"):
            said = pieces(draw, block[kind])
            begun[kind] = said.pop(0) if said and draw(st.booleans()) else ""
            more += [delta(index, piece, f"{kind}_delta") for piece in said]
            if kind == "thinking" and block["signature"]:
                begun["signature"] = (
                    "" if begun[kind] != block[kind] else draw(st.sampled_from(["", "sig=="]))
                )
            if kind == "thinking" and begun["signature"] != block["signature"]:
                more.append(delta(index, "sig==", "signature_delta"))
            for citation in begun.pop("citations", ()):
                change = {"type": "citations_delta", "citation": citation}
                more.append({"type": "content_block_delta", "index": index, "delta": change})
        closing = {**stop(index), "content_block": copy.deepcopy(block)} if copies else stop(index)
        events += [{"type": "content_block_start", "index": index, "content_block": begun}, *more, closing]
    return events


def accumulated(events: list[Event]) -> list[Any]:
    """What a client makes of the events; it refuses those of a block that is not open."""
    blocks: list[Any] = []
    is_open: set[int] = set()
    arguments = ""
    for event in events:
        match event["type"]:
            case "content_block_start":
                assert event["index"] == len(blocks)
                is_open.add(event["index"])
                blocks.append({**event["content_block"]})
                arguments = ""
            case "content_block_delta":
                assert event["index"] in is_open
                block, change = blocks[event["index"]], event["delta"]
                match change["type"]:
                    case "input_json_delta":
                        arguments += change["partial_json"]
                    case "signature_delta":
                        block["signature"] = change["signature"]
                    case "citations_delta":
                        block["citations"] = [*block.get("citations", ()), change["citation"]]
                    case _:
                        block[block["type"]] += change[block["type"]]
            case "content_block_stop":
                is_open.remove(event["index"])
                if arguments:
                    blocks[event["index"]]["input"], arguments = json.loads(arguments), ""
                if "content_block" in event:
                    assert event["content_block"] == blocks[event["index"]]
            case _:
                pass
    assert not is_open
    return blocks


def marks(events: list[Event]) -> list[Any]:
    """All but the deltas of texts, in order, and which block each is of."""
    return [
        (event["type"], event.get("index"))
        for event in events
        if event.get("delta", {}).get("type") not in ("text_delta", "thinking_delta", "input_json_delta")
        and event.get("delta", {}).get("type") != "signature_delta"
    ]


def stretches(blocks: list[Any]) -> list[str]:
    """The joined texts between calls of tools."""
    joined = [""]
    for block in blocks:
        if block["type"] in TOOL_BLOCKS:
            joined.append("")
        elif block["type"] == "text":
            joined[-1] += block["text"]
    return joined


@given(st.data(), contents(), REASONS, st.sampled_from(["guard", "drop", "keep"]))
def test_a_stream_and_the_whole_message_come_to_the_same_blocks(
    data: st.DataObject, blocks: list[Any], reason: Any, reasoning: Any
) -> None:
    guard, copies = data.draw(st.sampled_from(GUARDS)), data.draw(st.booleans())
    whole = {"content": blocks, "stop_reason": reason}
    expected = guard_response(whole, guard, reasoning=reasoning)["content"]
    events = message(*data.draw(streams(blocks, copies=copies)), reason=reason)
    shown = list(guard_stream(iter(copy.deepcopy(events)), guard, reasoning=reasoning))
    assert accumulated(shown) == expected
    if reasoning != "drop":
        assert marks(shown) == marks(events)
    said = stretches(blocks)
    ends = [*[End.TOOL_CALL] * (len(said) - 1), end_of(reason)]
    assert stretches(expected) == [guard.scrub(text, end=end) for text, end in zip(said, ends, strict=True)]


@given(st.data(), contents())
def test_what_has_nothing_to_be_found_stays_in_its_block(data: st.DataObject, blocks: list[Any]) -> None:
    guard = FenceScrubber("never-there") | Redactor()
    found: list[Finding] = []
    whole = guard_response({"content": blocks, "stop_reason": "end_turn"}, guard, on_finding=found.append)
    if not found:
        assert whole["content"] == blocks
        events = message(*data.draw(streams(blocks, copies=False)))
        assert accumulated(list(guard_stream(iter(events), guard))) == blocks
    events = message(*data.draw(streams(blocks, copies=True)))
    assert list(guard_stream(iter(events), Pipeline(), tool_args="keep")) == events


@pytest.mark.parametrize("between", [[], [start(9, "thinking"), delta(9, "hm", "thinking_delta"), stop(9)]])
@pytest.mark.parametrize("cut", range(len(KEY) + 1))
def test_a_secret_over_two_blocks_stands_where_it_ends(cut: int, between: list[Event]) -> None:
    first = [start(0), delta(0, "Key: " + KEY[:cut]), stop(0)]
    second = [start(1), delta(1, KEY[cut:] + " is it"), stop(1)]
    shown = list(guard_stream(iter(message(*first, *between, *second)), GUARD))
    said = texts(shown)
    assert said[0, "text_delta"] + said[1, "text_delta"] == GUARD.scrub(f"Key: {KEY} is it")
    assert KEY not in said[0, "text_delta"] + said[1, "text_delta"]
    assert marks(shown) == marks(message(*first, *between, *second))


def test_what_follows_a_block_that_holds_something_waits_in_order() -> None:
    adapter: MessagesAdapter[Event] = MessagesAdapter(GUARD)
    thinking = [start(1, "thinking"), delta(1, "hm. ", "thinking_delta"), delta(1, "s", "signature_delta")]
    citation: Event = {"type": "content_block_delta", "index": 2, "delta": {"type": "citations_delta"}}
    waiting = [stop(0), *thinking, stop(1), start(2), citation]
    for event in message(start(0), delta(0, "a <"))[:3]:
        adapter.event(event)
    assert [shown for event in waiting for shown in adapter.event(event)] == []
    assert adapter.event(delta(2, "th")) == []
    assert adapter.event(delta(2, "x")) == [delta(0, "<"), *waiting, delta(2, "thx")]
    assert adapter.event(stop(2)) == [stop(2)]


def test_a_tool_ends_the_text_and_nothing_is_found_beyond_it() -> None:
    said = [start(0), delta(0, KEY[:9]), stop(0), start(1, "server_tool_use"), stop(1)]
    events = message(*said, start(2), delta(2, KEY[9:]), stop(2))
    assert list(guard_stream(iter(events), GUARD)) == events
    adapter: MessagesAdapter[Event] = MessagesAdapter(GUARD)
    assert [shown for event in said[:3] for shown in adapter.event(event)] == [start(0)]
    assert adapter.event(said[3]) == said[1:4]


@pytest.mark.parametrize("where", ["delta", "start"])
def test_a_placeholder_that_comes_last_stands_in_the_last_block(where: str) -> None:
    """The last block has no text of its own, and what is shown in it no delta to be like."""
    first = [start(0), delta(0, ENDLESS)] if where == "delta" else [start(0, text=ENDLESS)]
    events = message(*first, stop(0), start(1), stop(1))
    blocks = accumulated(list(guard_stream(iter(events), GUARD)))
    assert [block["text"] for block in blocks] == ["", GUARD.scrub(ENDLESS)]
    whole = {"content": [{"type": "text", "text": ENDLESS}, {"type": "text", "text": ""}]}
    assert guard_response(whole, GUARD)["content"] == blocks


@pytest.mark.parametrize("count", range(1, 12))
def test_a_block_is_not_closed_before_a_placeholder_where_as_much_was_put_in_as_taken_out(count: int) -> None:
    """A long secret is not held, so its length alone tells that its placeholder is still to come."""
    more = len(GUARD.scrub(KEY)) - len(KEY)
    said = f"{KEY} " * count + ENDLESS[: more * count]
    events = message(start(0), *(delta(0, char) for char in said), stop(0))
    assert accumulated(list(guard_stream(iter(events), GUARD)))[0]["text"] == GUARD.scrub(said)


def test_a_usage_report_in_the_middle_does_not_end_the_text() -> None:
    usage: Event = {"type": "message_delta", "delta": {"stop_reason": None}, "usage": {"output_tokens": 1}}
    first, second = [start(0), delta(0, KEY[:9]), stop(0)], [start(1), delta(1, KEY[9:]), stop(1)]
    shown = list(guard_stream(iter(message(*first, usage, *second)), GUARD))
    assert "".join(texts(shown).values()) == GUARD.scrub(KEY)
    assert marks(shown) == marks(message(*first, usage, *second))


@pytest.mark.parametrize("end", ["broken", "error"])
def test_half_a_secret_at_the_end_of_a_block_is_dropped_where_the_message_breaks_off(end: str) -> None:
    events = message(start(0), delta(0, f"key {TOKEN[:20]}"), stop(0), start(1))[:5]
    if end == "error":
        events.append({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})
    shown = list(guard_stream(iter(events), GUARD))
    assert texts(shown) == {(0, "text_delta"): "key "}
    assert marks(shown) == marks(events)


@pytest.mark.parametrize("cut", range(0, 60, 7))
def test_json_over_blocks_is_one_json(cut: int) -> None:
    said = json.dumps({"a": 1, "password": "hunter2hunter", "b": f"x {KEY} <think>no</think>"})
    blocks = [{"type": "text", "text": said[:cut]}, {"type": "text", "text": said[cut:]}]
    whole = guard_response({"content": blocks}, GUARD, json_content=True)["content"]
    joined = "".join(block["text"] for block in whole)
    assert joined == JsonLane(GUARD).scrub(said)
    assert json.loads(joined).keys() == {"a", "password", "b"}
    events = [start(0), delta(0, said[:cut]), stop(0), start(1), delta(1, said[cut:]), stop(1)]
    shown = list(guard_stream(iter(message(*events)), GUARD, json_content=True))
    assert accumulated(shown) == whole


def test_thinking_is_a_text_of_its_own_in_each_block() -> None:
    events: list[Event] = []
    for index, said in enumerate([KEY[:9], KEY[9:]]):
        signed = delta(index, "sig==", "signature_delta")
        events += [start(index, "thinking"), delta(index, said, "thinking_delta"), signed, stop(index)]
    assert list(guard_stream(iter(message(*events)), GUARD)) == message(*events)


@pytest.mark.parametrize("copied", [False, True])
def test_signed_thinking_is_complete_whatever_becomes_of_the_message(copied: bool) -> None:
    said = f"key {TOKEN[:20]}"
    block = {"type": "thinking", "thinking": said, "signature": "sig=="}
    begun = [start(0, "thinking"), delta(0, said, "thinking_delta"), delta(0, "sig==", "signature_delta")]
    closing = {**stop(0), "content_block": block}
    events = [*begun, closing] if copied else [{**start(0), "content_block": block}, stop(0)]
    shown = list(guard_stream(iter(message(*events, reason="max_tokens")), GUARD))
    assert accumulated(shown) == [block]


@pytest.mark.parametrize("stopped", [True, False])
def test_blocks_that_all_have_one_index_and_blocks_that_never_stop(stopped: bool) -> None:
    """Servers that speak this dialect badly."""
    same = [start(0), delta(0, "a " + KEY[:9]), *[stop(0)] * stopped, start(0), delta(0, KEY[9:] + " b")]
    shown = list(guard_stream(iter(message(*same)), GUARD))
    assert "".join(texts(shown).values()) == GUARD.scrub(f"a {KEY} b")
    apart = [start(0), delta(0, f"a {KEY[:9]}"), start(1, "tool_use"), delta(0, f"{KEY[9:]} b"), stop(1)]
    shown = list(guard_stream(iter(message(*apart)), GUARD))
    assert texts(shown)[0, "text_delta"] == GUARD.scrub(f"a {KEY} b")


def test_findings_count_from_the_block_where_the_text_began_and_name_it() -> None:
    found: list[Finding] = []
    thought = [start(0, "thinking"), delta(0, f"{KEY} ", "thinking_delta"), stop(0)]
    said = [start(1), delta(1, "abc " + KEY[:9]), stop(1), start(2), delta(2, KEY[9:] + "."), stop(2)]
    list(guard_stream(iter(message(*thought, *said)), Redactor(), on_finding=found.append))
    assert [finding.lane for finding in found if isinstance(finding, LaneFinding)] == [0, 1]
    assert [(finding.offset, finding.length) for finding in found] == [(0, len(KEY)), (4, len(KEY))]
