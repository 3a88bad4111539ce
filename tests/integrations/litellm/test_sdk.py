"""LiteLLM's own functions against a provider on loopback, guarded by one changed line."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import litellm
import pytest
import streamguard_litellm
from litellm import google_genai
from litellm.types.utils import Delta, ModelResponse, ModelResponseStream, StreamingChoices
from streamguard_litellm import acompletion, aresponses, completion, guard_response, guard_stream, responses

from streamguard import End, Redactor, Rule, StreamBlocked

from .support import ASK, GUARD, Canary, content, frames, joined, plain
from .upstream import Script, Upstream

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("ignore"),  # LiteLLM and what it imports warn of a hundred things
]
FIELDS = ("content", "reasoning", "arguments", "annotation", "extra")


def ask(upstream: Upstream, script: Script, **more: Any) -> dict[str, Any]:
    prompt = [{"role": "user", "content": upstream.say(script)}]
    return {**ASK, "api_base": f"{upstream.url}/v1", "messages": prompt, **more}


def seen(canary: Canary, items: list[Any]) -> set[str]:
    return canary.seen_in(joined(map(plain, items)).values())


@pytest.mark.parametrize(("cut", "n"), [(1, 1), (4, 3), (1000, 1)])
async def test_a_chat_stream_shows_what_the_guard_lets_through(upstream: Upstream, cut: int, n: int) -> None:
    canary = Canary((cut, n))
    script = Script(**canary.script(*FIELDS), cut=cut, logprobs=True)
    unguarded = await litellm.acompletion(**ask(upstream, script, stream=True, n=n))
    assert seen(canary, [chunk async for chunk in unguarded])
    stream = await acompletion(**ask(upstream, script, stream=True, n=n), guard=GUARD)
    chunks = [chunk async for chunk in stream]
    assert not seen(canary, chunks)
    assert {type(chunk) for chunk in chunks} == {ModelResponseStream}
    for index in range(n):
        assert content(chunks, index) == GUARD.scrub(canary.text)
        assert content(chunks, index, "reasoning_content") == GUARD.scrub(canary.text)
        assert content(chunks, index, "a_note") == GUARD.scrub(canary.text)
        arguments = "".join(
            call["function"]["arguments"]
            for chunk in map(plain, chunks)
            for choice in chunk["choices"]
            for call in choice["delta"].get("tool_calls") or []
            if choice["index"] == index
        )
        assert json.loads(arguments)["note"] == GUARD.scrub(canary.text)
        assert json.loads(arguments)["n"] == 3


@pytest.mark.parametrize("stream", [True, False])
async def test_completion_is_guarded_synchronously(upstream: Upstream, stream: bool) -> None:
    canary = Canary(stream)
    answer = completion(**ask(upstream, Script(**canary.script(*FIELDS)), stream=stream), guard=GUARD)
    if not stream:
        assert isinstance(answer, ModelResponse)
        assert not seen(canary, [answer])
        assert answer.choices[0].message.content == GUARD.scrub(canary.text)
        assert answer._hidden_params["response_cost"] is not None
        return
    chunks = list(answer)
    assert not seen(canary, chunks)
    assert content(chunks) == GUARD.scrub(canary.text)


async def test_a_guarded_stream_passes_for_litellms(upstream: Upstream) -> None:
    canary = Canary("passes")
    asked = ask(upstream, Script(content=canary.text), stream=True, stream_options={"include_usage": True})
    stream = await acompletion(**asked, guard=GUARD)
    assert isinstance(stream, litellm.CustomStreamWrapper)
    chunks = [chunk async for chunk in stream]
    assert stream.chunks == chunks
    assert stream.model == "gpt-4o"
    assert stream.custom_llm_provider == "openai"
    assert stream._hidden_params["api_base"].startswith(upstream.url)
    assert canary.key not in stream.response_uptil_now
    assert all(chunk._hidden_params["custom_llm_provider"] == "openai" for chunk in chunks)
    assert chunks[-1].usage.total_tokens == 3
    whole = litellm.stream_chunk_builder(stream.chunks)
    assert whole.choices[0].message.content == GUARD.scrub(canary.text)
    assert whole.choices[0].finish_reason == "stop"
    assert whole.usage.total_tokens == 3
    assert litellm.completion_cost(whole) > 0
    with pytest.raises(AttributeError):
        _ = stream.completion_stream


async def test_chunks_of_litellm_are_not_changed(upstream: Upstream) -> None:
    canary = Canary("unchanged")
    raw = await litellm.acompletion(**ask(upstream, Script(content=canary.text), stream=True))
    async for _ in guard_stream(raw, GUARD):
        pass
    assert canary.key in content(raw.chunks)


async def test_what_a_router_returns(upstream: Upstream) -> None:
    canary = Canary("router")
    params = {**ASK, "api_base": f"{upstream.url}/v1"}
    router = litellm.Router(model_list=[{"model_name": "m", "litellm_params": params}])
    prompt = [{"role": "user", "content": upstream.say(Script(content=canary.text))}]
    stream = guard_stream(await router.acompletion(model="m", messages=prompt, stream=True), GUARD)
    assert content([chunk async for chunk in stream]) == GUARD.scrub(canary.text)
    whole = guard_stream(await router.acompletion(model="m", messages=prompt), GUARD)
    assert whole.choices[0].message.content == GUARD.scrub(canary.text)


@pytest.mark.parametrize("stream", [True, False])
async def test_completions_of_the_older_kind(upstream: Upstream, stream: bool) -> None:
    canary = Canary(("text", stream))
    asked = {
        **ASK,
        "model": "text-completion-openai/gpt-3.5-turbo-instruct",
        "api_base": f"{upstream.url}/v1",
    }
    prompt = upstream.say(Script(content=canary.text))
    answer = guard_stream(await litellm.atext_completion(**asked, prompt=prompt, stream=stream), GUARD)
    items = [item async for item in answer] if stream else [answer]
    assert content(items, name="text") == GUARD.scrub(canary.text)
    assert not seen(canary, items)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("call", [responses, aresponses])
async def test_responses(upstream: Upstream, stream: bool, call: Any) -> None:
    canary = Canary((stream, call.__name__))
    script = Script(**canary.script("content", "reasoning", "arguments", "annotation"))
    asked = {**ASK, "api_base": f"{upstream.url}/v1", "input": upstream.say(script), "stream": stream}
    answer = call(**asked, guard=GUARD)
    if call is aresponses:
        answer = await answer
    if not stream:
        assert not seen(canary, [answer])
        assert answer.output_text == GUARD.scrub(canary.text)
        return
    events = list(answer) if call is responses else [event async for event in answer]
    assert not seen(canary, events)
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == GUARD.scrub(canary.text)
    numbers = [event.sequence_number for event in events]
    assert numbers == list(range(len(numbers)))
    assert not seen(canary, [answer.completed_response])
    assert answer.completed_response.response.output_text == GUARD.scrub(canary.text)


@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-4-20250514", "openai/gpt-4o"])
@pytest.mark.parametrize("stream", [True, False])
async def test_messages(upstream: Upstream, stream: bool, model: str) -> None:
    canary = Canary((stream, model))
    script = Script(**canary.script("content", "reasoning", "arguments"))
    base = upstream.url if model.startswith("anthropic") else f"{upstream.url}/v1"
    asked = ask(upstream, script, model=model, api_base=base, max_tokens=9, stream=stream)
    answer = guard_stream(await litellm.anthropic_messages(**asked), GUARD)
    if not stream:
        assert not canary.seen_in(joined([answer]).values())
        assert [b["text"] for b in answer["content"] if b["type"] == "text"] == [GUARD.scrub(canary.text)]
        return
    raw = b"".join([item async for item in answer])
    events = frames(raw)
    assert not canary.seen_in([raw.decode(), *joined(events).values()])
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert "".join(delta.get("text", "") for delta in deltas) == GUARD.scrub(canary.text)
    assert json.loads("".join(delta.get("partial_json", "") for delta in deltas))["n"] == 3
    assert events[-1] == {"type": "message_stop"}


@pytest.mark.parametrize("stream", [True, False])
async def test_generated_content(upstream: Upstream, stream: bool) -> None:
    canary = Canary(("google", stream))
    script = Script(**canary.script("content", "reasoning", "arguments"))
    asked: dict[str, Any] = {
        "model": "gemini/gemini-2.0-flash",
        "api_base": upstream.url,
        "api_key": "k",
        "contents": [{"role": "user", "parts": [{"text": upstream.say(script)}]}],
    }
    if not stream:
        answer = guard_stream(await google_genai.agenerate_content(**asked), GUARD)
        assert not canary.seen_in(joined([plain(answer)]).values())
        return
    answer = guard_stream(await google_genai.agenerate_content_stream(**asked), GUARD)
    events = frames(b"".join([item async for item in answer]))
    assert not canary.seen_in(joined(events).values())
    parts = [part for event in events for part in event["candidates"][0]["content"]["parts"]]
    texts = [part.get("text", "") for part in parts if not part.get("thought")]
    assert "".join(texts) == GUARD.scrub(canary.text)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("changed", [True, False])
async def test_signed_thinking_in_a_chat(upstream: Upstream, stream: bool, changed: bool) -> None:
    canary = Canary((stream, changed))
    thought = canary.text if changed else "It is plain. 1 <"
    asked = ask(
        upstream,
        Script(content="Yes.", reasoning=thought),
        model="anthropic/claude-sonnet-4-20250514",
        api_base=upstream.url,
        stream=stream,
    )
    answer = await acompletion(**asked, guard=GUARD)
    items = [chunk async for chunk in answer] if stream else [answer]
    assert not seen(canary, items)
    assert not canary.seen_in(str(item._hidden_params) for item in items)
    choices = [choice for item in map(plain, items) for choice in item["choices"]]
    parts = [choice.get("delta") or choice.get("message") or {} for choice in choices]
    outer = [part["provider_specific_fields"] for part in parts if "provider_specific_fields" in part]
    for holders in (parts, outer):
        blocks = [block for holder in holders for block in holder.get("thinking_blocks") or []]
        assert "".join(block["thinking"] for block in blocks) == GUARD.scrub(thought)
        assert [bool(block.get("signature")) for block in blocks][-1] is not changed
    assert "".join(part.get("reasoning_content") or "" for part in parts) == GUARD.scrub(thought)


async def test_content_asked_for_as_json_stays_json(upstream: Upstream) -> None:
    canary = Canary("json")
    asked = ask(
        upstream, Script(content=canary.arguments), stream=True, response_format={"type": "json_object"}
    )
    chunks = [chunk async for chunk in await acompletion(**asked, guard=GUARD)]
    assert json.loads(content(chunks))["note"] == GUARD.scrub(canary.text)


async def test_policies_of_reasoning_and_tools(upstream: Upstream) -> None:
    canary = Canary("policies")
    asked = ask(upstream, Script(**canary.script("content", "reasoning", "arguments")), stream=True)
    dropping = await acompletion(**asked, guard=GUARD, reasoning="drop", tool_args="keep")
    chunks = [chunk async for chunk in dropping]
    assert content(chunks, name="reasoning_content") == ""
    calls = [plain(c)["choices"][0]["delta"].get("tool_calls") for c in chunks]
    assert "".join(c[0]["function"]["arguments"] for c in calls if c) == canary.arguments
    with pytest.raises(ValueError, match="reasoning is one of"):
        await acompletion(**asked, guard=GUARD, reasoning="hide")  # type: ignore[arg-type]


async def test_findings_say_their_lane(upstream: Upstream) -> None:
    found: list[Any] = []
    canary = Canary("findings")
    asked = ask(upstream, Script(content=canary.text), stream=True)
    async for _ in await acompletion(**asked, guard=GUARD, on_finding=found.append):
        pass
    assert [(finding.lane, finding.action) for finding in found] == [
        ((0, "content"), "hidden"),
        ((0, "content"), "redacted"),
    ]


async def test_a_stream_that_breaks_off_shows_no_half_of_a_secret(upstream: Upstream) -> None:
    canary = Canary("dies")
    script = Script(content="Said. " + canary.key[:14], end="die", cut=2)
    stream = await acompletion(**ask(upstream, script, stream=True, num_retries=0), guard=GUARD)
    chunks: list[Any] = []
    with pytest.raises(litellm.exceptions.MidStreamFallbackError) as caught:
        await take(stream, chunks)
    assert content(chunks) == "Said. "
    assert canary.key[:14] not in caught.value.generated_content
    assert canary.key[:14] not in str(caught.value)


@pytest.mark.parametrize("end", ["no_reason", "usage_only", "length"])
async def test_odd_ends(upstream: Upstream, end: str) -> None:
    canary = Canary(end)
    stream = await acompletion(
        **ask(upstream, Script(content=canary.text, end=end), stream=True), guard=GUARD
    )
    chunks = [chunk async for chunk in stream]
    ended = End.COMPLETE if end == "usage_only" else End.TRUNCATED
    assert content(chunks) == GUARD.scrub(canary.text, end=ended)
    assert [c.choices[0].finish_reason for c in chunks if c.choices and c.choices[0].finish_reason]


@pytest.mark.parametrize("way", ["chat", "usage", "synchronous", "router"])
async def test_without_a_finish_reason_of_the_provider_a_text_has_broken_off(
    upstream: Upstream, way: str
) -> None:
    """LiteLLM makes up a `stop`: what could have become a secret must not come out for that."""
    canary = Canary(("no reason", way))
    script = Script(content="Said, " + canary.key[:14], end="no_reason")
    asked = ask(upstream, script, stream=True)
    if way == "usage":
        asked |= {"stream_options": {"include_usage": True}}
    if way == "synchronous":
        chunks = list(completion(**asked, guard=GUARD))
    elif way == "router":
        params = {**ASK, "api_base": asked["api_base"]}
        router = litellm.Router(model_list=[{"model_name": "m", "litellm_params": params}])
        stream = await router.acompletion(model="m", messages=asked["messages"], stream=True)
        chunks = [chunk async for chunk in guard_stream(stream, GUARD)]
    else:
        chunks = [chunk async for chunk in await acompletion(**asked, guard=GUARD)]
    assert content(chunks) == "Said, "
    assert any(chunk.choices[0].finish_reason == "stop" for chunk in chunks)
    assert way != "usage" or chunks[-1].usage.total_tokens


async def test_a_stray_piece_of_bytes_is_guarded() -> None:
    canary = Canary("stray")

    async def items() -> AsyncIterator[Any]:
        yield chunk("a ")
        yield b'data: {"choices": [{"index": 0, "delta": {"content": "' + canary.key[:30].encode()
        yield canary.key[30:].encode() + b'"}}]}\n\nnothing that can be read\n\n'
        yield chunk(" b", "stop")

    shown = [item async for item in guard_stream(items(), GUARD)]
    raw = [item for item in shown if isinstance(item, bytes)]
    assert raw  # frames, which LiteLLM's proxy writes as they are
    assert all(item.startswith((b"data: ", b": ping")) and item.endswith(b"\n\n") for item in raw)
    whole = [
        event for item in shown for event in (frames(item) if isinstance(item, bytes) else [plain(item)])
    ]
    assert content(whole) == GUARD.scrub(f"a {canary.key} b")
    assert "nothing" not in str(shown)


async def test_a_stream_of_nothing() -> None:
    async def nothing() -> AsyncIterator[Any]:
        return
        yield

    assert [item async for item in guard_stream(nothing(), GUARD)] == []


async def test_a_stream_that_is_left_early_is_closed(upstream: Upstream) -> None:
    raw = await litellm.acompletion(**ask(upstream, Script(content="Some words. " * 9), stream=True))
    async with guard_stream(raw, GUARD) as stream:
        await anext(stream)
    assert raw._closed
    assert [chunk async for chunk in stream] == []
    raw = litellm.completion(**ask(upstream, Script(content="Some words. " * 9), stream=True))
    with guard_stream(raw, GUARD) as stream:
        next(stream)
    assert raw._closed


async def test_a_rule_that_blocks_raises(upstream: Upstream) -> None:
    guard = Redactor(rules=[Rule("word", "forbidden")], actions={"word": "block"})
    script = Script(content="This is forbidden here.")
    stream = await acompletion(**ask(upstream, script, stream=True), guard=guard)
    chunks: list[Any] = []
    with pytest.raises(StreamBlocked):
        await take(stream, chunks)
    assert content(chunks) == "This is "
    with pytest.raises(StreamBlocked):
        await acompletion(**ask(upstream, script), guard=guard)


async def test_clean_text_is_shown_at_once() -> None:
    """The time to the first token is that of LiteLLM: no chunk of plain words waits for another."""
    words = ["The", "quick", "brown", "fox", "goes", "to", "sleep", "now", ".", ""]

    async def items() -> AsyncIterator[Any]:
        for number, word in enumerate(words):
            taken.append(number)
            yield chunk(word + " ")

    taken: list[int] = []
    shown = 0
    async for item in guard_stream(items(), GUARD):
        assert item.choices[0].delta.content
        shown += 1
        if shown == 1:
            assert taken == [0]
    assert shown == len(words)


def test_what_is_not_text_is_left() -> None:
    vectors = litellm.EmbeddingResponse(data=[{"embedding": [0.1] * 4, "index": 0, "object": "embedding"}])
    assert guard_response(vectors, GUARD) is vectors
    assert guard_response(None, GUARD) is None


def test_names_are_public() -> None:
    assert all(hasattr(streamguard_litellm, name) for name in streamguard_litellm.__all__)
    with pytest.raises(AttributeError):
        _ = streamguard_litellm.nothing


def chunk(text: str, finish: str | None = None) -> ModelResponseStream:
    choice = StreamingChoices(index=0, delta=Delta(content=text), finish_reason=finish)
    return ModelResponseStream(id="c1", model="m", choices=[choice])


async def take(stream: Any, into: list[Any]) -> None:
    async for item in stream:
        into.append(item)


@pytest.mark.parametrize("whole", [True, False])
def test_a_message_asked_for_as_json_stays_json(whole: bool) -> None:
    text = '{"a": 1, "b": "the <think> tag"}'
    if whole:
        message = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": text}]}
        shown = guard_response(message, GUARD, json_content=True)["content"][0]["text"]
    else:
        start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        events = [
            start,
            *(
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "text_delta", "text": text[at : at + 3]},
                }
                for at in range(0, len(text), 3)
            ),
            {"type": "content_block_stop", "index": 0},
        ]
        said = guard_stream(iter(events), GUARD, json_content=True)
        shown = "".join(event.get("delta", {}).get("text", "") for event in said)
    assert json.loads(shown)["a"] == 1
