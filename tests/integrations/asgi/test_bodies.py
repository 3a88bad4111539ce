"""JSON Lines, plain text, whole JSON, and which guard a body gets."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamguard_asgi import (
    JSON_TYPES,
    BytesGuard,
    EventTooLargeError,
    JSONGuard,
    NDJSONGuard,
    SSEGuard,
    TextGuard,
    guard_for,
)

from streamguard import End, FenceScrubber, Pipeline, Redactor, StreamBlocked, StreamClosedError
from streamguard.redact import Rule

from .bodies import through

KEY = "ZQ" + "KEY" * 3
REDACTED = Redactor((Rule("key", "ZQ[KEY]{9}"),))
BLOCKING = Redactor((Rule("key", "ZQ[KEY]{9}"),), actions={"key": "block"})
FENCED = FenceScrubber("think") | REDACTED
SHOWN = REDACTED.scrub(KEY)


def lines(*values: Any) -> bytes:
    """A line each: text as it is, all else as JSON."""
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in values).encode()


def values(body: bytes) -> list[Any]:
    return [json.loads(line) for line in body.splitlines() if line]


def ollama(text: str, *, done: bool = False, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, **more}
    end = {"done_reason": "stop"} if done else {}
    return {"model": "m", "created_at": "2026-01-01T00:00:00.1Z", "message": message, "done": done, **end}


# JSON Lines


def test_lines_of_ollama_are_one_text() -> None:
    body = lines(ollama("a <thi"), ollama("nk>no</think>" + KEY[:4]), ollama(KEY[4:]), ollama("", done=True))
    shown = values(through(NDJSONGuard(FENCED), body))
    assert "".join(one["message"]["content"] for one in shown) == "a " + SHOWN
    assert shown[-1]["done_reason"] == "stop"
    assert len(shown) == 4


def test_the_last_line_of_ollama_has_what_was_held() -> None:
    shown = values(through(NDJSONGuard(REDACTED), lines(ollama("a " + KEY[:4]), ollama("Y", done=True))))
    assert [one["message"]["content"] for one in shown] == ["a ", KEY[:4] + "Y"]


def test_a_text_that_was_cut_off_shows_no_half_of_a_secret() -> None:
    body = lines(ollama("a " + KEY[:7]), {**ollama("", done=True), "done_reason": "length"})
    shown = values(through(NDJSONGuard(REDACTED), body))
    assert "".join(one["message"]["content"] for one in shown) == "a "


def test_thinking_and_tools_of_ollama_have_their_policies() -> None:
    call = {"function": {"name": "f", "arguments": {"text": KEY, "n": 1}}}
    body = lines(ollama("", thinking=KEY), ollama("", tool_calls=[call]), ollama("", done=True))
    for policy, text in (("guard", SHOWN), ("keep", KEY)):
        shown = values(through(NDJSONGuard(REDACTED, tool_args=policy, reasoning=policy), body))
        assert "".join(one["message"].get("thinking", "") for one in shown) == text
        (calls,) = [one["message"]["tool_calls"] for one in shown if "tool_calls" in one["message"]]
        assert calls[0]["function"]["arguments"] == {"text": text, "n": 1}
    dropped = through(NDJSONGuard(REDACTED, tool_args="drop", reasoning="drop"), body)
    assert KEY.encode() not in dropped
    assert SHOWN.encode() not in dropped
    assert len(values(dropped)) == 3


def test_lines_of_a_provider_go_through_its_adapter() -> None:
    def chunk(text: str, finish: str | None = None) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}

    shown = values(
        through(NDJSONGuard(REDACTED), lines(chunk("a " + KEY[:4]), chunk(KEY[4:]), chunk("", "stop")))
    )
    assert "".join(one["choices"][0]["delta"].get("content", "") for one in shown) == "a " + SHOWN


def test_strings_on_lines_are_one_text() -> None:
    shown = through(NDJSONGuard(REDACTED), lines('"a "', json.dumps(KEY[:4]), json.dumps(KEY[4:]), "12"))
    assert "".join(one for one in values(shown) if isinstance(one, str)) == "a " + SHOWN
    assert values(shown)[-1] == 12


def test_lines_that_are_no_json_are_one_text() -> None:
    body = lines("starting <think>", "hidden", '{"n": 1}', "x</think>" + KEY, '{"n": 2}')
    shown = through(NDJSONGuard(FENCED), body)
    assert b"hidden" not in shown
    assert KEY.encode() not in shown
    assert b'{"n": 2}\n' in shown


def test_lines_that_do_not_change_keep_their_bytes() -> None:
    body = b'{"a" :1.50, "b":"\\u00e9"}\r\n\r\n[ 1e3 ]\n{"text":"x"}\nnull\n\xff\n{"text":"last"}'
    assert through(NDJSONGuard(Pipeline()), body) == body
    assert through(NDJSONGuard(FENCED), body) == body


def test_a_last_line_without_its_end() -> None:
    body = lines({"text": "a " + KEY[:4]}) + json.dumps({"text": "b"}).encode()
    assert "".join(one["text"] for one in values(through(NDJSONGuard(REDACTED), body))) == "a ZQKEb"
    cut = b"".join([lines({"text": "a"}), b'{"text": "half'])
    for end in End:
        guard = NDJSONGuard(REDACTED)
        shown = values(guard.feed(cut) + guard.flush(end))
        assert shown[0] == {"text": "a"}
        assert [list(one) for one in shown[1:]] == [["error"]]
        assert guard.cut
    assert through(NDJSONGuard(REDACTED), b"no json " + KEY.encode()) == b"no json " + SHOWN.encode()


@pytest.mark.parametrize("step", [1, 9, 1000])
def test_what_ends_a_stream_of_lines(step: int) -> None:
    def fed(guard: NDJSONGuard, body: bytes) -> bytes:
        return b"".join(guard.feed(body[at : at + step]) for at in range(0, len(body), step)) + guard.flush()

    start = lines({"text": "ok"})
    blocked, large = NDJSONGuard(BLOCKING), NDJSONGuard(REDACTED, max_event=50)
    for guard, body in ((blocked, lines({"text": KEY}, {"text": "no"})), (large, b'{"text": "' + b"no" * 99)):
        shown = fed(guard, start + body)
        assert values(shown)[0] == {"text": "ok"}
        assert list(values(shown)[1]) == ["error"]
        assert b'"no' not in shown
        assert KEY.encode() not in shown
    assert isinstance(blocked.failure, StreamBlocked)
    assert isinstance(large.failure, EventTooLargeError)


# Plain text


@pytest.mark.parametrize("charset", ["utf-8", "latin-1", "utf-16", "utf-16-le", "shift_jis", "cp1252"])
def test_text_of_any_charset_cut_anywhere(charset: str) -> None:
    text = "é " if charset not in ("shift_jis",) else "語 "
    body = (text + KEY + " <think>no</think>end").encode(charset)
    for cuts in ((), range(1, len(body))):
        shown = through(TextGuard(FENCED, charset=charset), body, cuts)
        assert shown.decode(charset) == f"{text}{SHOWN} end"


def test_bytes_that_are_no_characters_stay() -> None:
    body = b"a\xff\xc3 \xe2\x82b\xf0\x9f\x98\x80\xc3"
    for cuts in ((), range(1, len(body))):
        assert through(TextGuard(FENCED), body, cuts) == body


def test_a_text_ends_where_it_is_blocked() -> None:
    guard = TextGuard(BLOCKING)
    assert guard.feed(f"ok {KEY} no".encode()) + guard.feed(b"no") + guard.flush() in (b"ok ", b"")
    assert isinstance(guard.failure, StreamBlocked)


def test_half_a_secret_is_not_shown_where_a_text_breaks_off() -> None:
    assert through(TextGuard(REDACTED), f"a {KEY[:7]}".encode(), end=End.ERROR) == b"a "


# Whole JSON


CHAT = {
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": KEY}, "finish_reason": "stop"}],
}
MESSAGE = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": KEY}]}
RESPONSE = {
    "object": "response",
    "status": "completed",
    "output": [{"type": "message", "content": [{"type": "output_text", "text": KEY, "annotations": []}]}],
}
CONTENT = {"candidates": [{"content": {"parts": [{"text": KEY}]}, "finishReason": "STOP"}]}
COMPLETION = {"object": "text_completion", "choices": [{"index": 0, "text": KEY, "finish_reason": "stop"}]}
OWN = {"id": 1, "deep": [{"text": KEY}, 1.5, None]}


@pytest.mark.parametrize("value", [CHAT, MESSAGE, RESPONSE, CONTENT, COMPLETION, OWN, [OWN, OWN], KEY])
def test_a_whole_response_is_guarded(value: Any) -> None:
    body = json.dumps(value, indent=2).encode()
    for cuts in ((), range(1, len(body))):
        shown = through(JSONGuard(REDACTED), body, cuts)
        assert json.loads(shown) == json.loads(body.replace(KEY.encode(), SHOWN.encode()))
    assert through(JSONGuard(Pipeline()), body) == body


def test_an_array_of_chunks_is_one_text() -> None:
    def part(text: str, **more: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [{"text": text}]}, **more}]}

    body = json.dumps([part("a " + KEY[:4]), part(KEY[4:]), part(".", finishReason="STOP")]).encode()
    shown = json.loads(through(JSONGuard(REDACTED), body))
    texts = [
        piece["text"] for one in shown for piece in one["candidates"][0].get("content", {}).get("parts", [])
    ]
    assert "".join(texts) == "a " + SHOWN + "."
    assert through(JSONGuard(Pipeline()), body) == body


def test_nothing_comes_before_the_end_of_json() -> None:
    guard = JSONGuard(REDACTED)
    assert guard.feed(b'{"a": "b"') == b""
    assert guard.flush(End.ERROR) == JSONGuard(REDACTED).flush(End.ERROR) != b""
    assert guard.failure is None


def test_a_body_that_is_no_json_is_guarded_as_text() -> None:
    assert through(JSONGuard(REDACTED), f"<html>{KEY}".encode()) == f"<html>{SHOWN}".encode()
    assert through(JSONGuard(REDACTED), b"<html>\xff") == b"<html>\xff"
    half = through(JSONGuard(REDACTED), ('{"a": "x\\u005a' + KEY[1:] + '", "b": "' + KEY[:7]).encode())
    assert half == ('{"a": "x' + SHOWN + '", "b": "').encode()


def test_what_ends_a_body_of_json() -> None:
    blocked, large = JSONGuard(BLOCKING), JSONGuard(REDACTED, max_body=20)
    for guard in (blocked, large):
        shown = guard.feed(json.dumps({"a": KEY * 3}).encode()) + guard.feed(b" ") + guard.flush()
        assert list(json.loads(shown)) == ["error"]
        assert KEY.encode() not in shown
        assert KEY not in repr(guard.failure)
    assert isinstance(blocked.failure, StreamBlocked)
    assert isinstance(large.failure, EventTooLargeError)


def test_a_key_that_comes_twice_hides_nothing() -> None:
    body = f'{{"a": "{KEY}", "a": "b"}}'.encode()
    assert json.loads(through(JSONGuard(REDACTED), body)) == {"a": "b"}
    assert KEY.encode() not in through(JSONGuard(REDACTED), body)
    assert KEY.encode() not in through(NDJSONGuard(REDACTED), body)


# All of them


@pytest.mark.parametrize("kind", [NDJSONGuard, TextGuard, JSONGuard])
def test_a_guard_is_used_once(kind: Any) -> None:
    guard: BytesGuard = kind(REDACTED)
    guard.flush()
    for call in (lambda: guard.feed(b""), guard.flush):
        with pytest.raises(StreamClosedError):
            call()


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        ("text/event-stream", SSEGuard),
        ("Text/Event-Stream; charset=utf-8", SSEGuard),
        ("application/x-ndjson", NDJSONGuard),
        ("application/jsonl; charset=utf-8", NDJSONGuard),
        ("text/plain; charset=ISO-8859-1", TextGuard),
        ("", TextGuard),
        ("application/json", JSONGuard),
        ("application/octet-stream", type(None)),
        ("text/html", type(None)),
        ("image/png", type(None)),
    ],
)
def test_the_content_type_says_which_guard(content_type: str, kind: type) -> None:
    assert type(guard_for(content_type, REDACTED, types=JSON_TYPES)) is kind
    if kind is JSONGuard:
        assert guard_for(content_type, REDACTED) is None


def test_the_charset_of_the_header_counts() -> None:
    guard = guard_for('text/plain; charset="latin-1"', REDACTED)
    assert guard is not None
    assert through(guard, f"\xe9{KEY}".encode("latin-1")) == f"\xe9{SHOWN}".encode("latin-1")
    with pytest.raises(LookupError):
        guard_for("text/plain; charset=none-such", REDACTED)


def test_each_guard_takes_the_options_that_concern_it() -> None:
    for kind in ("text/event-stream", "application/x-ndjson", "text/plain", "application/json"):
        guard = guard_for(
            kind, REDACTED, types=JSON_TYPES, protocol="auto", tool_args="keep", max_event=9, max_body=9
        )
        assert guard is not None
    with pytest.raises(ValueError, match="guard, keep, drop"):
        guard_for("text/event-stream", REDACTED, tool_args="none")  # type: ignore[arg-type]


PIECES = st.sampled_from(["a ", "<think>", "no", "</think>", "<thi", KEY, KEY[:8], "é", '"', "\\"])
SOME_LINES = st.lists(
    st.tuples(
        PIECES,
        st.sampled_from(
            [
                lambda text: json.dumps({"text": text}),
                lambda text: json.dumps(ollama(text), ensure_ascii=False),
                json.dumps,
                lambda text: text,
                lambda text: '{"text": "' + text,
                lambda text: "",
                lambda text: json.dumps(ollama(text, done=True)),
            ]
        ),
    ),
    max_size=8,
)


@given(SOME_LINES, st.lists(st.integers(0, 2000), max_size=6), st.sampled_from(list(End)), st.integers(0, 9))
def test_every_cut_gives_the_same_bytes(
    some: list[tuple[str, Any]], cuts: Iterable[int], end: End, short: int
) -> None:
    body = "".join(make(text) + "\n" for text, make in some).encode()
    body = body[: max(0, len(body) - short)]
    for kind in (NDJSONGuard, TextGuard, JSONGuard):
        whole = through(kind(FENCED), body, (), end)
        assert through(kind(FENCED), body, {cut % (len(body) + 1) for cut in cuts}, end) == whole
        assert through(kind(FENCED), body, range(1, len(body)), end) == whole
        if kind is TextGuard:
            assert KEY.encode() not in whole
        if end is not End.ERROR and not short:
            assert through(kind(Pipeline()), body, (), end) == body
