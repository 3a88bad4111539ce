"""The real SDK over a transport of its own, guarded by one changed line."""

from __future__ import annotations

import json
from typing import Any

import pytest

openai = pytest.importorskip("openai")
pydantic = pytest.importorskip("pydantic")

from streamguard_openai import UnguardedAccessError, guard_stream, wrap  # noqa: E402

from streamguard import FenceScrubber, Redactor  # noqa: E402

from .support import async_client, chunk, sse, sync_client  # noqa: E402
from .test_responses import event, message, response, stream  # noqa: E402

SECRET = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0" * 3
GUARD = FenceScrubber("think") | Redactor()
TEXT = f"a<think>hidden</think>b {SECRET} c <"
WANT = GUARD.scrub(TEXT)
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
ASK_R: dict[str, Any] = {"model": "m", "input": "hi"}
CHUNKS = [
    chunk({"role": "assistant", "content": ""}),
    *(chunk({"content": c}) for c in TEXT),
    chunk({}, "stop"),
]
USAGE = {**chunk({}), "choices": [], "usage": {"total_tokens": 3, "prompt_tokens": 1, "completion_tokens": 2}}
CHAT_BODY = sse([*CHUNKS, USAGE])
EVENTS = stream(list(TEXT))
RESPONSES_BODY = sse(EVENTS, done=False)


class Answer(pydantic.BaseModel):
    name: str
    secret: str
    n: int


JSON_TEXT = json.dumps({"name": "<think>open", "secret": SECRET, "n": 3})


def completion(content: str | None, finish: str = "stop", **more: Any) -> bytes:
    whole = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "logprobs": None,
                "message": {"role": "assistant", "content": content, **more},
            }
        ],
    }
    return json.dumps(whole).encode()


def cut(body: bytes, size: int = 7) -> list[bytes]:
    return [body[at : at + size] for at in range(0, len(body), size)]


def content(chunks: Any) -> str:
    return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)


def test_a_chat_stream() -> None:
    client = wrap(sync_client(cut(CHAT_BODY)), GUARD)
    assert isinstance(client, openai.OpenAI)
    with client.chat.completions.create(**ASK, stream=True) as answer:
        assert isinstance(answer, openai.Stream)
        assert answer.response.status_code == 200
        chunks = list(answer)
    assert content(chunks) == WANT
    assert chunks[-1].usage.total_tokens == 3
    assert answer.response.is_closed
    assert type(chunks[5]).__name__ == "ChatCompletionChunk"


@pytest.mark.asyncio
async def test_a_chat_stream_async() -> None:
    client = wrap(async_client(cut(CHAT_BODY)), GUARD)
    assert isinstance(client, openai.AsyncOpenAI)
    async with await client.chat.completions.create(**ASK, stream=True) as answer:
        assert isinstance(answer, openai.AsyncStream)
        chunks = [c async for c in answer]
    assert content(chunks) == WANT
    assert answer.response.is_closed


def test_a_stream_whose_first_event_tells_nothing() -> None:
    body = sse([{"type": "ping"}, *CHUNKS])
    raw = sync_client(body).post("/x", cast_to=object, body={}, stream=True, stream_cls=openai.Stream[object])
    shown = [event for event in guard_stream(raw, GUARD) if event.get("choices")]
    assert "".join(event["choices"][0]["delta"].get("content", "") for event in shown) == WANT


def test_a_stream_of_responses_whose_first_event_tells_nothing() -> None:
    place = {"item_id": "r1", "output_index": 0, "content_index": 0}
    thoughts = [event("reasoning_text.delta", **place, delta=text) for text in ("private ", "thought")]
    body = b"data: {}\n\n" + sse([*thoughts, *EVENTS], done=False)
    client = wrap(sync_client(body), GUARD, reasoning="drop")
    shown = [one.to_json() for one in client.responses.create(**ASK_R, stream=True)]
    assert not any("private" in one or "thought" in one for one in shown)


def test_helpers_of_a_client_that_is_not_wrapped() -> None:
    with sync_client(CHAT_BODY).chat.completions.stream(**ASK) as helper:
        events = list(guard_stream(helper, GUARD))
        assert [event.snapshot for event in events if event.type == "content.delta"][-1] == WANT
        assert helper.get_final_completion().choices[0].message.content == WANT
    with sync_client(RESPONSES_BODY).responses.stream(**ASK_R) as other:
        shown = list(guard_stream(other, GUARD))
    assert [event.snapshot for event in shown if event.type == "response.output_text.delta"][-1] == WANT


@pytest.mark.asyncio
async def test_helpers_of_a_client_that_is_not_wrapped_async() -> None:
    async with async_client(CHAT_BODY).chat.completions.stream(**ASK) as helper:
        events = [event async for event in guard_stream(helper, GUARD)]
    assert [event.snapshot for event in events if event.type == "content.delta"][-1] == WANT


def test_a_stream_that_is_left_early_is_closed() -> None:
    answer = wrap(sync_client(CHAT_BODY), GUARD).chat.completions.create(**ASK, stream=True)
    next(answer)
    answer.close()
    assert answer.response.is_closed
    assert list(answer) == []


@pytest.mark.asyncio
async def test_a_stream_that_is_left_early_is_closed_async() -> None:
    answer = await wrap(async_client(CHAT_BODY), GUARD).chat.completions.create(**ASK, stream=True)
    async for _ in answer:
        break
    await answer.close()
    assert answer.response.is_closed


def test_guard_stream_takes_the_sdks_stream() -> None:
    with guard_stream(sync_client(CHAT_BODY).chat.completions.create(**ASK, stream=True), GUARD) as answer:
        assert content(answer) == WANT
    assert answer.response.is_closed


def test_the_stream_helper_is_made_of_guarded_chunks() -> None:
    with wrap(sync_client(CHAT_BODY), GUARD).chat.completions.stream(**ASK) as helper:
        events = list(helper)
        final = helper.get_final_completion()
    assert final.choices[0].message.content == WANT
    assert [e.content for e in events if e.type == "content.done"] == [WANT]
    assert "".join(e.delta for e in events if e.type == "content.delta") == WANT
    assert SECRET not in repr(events)
    assert "hidden" not in repr(events)
    assert helper._response.is_closed


@pytest.mark.asyncio
async def test_the_stream_helper_is_made_of_guarded_chunks_async() -> None:
    async with wrap(async_client(CHAT_BODY), GUARD).chat.completions.stream(**ASK) as helper:
        async for event in helper:
            assert SECRET not in repr(event)
        final = await helper.get_final_completion()
    assert final.choices[0].message.content == WANT


def test_the_stream_helper_parses_what_is_guarded() -> None:
    body = sse(
        [
            chunk({"role": "assistant", "content": ""}),
            *(chunk({"content": c}) for c in JSON_TEXT),
            chunk({}, "stop"),
        ]
    )
    with wrap(sync_client(body), GUARD).chat.completions.stream(**ASK, response_format=Answer) as helper:
        events = list(helper)
        parsed = helper.get_final_completion().choices[0].message.parsed
    assert parsed.n == 3
    assert parsed.name == ""
    assert SECRET not in repr(events)


def test_tool_calls_through_the_stream_helper() -> None:
    text = json.dumps({"cmd": SECRET, "n": 1})
    calls = [
        chunk(
            {
                "tool_calls": [
                    {"index": 0, "id": "t", "type": "function", "function": {"name": "f", "arguments": ""}}
                ]
            }
        )
    ]
    calls += [chunk({"tool_calls": [{"index": 0, "function": {"arguments": c}}]}) for c in text]
    body = sse([chunk({"role": "assistant", "content": "ok <"}), *calls, chunk({}, "tool_calls")])
    with wrap(sync_client(body), GUARD).chat.completions.stream(**ASK) as helper:
        events = list(helper)
        final = helper.get_final_completion().choices[0].message
    assert final.content == "ok <"
    assert final.tool_calls[0].id == "t"
    assert json.loads(final.tool_calls[0].function.arguments)["n"] == 1
    assert SECRET not in repr(events)


def test_a_chat_completion_that_is_not_streamed() -> None:
    call = {"id": "t", "type": "function", "function": {"name": "f", "arguments": json.dumps({"k": SECRET})}}
    body = completion(TEXT, reasoning_content=SECRET, tool_calls=[call], refusal=None)
    answer = wrap(sync_client(body, "application/json"), GUARD).chat.completions.create(**ASK)
    assert isinstance(answer, openai.types.chat.ChatCompletion)
    assert answer.choices[0].message.content == WANT
    assert SECRET not in repr(answer)


@pytest.mark.asyncio
async def test_a_chat_completion_that_is_not_streamed_async() -> None:
    client = wrap(async_client(completion(TEXT), "application/json"), GUARD)
    answer = await client.chat.completions.create(**ASK)
    assert answer.choices[0].message.content == WANT


def test_parse() -> None:
    body = completion(JSON_TEXT)
    answer = wrap(sync_client(body, "application/json"), GUARD).chat.completions.parse(
        **ASK, response_format=Answer
    )
    message = answer.choices[0].message
    assert isinstance(message.parsed, Answer)
    assert message.parsed.n == 3
    assert message.parsed.model_dump() == json.loads(message.content)
    assert SECRET not in repr(answer)


@pytest.mark.asyncio
async def test_parse_async() -> None:
    client = wrap(async_client(completion(JSON_TEXT), "application/json"), GUARD)
    answer = await client.chat.completions.parse(**ASK, response_format=Answer)
    assert SECRET not in repr(answer)


def test_errors_of_parse_quote_nothing() -> None:
    cut_off = wrap(sync_client(completion(JSON_TEXT, "length"), "application/json"), GUARD)
    with pytest.raises(openai.LengthFinishReasonError) as length:
        cut_off.chat.completions.parse(**ASK, response_format=Answer)
    assert SECRET not in repr(length.value.completion)
    assert SECRET not in str(length.value)
    wrong = json.dumps({"name": 1, "secret": [SECRET], "n": SECRET})
    unfit = wrap(sync_client(completion(wrong), "application/json"), GUARD)
    with pytest.raises(pydantic.ValidationError) as invalid:
        unfit.chat.completions.parse(**ASK, response_format=Answer)
    assert SECRET not in str(invalid.value)
    assert SECRET not in repr(invalid.value.errors())
    assert invalid.value.__context__ is None
    assert invalid.value.__cause__ is None
    assert [line["loc"] for line in invalid.value.errors()] == [("name",), ("secret",), ("n",)]


def test_errors_of_the_api_pass() -> None:
    broken = sse([chunk({"content": "tail <"}), {"error": {"message": "overloaded"}}])
    shown: list[Any] = []
    answer = wrap(sync_client(broken), GUARD).chat.completions.create(**ASK, stream=True)
    with pytest.raises(openai.APIError, match="overloaded"):
        shown.extend(answer)
    assert content(shown) == "tail <"


def test_completions() -> None:
    def piece(text: str, finish: str | None = None) -> dict[str, Any]:
        return {
            "id": "c",
            "object": "text_completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "text": text, "finish_reason": finish, "logprobs": None}],
        }

    client = wrap(sync_client(sse([*map(piece, TEXT), piece("", "stop")])), GUARD)
    answer = client.completions.create(model="m", prompt="hi", stream=True)
    assert "".join(c.choices[0].text for c in answer) == WANT
    client = wrap(sync_client(json.dumps(piece(TEXT, "stop")).encode(), "application/json"), GUARD)
    assert client.completions.create(model="m", prompt="hi").choices[0].text == WANT


def test_a_responses_stream() -> None:
    answer = wrap(sync_client(cut(RESPONSES_BODY)), GUARD).responses.create(**ASK_R, stream=True)
    events = list(answer)
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == WANT
    assert events[-1].response.output_text == WANT
    assert SECRET not in repr(events)
    assert [e.sequence_number for e in events] == list(range(len(events)))


@pytest.mark.asyncio
async def test_a_responses_stream_async() -> None:
    answer = await wrap(async_client(cut(RESPONSES_BODY)), GUARD).responses.create(**ASK_R, stream=True)
    events = [event async for event in answer]
    assert events[-1].response.output_text == WANT
    assert SECRET not in repr(events)


def test_the_responses_stream_helper() -> None:
    with wrap(sync_client(RESPONSES_BODY), GUARD).responses.stream(**ASK_R) as helper:
        events = list(helper)
        final = helper.get_final_response()
    assert final.output_text == WANT
    assert [e.snapshot for e in events if e.type == "response.output_text.delta"][-1] == WANT
    assert SECRET not in repr(events)


@pytest.mark.asyncio
async def test_the_responses_stream_helper_async() -> None:
    async with wrap(async_client(RESPONSES_BODY), GUARD).responses.stream(**ASK_R) as helper:
        final = await helper.get_final_response()
    assert final.output_text == WANT


def test_a_response_that_is_not_streamed_and_one_that_is_parsed() -> None:
    body = json.dumps(response("completed", [message(TEXT)])).encode()
    answer = wrap(sync_client(body, "application/json"), GUARD).responses.create(**ASK_R)
    assert answer.output_text == WANT
    body = json.dumps(response("completed", [message(JSON_TEXT)])).encode()
    parsed = wrap(sync_client(body, "application/json"), GUARD).responses.parse(**ASK_R, text_format=Answer)
    assert parsed.output_parsed.n == 3
    assert SECRET not in repr(parsed)
    again = wrap(sync_client(body, "application/json"), GUARD).responses.retrieve("r1")
    assert SECRET not in repr(again)


@pytest.mark.parametrize("make", [sync_client, async_client])
def test_what_would_hand_out_bodies_refuses(make: Any) -> None:
    client = wrap(make(b""), GUARD)
    for owner in (client, client.chat, client.chat.completions, client.completions, client.responses):
        for name in ("with_raw_response", "with_streaming_response"):
            with pytest.raises(UnguardedAccessError, match=name):
                getattr(owner, name).create(**ASK)
    with pytest.raises(UnguardedAccessError):
        client.responses.connect(model="m")


def test_copies_keep_the_guard_and_the_client_is_not_changed() -> None:
    client = sync_client(CHAT_BODY)
    for guarded in (wrap(client, GUARD).with_options(timeout=3), wrap(client, GUARD).copy(max_retries=1)):
        assert isinstance(guarded, openai.OpenAI)
        with pytest.raises(UnguardedAccessError):
            guarded.chat.completions.with_raw_response.create(**ASK)
    assert (
        content(wrap(client, GUARD).with_options(timeout=3).chat.completions.create(**ASK, stream=True))
        == WANT
    )
    assert type(client) is openai.OpenAI
    assert content(sync_client(CHAT_BODY).chat.completions.create(**ASK, stream=True)) == TEXT


def test_everything_else_is_the_clients_own() -> None:
    listed = json.dumps(
        {"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "x"}]}
    )
    client = wrap(sync_client(listed.encode(), "application/json"), GUARD)
    assert [model.id for model in client.models.list()] == ["m"]
    assert client.api_key == "k"
    assert client.chat.completions is client.chat.completions
    assert type(client.chat.completions).__name__ == "Completions"


def test_findings_and_policies_reach_the_stream() -> None:
    found: list[Any] = []
    body = sse([chunk({"reasoning_content": "why"}), chunk({"content": f"{SECRET} "}), chunk({}, "stop")])
    client = wrap(sync_client(body), GUARD, reasoning="drop", on_finding=found.append)
    chunks = list(client.chat.completions.create(**ASK, stream=True))
    assert "why" not in repr(chunks)
    assert [finding.lane for finding in found] == [(0, "content")]
