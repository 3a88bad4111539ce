"""What the tests of this adapter share: data, events, and what a consumer makes of them."""

from __future__ import annotations

import importlib
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[4] / "shared" / "data"


def frames(raw: str) -> list[dict[str, Any]]:
    events = []
    for frame in raw.replace("\r\n", "\n").split("\n\n"):
        data = "\n".join(line[5:].lstrip() for line in frame.split("\n") if line.startswith("data:"))
        if data and data != "[DONE]":
            events.append(json.loads(data))
    return events


def recordings(protocol: str) -> list[Any]:
    index = DATA / "recordings" / "index.jsonl"
    if not index.exists():
        return []
    found = [json.loads(line) for line in index.read_text().splitlines()]
    return [
        pytest.param(DATA / "recordings" / entry["file"], id=entry["file"])
        for entry in found
        if entry["protocol"] == protocol
    ]


def cases(kind: str) -> list[Any]:
    path = DATA / "stream_cases.jsonl"
    if not path.exists():
        return []
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [pytest.param(case, id=case["id"]) for case in found if case["kind"] == kind]


def plain(event: Any) -> Any:
    """An event as a dictionary."""
    return event if isinstance(event, dict) else event.model_dump(exclude_unset=True, warnings=False)


def sse(events: Iterable[Any], *, done: bool = True) -> bytes:
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    if not done:
        body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return (body + ("data: [DONE]\n\n" if done else "")).encode()


def chat_texts(events: Iterable[Any]) -> dict[tuple[Any, ...], str]:
    """The text of every lane of a chat stream."""
    lanes: dict[tuple[Any, ...], str] = defaultdict(str)

    def visit(value: Any, key: tuple[Any, ...]) -> None:
        if isinstance(value, str):
            lanes[key] += value
        elif isinstance(value, dict):
            for name, item in value.items():
                if name not in ("id", "type", "name", "role", "format", "signature", "data", "channel"):
                    visit(item, (*key, name))
        elif isinstance(value, list):
            for item in value:
                visit(item, (*key, item.get("index", "*") if isinstance(item, dict) else "*"))

    for event in events:
        for choice in plain(event).get("choices") or []:
            visit(choice.get("delta"), (choice.get("index", 0),))
            visit(choice.get("text"), (choice.get("index", 0), "text"))
    return {key: text for key, text in lanes.items() if text}


def chunk(delta: dict[str, Any], finish: str | None = None, index: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": index, "delta": delta, "finish_reason": finish, **more}],
    }


def objects(events: Iterable[dict[str, Any]], protocol: str) -> list[Any]:
    """Events as objects of the SDK, made as the SDK makes them."""
    pytest.importorskip("openai")
    from openai._models import construct_type
    from openai.types import Completion
    from openai.types.chat import ChatCompletionChunk
    from openai.types.responses import ResponseStreamEvent

    kind: Any = {"chat": ChatCompletionChunk, "completion": Completion, "responses": ResponseStreamEvent}
    return [construct_type(value=json.loads(json.dumps(event)), type_=kind[protocol]) for event in events]


def httpx_of_sdk() -> Any:
    """The HTTP library the SDK is built on."""
    openai = pytest.importorskip("openai")
    for base in openai.DefaultHttpxClient.__mro__:
        name = base.__module__.split(".")[0]
        if name.startswith("httpx"):
            return importlib.import_module(name)
    raise AssertionError


def sync_client(body: bytes | list[bytes], kind: str = "text/event-stream", **more: Any) -> Any:
    openai = pytest.importorskip("openai")
    httpx = httpx_of_sdk()
    pieces = body if isinstance(body, list) else [body]

    def handler(request: Any) -> Any:
        return httpx.Response(200, headers={"content-type": kind}, content=iter(pieces))

    http = openai.DefaultHttpxClient(transport=httpx.MockTransport(handler))
    return openai.OpenAI(api_key="k", base_url="http://localhost/v1", http_client=http, max_retries=0, **more)


def async_client(body: bytes | list[bytes], kind: str = "text/event-stream") -> Any:
    openai = pytest.importorskip("openai")
    httpx = httpx_of_sdk()
    pieces = body if isinstance(body, list) else [body]

    async def stream() -> Any:
        for piece in pieces:
            yield piece

    async def handler(request: Any) -> Any:
        return httpx.Response(200, headers={"content-type": kind}, content=stream())

    http = openai.DefaultAsyncHttpxClient(transport=httpx.MockTransport(handler))
    return openai.AsyncOpenAI(api_key="k", base_url="http://localhost/v1", http_client=http, max_retries=0)
