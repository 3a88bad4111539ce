"""Errors of the SDK, and streams that are closed while they are read."""

from __future__ import annotations

import asyncio
import json
import threading
import traceback
from typing import Any

import pytest

openai = pytest.importorskip("openai")

from streamguard_openai import guard_stream, wrap  # noqa: E402

from streamguard import FenceScrubber, Redactor  # noqa: E402

from .support import chunk, httpx_of_sdk, sse  # noqa: E402

TOKEN = "ghp_" + "aB3dEf6hIj9kLm2nOp5q" + "Rs8tUv1wXy4zAb3d"
GUARD = FenceScrubber("think") | Redactor()
ERROR = {
    "message": f"Failed: {TOKEN}",
    "code": "tool_use_failed",
    "failed_generation": f'<function=x>{{"k": "{TOKEN}"}} <think>why</think>',
}
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
STREAM = sse([chunk({"content": "hi"}), {"error": ERROR}])


def client(status: int, body: bytes, kind: str = "application/json") -> Any:
    httpx = httpx_of_sdk()

    def handler(request: Any) -> Any:
        return httpx.Response(status, headers={"content-type": kind}, content=body)

    http = openai.DefaultHttpxClient(transport=httpx.MockTransport(handler))
    made = openai.OpenAI(api_key="k", base_url="http://localhost/v1", http_client=http, max_retries=0)
    return wrap(made, GUARD)


def asynchronous(status: int, body: bytes, kind: str = "application/json") -> Any:
    httpx = httpx_of_sdk()

    async def handler(request: Any) -> Any:
        return httpx.Response(status, headers={"content-type": kind}, content=body)

    http = openai.DefaultAsyncHttpxClient(transport=httpx.MockTransport(handler))
    made = openai.AsyncOpenAI(api_key="k", base_url="http://localhost/v1", http_client=http, max_retries=0)
    return wrap(made, GUARD)


def check(error: Any) -> None:
    said = [str(error), repr(error), repr(error.body), repr(vars(error)), *traceback.format_exception(error)]
    assert TOKEN not in "".join(said)
    assert "why" not in repr(error.body)
    assert error.body["code"] == "tool_use_failed" == error.code
    assert "REDACTED" in error.body["failed_generation"]
    assert error.__cause__ is error.__context__ is None


def test_an_error_of_the_api_is_guarded() -> None:
    safe = client(400, json.dumps({"error": ERROR}).encode())
    calls: list[Any] = [
        lambda: safe.chat.completions.create(**ASK),
        lambda: safe.chat.completions.create(**ASK, stream=True),
        lambda: safe.chat.completions.stream(**ASK).__enter__(),
        lambda: safe.responses.create(model="m", input="hi"),
        lambda: safe.with_options(timeout=3).completions.create(model="m", prompt="hi"),
    ]
    for call in calls:
        with pytest.raises(openai.BadRequestError) as caught:
            call()
        check(caught.value)
        assert caught.value.status_code == 400
        assert TOKEN not in caught.value.response.text


@pytest.mark.asyncio
async def test_an_error_of_the_api_is_guarded_async() -> None:
    safe = asynchronous(400, json.dumps({"error": ERROR}).encode())
    for call in (
        safe.chat.completions.create(**ASK, stream=True),
        safe.chat.completions.stream(**ASK).__aenter__(),
    ):
        with pytest.raises(openai.BadRequestError) as caught:
            await call
        check(caught.value)


def test_an_error_amid_a_stream_is_guarded() -> None:
    shown: list[Any] = []
    with pytest.raises(openai.APIError) as caught:
        shown.extend(client(200, STREAM, "text/event-stream").chat.completions.create(**ASK, stream=True))
    check(caught.value)
    assert [one.choices[0].delta.content for one in shown] == ["hi"]
    helper = client(200, STREAM, "text/event-stream").chat.completions.stream(**ASK)
    with pytest.raises(openai.APIError) as caught, helper as events:
        list(events)
    check(caught.value)


@pytest.mark.asyncio
async def test_an_error_amid_a_stream_is_guarded_async() -> None:
    stream = await asynchronous(200, STREAM, "text/event-stream").chat.completions.create(**ASK, stream=True)
    with pytest.raises(openai.APIError) as caught:
        [one async for one in stream]
    check(caught.value)


def test_an_event_that_is_no_json_is_not_quoted() -> None:
    body = f'data: {{"a": "{TOKEN}\n\n'.encode()
    with pytest.raises(json.JSONDecodeError) as caught:
        list(client(200, body, "text/event-stream").chat.completions.create(**ASK, stream=True))
    assert TOKEN not in caught.value.doc


def test_the_helpers_manager_passes_for_the_sdks() -> None:
    safe = client(200, STREAM, "text/event-stream").chat.completions.stream(**ASK)
    assert isinstance(safe, openai.lib.streaming.chat.ChatCompletionStreamManager)


@pytest.mark.parametrize("name", ["chat.completions", "completions", "responses"])
def test_every_method_is_guarded_or_known_to_give_no_answer(name: str) -> None:
    from streamguard_openai.client import _ANSWERING, _REFUSED

    unguarded = {"delete", "list", "messages", "input_items", "input_tokens"}  # see the README
    place: Any = openai.OpenAI(api_key="k")
    for part in name.split("."):
        place = getattr(place, part)
    methods = {one for one in dir(type(place)) if not one.startswith("_")}
    assert methods <= {*_ANSWERING, *_REFUSED, *unguarded}


def test_a_stored_completion_that_is_updated_is_guarded() -> None:
    message = {"role": "assistant", "content": f"key {TOKEN}"}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    safe = client(200, json.dumps(whole).encode()).chat.completions
    for answer in (safe.update("c", metadata={}), safe.retrieve("c")):
        assert TOKEN not in repr(answer)


class Source:
    """Says nothing until it is closed."""

    def __init__(self) -> None:
        self.waiting, self.closed = threading.Event(), threading.Event()

    def __iter__(self) -> Source:
        return self

    def __next__(self) -> Any:
        self.waiting.set()
        self.closed.wait(10)
        raise OSError("closed")

    def close(self) -> None:
        self.closed.set()


def test_a_stream_can_be_closed_while_another_thread_reads_it() -> None:
    source, seen = Source(), []
    stream = guard_stream(source, GUARD)

    def consume() -> None:
        try:
            next(stream)
        except OSError as error:
            seen.append(error)

    thread = threading.Thread(target=consume)
    thread.start()
    source.waiting.wait(10)
    stream.close()
    thread.join(10)
    assert len(seen) == 1


@pytest.mark.asyncio
async def test_a_stream_can_be_closed_while_another_task_reads_it() -> None:
    waiting, closed = asyncio.Event(), asyncio.Event()

    class Source:
        def __aiter__(self) -> Source:
            return self

        async def __anext__(self) -> Any:
            waiting.set()
            await closed.wait()
            raise OSError("closed")

        async def close(self) -> None:
            closed.set()

    stream = guard_stream(Source(), GUARD)
    task = asyncio.ensure_future(anext(stream))
    await waiting.wait()
    await stream.close()
    with pytest.raises(OSError, match="closed"):
        await task
