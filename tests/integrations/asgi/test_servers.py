"""Real clients of a real server on loopback, with the middleware around its application."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from streamguard_asgi import JSON_TYPES, StreamGuardMiddleware

from streamguard import FenceScrubber, Redactor, Transformer
from streamguard.redact import Rule

from .bodies import GUARD, PLANTED, TRACES, events, planted, recordings, texts, with_events

KEY = "ZQ" + "KEY" * 3
REDACTED = Redactor((Rule("key", "ZQ[KEY]{9}"),))
BLOCKING = Redactor((Rule("key", "ZQ[KEY]{9}"),), actions={"key": "block"})
SHOWN = REDACTED.scrub(KEY)
TIMEOUT = 30.0


class Application:
    """Sends what a test has laid down, in pieces, and notes what becomes of its streams."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.guard: Transformer = REDACTED
        self.content_type = "text/event-stream"
        self.endless = False
        self.closed = threading.Event()
        self.url = ""
        middleware = [Middleware(StreamGuardMiddleware, guard=lambda scope: self.guard, types=JSON_TYPES)]
        routes = [
            Route("/own/{number:int}", self.own),
            Route("/{path:path}", self.replay, methods=["GET", "POST"]),
        ]
        self.app = Starlette(routes=routes, middleware=middleware)

    async def replay(self, request: Request) -> Response:
        return StreamingResponse(self._stream(), media_type=self.content_type)

    async def _stream(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
            await asyncio.sleep(0)
        if self.endless:
            try:
                await asyncio.Event().wait()
            finally:
                self.closed.set()

    async def own(self, request: Request) -> Response:
        """A stream with a secret and a hidden block of its own."""
        number: int = request.path_params["number"]
        text = f"<think>hidden{number}</think>n{number} {KEY} <thi"

        async def stream() -> AsyncIterator[str]:
            for place in range(0, len(text), 3):
                yield f"data: {text[place : place + 3]}\n\n"
                await asyncio.sleep(0)

        return StreamingResponse(stream(), media_type="text/event-stream")


@pytest.fixture(scope="module")
def _served() -> Iterator[Application]:
    application = Application()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        application.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(application.app, log_level="critical", lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        with httpx.Client(transport=httpx.HTTPTransport(retries=5)) as client:
            client.get(application.url, timeout=TIMEOUT)
        yield application
        server.should_exit = True
        thread.join(TIMEOUT)
        assert not thread.is_alive()


@pytest.fixture
def served(_served: Application) -> Application:
    _served.pieces, _served.endless = [], False
    _served.guard, _served.content_type = REDACTED, "text/event-stream"
    _served.closed.clear()
    return _served


def cut(body: bytes, size: int = 61) -> list[bytes]:
    return [body[place : place + size] for place in range(0, len(body), size)]


def sse(*given: Any, named: bool = False) -> bytes:
    heads = [f"event: {event['type']}\n" if named else "" for event in given]
    return "".join(
        f"{head}data: {json.dumps(event)}\n\n" for head, event in zip(heads, given, strict=True)
    ).encode()


def chat(text: str, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


CHAT = sse(chat("a " + KEY[:4]), chat(KEY[4:]), chat(" <thi"), chat("", "stop")) + b"data: [DONE]\n\n"
MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


def message(*pieces: str) -> bytes:
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
        for piece in pieces
    ]
    return sse(
        {"type": "message_start", "message": MESSAGE},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *deltas,
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 3},
        },
        {"type": "message_stop"},
        named=True,
    )


def response(*pieces: str, ends: bool = True) -> bytes:
    base = {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "in_progress",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    text = "".join(pieces)
    place = {"output_index": 0, "content_index": 0, "item_id": "i"}
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"id": "i", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    given: list[dict[str, Any]] = [
        {"type": "response.created", "response": base},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        *({"type": "response.output_text.delta", **place, "delta": piece} for piece in pieces),
        {"type": "response.output_text.done", **place, "text": text},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**base, "status": "completed", "output": [item]}},
    ]
    numbered = [{**event, "sequence_number": number} for number, event in enumerate(given)]
    return sse(*numbered, named=True)


def openai_client(served: Application, kind: str = "OpenAI") -> Any:
    openai = pytest.importorskip("openai")
    return getattr(openai, kind)(base_url=served.url, api_key="k", max_retries=0, timeout=TIMEOUT)


def anthropic_client(served: Application, kind: str = "Anthropic") -> Any:
    anthropic = pytest.importorskip("anthropic")
    return getattr(anthropic, kind)(base_url=served.url, api_key="k", max_retries=0, timeout=TIMEOUT)


PROMPT: Any = [{"role": "user", "content": "?"}]


# SDKs


@pytest.mark.parametrize("size", [1, 61, 10_000])
def test_a_chat_of_the_openai_sdk(served: Application, size: int) -> None:
    served.pieces = cut(CHAT, size)
    with openai_client(served) as client:
        chunks = list(client.chat.completions.create(model="m", messages=PROMPT, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == f"a {SHOWN} <thi"
    assert chunks[-1].choices[0].finish_reason == "stop"


async def _async_chat(served: Application) -> str:
    async with openai_client(served, "AsyncOpenAI") as client:
        stream = await client.chat.completions.create(model="m", messages=PROMPT, stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])


def test_a_chat_of_the_asynchronous_openai_sdk(served: Application) -> None:
    served.pieces = cut(CHAT)
    assert asyncio.run(_async_chat(served)) == f"a {SHOWN} <thi"


def test_a_response_of_the_openai_sdk(served: Application) -> None:
    served.pieces = cut(response("a " + KEY[:4], KEY[4:], " <thi"))
    with openai_client(served) as client, client.responses.stream(model="m", input="?") as stream:
        shown = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        final = stream.get_final_response()
    assert shown == final.output_text == f"a {SHOWN} <thi"


def test_a_message_of_the_anthropic_sdk(served: Application) -> None:
    served.pieces = cut(message("a " + KEY[:4], KEY[4:], " <thi"))
    with anthropic_client(served) as client:
        given = client.messages.stream(model="m", max_tokens=9, messages=PROMPT)
        with given as stream:
            assert "".join(stream.text_stream) == f"a {SHOWN} <thi"
            final = stream.get_final_message()
    assert final.content[0].text == f"a {SHOWN} <thi"
    assert final.stop_reason == "end_turn"


async def _async_message(served: Application) -> str:
    async with anthropic_client(served, "AsyncAnthropic") as client:
        stream = await client.messages.create(model="m", max_tokens=9, messages=PROMPT, stream=True)
        return "".join([event.delta.text async for event in stream if event.type == "content_block_delta"])


def test_a_message_of_the_asynchronous_anthropic_sdk(served: Application) -> None:
    served.pieces = cut(message("a " + KEY[:4], KEY[4:], " <thi"))
    assert asyncio.run(_async_message(served)) == f"a {SHOWN} <thi"


def test_a_whole_answer_of_the_openai_sdk(served: Application) -> None:
    served.content_type = "application/json"
    choice = {"index": 0, "message": {"role": "assistant", "content": KEY}, "finish_reason": "stop"}
    whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    served.pieces = cut(json.dumps(whole).encode(), 7)
    with openai_client(served) as client:
        answer = client.chat.completions.create(model="m", messages=PROMPT)
    assert answer.choices[0].message.content == SHOWN


def test_what_is_blocked_is_a_filtered_answer_to_the_openai_sdk(served: Application) -> None:
    served.guard, served.pieces = BLOCKING, cut(CHAT)
    with openai_client(served) as client:
        chunks = list(client.chat.completions.create(model="m", messages=PROMPT, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "a "
    assert chunks[-1].choices[0].finish_reason == "content_filter"


def test_what_is_blocked_is_a_failed_response_to_the_openai_sdk(served: Application) -> None:
    served.guard, served.pieces = BLOCKING, cut(response("a " + KEY[:4], KEY[4:]))
    with openai_client(served) as client:
        given = list(client.responses.create(model="m", input="?", stream=True))
    assert given[-1].type == "response.failed"
    assert given[-1].response.status == "failed"
    assert "".join(event.delta for event in given if event.type.endswith(".delta")) == "a "


@pytest.mark.parametrize("kind", ["raw", "helper"])
def test_what_is_blocked_is_an_error_of_the_anthropic_sdk(served: Application, kind: str) -> None:
    anthropic = pytest.importorskip("anthropic")
    served.guard, served.pieces = BLOCKING, cut(message("a " + KEY[:4], KEY[4:]))
    shown = []

    def read(client: Any) -> None:
        if kind == "raw":
            for event in client.messages.create(model="m", max_tokens=9, messages=PROMPT, stream=True):
                shown.append(getattr(getattr(event, "delta", None), "text", ""))
            return
        with client.messages.stream(model="m", max_tokens=9, messages=PROMPT) as stream:
            shown.extend(stream.text_stream)

    with anthropic_client(served) as client, pytest.raises(anthropic.APIStatusError) as caught:
        read(client)
    assert "".join(shown) == "a "
    assert KEY[:4] not in str(caught.value)


# Real streams


@pytest.mark.parametrize("path", recordings()[::5])
def test_a_real_stream_with_what_must_not_be_seen(served: Application, path: Any) -> None:
    body = path.read_bytes()
    given, wanted = planted(events(body), len(PLANTED) // 2)
    served.guard, served.pieces = GUARD, cut(with_events(body, given), 997)
    with httpx.stream("GET", served.url, timeout=TIMEOUT) as answer:
        shown = b"".join(answer.iter_raw())
    assert not [trace for trace in TRACES if trace.encode() in shown]
    after = texts(events(shown))
    assert {key: after[key] for key in wanted} == {key: GUARD.scrub(text) for key, text in wanted.items()}


# Clients come and go


def test_a_client_that_goes_closes_the_stream_of_the_application(served: Application) -> None:
    served.pieces, served.endless = [b"data: a " + KEY[:4].encode() + b"\n\n"], True
    with httpx.stream("GET", served.url, timeout=TIMEOUT) as answer:
        pieces = answer.iter_raw()  # when it is collected, the connection is closed
        assert next(pieces) == b"data: a \n\n"
        assert not served.closed.is_set()
    assert served.closed.wait(TIMEOUT)


def test_many_streams_at_once_do_not_bleed(served: Application) -> None:
    count = 200
    served.guard = FenceScrubber("think") | REDACTED

    async def one(client: httpx.AsyncClient, number: int) -> str:
        answer = await client.get(f"{served.url}/own/{number}")
        return "".join(line[6:] for line in answer.text.split("\n") if line.startswith("data: "))

    async def run() -> list[str]:
        limits = httpx.Limits(max_connections=count)
        async with httpx.AsyncClient(limits=limits, timeout=TIMEOUT) as client:
            return await asyncio.gather(*(one(client, number) for number in range(count)))

    assert asyncio.run(run()) == [f"n{number} {SHOWN} <thi" for number in range(count)]
