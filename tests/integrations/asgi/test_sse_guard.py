"""Events of every protocol, of plain text, and of an application's own JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamguard_asgi import EventTooLargeError, SSEGuard

from streamguard import End, FenceScrubber, Finding, Pipeline, PreambleTrimmer, Redactor, StreamClosedError
from streamguard.redact import Rule
from streamguard.session import StreamBlocked

from .bodies import CANARY, GUARD, HIDDEN, TRACES, data_of, events, frames, through

KEY = "ZQ" + "KEY" * 3
REDACTED = Redactor((Rule("key", "ZQ[KEY]{9}"),))
BLOCKING = Redactor((Rule("key", "ZQ[KEY]{9}"),), actions={"key": "block"})
SHOWN = REDACTED.scrub(KEY)
BOTH = FenceScrubber("think") | REDACTED


def sse(*data: Any, name: str = "") -> bytes:
    """Events with these data: text as it is, all else as JSON."""
    head = f"event: {name}\n" if name else ""
    return "".join(
        f"{head}data: {one if isinstance(one, str) else json.dumps(one)}\n\n" for one in data
    ).encode()


def typed(*given: dict[str, Any]) -> bytes:
    return b"".join(sse(event, name=event["type"]) for event in given)


def chat(text: str, finish: str | None = None, index: int = 0) -> dict[str, Any]:
    choice = {"index": index, "delta": {"content": text}, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def said(body: bytes) -> list[tuple[str, str]]:
    """The names and the data of events."""
    found = []
    for frame in frames(body):
        names = [line[7:] for line in frame.split("\n") if line.startswith("event: ")]
        data = data_of(frame)
        if data is not None:
            found.append((names[-1] if names else "", data))
    return found


def clean(body: bytes) -> bool:
    return not any(trace.encode() in body for trace in (*TRACES, KEY, KEY[:5]))


# Plain text


def test_events_of_text_are_one_text() -> None:
    body = sse("The key: ", KEY[:4], KEY[4:], " and <zqf", "ence>ZQHIDDEN</zqfence> no more", "[DONE]")
    shown = through(SSEGuard(GUARD | REDACTED), body)
    assert "".join(data for _, data in said(shown)[:-1]) == f"The key: {SHOWN} and  no more"
    assert said(shown)[-1] == ("", "[DONE]")


def test_text_of_each_name_is_a_text_of_its_own() -> None:
    pieces = [("token", KEY[:5]), ("thought", "hm"), ("token", KEY[5:] + "."), ("thought", "!")]
    body = b"".join(sse(text, name=name) for name, text in pieces)
    shown = said(through(SSEGuard(REDACTED), body))
    assert "".join(text for name, text in shown if name == "token") == SHOWN + "."
    assert "".join(text for name, text in shown if name == "thought") == "hm!"


def test_held_text_comes_out_in_an_event_of_its_name() -> None:
    shown = through(SSEGuard(REDACTED), sse(KEY[:5], name="token"))
    assert said(shown) == [("token", KEY[:5])]


@pytest.mark.parametrize("name", ["done", "end", "error", "stream.completed", "message-stop"])
@pytest.mark.parametrize("data", ["finished", {"ok": True}, {}])
def test_held_text_comes_out_before_an_event_that_closes(name: str, data: Any) -> None:
    body = sse("a " + KEY[:5], name="token") + sse(data, name=name)
    shown = said(through(SSEGuard(REDACTED), body))
    assert [event for event, _ in shown][-1] == name
    kept = "" if name == "error" else KEY[:5]
    assert "".join(text for event, text in shown if event == "token") == "a " + kept


def test_other_events_do_not_end_a_text() -> None:
    body = sse(KEY[:5], name="token") + sse("50%", name="progress") + sse(KEY[5:], name="token")
    shown = said(through(SSEGuard(REDACTED), body))
    assert shown == [("progress", "50%"), ("token", SHOWN)]


def test_lines_of_data_are_lines_of_the_text() -> None:
    body = b"data: one\ndata: <zqfence>\ndata: ZQHIDDEN</zqfence>two\n\n"
    assert said(through(SSEGuard(GUARD), body)) == [("", "one\ntwo")]


def test_strings_of_json_are_text_and_stay_json() -> None:
    body = sse(*(json.dumps(piece) for piece in ('say "', KEY[:4], KEY[4:] + '"\n', "end")))
    shown = said(through(SSEGuard(REDACTED), body))
    assert "".join(json.loads(data) for _, data in shown) == f'say "{SHOWN}"\nend'


def test_numbers_among_strings_of_json_stay() -> None:
    body = sse('"a"', "42", "null", '"b"')
    assert through(SSEGuard(REDACTED), body) == body


def test_text_that_looks_like_json_is_text_still() -> None:
    pieces = ["The ", '"', "key", '"', ": ", "{}", " 12", "{", "[", KEY[:3], KEY[3:], "]", "null", "}"]
    shown = through(SSEGuard(REDACTED), sse(*pieces))
    assert "".join(data for _, data in said(shown)) == "".join(pieces).replace(KEY, SHOWN)


def test_protocol_text_reads_no_json() -> None:
    body = sse({"a": KEY[:4]}, {"b": "x"})
    shown = through(SSEGuard(REDACTED, protocol="text"), body)
    assert "".join(data for _, data in said(shown)) == '{"a": "' + KEY[:4] + '"}{"b": "x"}'


def test_many_names_cost_no_more_sessions_than_some() -> None:
    guard = SSEGuard(REDACTED)
    shown = b"".join(guard.feed(sse(KEY[:5], name=f"n{number}")) for number in range(1000))
    assert len(guard._lanes.open) < 100
    shown += guard.flush()
    assert KEY.encode() not in shown


# What is not text


def test_comments_names_and_ids_stay() -> None:
    body = b": hello\n\nid: 1\nevent: token\n: why\nretry: 5\ndata: a " + KEY.encode() + b"\n\n: bye\n\n"
    want = body.replace(KEY.encode(), SHOWN.encode())
    assert through(SSEGuard(REDACTED), body).split() == want.split()


def test_what_must_not_be_seen_leaves_names_ids_and_comments_too() -> None:
    body = f": {KEY}\n\nid: {KEY}\nevent: {KEY}\nother: {KEY}\ndata: a\n\n{KEY}\n\n".encode()
    assert through(SSEGuard(REDACTED), body).split() == b"data: a".split()


def test_keep_alives_pass_at_once_while_text_is_held() -> None:
    guard = SSEGuard(REDACTED)
    assert guard.feed(sse(KEY[:5])) == b""
    assert guard.feed(b": ping\n") == b": ping\n"
    assert guard.feed(b"\n") == b"\n"
    assert guard.feed(sse(KEY[5:])) == sse(SHOWN)


def test_bytes_that_are_no_utf8_do_not_hide_text() -> None:
    body = b"data: \xff" + KEY.encode() + b"\xc3\n\n"
    shown = through(SSEGuard(REDACTED), body)
    assert shown == f"data: \ufffd{SHOWN}\ufffd\n\n".encode()
    assert through(SSEGuard(Pipeline()), body) == body


# JSON of an application's own


def test_deltas_of_unknown_json_are_one_text() -> None:
    given = [{"type": "token", "n": 1, "text": "a " + KEY[:3]}, {"type": "token", "n": 2, "text": KEY[3:]}]
    shown = events(through(SSEGuard(REDACTED), sse(*given, {"type": "done"})))
    assert "".join(event.get("text", "") for event in shown) == "a " + SHOWN
    assert [event.get("n") for event in shown] == [1, 2, None]
    assert shown[-1] == {"type": "done"}


def test_held_deltas_come_out_before_the_end() -> None:
    given = [{"type": "token", "text": "a " + KEY[:3], "n": 1}, {"type": "finish", "reason": "stop"}]
    assert events(through(SSEGuard(REDACTED), sse(*given))) == [
        {"type": "token", "text": "a ", "n": 1},
        {"type": "token", "text": KEY[:3], "n": 1},
        {"type": "finish", "reason": "stop"},
    ]


def test_parts_of_a_message_are_texts_of_their_own() -> None:
    """The events of the AI SDK, two parts at a time."""
    given: list[dict[str, Any]] = [
        {"type": "text-start", "id": "1"},
        {"type": "text-delta", "id": "1", "delta": "a" + KEY[:4]},
        {"type": "text-delta", "id": "2", "delta": "b" + KEY[:4]},
        {"type": "text-end", "id": "2"},
        {"type": "text-delta", "id": "1", "delta": KEY[4:]},
        {"type": "text-end", "id": "1"},
        {"type": "finish"},
    ]
    shown = events(through(SSEGuard(REDACTED), sse(*given, "[DONE]")))
    parts: dict[str, str] = {"1": "", "2": ""}
    for event in shown:
        parts[event.get("id", "1")] += event.get("delta", "")
    assert parts == {"1": "a" + SHOWN, "2": "b" + KEY[:4]}
    assert [event["type"] for event in shown] == [
        "text-start",
        "text-delta",
        "text-delta",
        "text-delta",
        "text-end",
        "text-delta",
        "text-end",
        "finish",
    ]


def test_arguments_stream_as_json() -> None:
    pieces = ['{"a": "x\\u', "005", "a", KEY[1:], '", "n": 1}']
    body = sse(
        *({"type": "tool-input-delta", "toolCallId": "t", "inputTextDelta": piece} for piece in pieces)
    )
    shown = events(through(SSEGuard(REDACTED), body))
    assert json.loads("".join(event["inputTextDelta"] for event in shown)) == {"a": "x" + SHOWN, "n": 1}


# Of what streams: the events, and what is taken for their text
SHAPES: dict[str, Any] = {
    "Ollama": lambda text, last: {"response": text, "done": last},
    "llama.cpp": lambda text, last: {"content": text, "stop": last},
    "text generation inference": lambda text, last: {
        "token": {"id": 1, "text": text},
        "generated_text": "whole" if last else None,
    },
    "Cohere": lambda text, last: (
        {"type": "content-end", "index": 0}
        if last
        else {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": text}}}}
    ),
    "Dify": lambda text, last: (
        {"event": "message_end", "message_id": "m"} if last else {"event": "message", "answer": text}
    ),
    "assistants": lambda text, last: (
        {"object": "thread.message", "type": "thread.message.completed"}
        if last
        else {"delta": {"content": [{"index": 0, "type": "text", "text": {"value": text}}]}}
    ),
    "AG-UI": lambda text, last: (
        {"type": "TEXT_MESSAGE_END", "messageId": "m"}
        if last
        else {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": text}
    ),
    "old completions": lambda text, last: {"completion": text, "stop_reason": "stop" if last else None},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_events_of_many_servers(shape: str) -> None:
    make = SHAPES[shape]
    body = sse(make("a ", False), make(KEY[:5], False), make(KEY[5:], False), make(" <zq", False))
    shown = events(through(SSEGuard(GUARD | REDACTED), body + sse(make("", True))))

    def said(value: Any, name: str = "") -> str:
        if isinstance(value, dict):
            return "".join(said(item, key) for key, item in value.items())
        if isinstance(value, list):
            return "".join(said(item, name) for item in value)
        return value if isinstance(value, str) and name in TEXTS else ""

    assert said(shown) == f"a {SHOWN} <zq"
    assert {name: value for name, value in shown[-1].items() if name not in TEXTS} == {
        name: value for name, value in make("", True).items() if name not in TEXTS
    }


TEXTS = ("response", "content", "text", "answer", "value", "delta", "completion", "token")


def test_runs_at_the_same_time_do_not_mix() -> None:
    def run(name: str, text: str) -> dict[str, Any]:
        return {"event": "on_chat_model_stream", "run_id": name, "data": {"chunk": {"content": text}}}

    given = [run("1", KEY[:5]), run("2", "b"), run("1", KEY[5:]), run("2", KEY[:5])]
    given.append(
        {"event": "on_chat_model_end", "run_id": "2", "data": {"output": {"content": "b" + KEY[:5]}}}
    )
    shown = events(through(SSEGuard(REDACTED), sse(*given)))
    texts = {"1": "", "2": ""}
    for event in shown[:-1]:
        texts[event["run_id"]] += event["data"]["chunk"]["content"]
    assert texts == {"1": SHOWN, "2": "b" + KEY[:5]}
    assert shown[-1] == given[-1]


def test_messages_of_json_rpc_are_whole() -> None:
    def result(number: int, text: str) -> dict[str, Any]:
        content = [{"type": "text", "text": text}]
        return {"jsonrpc": "2.0", "id": number, "result": {"content": content}}

    body = sse(result(1, "a " + KEY[:5]), result(2, "b " + KEY), name="message")
    shown = events(through(SSEGuard(REDACTED), body))
    assert shown == [result(1, "a " + KEY[:5]), result(2, "b " + SHOWN)]
    piece = {"jsonrpc": "2.0", "id": 1, "result": {"artifact": {"parts": [{"text": KEY[:5]}]}}}
    rest = {"jsonrpc": "2.0", "id": 1, "result": {"artifact": {"parts": [{"text": KEY[5:]}]}}}
    assert clean(through(SSEGuard(REDACTED), sse(piece, result(1, "working"), rest)))


def test_other_strings_are_whole() -> None:
    given = {"status": f"using {KEY}", "n": 1.5, "args": {"text": "a " + KEY}, "id": KEY[:5]}
    shown = events(through(SSEGuard(REDACTED), sse(given, given)))
    want = {"status": f"using {SHOWN}", "n": 1.5, "args": {"text": "a " + SHOWN}, "id": KEY[:5]}
    assert shown == [want, want]


def test_which_names_stream_is_the_users_choice() -> None:
    body = sse({"text": KEY[:4], "bit": KEY[:4]}, {"text": KEY[4:], "bit": KEY[4:]})
    shown = events(through(SSEGuard(REDACTED, text_fields=frozenset({"bit"})), body))
    assert "".join(event["bit"] for event in shown) == SHOWN
    assert "".join(event["text"] for event in shown) == KEY


def test_lists_are_gone_into() -> None:
    """As LangGraph sends messages: a piece and what it belongs to."""
    body = sse([{"content": "a " + KEY[:4]}, {"node": "n"}], [{"content": KEY[4:]}, {"node": "n"}])
    shown = events(through(SSEGuard(REDACTED), body))
    assert "".join(event[0]["content"] for event in shown) == "a " + SHOWN
    assert [event[1] for event in shown] == [{"node": "n"}] * 2


@pytest.mark.parametrize("policy", ["guard", "keep", "drop"])
def test_policies_hold_for_unknown_json(policy: Any) -> None:
    body = sse({"thinking": KEY}, {"arguments": json.dumps({"a": KEY})}, {"done": True})
    shown = events(through(SSEGuard(REDACTED, tool_args=policy, reasoning=policy), body))
    texts = {"guard": SHOWN, "keep": KEY}
    thinking = "".join(event.get("thinking", "") for event in shown)
    arguments = "".join(event.get("arguments", "") for event in shown)
    assert thinking == texts.get(policy, "")
    assert arguments == (json.dumps({"a": texts[policy]}) if policy in texts else "")


# Providers


def test_a_chat_goes_through_its_adapter() -> None:
    body = sse(chat("a " + KEY[:3]), chat(KEY[3:]), chat("", "stop"), "[DONE]")
    shown = through(SSEGuard(REDACTED), body)
    assert "".join(event["choices"][0]["delta"].get("content", "") for event in events(shown)) == "a " + SHOWN
    assert events(shown)[-1]["choices"][0]["finish_reason"] == "stop"
    assert shown.endswith(b"data: [DONE]\n\n")


def test_a_chat_under_a_name_keeps_it() -> None:
    body = sse(chat("a " + KEY[:3]), name="one") + sse(chat("b"), name="two")
    body += sse(chat(KEY[3:5]), name="one") + sse({"ok": 1}, name="done")
    shown = said(through(SSEGuard(REDACTED), body))
    texts = {"one": "", "two": ""}
    for name, data in shown[:-1]:
        texts[name] += json.loads(data)["choices"][0]["delta"]["content"]
    assert texts == {"one": "a ", "two": "b"}  # a chat without a finish reason was cut off
    assert shown[-1][0] == "done"


def test_events_added_to_named_ones_are_named() -> None:
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": KEY[:3]}}
    stop = {"type": "content_block_stop", "index": 0}
    last = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    shown = through(SSEGuard(REDACTED), typed(start, delta, stop, last, {"type": "message_stop"}))
    assert [name for name, _ in said(shown)] == [event["type"] for event in events(shown)]
    assert [event["type"] for event in events(shown)][-4:] == [
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_parked_events_come_out_byte_for_byte() -> None:
    stop = b'event: content_block_stop\nid: 9\ndata: { "type":"content_block_stop" ,"index":0}\n\n'
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": KEY[:3]}}
    shown = through(SSEGuard(REDACTED), typed(delta) + stop + typed({"type": "message_stop"}))
    assert stop in shown


def test_the_first_event_of_a_provider_may_come_late() -> None:
    body = sse("hello", {"status": "ok"}, chat("a " + KEY[:3]), chat(KEY[3:], "stop"), "[DONE]")
    shown = events(through(SSEGuard(REDACTED), body.replace(b"data: hello\n\n", b"")))
    assert "".join(event["choices"][0]["delta"].get("content", "") for event in shown[1:]) == "a " + SHOWN
    assert clean(through(SSEGuard(REDACTED), body))


def test_numbers_spacing_and_escapes_stay_as_they_came() -> None:
    body = b'data: {"choices":[{"index":0,"delta":{"content":"\\u00e9 ' + KEY.encode() + b'"}}],"x":1e2}\n\n'
    shown = through(SSEGuard(REDACTED), body + sse(chat("", "stop")))
    assert shown.startswith(b'data: {"choices":[{"index":0,"delta":{"content":"\\u00e9 ')
    plain = 'data: {"choices": [{"index": 0, "delta": {"content": "é '.encode()
    body = plain + KEY.encode() + b'"}}]}\n\n'
    assert through(SSEGuard(REDACTED), body + sse(chat("", "stop"))).startswith(plain)


def test_line_ends_stay_as_they_came() -> None:
    body = sse(chat(KEY), chat("", "stop")).replace(b"\n", b"\r\n")
    shown = through(SSEGuard(REDACTED), body)
    assert b"\n" not in shown.replace(b"\r\n", b"")


def test_half_characters_of_json_are_joined_as_they_were() -> None:
    body = b"".join(
        b'data: {"choices":[{"index":0,"delta":{"content":"' + piece + b'"}}],"\xc3\xa9":0}\n\n'
        for piece in (KEY.encode() + b" \\ud83d", b"\\ude00")
    )
    shown = events(through(SSEGuard(REDACTED), body + sse(chat("", "stop"))))
    text = "".join(event["choices"][0]["delta"].get("content", "") for event in shown)
    assert text.encode("utf-16", "surrogatepass").decode("utf-16") == SHOWN + " \U0001f600"


# What ends badly


@pytest.mark.parametrize("text", [KEY, "<zqfence>ZQHIDDEN"])
def test_a_key_that_comes_twice_hides_nothing(text: str) -> None:
    for last in (chat("x"), {"status": "x"}):
        body = sse(last).replace(b'"x"', json.dumps(text).encode() + b', "content": "y"', 1)
        body = body.replace(b'"status": ' + json.dumps(text).encode(), b'"status": "' + text.encode() + b'"')
        twice = body.replace(b'"content": "y"', b'"status": "y"') if "status" in last else body
        assert clean(through(SSEGuard(GUARD | REDACTED), twice))


@pytest.mark.parametrize(
    "junk",
    [
        *(b"{", b"[[[[", b"[" * 100_000, b"\x00\xff", b'{"a": NaN}', b'{"x": 1e999}', b"1" * 5000),
        *(b'{"choices": [], "n": ' + b"1" * 5000 + b"}",),
        *(b'{"choices": 5}', b'{"choices": [5, null, {"delta": 7}]}', b'{"choices": {"a": 1}}'),
        *(b'{"type": "content_block_delta", "delta": 3}', b'{"type": "content_block_start"}'),
        *(b'{"type": "response.x.delta", "delta": [1]}', b'{"type": {"x": 1}}'),
        *(b'{"candidates": [{"content": 4}]}', b'{"candidates": {"a": "b"}}'),
    ],
)
@pytest.mark.parametrize("where", ["before", "after"])
def test_junk_shows_nothing_that_must_not_be_seen(junk: bytes, where: str) -> None:
    junk = b"data: " + junk + b"\n\n"
    told = sse(chat("a " + KEY[:3]), chat(KEY[3:]), chat(HIDDEN + CANARY, "stop"), "[DONE]")
    shown = through(
        SSEGuard(GUARD | REDACTED), junk + told if where == "before" else told[:-14] + junk + told
    )
    assert clean(shown)


@pytest.mark.parametrize("number", ["1" * 5000, "1e999", "[" * 100_000])
def test_what_others_may_read_and_the_guard_cannot_ends_the_stream(number: str) -> None:
    text = json.dumps(chat("a"))[:-1] + f', "n": {number}}}'
    guard = SSEGuard(REDACTED)
    shown = guard.feed(sse(text, chat("never")))
    assert isinstance(guard.failure, ValueError | RecursionError)
    assert b"never" not in shown


def test_constants_of_python_are_read() -> None:
    body = sse(chat("a " + KEY[:5]), chat(KEY[5:]), chat("", "stop")).replace(
        b'"created": 1', b'"created": NaN'
    )
    shown = through(SSEGuard(REDACTED), body)
    assert "".join(event["choices"][0]["delta"].get("content", "") for event in events(shown)) == "a " + SHOWN
    assert shown.count(b"NaN") == len(events(shown))


def test_broken_json_of_a_provider_is_guarded_as_far_as_it_goes() -> None:
    broken = '{"choices": [{"delta": {"content": "\\u005a' + KEY[1:] + " tail " + KEY[:5]
    shown = through(SSEGuard(REDACTED), sse(chat("a"), broken))
    assert clean(shown)
    assert SHOWN.encode() in shown


@pytest.mark.parametrize("data", ['{"choices": [{"delta": {"content": "abc', f"text {KEY[:5]}", chat("x")])
def test_a_last_event_without_its_empty_line_is_guarded_or_left_out(data: Any) -> None:
    body = sse(chat("a"), data)[:-2]
    for end in (End.ERROR, End.TRUNCATED):
        guard = SSEGuard(REDACTED)
        shown = guard.feed(body) + guard.flush(end)
        assert b"abc" not in shown
        assert clean(shown)
    whole = through(SSEGuard(REDACTED), sse(chat("a"), chat("x"))[:-2])
    assert [event["choices"][0]["delta"]["content"] for event in events(whole)] == ["a", "x"]


def test_what_follows_a_last_event_without_its_empty_line_stands_alone() -> None:
    body = sse(chat("a " + KEY[:3]), chat("", "stop"))[:-2]
    assert [event["choices"][0]["finish_reason"] for event in events(through(SSEGuard(REDACTED), body))] == [
        None,
        None,
        "stop",
    ]
    shown = through(SSEGuard(REDACTED), sse(KEY[:5], name="a") + b"event: b\ndata: x")
    assert said(shown) == [("b", "x"), ("a", KEY[:5])]


HALVES = [b"data", b"data:", b"event: x", b"id: 7\ndata: ", b'data: {"choices": [{"del', b"data: [DO"]


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("protocol", ["auto", "openai-chat", "anthropic"])
def test_a_stream_that_ends_in_the_middle_of_an_event_has_broken_off(half: bytes, protocol: Any) -> None:
    guard = SSEGuard(REDACTED, protocol=protocol)
    shown = guard.feed(sse(chat("a " + KEY[:5])) + half) + guard.flush()
    assert b"broke off" in shown
    assert KEY[:5].encode() not in shown
    assert b"data\n" not in shown
    assert guard.cut
    assert guard.failure is None


@pytest.mark.parametrize(
    "rest", [b"", b": ping", b"\n", b"data: [DONE]", b"data: [DONE]\n", b'data: {"a": 1}']
)
def test_a_stream_that_ends_behind_an_event_has_not_broken_off(rest: bytes) -> None:
    guard = SSEGuard(REDACTED)
    done = [] if b"DONE" in rest else ["[DONE]"]
    body = sse(chat("a. "), chat("", "stop"), *done) + rest
    assert guard.feed(body) + guard.flush() == body
    assert not guard.cut


def test_half_an_event_behind_the_last_one_is_no_error() -> None:
    guard = SSEGuard(REDACTED)
    assert b"broke" not in guard.feed(sse(chat("a"), "[DONE]") + b"data: {") + guard.flush()
    assert guard.cut


@pytest.mark.parametrize("piece", ["{not json", "[a", '"b'])
def test_text_is_not_taken_for_half_a_json(piece: str) -> None:
    assert through(SSEGuard(REDACTED, protocol="text"), f"data: {piece}".encode()).startswith(
        b"data: " + piece.encode()
    )


PROTOCOLS = ["auto", "openai-chat", "openai-completions", "openai-responses", "anthropic", "google"]
OTHERS = [
    lambda text: {"index": 0, "content": text, "tokens": [1], "stop": False, "id_slot": -1},
    lambda text: {"token": {"id": 1, "text": text, "special": False}, "generated_text": None},
    lambda text: {"type": "text_delta", "delta": {"text": text}},
    lambda text: json.loads(json.dumps(chat(text))),
    lambda text: {"choices": [{"index": 0, "text": text}], "object": "text_completion"},
    lambda text: {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": text},
    lambda text: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
    lambda text: {"candidates": [{"content": {"parts": [{"text": text}]}}]},
]
STRANGE = [
    lambda text: {"output": {"text": text, "finish_reason": "null"}},
    lambda text: {"output": {"choices": [{"message": {"content": text}}]}},
    lambda text: {"generation": text},
    lambda text: {"data": [{"piece": text}]},
    lambda text: {"choices": {"0": text}},
]


def check_split(protocol: Any, event: Any, *first: Any) -> None:
    text = f"hi {KEY} x <think>hidden</think> y"
    for cut in range(1, len(text), 3):
        body = sse(*first, event(text[:cut]), event(text[cut:]), "[DONE]")
        shown = through(SSEGuard(BOTH, protocol=protocol), body)
        joined = "".join(strings(one) for one in events(shown))
        assert SHOWN in joined
        assert "hid" not in joined
        assert "den" not in joined
        assert not any(KEY[at : at + 5] in joined for at in range(2, len(KEY) - 5))


def strings(value: Any) -> str:
    if isinstance(value, dict):
        return "".join(strings(item) for item in value.values())
    if isinstance(value, list):
        return "".join(strings(item) for item in value)
    return value if isinstance(value, str) else ""


@pytest.mark.parametrize("event", OTHERS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_events_of_another_shape_than_the_protocols_are_guarded_by_their_own(
    protocol: Any, event: Any
) -> None:
    check_split(protocol, event)
    check_split(protocol, event, chat("first "))


@pytest.mark.parametrize("event", STRANGE)
@pytest.mark.parametrize("protocol", PROTOCOLS[1:])
def test_every_string_of_an_unknown_event_goes_on_where_the_protocol_is_known(
    protocol: Any, event: Any
) -> None:
    check_split(protocol, event)
    check_split(protocol, event, chat("first "))


def test_an_unknown_event_still_shows_no_password() -> None:
    shown = through(SSEGuard(Redactor(), protocol="openai-chat"), sse({"db": {"password": "hunter2hunter"}}))
    assert b"hunter2" not in shown


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_error_without_a_type_lets_out_what_is_held(protocol: Any) -> None:
    shown = events(through(SSEGuard(BOTH, protocol=protocol), sse(chat("a <"), {"error": {"message": "no"}})))
    assert shown[-2]["choices"][0]["delta"] == {"content": "<"}
    assert shown[-1] == {"error": {"message": "no"}}


RESPONSE = {"type": "response.created", "sequence_number": 0, "response": {"id": "r1", "output": []}}
DELTA = {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "i"}
ENDINGS = {
    "openai-chat": (sse(chat("ok ")), sse(chat(KEY))),
    "openai-responses": (
        typed(RESPONSE, {**DELTA, "sequence_number": 1, "delta": "ok "}),
        typed({**DELTA, "sequence_number": 2, "delta": KEY}),
    ),
    "anthropic": (
        typed({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ok "}}),
        typed({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": KEY}}),
    ),
    "google": (
        sse({"candidates": [{"content": {"parts": [{"text": "ok "}]}}]}),
        sse({"candidates": [{"content": {"parts": [{"text": KEY}]}}]}),
    ),
    "text": (sse("ok "), sse(KEY)),
}


def _check_end(protocol: str, shown: bytes, *, blocked: bool) -> None:
    named = said(shown)
    if protocol == "openai-chat":
        assert named[-1] == ("", "[DONE]")
        last = json.loads(named[-2][1])
        assert last["choices"][0]["finish_reason"] == "content_filter" if blocked else "error" in last
    elif protocol == "openai-responses":
        last = json.loads(named[-1][1])
        assert named[-1][0] == last["type"] == "response.failed"
        assert last["response"]["status"] == "failed"
        assert last["response"]["id"] == ("r1" if b"response.created" in shown else "")
    elif protocol == "anthropic":
        assert named[-1][0] == json.loads(named[-1][1])["type"] == "error"
    else:
        assert "error" in json.loads(named[-1][1])


@pytest.mark.parametrize("protocol", ENDINGS)
@pytest.mark.parametrize("chosen", ["auto", "named"])
def test_a_rule_that_blocks_ends_the_stream_as_its_protocol_does(protocol: Any, chosen: str) -> None:
    before, blocked = ENDINGS[protocol]
    guard = SSEGuard(BLOCKING, protocol=protocol if chosen == "named" else "auto")
    shown = guard.feed(before + blocked + before)
    assert isinstance(guard.failure, StreamBlocked)
    assert shown.startswith(before)
    assert clean(shown)
    _check_end(protocol, shown, blocked=True)
    assert guard.feed(before) == b""
    assert guard.flush() == b""


@pytest.mark.parametrize("protocol", ENDINGS)
def test_a_source_that_breaks_off_ends_the_stream_as_its_protocol_does(protocol: Any) -> None:
    before, rest = ENDINGS[protocol]
    guard = SSEGuard(REDACTED)
    shown = guard.feed(before + rest[:-10]) + guard.flush(End.ERROR)
    assert guard.failure is None
    assert shown.startswith(before)
    assert clean(shown)
    _check_end(protocol, shown, blocked=False)


@pytest.mark.parametrize("protocol", [name for name in ENDINGS if name != "text"])
def test_a_stream_of_a_named_protocol_can_end_before_it_begins(protocol: Any) -> None:
    _check_end(protocol, SSEGuard(REDACTED, protocol=protocol).flush(End.ERROR), blocked=False)


def test_a_stream_that_was_complete_gets_no_error_when_its_source_breaks() -> None:
    for body in (sse(chat("a", "stop"), "[DONE]"), typed({"type": "message_stop"})):
        guard = SSEGuard(REDACTED)
        assert guard.feed(body) + guard.flush(End.ERROR) == body


@pytest.mark.parametrize("step", [1, 13, 10_000])
def test_an_event_that_is_too_large_ends_the_stream(step: int) -> None:
    body = sse(chat("ok")) + sse(chat("x" * 1000)) + sse(chat("never"))
    guard = SSEGuard(REDACTED, max_event=500)
    shown = b"".join(guard.feed(body[start : start + step]) for start in range(0, len(body), step))
    assert isinstance(guard.failure, EventTooLargeError)
    assert shown.startswith(sse(chat("ok")))
    assert b"never" not in shown
    assert b"xxx" not in shown
    _check_end("openai-chat", shown + guard.flush(), blocked=False)


class WrongError(Exception):
    pass


def test_an_error_of_any_kind_ends_the_stream_and_shows_nothing() -> None:
    def on_finding(_: Finding) -> None:
        raise WrongError

    guard = SSEGuard(REDACTED, on_finding=on_finding)
    shown = guard.feed(sse(chat("a " + KEY), chat("b")))
    assert isinstance(guard.failure, WrongError)
    assert clean(shown)
    _check_end("openai-chat", shown, blocked=False)


def test_a_guard_is_used_once() -> None:
    guard = SSEGuard(REDACTED)
    guard.flush()
    with pytest.raises(StreamClosedError):
        guard.feed(b"")
    with pytest.raises(StreamClosedError):
        guard.flush()


def test_an_interrupt_leaves_a_guard_that_takes_no_more() -> None:
    def on_finding(_: Finding) -> None:
        raise KeyboardInterrupt

    guard = SSEGuard(REDACTED, on_finding=on_finding)
    with pytest.raises(KeyboardInterrupt):
        guard.feed(sse(KEY + "."))
    with pytest.raises(StreamClosedError):
        guard.feed(b"")


def test_many_responses_under_names_cost_no_more_than_some() -> None:
    guard = SSEGuard(REDACTED)
    shown = b"".join(guard.feed(sse(chat(KEY[:5]), name=f"n{number}")) for number in range(500))
    assert len(guard._events._adapters) < 100
    assert KEY.encode() not in shown + guard.flush()


def test_findings_say_where() -> None:
    found: list[Any] = []
    through(
        SSEGuard(REDACTED, on_finding=found.append), sse(chat(KEY), chat("", "stop")) + sse(KEY, name="n")
    )
    assert [finding.lane for finding in found] == [(0, "content"), "n"]


@pytest.mark.parametrize("wrong", [{"tool_args": "all"}, {"reasoning": "some"}])
def test_an_unknown_policy_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="guard, keep, drop"):
        SSEGuard(REDACTED, **wrong)


# Any stream, any cut

PIECES = st.one_of(
    st.sampled_from(
        ["a ", "<zqfence>", "ZQHIDDEN", "</zqfence>", "<zq", CANARY, CANARY[:9], "Let me check that."]
    )
)
FULL = GUARD | PreambleTrimmer()


def _event(kind: str, text: str) -> bytes:
    match kind:
        case "chat":
            return sse(chat(text))
        case "anthropic":
            delta = {"type": "text_delta", "text": text}
            return typed({"type": "content_block_delta", "index": 0, "delta": delta})
        case "responses":
            return typed({**DELTA, "delta": text, "sequence_number": 1})
        case "google":
            return sse({"candidates": [{"content": {"parts": [{"text": text}]}}]}).replace(b"\n", b"\r\n")
        case "own":
            return sse({"token": text})
        case "comment":
            return f": {text}\n\n".encode()
        case "lone":
            return sse(text, name="x").replace(b"\n", b"\r")
        case "done":
            return sse("[DONE]")
        case "junk":
            return sse('{"choices": ' + text)
        case _:
            return sse(text, name=kind)


KINDS = ["chat", "anthropic", "responses", "google", "own", "comment", "lone", "done", "junk", "", "end"]
STREAMS = st.one_of(
    st.tuples(st.sampled_from(KINDS).map(lambda kind: [kind]), st.lists(PIECES, max_size=8)),
    st.tuples(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5), st.lists(PIECES, max_size=8)),
)


@given(STREAMS, st.lists(st.integers(0, 5000), max_size=8), st.sampled_from(list(End)), st.integers(0, 40))
def test_every_cut_gives_the_same_bytes(
    stream: tuple[list[str], list[str]], cuts: Iterable[int], end: End, short: int
) -> None:
    kinds, pieces = stream
    body = b"".join(_event(kinds[at % len(kinds)], text) for at, text in enumerate(pieces))
    body = body[: max(0, len(body) - short)]
    whole = through(SSEGuard(FULL), body, (), end)
    assert through(SSEGuard(FULL), body, {cut % (len(body) + 1) for cut in cuts}, end) == whole
    assert through(SSEGuard(FULL), body, range(1, len(body)), end) == whole
    if len(kinds) == 1 and kinds != ["junk"]:
        assert CANARY.encode() not in whole
    if end is not End.ERROR and not short:
        assert through(SSEGuard(Pipeline()), body, (), end) == body


@given(st.sampled_from(["chat", "anthropic", "own", "x", "google"]), st.lists(PIECES, max_size=8))
def test_the_text_is_what_the_guard_makes_of_it(kind: str, pieces: list[str]) -> None:
    body = b"".join(_event(kind, text) for text in pieces)
    body += {
        "chat": sse(chat("", "stop")),
        "anthropic": typed({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        "own": sse({"done": True}),
        "google": sse({"candidates": [{"finishReason": "STOP"}]}),
    }.get(kind, b"")
    text = ""
    for name, data in said(through(SSEGuard(FULL), body)):
        if name == "x":
            text += data
            continue
        event = json.loads(data)
        for choice in event.get("choices", []):
            text += choice["delta"].get("content", "")
        for candidate in event.get("candidates", []):
            text += "".join(part["text"] for part in candidate.get("content", {}).get("parts", []))
        text += event.get("token", "") + event.get("delta", {}).get("text", "")
    assert text == FULL.scrub("".join(pieces))
    assert FenceScrubber("zqfence").scrub(text) == text


@pytest.mark.parametrize("name", ["name", "id", "status"])
def test_in_events_of_another_shape_what_a_model_has_named_is_a_text_whatever_its_name(name: str) -> None:
    secret = "ghp_" + "Canary12" * 4 + "Can1"
    guard = SSEGuard(Redactor(), protocol="openai-completions")
    events = [{"index": 0, "input": {name: piece}} for piece in (secret[:9], secret[9:], " and more")]
    body = b"".join(guard.feed(f"data: {json.dumps(event)}\n\n".encode()) for event in events)
    shown = [json.loads(line[6:]) for line in (body + guard.flush()).decode().splitlines() if line]
    assert secret not in "".join(event.get("input", {}).get(name, "") for event in shown)
