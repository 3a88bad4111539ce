from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import pytest

from streamguard import End
from streamguard.cli.recording import PROVIDERS, Delta, Ends, Lane, Step, read_events, read_steps

ONE = {"choices": [{"index": 0, "delta": {"content": "a\u2028b"}}]}


def events(data: bytes, *, every_byte: bool = False) -> list[Mapping[str, object] | str]:
    seen: list[Mapping[str, object] | str] = []
    chunks = [data[at : at + 1] for at in range(len(data))] if every_byte else [data]
    seen.extend(read_events(chunks, "sse", on_broken=lambda: seen.append("broken")))
    return seen


def steps(event: Mapping[str, object], provider: str = "auto") -> list[Step]:
    found = read_steps(event, provider)
    assert found is not None
    return list(found)


def sse_variants() -> Iterator[bytes]:
    body = json.dumps(ONE, ensure_ascii=False).encode()
    for end in (b"\n", b"\r\n", b"\r"):
        yield b"data: " + body + end + end
        yield b"\xef\xbb\xbfevent: x" + end + b"id: 1" + end + b"data:" + body + end + end
        yield b": keep-alive" + end + end + b"data: " + body + end + end + b": bye" + end
        yield b"data: " + body  # saved without its last line break
        yield b"data: " + body.replace(b", ", b"," + end + b"data: ", 1) + end + end


@pytest.mark.parametrize("data", list(sse_variants()))
def test_server_sent_events_in_every_spelling(data: bytes) -> None:
    assert events(data) == [ONE]
    assert events(data, every_byte=True) == [ONE]


def test_events_that_are_no_object_are_counted_and_left_out() -> None:
    assert events(b'data: {"a"\n\ndata: [1]\n\ndata:\n\ndata: {}\n\n') == ["broken", "broken", {}]


def test_json_lines() -> None:
    lines = b'{"a": 1}\r\n\n{"b": 2}'
    assert list(read_events([lines], "jsonl", on_broken=pytest.fail)) == [{"a": 1}, {"b": 2}]


def test_done_completes_what_is_open() -> None:
    (done,) = events(b"data: [DONE]\n\n")
    assert not isinstance(done, str)
    assert steps(done) == [Ends(None, End.COMPLETE)]


def test_events_of_nobody_are_told_apart() -> None:
    assert read_steps({"hello": "world"}) is None
    assert read_steps({"choices": []}) is not None


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("event", [{"error": {"message": "overloaded"}}, {"type": "error"}])
def test_an_error_ends_everything(event: Mapping[str, object], provider: str) -> None:
    assert steps(event, provider) == [Ends(None, End.ERROR)]


def chat(delta: object, finish: object = None, index: int = 0) -> dict[str, object]:
    return {"choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        (chat({"role": "assistant", "content": ""}), [Delta(Lane(0, "text"), "")]),
        (chat({"content": "hi"}, index=2), [Delta(Lane(2, "text"), "hi")]),
        (chat({"content": None, "refusal": "no"}), [Delta(Lane(0, "text"), "no")]),
        (chat({"reasoning": "r", "reasoning_content": "r"}), [Delta(Lane(0, "reasoning"), "r")]),
        (chat({"reasoning": "r", "reasoning_content": ""}), [Delta(Lane(0, "reasoning"), "r")]),
        (
            chat(
                {
                    "content": [
                        {"type": "thinking", "thinking": [{"type": "text", "text": "t"}]},
                        {"type": "text", "text": "a"},
                    ]
                }
            ),
            [Delta(Lane(0, "reasoning"), "t"), Delta(Lane(0, "text"), "a")],
        ),
        (chat({}, "stop"), [Ends(0, End.COMPLETE)]),
        (chat({}, "tool_calls", 1), [Ends(1, End.TOOL_CALL)]),
        (chat({}, "length"), [Ends(0, End.TRUNCATED)]),
        (chat({}, "something new"), [Ends(0, End.COMPLETE)]),
        (chat(None), []),
        ({"choices": [], "usage": {}}, []),
        ({"choices": [{"text": "legacy"}]}, [Delta(Lane(0, "text"), "legacy")]),
        ({"choices": [{"message": {"content": "whole"}}]}, [Delta(Lane(0, "text"), "whole")]),
        ({"choices": [None, {"delta": {"content": 7}, "index": "x"}]}, []),
    ],
)
def test_chat_completions(event: Mapping[str, object], wanted: list[Step]) -> None:
    assert steps(event) == steps(event, "openai-chat") == wanted


def responses(kind: str, **fields: object) -> dict[str, object]:
    return {"type": f"response.{kind}", **fields}


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        (
            responses("output_text.delta", delta="a", output_index=1, content_index=0),
            [Delta(Lane(0, "text", "1.0"), "a")],
        ),
        (
            responses("refusal.delta", delta="no", output_index=0, content_index=0),
            [Delta(Lane(0, "text", "0.0"), "no")],
        ),
        (responses("output_text.done", text="a", output_index=1, content_index=0), []),
        (responses("output_item.added", item={"type": "function_call"}), [Ends(None, End.TOOL_CALL)]),
        (responses("output_item.added", item={"type": "message"}), [Ends(None, End.COMPLETE)]),
        (responses("completed", response={"error": None}), [Ends(None, End.COMPLETE)]),
        (responses("incomplete"), [Ends(None, End.TRUNCATED)]),
        (responses("failed"), [Ends(None, End.ERROR)]),
    ],
)
def test_responses(event: Mapping[str, object], wanted: list[Step]) -> None:
    assert steps(event) == steps(event, "openai-responses") == wanted


def test_reasoning_of_responses_and_its_summary_are_lanes_of_their_own() -> None:
    at: dict[str, object] = {"delta": "x", "output_index": 0}
    text = steps(responses("reasoning_text.delta", content_index=0, **at))
    summary = steps(responses("reasoning_summary_text.delta", summary_index=0, **at))
    lanes = {step.lane for step in (*text, *summary) if isinstance(step, Delta)}
    assert len(lanes) == 2
    assert {lane.field for lane in lanes} == {"reasoning"}


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        (
            {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "a"}},
            [Ends(None, End.COMPLETE), Delta(Lane(0, "text", "1"), "a")],
        ),
        (
            {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "input": {}}},
            [Ends(None, End.TOOL_CALL)],
        ),
        (
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
            [Delta(Lane(0, "text", "0"), "a")],
        ),
        (
            {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "t"}},
            [Delta(Lane(0, "reasoning", "0"), "t")],
        ),
        (
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta"}},
            [],
        ),
        ({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, [Ends(None, End.COMPLETE)]),
        ({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}, [Ends(None, End.TRUNCATED)]),
        ({"type": "message_delta", "delta": {"stop_reason": None}}, []),
        ({"type": "ping"}, []),
    ],
)
def test_anthropic_messages(event: Mapping[str, object], wanted: list[Step]) -> None:
    assert steps(event) == steps(event, "anthropic") == wanted


def gemini(*parts: object, **candidate: object) -> dict[str, object]:
    return {"candidates": [{"content": {"parts": list(parts)}, **candidate}]}


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        (gemini({"text": "a"}), [Delta(Lane(0, "text"), "a")]),
        (gemini({"text": "t", "thought": True}, index=1), [Delta(Lane(1, "reasoning"), "t")]),
        (
            gemini({"functionCall": {"name": "f"}}, finishReason="STOP"),
            [Ends(0, End.TOOL_CALL, now=False), Ends(0, End.COMPLETE, now=False)],
        ),
        (gemini(finishReason="MAX_TOKENS"), [Ends(0, End.TRUNCATED, now=False)]),
        ({"candidates": [{"finishReason": "SAFETY"}]}, [Ends(0, End.TRUNCATED, now=False)]),
        ({"promptFeedback": {"blockReason": "OTHER"}}, []),
    ],
)
def test_gemini(event: Mapping[str, object], wanted: list[Step]) -> None:
    assert steps(event) == steps(event, "gemini") == wanted
