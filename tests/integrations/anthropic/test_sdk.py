"""The real SDK against a loopback server that sends recorded and made streams."""

from __future__ import annotations

import asyncio
import copy
import json
import sys
import threading
import traceback
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from streamguard_anthropic import guard_response, guard_stream, wrap

from streamguard import FenceScrubber, Pipeline, Redactor, Rule

sys.path.insert(0, str(Path(__file__).parent))
from anthropic_events import (
    CANARY,
    GUARD,
    RECORDINGS,
    TOKEN,
    delta,
    leaks,
    message,
    planted,
    read,
    start,
    stop,
    written,
)

anthropic = pytest.importorskip("anthropic")
pydantic = pytest.importorskip("pydantic")

ASKED: dict[str, Any] = {
    "model": "m",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "hi"}],
}
EVENTS = message(
    start(0, "thinking"),
    *(delta(0, char, "thinking_delta") for char in "so " + CANARY),
    delta(0, "sig==", "signature_delta"),
    stop(0),
    start(1),
    *(delta(1, char) for char in f"a {CANARY}b <"),
    stop(1),
    start(2, "tool_use"),
    *(delta(2, char, "input_json_delta") for char in json.dumps({"q": CANARY, "n": 1})),
    stop(2),
    reason="tool_use",
)
TEXT = GUARD.scrub(f"a {CANARY}b <")
PARTS = ["a <thi", "nk>kanarie", f"vogel</think>b {TOKEN[:12]}", f"{TOKEN[12:]} c <"]
CITED: dict[str, Any] = {"type": "char_location", "cited_text": "b", "document_index": 0}
CITED |= {"document_title": None, "start_char_index": 0, "end_char_index": 1}
CITATION = {"type": "citations_delta", "citation": CITED}
BLOCKS = message(  # each citation makes a new one
    *(
        event
        for index, part in enumerate(PARTS)
        for event in (
            start(index),
            {"type": "content_block_delta", "index": index, "delta": CITATION},
            *(delta(index, char) for char in part),
            stop(index),
        )
    )
)
WHOLE = {
    **EVENTS[0]["message"],
    "content": [{"type": "text", "text": f"a {CANARY}b <"}],
    "stop_reason": "end_turn",
}


class _Upstream(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.body = written(EVENTS)
        self.whole: dict[str, Any] = WHOLE

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: _Upstream

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        streamed = asked.get("stream") and self.server.status == 200
        body = self.server.body if streamed else json.dumps(self.server.whole).encode()
        self.send_response(self.server.status)
        self.send_header("content-type", "text/event-stream" if streamed else "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("request-id", "req_1")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it has
        pass


@pytest.fixture
def upstream() -> Iterator[_Upstream]:
    with _Upstream() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def client(upstream: _Upstream) -> Iterator[Any]:
    with anthropic.Anthropic(api_key="k", base_url=upstream.url, max_retries=0) as made:
        yield made


def asynchronous(upstream: _Upstream) -> Any:
    return anthropic.AsyncAnthropic(api_key="k", base_url=upstream.url, max_retries=0)


def resource(client: Any, name: str) -> Any:
    return client.beta.messages if name == "beta" else client.messages


names = pytest.mark.parametrize("name", ["messages", "beta"])


@names
def test_a_wrapped_client_streams_guarded_events(client: Any, name: str) -> None:
    safe = wrap(client, GUARD)
    with resource(safe, name).create(**ASKED, stream=True) as stream:
        assert stream.response.status_code == 200
        events = list(stream)
    assert not leaks(events)
    assert (
        "".join(e.delta.text for e in events if getattr(e, "delta", None) and hasattr(e.delta, "text"))
        == TEXT
    )
    assert events[-1].type == "message_stop"
    assert type(next(iter(events))).__module__.startswith("anthropic.types")


@names
def test_a_wrapped_client_gives_guarded_helpers(client: Any, name: str) -> None:
    safe = wrap(client, GUARD)
    with resource(safe, name).stream(**ASKED) as stream:
        assert stream.request_id == "req_1"
        assert "".join(stream.text_stream) == TEXT
        final = stream.get_final_message()
        assert stream.get_final_text() == TEXT
        assert stream.current_message_snapshot is final
    assert not leaks(final)
    assert [block.type for block in final.content] == ["thinking", "text", "tool_use"]
    assert final.content[0].thinking == GUARD.scrub("so " + CANARY)
    assert final.content[0].signature == ""
    assert final.content[2].input["n"] == 1
    with resource(safe, name).stream(**ASKED) as stream:
        events = list(stream)
    assert not leaks(events)
    assert {"text", "thinking", "input_json", "content_block_stop", "message_stop"} <= {
        e.type for e in events
    }
    snapshots = [event.snapshot for event in events if event.type == "text"]
    assert snapshots[-1] == TEXT
    with resource(safe, name).stream(**ASKED) as stream:
        stream.until_done()
        assert stream.get_final_text() == TEXT


@names
def test_what_goes_over_blocks_is_found_in_streams_helpers_and_whole_messages(
    client: Any, upstream: _Upstream, name: str
) -> None:
    upstream.body = written(BLOCKS)
    upstream.whole = {**WHOLE, "content": [{"type": "text", "text": p, "citations": [CITED]} for p in PARTS]}
    safe, joined = resource(wrap(client, GUARD), name), GUARD.scrub("".join(PARTS))
    whole = safe.create(**ASKED)
    assert "".join(block.text for block in whole.content) == joined
    with safe.stream(**ASKED) as stream:
        assert "".join(stream.text_stream) == joined
        final = stream.get_final_message()
    assert final.to_dict()["content"] == whole.to_dict()["content"]
    with safe.stream(**ASKED) as stream:
        events = list(stream)
    closed = [event.content_block for event in events if event.type == "content_block_stop"]
    assert [block.text for block in closed] == [block.text for block in whole.content]
    with safe.create(**ASKED, stream=True) as raw:
        said = [event.delta.text for event in raw if hasattr(getattr(event, "delta", None), "text")]
    assert "".join(said) == joined


@pytest.mark.asyncio
async def test_what_goes_over_blocks_is_found_async(upstream: _Upstream) -> None:
    upstream.body = written(BLOCKS)
    async with wrap(asynchronous(upstream), GUARD) as safe, safe.messages.stream(**ASKED) as stream:
        assert "".join([text async for text in stream.text_stream]) == GUARD.scrub("".join(PARTS))
        final = await stream.get_final_message()
    assert "".join(block.text for block in final.content) == GUARD.scrub("".join(PARTS))
    assert [block.citations[0].cited_text for block in final.content] == ["b"] * len(PARTS)


@names
def test_dropped_thinking_keeps_the_snapshot_whole(client: Any, name: str) -> None:
    with resource(wrap(client, GUARD, reasoning="drop"), name).stream(**ASKED) as stream:
        final = stream.get_final_message()
    assert [block.type for block in final.content] == ["text", "tool_use"]
    assert final.content[0].text == TEXT


@names
def test_whole_messages_are_guarded(client: Any, name: str) -> None:
    safe = resource(wrap(client, GUARD), name)
    assert safe.create(**ASKED).content[0].text == TEXT
    assert guard_response(resource(client, name).create(**ASKED), GUARD).content[0].text == TEXT
    assert not leaks(safe.parse(**ASKED))


@pytest.mark.asyncio
@names
async def test_an_asynchronous_client_does_the_same(upstream: _Upstream, name: str) -> None:
    async with wrap(asynchronous(upstream), GUARD) as safe:
        stream = await resource(safe, name).create(**ASKED, stream=True)
        async with stream:
            events = [event async for event in stream]
        assert not leaks(events)
        assert events[-1].type == "message_stop"
        async with resource(safe, name).stream(**ASKED) as helper:
            assert "".join([text async for text in helper.text_stream]) == TEXT
            final = await helper.get_final_message()
            assert await helper.get_final_text() == TEXT
        assert not leaks(final)
        async with resource(safe, name).stream(**ASKED) as helper:
            events = [event async for event in helper]
        assert not leaks(events)
        async with resource(safe, name).stream(**ASKED) as helper:
            await helper.until_done()
            assert not leaks(helper.current_message_snapshot)
        assert (await resource(safe, name).create(**ASKED)).content[0].text == TEXT


def test_streams_and_helpers_of_a_bare_client_are_guarded(client: Any) -> None:
    with guard_stream(client.messages.create(**ASKED, stream=True), GUARD) as stream:
        assert not leaks(list(stream))
    with client.messages.stream(**ASKED) as stream:
        assert guard_stream(stream, GUARD).get_final_text() == TEXT
    with guard_stream(client.messages.stream(**ASKED), GUARD) as stream:
        assert isinstance(stream, anthropic.MessageStream)
        assert stream.get_final_text() == TEXT


def test_closing_closes_the_response(client: Any) -> None:
    stream = guard_stream(client.messages.create(**ASKED, stream=True), GUARD)
    next(stream)
    stream.close()
    assert stream.response.is_closed
    stream = guard_stream(client.messages.create(**ASKED, stream=True), GUARD)
    stream.close()
    assert stream.response.is_closed
    with wrap(client, GUARD).messages.stream(**ASKED) as helper:
        next(iter(helper))
    assert helper.response.is_closed


@pytest.mark.asyncio
async def test_closing_closes_an_asynchronous_response(upstream: _Upstream) -> None:
    async with asynchronous(upstream) as client:
        stream = guard_stream(await client.messages.create(**ASKED, stream=True), GUARD)
        await anext(aiter(stream))
        await stream.close()
        assert stream.response.is_closed


def test_an_error_event_raises_as_in_the_sdk_after_what_is_decided(client: Any, upstream: _Upstream) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    upstream.body = written([*message(start(0), delta(0, f"key {TOKEN[:20]}"))[:3], error])
    seen: list[str] = []
    with pytest.raises(anthropic.APIStatusError), wrap(client, GUARD).messages.stream(**ASKED) as stream:
        seen.extend(stream.text_stream)
    assert "".join(seen) == "key "


ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": f"bad {TOKEN}"}}


def quotes_nothing(error: Any) -> None:
    said = [str(error), repr(error), repr(vars(error)), *traceback.format_exception(error)]
    assert TOKEN not in "".join(said)
    assert "REDACTED" in str(error)
    assert error.body["error"]["type"] == "overloaded_error"
    assert error.body["error"]["message"].startswith("bad [REDACTED")
    assert error.__cause__ is error.__context__ is None


@names
def test_errors_of_the_api_are_guarded(client: Any, upstream: _Upstream, name: str) -> None:
    upstream.status, upstream.whole = 529, ERROR
    safe = resource(wrap(client, GUARD), name)
    for call in (safe.create, safe.parse, lambda **asked: safe.stream(**asked).__enter__()):
        with pytest.raises(anthropic.APIStatusError) as caught:
            call(**ASKED)
        quotes_nothing(caught.value)
        assert caught.value.status_code == 529
        assert TOKEN not in caught.value.response.text
    upstream.status, upstream.body = 200, written([*message(start(0))[:2], ERROR])
    with pytest.raises(anthropic.APIStatusError) as caught:
        list(safe.create(**ASKED, stream=True))
    quotes_nothing(caught.value)
    with pytest.raises(anthropic.APIStatusError) as caught, safe.stream(**ASKED) as stream:
        stream.until_done()
    quotes_nothing(caught.value)


@pytest.mark.asyncio
@names
async def test_errors_of_the_api_are_guarded_async(upstream: _Upstream, name: str) -> None:
    upstream.status, upstream.whole = 529, ERROR
    async with asynchronous(upstream) as client:
        safe = resource(wrap(client, GUARD), name)
        for call in (safe.create(**ASKED), safe.stream(**ASKED).__aenter__()):
            with pytest.raises(anthropic.APIStatusError) as caught:
                await call
            quotes_nothing(caught.value)
        upstream.status, upstream.body = 200, written([*message(start(0))[:2], ERROR])
        with pytest.raises(anthropic.APIStatusError) as caught:
            [event async for event in await safe.create(**ASKED, stream=True)]
        quotes_nothing(caught.value)


class Answer(pydantic.BaseModel):
    """A structured output."""

    a: int
    b: str


SCHEMA = {"type": "json_schema", "schema": {"type": "object"}}
VALID = json.dumps({"a": 1, "b": f"the <think> tag {TOKEN}"})
ASKED_JSON: dict[str, Any] = {**ASKED, "output_config": {"format": SCHEMA}}


@names
def test_a_structured_output_stays_valid_while_it_streams(
    client: Any, upstream: _Upstream, name: str
) -> None:
    upstream.body = written(message(start(0), *(delta(0, char) for char in VALID), stop(0)))
    safe = resource(wrap(client, GUARD), name)
    with safe.stream(**ASKED, output_format=Answer) as stream:
        final = stream.get_final_message()
    assert final.content[0].parsed_output == Answer(a=1, b="the ")
    with resource(client, name).stream(**ASKED, output_format=Answer) as stream:
        assert guard_stream(stream, GUARD).get_final_message().content[0].parsed_output.b == "the "
    shown = safe.create(**ASKED_JSON, stream=True)
    text = "".join(getattr(getattr(event, "delta", None), "text", "") for event in shown)
    assert json.loads(text) == {"a": 1, "b": "the "}
    shown = guard_stream(resource(client, name).create(**ASKED, stream=True), GUARD, json_content=True)
    text = "".join(getattr(getattr(event, "delta", None), "text", "") for event in shown)
    assert json.loads(text) == {"a": 1, "b": "the "}


@names
def test_a_structured_output_that_comes_whole_stays_valid(
    client: Any, upstream: _Upstream, name: str
) -> None:
    upstream.whole = {**WHOLE, "content": [{"type": "text", "text": VALID}]}
    safe = resource(wrap(client, GUARD), name)
    parsed = safe.parse(**ASKED, output_format=Answer)
    assert json.loads(parsed.content[0].text) == {"a": 1, "b": "the "}
    assert parsed.parsed_output == Answer(a=1, b="the ")
    assert json.loads(safe.create(**ASKED_JSON).content[0].text) == {"a": 1, "b": "the "}
    bare = resource(client, name).create(**ASKED)
    assert json.loads(guard_response(bare, GUARD, json_content=True).content[0].text)["b"] == "the "


@names
def test_an_output_that_does_not_fit_is_not_quoted(client: Any, upstream: _Upstream, name: str) -> None:
    upstream.whole = {**WHOLE, "content": [{"type": "text", "text": json.dumps({"a": TOKEN})}]}
    with pytest.raises(pydantic.ValidationError) as caught:
        resource(wrap(client, GUARD), name).parse(**ASKED, output_format=Answer)
    assert TOKEN not in str(caught.value) + repr(caught.value.errors())
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert [line["loc"] for line in caught.value.errors()] == [("a",), ("b",)]


@pytest.mark.asyncio
async def test_a_guarded_stream_passes_for_the_sdks(client: Any, upstream: _Upstream) -> None:
    safe = wrap(client, GUARD).messages
    with safe.create(**ASKED, stream=True) as stream:
        assert isinstance(stream, anthropic.Stream)
    manager = safe.stream(**ASKED)
    assert isinstance(manager, anthropic.MessageStreamManager)
    with manager as helper:
        assert isinstance(helper, anthropic.MessageStream)
    async with asynchronous(upstream) as bare:
        async with await wrap(bare, GUARD).messages.create(**ASKED, stream=True) as answer:
            assert isinstance(answer, anthropic.AsyncStream)
        manager = wrap(bare, GUARD).messages.stream(**ASKED)
        assert isinstance(manager, anthropic.AsyncMessageStreamManager)
        async with manager as helper:
            assert isinstance(helper, anthropic.AsyncMessageStream)
    assert not isinstance(guard_stream([], GUARD), list)


@pytest.mark.asyncio
async def test_a_stream_can_be_closed_while_another_task_waits_for_it() -> None:
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
    task = asyncio.ensure_future(anext(aiter(stream)))
    await waiting.wait()
    await stream.close()
    with pytest.raises(OSError, match="closed"):
        await task


def test_a_stream_can_be_closed_while_another_thread_waits_for_it() -> None:
    waiting, closed = threading.Event(), threading.Event()

    class Source:
        def __iter__(self) -> Source:
            return self

        def __next__(self) -> Any:
            waiting.set()
            closed.wait(10)
            raise OSError("closed")

        def close(self) -> None:
            closed.set()

    stream = guard_stream(Source(), GUARD)
    seen: list[BaseException] = []

    def consume() -> None:
        try:
            next(iter(stream))
        except OSError as error:
            seen.append(error)

    thread = threading.Thread(target=consume)
    thread.start()
    waiting.wait(10)
    stream.close()
    thread.join(10)
    assert len(seen) == 1


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem[-40:])
def test_the_snapshot_of_a_stream_is_the_guarded_whole_message(
    client: Any, upstream: _Upstream, path: Path
) -> None:
    copies = [events for at, (_, _, events) in enumerate(planted(read(path))) if at % 29 == 7]
    for events in [EVENTS, *copies]:
        upstream.body = written(events)
        with client.beta.messages.stream(**ASKED) as stream:
            whole = stream.get_final_message()
        with wrap(client, GUARD).beta.messages.stream(**ASKED) as stream:
            shown = stream.get_final_message()
        assert not leaks(shown)
        assert shown.to_dict() == guard_response(whole, GUARD).to_dict()


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem[-40:])
@pytest.mark.parametrize(
    "guard", [Pipeline(), FenceScrubber("never-there") | Redactor([Rule("never", r"NEVER-[0-9]{8}")])]
)
def test_recordings_come_through_the_sdk_unchanged(
    client: Any, upstream: _Upstream, path: Path, guard: Any
) -> None:
    upstream.body = written(read(path))
    bare = list(client.beta.messages.create(**ASKED, stream=True))
    with wrap(client, guard).beta.messages.create(**ASKED, stream=True) as stream:
        shown = list(stream)
    if guard == Pipeline():
        assert [event.to_dict() for event in shown] == [event.to_dict() for event in bare]
    with client.beta.messages.stream(**ASKED) as stream:
        final = stream.get_final_message()
    with wrap(client, guard).beta.messages.stream(**ASKED) as stream:
        assert stream.get_final_message().to_dict() == final.to_dict()
    assert guard_response(final, guard).to_dict() == final.to_dict()


def test_the_wrapped_client_passes_for_the_client(client: Any) -> None:
    safe = wrap(client, GUARD)
    assert isinstance(safe, anthropic.Anthropic)
    assert safe.base_url == client.base_url
    assert safe.with_options(timeout=3).messages.create(**ASKED).content[0].text == TEXT
    assert safe.copy().messages.create(**ASKED).content[0].text == TEXT
    assert safe.models is not None
    assert "create" in dir(safe.messages)
    assert copy.copy(safe).messages.create(**ASKED).content[0].text == TEXT
    raw = {"X-Stainless-Raw-Response": "true"}
    with pytest.raises(TypeError, match="no message"):
        safe.messages.create(**ASKED, extra_headers=raw)
    safe.api_key = "other"
    assert client.api_key == "other"


@pytest.mark.parametrize(
    "path",
    [
        "with_raw_response",
        "with_streaming_response",
        "completions",
        "messages.with_raw_response",
        "messages.with_streaming_response",
        "messages.batches.results",
        "beta.with_raw_response",
        "beta.messages.tool_runner",
        "beta.messages.with_raw_response",
    ],
)
def test_what_cannot_be_guarded_is_refused(client: Any, path: str) -> None:
    place = wrap(client, GUARD)
    *names, last = path.split(".")
    for name in names:
        place = getattr(place, name)
    with pytest.raises(AttributeError, match="not guarded"):
        getattr(place, last)
    assert last not in dir(place)
