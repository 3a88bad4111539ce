"""The real SDK against a loopback server that sends recorded and made streams."""

from __future__ import annotations

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
from streamguard_google import guard_response, guard_stream, wrap

from streamguard import FenceScrubber, Pipeline, Redactor, Rule

sys.path.insert(0, str(Path(__file__).parent))
from google_chunks import CANARY, GUARD, RECORDINGS, TOKEN, chunk, leaks, read, thought, written

genai = pytest.importorskip("google.genai")
types = pytest.importorskip("google.genai.types")
errors = pytest.importorskip("google.genai.errors")
pydantic = pytest.importorskip("pydantic")

# With aiohttp installed the SDK takes it, and aiohttp discourages what the SDK does with it.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

ASKED: dict[str, Any] = {"model": "m", "contents": "hi"}
CHUNKS = [
    *(chunk(thought(char)) for char in "so " + CANARY),
    *(chunk(char) for char in f"a {CANARY}b "),
    chunk("<", reason="STOP"),
]
TEXT = GUARD.scrub(f"a {CANARY}b <")
CALL = {"functionCall": {"name": "look_up", "args": {"q": f"x {CANARY}"}}}


class _Upstream(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.streams = [written(CHUNKS)]
        self.whole: Any = chunk(thought("so " + CANARY), f"a {CANARY}b <", reason="STOP")
        self.asked: list[Any] = []
        self.status = 200


class _Handler(BaseHTTPRequestHandler):
    server: _Upstream

    def do_POST(self) -> None:
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        streamed = "streamGenerateContent" in self.path
        if streamed and self.server.status == 200:
            body = self.server.streams[min(len(self.server.asked), len(self.server.streams)) - 1]
        else:
            body = json.dumps(self.server.whole).encode()
        self.send_response(self.server.status)
        self.send_header("content-type", "text/event-stream" if streamed else "application/json")
        self.send_header("content-length", str(len(body)))
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
    address = f"http://127.0.0.1:{upstream.server_address[1]}"
    with genai.Client(api_key="k", http_options=types.HttpOptions(base_url=address)) as made:
        yield made


def test_a_wrapped_client_streams_guarded_chunks(client: Any) -> None:
    shown = list(wrap(client, GUARD).models.generate_content_stream(**ASKED))
    assert not leaks(shown)
    assert len(shown) == len(CHUNKS)
    assert "".join(one.text or "" for one in shown) == TEXT
    assert isinstance(shown[-1], types.GenerateContentResponse)
    assert shown[-1].candidates[0].finish_reason == types.FinishReason.STOP
    assert shown[-1].text.endswith("<")
    assert shown[-1].usage_metadata.total_token_count == 3


def test_whole_responses_are_guarded(client: Any) -> None:
    shown = wrap(client, GUARD).models.generate_content(**ASKED)
    assert not leaks(shown)
    assert shown.text == TEXT
    assert guard_response(client.models.generate_content(**ASKED), GUARD).text == TEXT


def test_streams_of_a_bare_client_are_guarded(client: Any) -> None:
    shown = list(guard_stream(client.models.generate_content_stream(**ASKED), GUARD))
    assert not leaks(shown)
    assert "".join(one.text or "" for one in shown) == TEXT


@pytest.mark.asyncio
async def test_an_asynchronous_client_does_the_same(client: Any) -> None:
    async with wrap(client, GUARD).aio as safe:
        stream = await safe.models.generate_content_stream(**ASKED)
        shown = [one async for one in stream]
        assert not leaks(shown)
        assert "".join(one.text or "" for one in shown) == TEXT
        assert (await safe.models.generate_content(**ASKED)).text == TEXT
        bare = await client.aio.models.generate_content_stream(**ASKED)
        assert not leaks([one async for one in guard_stream(bare, GUARD)])
        chat = safe.chats.create(model="m")
        assert (await chat.send_message("hi")).text == TEXT
        shown = [one async for one in await chat.send_message_stream("hi")]
        assert not leaks(shown)
        assert not leaks(chat.get_history())
        assert len(chat.get_history(curated=True)) == len(chat.get_history())


def test_chats_are_guarded_with_their_history(client: Any, upstream: _Upstream) -> None:
    chat = wrap(client, GUARD).chats.create(model="m")
    assert chat.send_message("hi").text == TEXT
    shown = list(chat.send_message_stream("more"))
    assert "".join(one.text or "" for one in shown) == TEXT
    assert not leaks(chat.get_history())
    assert len(chat.get_history(curated=True)) == len(chat.get_history())
    assert not leaks(upstream.asked)


def test_functions_the_sdk_calls_leave_nothing_in_the_history(client: Any, upstream: _Upstream) -> None:
    upstream.streams = [written([chunk("a <"), chunk(CALL, reason="STOP")]), written(CHUNKS)]
    asked: list[str] = []

    def look_up(q: str) -> str:
        """Look something up."""
        asked.append(q)
        return f"found {TOKEN}"

    config = types.GenerateContentConfig(tools=[look_up])
    stream = wrap(client, GUARD).chats.create(model="m", config=config).send_message_stream("hi")
    shown = list(stream)
    assert not leaks(shown)
    assert asked == [GUARD.scrub(f"x {CANARY}")]
    assert "".join(one.text or "" for one in shown if one.text).endswith(TEXT)


ERROR = {"error": {"code": 400, "message": f"bad {TOKEN}", "status": "INVALID_ARGUMENT"}}


def quotes_nothing(error: Any) -> None:
    said = [str(error), repr(error), repr(vars(error)), *traceback.format_exception(error)]
    assert TOKEN not in "".join(said)
    assert type(error) is errors.ClientError
    assert error.message.startswith("bad [REDACTED")
    assert error.message in str(error)
    assert (error.code, error.status) == (400, "INVALID_ARGUMENT")
    assert TOKEN not in error.response.text
    assert error.__cause__ is error.__context__ is None


def test_errors_of_the_api_are_guarded(client: Any, upstream: _Upstream) -> None:
    upstream.status, upstream.whole = 400, ERROR
    safe = wrap(client, GUARD)
    calls: list[Any] = [
        lambda: safe.models.generate_content(**ASKED),
        lambda: list(safe.models.generate_content_stream(**ASKED)),
        lambda: list(guard_stream(client.models.generate_content_stream(**ASKED), GUARD)),
        lambda: safe.chats.create(model="m").send_message("hi"),
    ]
    for call in calls:
        with pytest.raises(errors.ClientError) as caught:
            call()
        quotes_nothing(caught.value)


@pytest.mark.asyncio
async def test_errors_of_the_api_are_guarded_async(client: Any, upstream: _Upstream) -> None:
    upstream.status, upstream.whole = 400, ERROR
    safe = wrap(client, GUARD).aio
    with pytest.raises(errors.ClientError) as caught:
        await safe.models.generate_content(**ASKED)
    assert TOKEN not in str(caught.value) + repr(vars(caught.value))
    with pytest.raises(errors.ClientError) as caught:
        [one async for one in await safe.models.generate_content_stream(**ASKED)]
    assert TOKEN not in str(caught.value) + repr(vars(caught.value))
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_an_error_amid_a_stream_is_guarded(client: Any, upstream: _Upstream) -> None:
    upstream.streams = [written([chunk("hi "), ERROR])]
    shown: list[Any] = []
    with pytest.raises(errors.APIError) as caught:
        shown.extend(wrap(client, GUARD).models.generate_content_stream(**ASKED))
    assert [one.text for one in shown[:1]] == ["hi "]
    assert TOKEN not in str(caught.value) + repr(vars(caught.value))


def test_a_structured_output_stays_valid(client: Any, upstream: _Upstream) -> None:
    class Answer(pydantic.BaseModel):
        a: int
        b: str

    text = json.dumps({"a": 1, "b": f"the <think> tag {TOKEN}"})
    wanted = {"a": 1, "b": "the "}
    configs: list[Any] = [
        types.GenerateContentConfig(response_mime_type="application/json", response_schema=Answer),
        {"response_mime_type": "application/json", "response_json_schema": {"type": "object"}},
        {"responseMimeType": "application/json"},
    ]
    safe = wrap(client, GUARD)
    for config in configs:
        upstream.whole = chunk(text, reason="STOP")
        answer = safe.models.generate_content(**ASKED, config=config)
        assert json.loads(answer.text) == wanted
        assert answer.parsed is None or dict(answer.parsed) == wanted
        upstream.streams = [written([*map(chunk, text), chunk("", reason="STOP")])]
        shown = safe.models.generate_content_stream(**ASKED, config=config)
        assert json.loads("".join(one.text or "" for one in shown)) == wanted
    chat = safe.chats.create(model="m", config=configs[0])
    assert json.loads(chat.send_message("hi").text) == wanted
    bare = client.models.generate_content(**ASKED)
    assert json.loads(guard_response(bare, GUARD, json_content=True).text) == wanted
    enum = safe.models.generate_content(**ASKED, config={"response_mime_type": "text/x.enum"})
    assert enum.text == GUARD.scrub(text)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem[-40:])
@pytest.mark.parametrize(
    "guard", [Pipeline(), FenceScrubber("never-there") | Redactor([Rule("n", "NEVER-[0-9]{8}")])]
)
def test_recordings_come_through_the_sdk_unchanged(
    client: Any, upstream: _Upstream, path: Path, guard: Any
) -> None:
    upstream.streams = [written(read(path))]
    bare = list(client.models.generate_content_stream(**ASKED))
    shown = list(wrap(client, guard).models.generate_content_stream(**ASKED))
    assert "".join(one.text or "" for one in shown) == "".join(one.text or "" for one in bare)
    if guard == Pipeline():
        assert [one.model_dump() for one in shown] == [one.model_dump() for one in bare]
    assert [guard_response(one, guard).model_dump() for one in bare] == [one.model_dump() for one in bare]


def test_the_wrapped_client_passes_for_the_client(client: Any) -> None:
    safe = wrap(client, GUARD)
    assert isinstance(safe, genai.Client)
    assert safe.vertexai is client.vertexai
    assert "models" in dir(safe)
    assert "interactions" not in dir(safe)
    assert copy.copy(safe).models.generate_content(**ASKED).text == TEXT
    safe.note = 1
    assert client.note == 1
    with safe as same:
        assert same is safe


@pytest.mark.parametrize("name", ["interactions", "agents", "batches"])
def test_what_cannot_be_guarded_is_refused(client: Any, name: str) -> None:
    with pytest.raises(AttributeError, match="not guarded"):
        getattr(wrap(client, GUARD), name)
    with pytest.raises(AttributeError, match="not guarded"):
        wrap(client, GUARD).aio.live  # noqa: B018 - is asked for
