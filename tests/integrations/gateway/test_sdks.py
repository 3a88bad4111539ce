"""The providers' own Python clients, synchronous and not, with the gateway as their base URL."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from .streams import anthropic_message, anthropic_stream, responses_stream, responses_whole
from .support import CANARY, HIDDEN, SSE, Hangup, Out, Seen, Setup, chat, completion, recordings, setup

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

TEXT = f"The key: {CANARY}, {HIDDEN}and more"
SHOWN = "The key: [REDACTED:canary:e6b0d319], and more"
ASK: Any = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
RESPOND: Any = {"model": "m", "input": "hi"}
MESSAGE: Any = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "hi"}]}

STREAMED = {"chat": chat, "responses": responses_stream, "messages": anthropic_stream}
WHOLE: dict[str, Any] = {
    "chat": lambda text: json.loads(completion(text)),
    "responses": responses_whole,
    "messages": anthropic_message,
}


async def api(seen: Seen, out: Out) -> None:
    """Answers as the real ones do, in pieces that end nowhere."""
    asked = json.loads(seen.body)
    kind = next(name for name in STREAMED if name in seen.target)
    if asked.get("stream"):
        body = STREAMED[kind](TEXT)
        await out.stream([body[at : at + 37] for at in range(0, len(body), 37)])
    else:
        await out.whole(json.dumps(WHOLE[kind](TEXT)).encode())


@pytest.fixture(scope="module")
def gateway() -> Iterator[Setup]:
    with setup(api) as made:
        yield made


@pytest.fixture(autouse=True)
def _answering(gateway: Setup) -> None:
    gateway.upstream.answer = api


@pytest.fixture(scope="module")
def sync_openai(gateway: Setup) -> Iterator[Any]:
    with openai.OpenAI(api_key="k", base_url=gateway.url + "/v1", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def sync_anthropic(gateway: Setup) -> Iterator[Any]:
    with anthropic.Anthropic(api_key="k", base_url=gateway.url, max_retries=0) as client:
        yield client


def text_of_chat(chunks: list[Any]) -> str:
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


def test_openai_chat(sync_openai: Any, gateway: Setup) -> None:
    create = sync_openai.chat.completions.create
    assert create(**ASK).choices[0].message.content == SHOWN
    chunks = list(create(**ASK, stream=True))
    assert text_of_chat(chunks) == SHOWN
    assert [choice.finish_reason for choice in chunks[-1].choices] == ["stop"]
    assert gateway.upstream.seen[-1].all("authorization") == ["Bearer k"]
    with sync_openai.chat.completions.stream(**ASK) as stream:
        assert stream.get_final_completion().choices[0].message.content == SHOWN


def test_openai_responses(sync_openai: Any) -> None:
    assert sync_openai.responses.create(**RESPOND).output_text == SHOWN
    events = list(sync_openai.responses.create(**RESPOND, stream=True))
    said = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert said == events[-1].response.output_text == SHOWN
    assert [event.sequence_number for event in events] == list(range(len(events)))
    with sync_openai.responses.stream(**RESPOND) as stream:
        assert stream.get_final_response().output_text == SHOWN


def test_anthropic_messages(sync_anthropic: Any, gateway: Setup) -> None:
    assert sync_anthropic.messages.create(**MESSAGE).content[0].text == SHOWN
    assert gateway.upstream.seen[-1].all("anthropic-version")
    events = list(sync_anthropic.messages.create(**MESSAGE, stream=True))
    said = "".join(event.delta.text for event in events if event.type == "content_block_delta")
    assert said == SHOWN
    with sync_anthropic.messages.stream(**MESSAGE) as stream:
        assert "".join(stream.text_stream) == SHOWN
        assert stream.get_final_message().content[0].text == SHOWN


@pytest.mark.asyncio
async def test_openai_asynchronously(gateway: Setup) -> None:
    async with openai.AsyncOpenAI(api_key="k", base_url=gateway.url + "/v1", max_retries=0) as client:
        assert (await client.chat.completions.create(**ASK)).choices[0].message.content == SHOWN
        chunks = [chunk async for chunk in await client.chat.completions.create(**ASK, stream=True)]
        assert text_of_chat(chunks) == SHOWN
        assert (await client.responses.create(**RESPOND)).output_text == SHOWN
        async with client.responses.stream(**RESPOND) as stream:
            assert (await stream.get_final_response()).output_text == SHOWN


@pytest.mark.asyncio
async def test_anthropic_asynchronously(gateway: Setup) -> None:
    async with anthropic.AsyncAnthropic(api_key="k", base_url=gateway.url, max_retries=0) as client:
        assert (await client.messages.create(**MESSAGE)).content[0].text == SHOWN
        async with client.messages.stream(**MESSAGE) as stream:
            assert "".join([text async for text in stream.text_stream]) == SHOWN
        events = [event async for event in await client.messages.create(**MESSAGE, stream=True)]
        assert events[-1].type == "message_stop"


async def cut(seen: Seen, out: Out) -> None:
    kind = next(name for name in STREAMED if name in seen.target)
    body = STREAMED[kind](TEXT)
    await out.head(200, SSE)
    await out.chunk(body[: body.rindex(b"and ")])
    raise Hangup


def test_a_stream_that_was_cut_is_an_error_to_every_client(
    sync_openai: Any, sync_anthropic: Any, gateway: Setup
) -> None:
    gateway.upstream.answer = cut
    shown: list[Any] = []
    with pytest.raises(openai.APIError):
        shown.extend(sync_openai.chat.completions.create(**ASK, stream=True))
    with pytest.raises(anthropic.APIError):
        shown.extend(sync_anthropic.messages.create(**MESSAGE, stream=True))
    events = list(sync_openai.responses.create(**RESPOND, stream=True))
    assert events[-1].type == "response.failed"
    assert not any("ZQ" in event.model_dump_json() for event in (*shown, *events))


def test_errors_and_request_ids_of_the_upstream_reach_the_client(
    sync_openai: Any, sync_anthropic: Any, gateway: Setup
) -> None:
    async def limited(seen: Seen, out: Out) -> None:
        error = {"type": "error", "error": {"type": "rate_limit_error", "message": f"slow down {CANARY}"}}
        headers = [("content-type", "application/json"), ("x-request-id", "r1"), ("request-id", "r1")]
        await out.whole(json.dumps(error).encode(), 429, headers)

    gateway.upstream.answer = limited
    with pytest.raises(openai.RateLimitError) as told:
        sync_openai.chat.completions.create(**ASK)
    assert told.value.request_id == "r1"
    assert "slow down [REDACTED:canary:e6b0d319]" in str(told.value)
    with pytest.raises(anthropic.RateLimitError) as told:
        sync_anthropic.messages.create(**MESSAGE)
    assert told.value.request_id == "r1"
    assert CANARY not in str(told.value)


def test_a_client_does_not_try_again_what_is_refused(gateway: Setup) -> None:
    async def audio(seen: Seen, out: Out) -> None:
        await out.whole(b"RIFF", headers=[("content-type", "audio/wav")])

    gateway.upstream.answer = audio
    before = len(gateway.upstream.seen)
    with (
        openai.OpenAI(api_key="k", base_url=gateway.url + "/v1", max_retries=3) as client,
        pytest.raises(openai.InternalServerError, match="without a guard"),
    ):
        client.chat.completions.create(**ASK)
    assert len(gateway.upstream.seen) == before + 1


def replayed(client: Any, protocol: str) -> list[Any]:
    """The events of a recording, or the error the client makes of it."""
    shown: list[Any] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pydantic, for providers that are not quite what they copy
            if protocol == "openai-chat":
                shown.extend(client.chat.completions.create(**ASK, stream=True))
            elif protocol == "openai-responses":
                shown.extend(client.responses.create(**RESPOND, stream=True))
            else:
                shown.extend(client.messages.create(**MESSAGE, stream=True))
            return [event.model_dump(warnings=False) for event in shown]
    except (openai.APIError, anthropic.APIError) as error:
        return [*(event.model_dump(warnings=False) for event in shown), str(error)]


@pytest.mark.parametrize("protocol", ["openai-chat", "openai-responses", "anthropic"])
def test_a_client_reads_every_recording_as_without_the_gateway(gateway: Setup, protocol: str) -> None:
    made = anthropic.Anthropic if protocol == "anthropic" else openai.OpenAI
    prefix = "" if protocol == "anthropic" else "/v1"
    found = recordings(protocol)
    if not found:
        pytest.skip("the data is not here")
    with (
        made(api_key="k", base_url=gateway.url + prefix, max_retries=0) as behind,
        made(api_key="k", base_url=gateway.upstream.url + prefix, max_retries=0) as direct,
    ):
        for name, body in found:

            async def answer(seen: Seen, out: Out, body: bytes = body) -> None:
                await out.stream([body[at : at + 1000] for at in range(0, len(body), 1000)])

            gateway.upstream.answer = answer
            assert lanes(replayed(behind, protocol)) == lanes(replayed(direct, protocol)), name


def words(value: Any) -> str:
    """The texts of a content, which Mistral gives as a list of parts."""
    if isinstance(value, list):
        return "".join(words(part.get("text") or part.get("thinking")) for part in value)
    return value or ""


def lanes(events: list[Any]) -> Any:
    """What was said, and everything else that is not cut in pieces."""
    said: dict[Any, str] = {}
    rest: list[Any] = []
    for event in events:
        if not isinstance(event, dict):
            rest.append(event)
        elif event.get("choices"):
            for choice in event["choices"]:
                for name in ("content", "reasoning_content", "refusal"):
                    key = (choice["index"], name)
                    said[key] = said.get(key, "") + words(choice["delta"].get(name))
                rest.append(choice.get("finish_reason"))
        elif isinstance(event.get("delta"), str):
            key = (event["type"], event.get("item_id"))
            said[key] = said.get(key, "") + event["delta"]
        elif event.get("type") == "content_block_delta":
            for name, value in event["delta"].items():
                key = (event["index"], name)
                said[key] = said.get(key, "") + str(value)
        else:
            rest.append({**event, "sequence_number": None})
    return said, [item for item in rest if item is not None]
