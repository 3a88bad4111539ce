"""What a guard costs beside the SDKs' own work: a stream read through each, bare and guarded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any

import pytest
import streamguard_anthropic
import streamguard_google
import streamguard_openai

from streamguard import FenceScrubber, Pipeline, Redactor, Transformer

from ..integrations.litellm.upstream import Script, Upstream  # noqa: TID252 - the server of the tests
from .report import Report
from .rounds import Turn, interleave
from .texts import chunks, prose

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")
genai = pytest.importorskip("google.genai")
httpx = pytest.importorskip("httpx2")  # what the three are built on

pytestmark = [pytest.mark.bench, pytest.mark.filterwarnings("ignore")]
ROUNDS = 9
GUARDS: dict[str, Transformer] = {
    "nothing": Pipeline(),
    "the guard": FenceScrubber("memory-context", "think") | Redactor(),
}
TEXT = prose(8_000)
PIECES = chunks(TEXT, 4)
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": {}}
RESPONSE = {"id": "r", "object": "response", "model": "m", "output": [], "status": "in_progress"}


def chat() -> Iterator[dict[str, Any]]:
    common = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    for piece in PIECES:
        choice = {"index": 0, "delta": {"content": piece}, "logprobs": None, "finish_reason": None}
        yield {**common, "system_fingerprint": "fp", "choices": [choice]}
    yield {**common, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def responses() -> Iterator[dict[str, Any]]:
    yield {"type": "response.created", "response": RESPONSE, "sequence_number": 0}
    place = {"item_id": "i", "output_index": 0, "content_index": 0, "logprobs": []}
    for number, piece in enumerate(PIECES):
        yield {"type": "response.output_text.delta", **place, "delta": piece, "sequence_number": number}


def messages() -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": MESSAGE}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    for piece in PIECES:
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def contents() -> Iterator[dict[str, Any]]:
    for piece in PIECES:
        content = {"role": "model", "parts": [{"text": piece}]}
        yield {"candidates": [{"content": content, "index": 0}], "modelVersion": "m", "responseId": "r"}


def body_of(events: Iterator[dict[str, Any]]) -> list[bytes]:
    """The events as they come over the wire, one a read."""
    return [
        (f"event: {event['type']}\n" if "type" in event else "").encode()
        + f"data: {json.dumps(event)}\n\n".encode()
        for event in events
    ]


def transport(body: list[bytes]) -> Any:
    def answer(request: Any) -> Any:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=iter(body))

    return httpx.Client(transport=httpx.MockTransport(answer))


def of_openai(wrap: Callable[[Any], Any], body: list[bytes], *, chatting: bool) -> Callable[[], Any]:
    client = wrap(openai.OpenAI(api_key="k", base_url="http://x/v1", http_client=transport(body)))
    if chatting:
        return lambda: client.chat.completions.create(model="m", messages=[], stream=True)
    return lambda: client.responses.create(model="m", input="hi", stream=True)


def of_anthropic(wrap: Callable[[Any], Any], body: list[bytes]) -> Callable[[], Any]:
    client = wrap(anthropic.Anthropic(api_key="k", base_url="http://x", http_client=transport(body)))
    return lambda: client.messages.create(model="m", max_tokens=1, messages=[], stream=True)


def of_google(wrap: Callable[[Any], Any], body: list[bytes]) -> Callable[[], Any]:
    options = genai.types.HttpOptions(base_url="http://x", httpx_client=transport(body))
    client = wrap(genai.Client(api_key="k", http_options=options))
    return lambda: client.models.generate_content_stream(model="m", contents="hi")


def reading(make: Callable[[], Any]) -> Turn:
    """Time the iteration over a stream, in processor time."""

    def turn() -> float:
        stream = make()
        start = process_time()
        for _ in stream:
            pass
        return process_time() - start

    return turn


def clients(name: str) -> dict[str, Turn]:
    """One SDK, bare and with each guard."""
    module, of = {
        "openai, chat": (streamguard_openai, partial(of_openai, body=body_of(chat()), chatting=True)),
        "openai, responses": (
            streamguard_openai,
            partial(of_openai, body=body_of(responses()), chatting=False),
        ),
        "anthropic, messages": (streamguard_anthropic, partial(of_anthropic, body=body_of(messages()))),
        "google-genai": (streamguard_google, partial(of_google, body=body_of(contents()))),
    }[name]
    wraps = {label: partial(guarded, module, guard) for label, guard in GUARDS.items()}
    return {label: reading(of(wrap)) for label, wrap in {"bare": bare, **wraps}.items()}


def bare(client: Any) -> Any:
    return client


def guarded(module: Any, guard: Transformer, client: Any) -> Any:
    return module.wrap(client, guard)


@pytest.mark.parametrize("name", ["openai, chat", "openai, responses", "anthropic, messages", "google-genai"])
def test_a_chunk_of_an_sdk(report: Report, name: str) -> None:
    times = {key: best / len(PIECES) * 1e6 for key, best in interleave(clients(name), ROUNDS).items()}
    alone = times["bare"]
    share = times["the guard"] / alone - 1
    report.table(
        "Microseconds a chunk of the SDKs, four characters a chunk",
        "SDK",
        "itself",
        "an empty pipeline adds",
        "the guard adds",
        "share",
    ).append(
        (
            name,
            f"{alone:.0f}",
            f"{times['nothing'] - alone:.1f}",
            f"{times['the guard'] - alone:.1f}",
            f"{share:.1%}",
        )
    )
    report.target(f"{name}: what the guard adds to the SDK, in percent", 100 * share, most=5)


def test_a_chunk_from_a_socket(report: Report) -> None:
    """What the openai SDK spends on chunks that come over HTTP one by one, and the guard beside."""
    in_memory = clients("openai, chat")
    with Upstream() as upstream:
        client = openai.OpenAI(api_key="k", base_url=f"{upstream.url}/v1")
        prompt: Any = [{"role": "user", "content": upstream.say(Script(content=TEXT, cut=4, pause=0.0005))}]

        def turn() -> float:
            stream = client.chat.completions.create(model="m", messages=prompt, stream=True)
            start = process_time() - upstream.processor_time()
            for _ in stream:
                pass
            return process_time() - upstream.processor_time() - start

        turns = {"socket": turn, "bare": in_memory["bare"], "guarded": in_memory["the guard"]}
        times = {key: best / len(PIECES) * 1e6 for key, best in interleave(turns, ROUNDS).items()}
        client.close()
    added = times["guarded"] - times["bare"]
    report.note(f"openai, chat, over HTTP on loopback: {times['socket']:.0f} us a chunk itself.")
    report.target(
        "openai, chat over HTTP: what the guard adds, in percent", 100 * added / times["socket"], most=5
    )
