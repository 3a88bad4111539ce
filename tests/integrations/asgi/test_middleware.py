"""The middleware between an application and a server, both played here."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from streamguard_asgi import JSON_TYPES, StreamGuardMiddleware

from streamguard import FenceScrubber, Redactor, Transformer
from streamguard.redact import Rule

pytestmark = pytest.mark.anyio
KEY = "ZQ" + "KEY" * 3
REDACTED = Redactor((Rule("key", "ZQ[KEY]{9}"),))
BLOCKING = Redactor((Rule("key", "ZQ[KEY]{9}"),), actions={"key": "block"})
SHOWN = REDACTED.scrub(KEY)
SSE = "text/event-stream"
App = Callable[[Any, Any, Any], Awaitable[None]]


class Server:
    """Runs one request and keeps what came."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.gone = anyio.Event()
        self.asked = False

    async def receive(self) -> Any:
        if not self.asked:
            self.asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        await anyio.lowlevel.checkpoint()

    async def run(self, app: App, **scope: Any) -> Server:
        base = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "method": "GET",
            "path": "/",
            "query_string": b"",
            "headers": [],
        }
        await app({**base, **scope}, self.receive, self.send)
        return self

    @property
    def status(self) -> int:
        status: int = self.sent[0]["status"]
        return status

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def bodies(self) -> list[bytes]:
        return [message.get("body", b"") for message in self.sent[1:]]

    @property
    def body(self) -> bytes:
        return b"".join(self.bodies)

    @property
    def ended(self) -> bool:
        return len(self.sent) > 1 and not self.sent[-1].get("more_body", False)


def sending(*pieces: str | bytes, content_type: str = SSE, status: int = 200, **headers: str) -> App:
    """An application that sends these pieces, and an empty last one."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        fields = {**({"content-type": content_type} if content_type else {}), **headers}
        given = [(name.replace("_", "-").encode(), value.encode()) for name, value in fields.items()]
        await send({"type": "http.response.start", "status": status, "headers": given})
        for piece in pieces:
            data = piece.encode() if isinstance(piece, str) else piece
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return app


def guarded(app: App, guard: Transformer = REDACTED, **options: Any) -> StreamGuardMiddleware:
    return StreamGuardMiddleware(app, guard, **options)


class Pieces:
    """A stream that counts what is taken of it; no generator, which Starlette leaves to be collected."""

    def __init__(self, *pieces: str) -> None:
        self.rest = list(pieces)

    def __aiter__(self) -> Pieces:
        return self

    async def __anext__(self) -> str:
        if not self.rest:
            raise StopAsyncIteration
        return self.rest.pop(0)


async def start(send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", SSE.encode())]})


def token(text: str) -> str:
    return f"data: {text}\n\n"


# What is guarded


async def test_events_lines_and_text_are_guarded() -> None:
    for content_type, pieces, want in (
        (SSE, [token("a " + KEY[:3]), token(KEY[3:])], token("a ") + token(SHOWN)),
        ("application/x-ndjson", [f'{{"text": "{KEY}"}}\n'], f'{{"text": "{SHOWN}"}}\n'),
        ("text/plain; charset=utf-8", ["é " + KEY[:3], KEY[3:]], "é " + SHOWN),
        ("", ["é " + KEY[:3], KEY[3:]], "é " + SHOWN),
    ):
        server = await Server().run(guarded(sending(*pieces, content_type=content_type)))
        assert server.body.decode() == want
        assert server.ended


async def test_bodies_of_json_are_guarded_if_asked_for() -> None:
    body = json.dumps({"text": KEY, "n": 1})
    app = sending(body[:12], body[12:], content_type="application/json", content_length=str(len(body)))
    assert (await Server().run(guarded(app))).body.decode() == body
    server = await Server().run(guarded(app, types=JSON_TYPES))
    assert json.loads(server.body) == {"text": SHOWN, "n": 1}
    assert server.headers["content-length"] == str(len(server.body))
    assert len(server.sent) == 2


async def test_headers_about_the_very_bytes_are_dropped() -> None:
    app = sending(
        token(KEY), content_length="99", etag='"x"', content_md5="x", accept_ranges="bytes", x_other="stays"
    )
    server = await Server().run(guarded(app))
    assert server.headers == {"content-type": SSE, "x-other": "stays"}


@pytest.mark.parametrize(
    ("options", "scope"),
    [
        ({"content_type": "text/html"}, {}),
        ({"content_type": "application/octet-stream", "content_encoding": "gzip"}, {}),
        ({"content_type": "application/json"}, {}),
        ({"status": 204}, {}),
        ({"status": 304}, {}),
        ({"content_type": "", "status": 302, "content_length": "0"}, {}),
        ({}, {"method": "HEAD"}),
    ],
)
async def test_everything_else_passes_message_for_message(options: Any, scope: Any) -> None:
    app = sending(token(KEY), **{"content_length": "42", **options})
    bare, server = await Server().run(app, **scope), await Server().run(guarded(app), **scope)
    assert server.sent == bare.sent


@pytest.mark.parametrize("kind", ["websocket", "lifespan"])
async def test_what_is_no_http_gets_the_very_objects(kind: str) -> None:
    seen: list[Any] = []

    async def app(*given: Any) -> None:
        seen.extend(given)

    given: Any = ({"type": kind}, object(), object())
    await guarded(app)(*given)
    assert all(new is old for new, old in zip(seen, given, strict=True))


async def test_the_guard_may_be_chosen_by_request() -> None:
    def choose(scope: Any) -> Transformer | None:
        return None if scope["path"] == "/raw" else REDACTED

    app = StreamGuardMiddleware(sending(token(KEY)), choose)
    assert (await Server().run(app)).body.decode() == token(SHOWN)
    assert (await Server().run(app, path="/raw")).body.decode() == token(KEY)


async def test_errors_of_the_application_are_guarded_too() -> None:
    server = await Server().run(guarded(sending(f"no {KEY}", content_type="text/plain", status=500)))
    assert (server.status, server.body.decode()) == (500, f"no {SHOWN}")


async def test_files_cannot_go_around_the_guard(tmp_path: Any) -> None:
    path = tmp_path / "a.txt"
    path.write_text(f"a {KEY}")
    extensions = {
        "http.response.pathsend": {},
        "http.response.zerocopysend": {},
        "http.response.trailers": {},
    }
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["extensions"])
        await FileResponse(path)(scope, receive, send)

    server = await Server().run(guarded(app), extensions=extensions)
    assert server.body.decode() == f"a {SHOWN}"
    assert seen == [{"http.response.trailers": {}}]
    assert len(extensions) == 3


# What cannot be read


@pytest.mark.parametrize(
    "options",
    [{"content_encoding": "gzip"}, {"status": 206}, {"content_type": "text/plain; charset=none-such"}],
)
async def test_what_cannot_be_read_is_refused(options: Any, caplog: pytest.LogCaptureFixture) -> None:
    app = sending(gzip.compress(KEY.encode()), **{"content_type": SSE, **options})
    server = await Server().run(guarded(app))
    assert (server.status, server.ended) == (500, True)
    assert server.body == b"The response cannot be guarded."
    assert "refused" in caplog.text


@pytest.mark.parametrize("options", [{"content_encoding": "gzip"}, {"status": 206}])
async def test_what_cannot_be_read_passes_if_asked_to(options: Any) -> None:
    app = sending(gzip.compress(KEY.encode()), content_length="40", **options)
    server = await Server().run(guarded(app, on_encoded="pass"))
    assert server.sent == (await Server().run(app)).sent


async def test_identity_is_no_encoding() -> None:
    server = await Server().run(guarded(sending(token(KEY), content_encoding="Identity")))
    assert server.body.decode() == token(SHOWN)


async def test_compression_belongs_outside() -> None:
    app = GZipMiddleware(guarded(sending(KEY * 100, content_type="text/plain")), minimum_size=1)
    server = await Server().run(app, headers=[(b"accept-encoding", b"gzip")])
    assert server.headers["content-encoding"] == "gzip"
    assert gzip.decompress(server.body).decode() == REDACTED.scrub(KEY * 100)


# In step


async def test_each_message_gives_one_message_at_once() -> None:
    steps: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        async def noted(message: Any) -> None:
            steps.append("app")
            await send(message)

        pieces = (token("a"), token(KEY[:5]), "", token(KEY[5:]), ": ping\n\n", "data: half")
        await sending(*pieces)(scope, receive, noted)

    class Noting(Server):
        async def send(self, message: Any) -> None:
            steps.append("server")
            await super().send(message)

    server = await Noting().run(guarded(app))
    assert steps == ["app", "server"] * 8
    assert server.bodies == [
        *(token("a").encode(), b"", b"", token(SHOWN).encode(), b": ping\n\n", b"", b"data: half")
    ]


async def test_a_server_that_takes_no_more_stops_the_application() -> None:
    pieces = Pieces(*[token("x")] * 100)

    class Full(Server):
        async def send(self, message: Any) -> None:
            self.sent.append(message)
            if len(self.sent) == 4:
                self.gone.set()
                await anyio.sleep_forever()

    server = await Full().run(guarded(StreamingResponse(pieces, media_type=SSE)))
    assert len(pieces.rest) == 97
    assert len(server.sent) == 4


async def test_a_disconnect_closes_the_stream_of_the_application() -> None:
    closed: list[str] = []

    async def pieces() -> AsyncIterator[str]:
        try:
            yield token("a " + KEY[:5])
            server.gone.set()
            await anyio.sleep_forever()
        finally:
            closed.append("closed")

    server = Server()
    await server.run(guarded(StreamingResponse(pieces(), media_type=SSE)))
    assert closed == ["closed"]
    assert server.body.decode() == token("a ")


async def test_cancelled_nothing_held_is_sent() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-type", SSE.encode())]}
        )
        await send({"type": "http.response.body", "body": token(KEY[:5]).encode(), "more_body": True})
        await anyio.sleep_forever()

    server = Server()
    with anyio.move_on_after(0.05):
        await server.run(guarded(app))
    assert server.bodies == [b""]


# What ends badly


@pytest.mark.parametrize("spec", ["2.3", "2.4"])
async def test_a_rule_that_blocks_ends_response_and_application(
    spec: str, caplog: pytest.LogCaptureFixture
) -> None:
    pieces = Pieces(token("ok"), token(KEY) + token("never"), token("never"), token("never"))
    app = Starlette(
        routes=[Route("/", lambda request: StreamingResponse(pieces, media_type=SSE))],
        middleware=[Middleware(StreamGuardMiddleware, guard=BLOCKING)],
    )
    server = await Server().run(app, asgi={"version": "3.0", "spec_version": spec})
    assert server.ended
    assert server.bodies[0].decode() == token("ok")
    assert b"event: error\n" in server.body
    assert b"never" not in server.body
    assert KEY.encode() not in server.body
    assert "blocked by the rule 'key'" in caplog.text
    assert KEY not in caplog.text
    assert len(pieces.rest) == 2


async def test_after_the_end_the_application_can_send_no_more() -> None:
    tries: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-type", SSE.encode())]}
        )
        for _ in range(3):
            try:
                await send({"type": "http.response.body", "body": token(KEY).encode(), "more_body": True})
            except OSError:
                tries.append("refused")

    server = await Server().run(guarded(app, BLOCKING))
    assert tries == ["refused"] * 3
    assert len(server.sent) == 2
    assert server.ended


async def test_blocked_json_is_an_error_with_its_status() -> None:
    app = sending(json.dumps({"a": KEY}), content_type="application/json")
    server = await Server().run(guarded(app, BLOCKING, types=JSON_TYPES))
    assert server.status == 500
    assert server.ended
    assert list(json.loads(server.body)) == ["error"]
    assert server.headers["content-length"] == str(len(server.body))


async def test_an_error_of_the_application_goes_on_behind_what_may_be_shown() -> None:
    async def pieces() -> AsyncIterator[str]:
        yield token("a " + KEY[:7]) + "data: ha"
        raise RuntimeError("why")

    server = Server()
    with pytest.raises(RuntimeError, match="why"):
        await server.run(guarded(StreamingResponse(pieces(), media_type=SSE)))
    assert server.body.startswith(token("a ").encode())
    assert b"event: error\n" in server.body
    assert b"ZQ" not in server.body
    assert not server.ended


async def test_an_error_before_the_response_is_not_touched() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("why")

    server = Server()
    with pytest.raises(RuntimeError, match="why"):
        await server.run(guarded(app))
    assert server.sent == []


async def test_a_client_that_has_gone_does_not_hide_the_error() -> None:
    class Gone(Server):
        async def send(self, message: Any) -> None:
            if len(self.sent) == 2:
                raise OSError
            await super().send(message)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-type", SSE.encode())]}
        )
        await send({"type": "http.response.body", "body": token(KEY[:5]).encode(), "more_body": True})
        raise RuntimeError("why")

    with pytest.raises(RuntimeError, match="why"):
        await Gone().run(guarded(app))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"on_encoded": "maybe"}, ValueError),
        ({"tool_args": "all"}, ValueError),
        ({"tool_arg": "drop"}, TypeError),
    ],
)
def test_unknown_options_are_refused_at_once(options: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        guarded(sending(), **options)


def test_a_guard_is_a_transformer_or_a_function() -> None:
    with pytest.raises(TypeError, match="not str"):
        StreamGuardMiddleware(sending(), "secrets")  # type: ignore[arg-type]


# Frameworks


async def test_starlette_responses() -> None:
    async def pieces() -> AsyncIterator[str]:
        for piece in ("a <thi", "nk>no</think>", KEY[:4], KEY[4:]):
            yield piece

    responses: dict[str, Callable[[], Response]] = {
        "/stream": lambda: StreamingResponse(pieces()),
        "/plain": lambda: PlainTextResponse("a <think>no</think>" + KEY),
        "/json": lambda: JSONResponse({"a": KEY}),
    }
    routes = [Route(path, lambda request: responses[request.url.path]()) for path in responses]
    guard = FenceScrubber("think") | REDACTED
    app = Starlette(routes=routes, middleware=[Middleware(StreamGuardMiddleware, guard=guard)])
    assert (await Server().run(app, path="/stream")).body.decode() == "a " + SHOWN
    assert (await Server().run(app, path="/plain")).body.decode() == "a " + SHOWN
    assert json.loads((await Server().run(app, path="/json")).body) == {"a": KEY}


async def test_event_source_response_of_sse_starlette(anyio_backend_name: str) -> None:
    if anyio_backend_name != "asyncio":
        pytest.skip("it runs on asyncio alone")
    sse_starlette = pytest.importorskip("sse_starlette")

    async def events() -> AsyncIterator[Any]:
        for piece in ("a ", KEY[:4], KEY[4:]):
            yield {"event": "token", "data": piece, "id": "1"}
        yield {"event": "done", "data": "[DONE]"}

    server = await Server().run(guarded(sse_starlette.EventSourceResponse(events())))
    text = server.body.decode().replace("\r\n", "\n")
    assert f"id: 1\nevent: token\ndata: {SHOWN}\n\n" in text
    assert text.endswith("event: done\ndata: [DONE]\n\n")
    assert KEY[:4] not in text


async def test_event_source_response_of_fastapi() -> None:
    fastapi = pytest.importorskip("fastapi")
    sse = pytest.importorskip("fastapi.sse")
    app = fastapi.FastAPI()
    app.add_middleware(StreamGuardMiddleware, guard=REDACTED)

    @app.get("/", response_class=sse.EventSourceResponse)
    async def stream() -> AsyncIterator[Any]:
        for piece in ("a ", KEY[:4], KEY[4:]):
            yield piece
        yield sse.ServerSentEvent(data={"text": KEY}, event="item")
        yield sse.ServerSentEvent(raw_data=KEY, event="raw", id="3")

    server = await Server().run(app)
    assert KEY.encode() not in server.body
    text = server.body.decode()
    assert f'data: "{SHOWN}"\n\n' in text
    assert f'event: item\ndata: {{"text": "{SHOWN}"}}\n' in text
    assert f"event: raw\ndata: {SHOWN}\nid: 3\n" in text or f"event: raw\nid: 3\ndata: {SHOWN}\n" in text


async def test_lines_of_fastapi() -> None:
    fastapi = pytest.importorskip("fastapi")
    app = fastapi.FastAPI()
    app.add_middleware(StreamGuardMiddleware, guard=REDACTED)

    @app.get("/")
    async def stream() -> AsyncIterator[dict[str, str]]:
        for piece in ("a ", KEY[:4], KEY[4:]):
            yield {"text": piece}

    server = await Server().run(app)
    assert "jsonl" in server.headers["content-type"]
    shown = [json.loads(line) for line in server.body.splitlines()]
    assert "".join(line["text"] for line in shown) == "a " + SHOWN


@pytest.fixture(autouse=True)
def _logs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
