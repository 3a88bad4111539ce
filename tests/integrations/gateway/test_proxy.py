"""What passes, what is changed and what is refused, over real connections."""

from __future__ import annotations

import gzip
import json
import re
import socket
import zlib
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest
from streamguard_gateway import Gateway, Limits

from streamguard import Pipeline, Redactor
from streamguard.redact import Rule

from .support import (
    CANARY,
    GUARD,
    HIDDEN,
    JSON,
    SSE,
    Answer,
    Out,
    Seen,
    Setup,
    chat,
    completion,
    replaying,
    said,
    setup,
)

CHAT = "/v1/chat/completions"


@pytest.fixture(scope="module")
def gateway() -> Iterator[Setup]:
    with setup(replaying(chat("hello")), prefix="/up", pass_unguarded=("/v1/audio/*", "/v1/files/*")) as made:
        yield made


def whole(body: bytes, status: int = 200, headers: Any = JSON) -> Answer:
    async def answer(seen: Seen, out: Out) -> None:
        await out.whole(body, status, headers)

    return answer


def raw(url: str, data: bytes, *, until: bytes = b"") -> bytes:
    """Send bytes, and read until the connection is closed or these bytes have come."""
    parts = urlsplit(url)
    with closing(socket.create_connection((parts.hostname, parts.port), timeout=10)) as connection:
        connection.sendall(data)
        got = b""
        while piece := connection.recv(65536):
            got += piece
            if until and until in got:
                break
        return got


def test_a_stream_is_guarded(gateway: Setup) -> None:
    gateway.upstream.answer = replaying(chat(f"a {CANARY} b {HIDDEN}c"), every=11)
    got = gateway.client.post(CHAT, json={"stream": True})
    assert said(got.content) == "a [REDACTED:canary:e6b0d319] b c"
    assert got.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert "content-length" not in got.headers


STREAMED = [
    "/v1/completions",
    "/v1/chat/completions",
    "/v1/messages",
    "/v1/responses",
    "/m:streamGenerateContent",
]


@pytest.mark.parametrize("path", STREAMED)
@pytest.mark.parametrize("shape", ["native", "chat", "strange"])
def test_events_of_another_shape_than_the_routes_are_guarded(gateway: Setup, path: str, shape: str) -> None:
    def event(text: str) -> Any:
        if shape == "chat":
            return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": text}}]}
        return {"index": 0, "content": text, "stop": False} if shape == "native" else {"out": [{"x": text}]}

    pieces = ["hi ", CANARY[:9], CANARY[9:] + " x " + HIDDEN[:12], HIDDEN[12:] + " y"]
    body = b"".join(b"data: " + json.dumps(event(piece)).encode() + b"\n\n" for piece in pieces)
    gateway.upstream.answer = replaying(body)
    got = gateway.client.post(path, json={"stream": True})
    assert got.status_code == 200
    assert "REDACTED" in got.text
    assert CANARY[9:] not in got.text
    assert "HIDDEN" not in got.text


def test_an_answer_that_comes_whole_is_guarded_and_has_its_new_length(gateway: Setup) -> None:
    gateway.upstream.answer = whole(completion(f"a {CANARY} b"))
    got = gateway.client.post(CHAT, json={})
    assert got.json()["choices"][0]["message"]["content"] == "a [REDACTED:canary:e6b0d319] b"
    assert int(got.headers["content-length"]) == len(got.content)


def test_what_does_not_change_keeps_its_bytes(gateway: Setup) -> None:
    body = b'{"choices" : [],\n "x": 1.50,"y":"\\u00e9\\/" }\n'
    gateway.upstream.answer = whole(body)
    assert gateway.client.post(CHAT, json={}).content == body


def test_the_request_reaches_the_upstream_as_it_was_sent(gateway: Setup) -> None:
    gateway.upstream.answer = whole(b"{}")
    headers = [
        ("Authorization", "Bearer k"),
        ("X-Twice", "1"),
        ("X-Twice", "2"),
        ("Connection", "keep-alive, X-Hop"),
        ("X-Hop", "1"),
        ("TE", "trailers"),
        ("Keep-Alive", "timeout=5"),
        ("Proxy-Authorization", "secret"),
        ("Range", "bytes=5-"),
        ("Accept-Encoding", "br, gzip"),
        ("Cookie", "a=b"),
    ]
    gateway.client.post(CHAT + "?a=1&b=%2F%20", headers=headers, content=b"raw \xff body")
    seen = gateway.upstream.seen[-1]
    assert (seen.method, seen.target) == ("POST", "/up" + CHAT + "?a=1&b=%2F%20")
    assert seen.body == b"raw \xff body"
    assert seen.all("authorization") == ["Bearer k"]
    assert seen.all("x-twice") == ["1", "2"]
    assert seen.all("cookie") == ["a=b"]
    assert seen.all("host") == [f"127.0.0.1:{gateway.upstream.port}"]
    assert seen.all("accept-encoding") == ["identity"]
    names = {name for name, _ in seen.headers}
    assert not names & {"connection", "x-hop", "te", "keep-alive", "proxy-authorization", "range"}


def test_headers_of_the_answer_pass_except_those_of_the_hop_and_of_the_bytes(gateway: Setup) -> None:
    gateway.upstream.answer = whole(
        completion("x"),
        headers=[
            *JSON,
            ("X-Request-Id", "r1"),
            ("Set-Cookie", "a=1"),
            ("Set-Cookie", "b=2"),
            ("X-RateLimit-Remaining", "7"),
            ("Keep-Alive", "timeout=5"),
            ("Connection", "X-Hop"),
            ("X-Hop", "1"),
            ("ETag", '"e"'),
            ("Content-MD5", "m"),
            ("Accept-Ranges", "bytes"),
            ("Alt-Svc", 'h3=":443"'),
        ],
    )
    got = gateway.client.post(CHAT, json={})
    assert got.headers["x-request-id"] == "r1"
    assert got.headers["x-ratelimit-remaining"] == "7"
    assert got.headers.get_list("set-cookie") == ["a=1", "b=2"]
    assert not set(got.headers) & {"keep-alive", "x-hop", "etag", "content-md5", "accept-ranges", "alt-svc"}


def test_no_cookie_passes_from_one_client_to_the_next(gateway: Setup) -> None:
    gateway.upstream.answer = whole(b"{}", headers=[*JSON, ("set-cookie", "session=mine; path=/")])
    for _ in range(2):
        gateway.client.cookies.clear()
        gateway.client.post(CHAT, json={})
    gateway.client.cookies.clear()
    assert gateway.upstream.seen[-1].all("cookie") == []


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503, 529])
def test_errors_of_the_upstream_pass_guarded(gateway: Setup, status: int) -> None:
    error = {"error": {"message": f"you said {CANARY}", "type": "x", "code": None}}
    gateway.upstream.answer = whole(json.dumps(error).encode(), status, [*JSON, ("retry-after", "3")])
    got = gateway.client.post(CHAT, json={})
    assert got.status_code == status
    assert got.headers["retry-after"] == "3"
    assert got.json()["error"]["message"] == "you said [REDACTED:canary:e6b0d319]"


def test_an_error_page_is_guarded_as_text(gateway: Setup) -> None:
    gateway.upstream.answer = whole(f"<p>{CANARY}</p>".encode(), 502, [("content-type", "text/html")])
    got = gateway.client.post(CHAT, json={})
    assert (got.status_code, got.text) == (502, "<p>[REDACTED:canary:e6b0d319]</p>")


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("streamed", [True, False])
def test_an_upstream_that_compresses_all_the_same_is_read(
    gateway: Setup, encoding: str, streamed: bool
) -> None:
    body = chat(f"a {CANARY} b") if streamed else completion(f"a {CANARY} b")
    packed = gzip.compress(body) if encoding == "gzip" else zlib.compress(body)
    kind = SSE if streamed else JSON
    gateway.upstream.answer = replaying(packed, every=10, headers=[*kind, ("content-encoding", encoding)])
    got = gateway.client.post(CHAT, json={})
    assert "content-encoding" not in got.headers
    assert b"[REDACTED:canary:e6b0d319]" in got.content
    assert CANARY.encode() not in got.content


def test_each_event_of_a_compressed_stream_comes_when_it_was_sent(gateway: Setup) -> None:
    packer = zlib.compressobj(wbits=31)
    events = [event + b"\n\n" for event in chat("one two three").split(b"\n\n") if event]

    async def answer(seen: Seen, out: Out) -> None:
        await out.head(200, [*SSE, ("content-encoding", "gzip")])
        for event in events[:-1]:
            await out.chunk(packer.compress(event) + packer.flush(zlib.Z_SYNC_FLUSH))
        await out.gone()  # no more comes until the client has what came so far

    gateway.upstream.answer = answer
    got = b""
    with gateway.client.stream("POST", CHAT, json={}) as response:
        for piece in response.iter_bytes():
            got += piece
            if said(got) == "one two three":
                break
    assert said(got) == "one two three"


def test_a_compression_nobody_asked_for_is_refused(gateway: Setup) -> None:
    gateway.upstream.answer = whole(CANARY.encode(), headers=[*JSON, ("content-encoding", "br")])
    got = gateway.client.post(CHAT, json={})
    assert got.status_code == 502
    assert got.json()["error"]["code"] == "encoding"
    assert got.headers["x-should-retry"] == "false"


@pytest.mark.parametrize(
    "kind", ["audio/mpeg", "application/octet-stream", "text/plain", "", "application/json; charset=utf-16"]
)
def test_a_type_without_a_guard_is_refused_on_guarded_routes(gateway: Setup, kind: str) -> None:
    gateway.upstream.answer = whole(CANARY.encode(), headers=[("content-type", kind)] if kind else [])
    got = gateway.client.post(CHAT, json={})
    assert got.status_code == 502
    assert got.json()["error"]["code"] == "unguardable"
    assert CANARY not in got.text


def test_events_under_the_name_of_json_are_refused(gateway: Setup) -> None:
    gateway.upstream.answer = whole(chat(CANARY))
    got = gateway.client.post(CHAT, json={})
    assert (got.status_code, got.json()["error"]["code"]) == (502, "not_json")


def test_an_error_of_a_type_without_a_guard_keeps_its_status(gateway: Setup) -> None:
    gateway.upstream.answer = whole(CANARY.encode(), 429, [("content-type", "image/png")])
    got = gateway.client.post(CHAT, json={})
    assert got.status_code == 429
    assert got.json()["error"]["code"] == "unguardable"


def test_other_routes_pass_what_comes_whole_guarded(gateway: Setup) -> None:
    gateway.upstream.answer = whole(json.dumps({"data": [{"id": "m1", "note": CANARY}]}).encode())
    assert gateway.client.get("/v1/models").json() == {
        "data": [{"id": "m1", "note": "[REDACTED:canary:e6b0d319]"}]
    }
    gateway.upstream.answer = whole(CANARY.encode(), headers=[("content-type", "text/plain")])
    assert gateway.client.get("/v1/other").text == "[REDACTED:canary:e6b0d319]"


@pytest.mark.parametrize("kind", ["text/event-stream", "application/x-ndjson", "audio/mpeg"])
def test_other_routes_refuse_what_has_no_known_protocol(gateway: Setup, kind: str) -> None:
    gateway.upstream.answer = replaying(chat(CANARY), headers=[("content-type", kind)])
    got = gateway.client.get("/v1/other")
    assert (got.status_code, got.json()["error"]["code"]) == (502, "unguardable")


def test_a_path_that_may_pass_unguarded_passes_as_it_is(gateway: Setup) -> None:
    body = gzip.compress(CANARY.encode() * 3)
    gateway.upstream.answer = whole(
        body, 206, [("content-type", "audio/mpeg"), ("content-encoding", "gzip"), ("etag", '"e"')]
    )
    with gateway.client.stream("GET", "/v1/audio/speech", headers={"range": "bytes=0-"}) as got:
        assert b"".join(got.iter_raw()) == body
    assert got.status_code == 206
    assert got.headers["etag"] == '"e"'
    assert got.headers["content-length"] == str(len(body))
    assert gateway.upstream.seen[-1].all("range") == ["bytes=0-"]


@pytest.mark.parametrize("path", ["/v1/audio/../chat/completions", "/v1/audio/%2e%2E/chat/completions"])
def test_no_detour_leads_past_the_guard(gateway: Setup, path: str) -> None:
    before = len(gateway.upstream.seen)
    got = raw(gateway.url, f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
    assert got.startswith(b"HTTP/1.1 400 ")
    assert len(gateway.upstream.seen) == before


def test_everything_may_pass_but_the_guarded_routes_stay_guarded() -> None:
    with setup(replaying(chat(CANARY)), pass_unguarded=("*",)) as gateway:
        assert CANARY in said(gateway.client.post("/v1/unknown", json={}).content)
        assert CANARY not in said(gateway.client.post(CHAT, json={}).content)
        gateway.upstream.answer = whole(b"RIFF" + CANARY.encode(), headers=[("content-type", "audio/wav")])
        assert gateway.client.post(CHAT, json={}).content == b"RIFF" + CANARY.encode()


@pytest.mark.parametrize("status", [204, 304])
def test_an_answer_without_a_body_passes(gateway: Setup, status: int) -> None:
    async def answer(seen: Seen, out: Out) -> None:
        await out.head(status, [("x-a", "1")], chunked=False)

    gateway.upstream.answer = answer
    got = gateway.client.post(CHAT, json={})
    assert (got.status_code, got.headers["x-a"], got.content) == (status, "1", b"")


def test_an_empty_answer_needs_no_type(gateway: Setup) -> None:
    gateway.upstream.answer = whole(b"", headers=[])
    got = gateway.client.delete("/v1/responses/r1")
    assert (got.status_code, got.content) == (200, b"")


def test_head_passes(gateway: Setup) -> None:
    async def answer(seen: Seen, out: Out) -> None:
        await out.head(200, [*JSON, ("content-length", "1234"), ("x-a", "1")], chunked=False)

    gateway.upstream.answer = answer
    got = gateway.client.head(CHAT)
    assert (got.status_code, got.headers["x-a"]) == (200, "1")
    assert "content-length" not in got.headers
    assert gateway.upstream.seen[-1].method == "HEAD"


def test_a_preflight_of_a_browser_is_answered_by_the_upstream(gateway: Setup) -> None:
    headers = [("access-control-allow-origin", "https://app.example"), ("access-control-allow-headers", "*")]
    gateway.upstream.answer = whole(b"", 200, headers)
    got = gateway.client.options(
        CHAT,
        headers={"origin": "https://app.example", "access-control-request-method": "POST"},
    )
    assert got.status_code == 200
    assert got.headers["access-control-allow-origin"] == "https://app.example"
    seen = gateway.upstream.seen[-1]
    assert seen.method == "OPTIONS"
    assert seen.all("access-control-request-method") == ["POST"]


def test_a_web_socket_is_refused(gateway: Setup) -> None:
    before = len(gateway.upstream.seen)
    got = raw(
        gateway.url,
        b"GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
        b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    )
    assert got.startswith(b"HTTP/1.1 501 ")
    assert len(gateway.upstream.seen) == before


@pytest.mark.asyncio
async def test_a_web_socket_of_a_server_that_has_them_is_refused_too() -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await Gateway("http://localhost", GUARD)({"type": "websocket", "path": "/v1/realtime"}, receive, send)
    assert [message["type"] for message in sent] == ["websocket.close"]


def test_redirects_lead_back_to_the_gateway_or_nowhere(gateway: Setup) -> None:
    for given, shown in (
        (f"{gateway.upstream.url}/up/v1/x?q=1", "/v1/x?q=1"),
        ("/up/v1/x", "/v1/x"),
        ("/elsewhere", "/elsewhere"),
        ("relative", "relative"),
    ):
        gateway.upstream.answer = whole(b"", 307, [("location", given)])
        got = gateway.client.post(CHAT, json={})
        assert (got.status_code, got.headers["location"]) == (307, shown)
    for given in ("https://elsewhere.example/x", "//elsewhere.example/x", f"{gateway.upstream.url}1/x"):
        gateway.upstream.answer = whole(b"", 307, [("location", given)])
        got = gateway.client.post(CHAT, json={})
        assert (got.status_code, got.json()["error"]["code"]) == (502, "redirect")


def test_expect_is_answered_by_the_gateway(gateway: Setup) -> None:
    gateway.upstream.answer = whole(b'{"ok":1}')
    request = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n".encode()
    assert raw(gateway.url, request, until=b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    done = raw(gateway.url, request + b"{}", until=b'{"ok":1}')
    assert b"HTTP/1.1 200 " in done
    assert gateway.upstream.seen[-1].all("expect") == []


def test_a_request_in_chunks_with_trailers_arrives_whole(gateway: Setup) -> None:
    gateway.upstream.answer = whole(b'{"ok":1}')
    request = (
        f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ntrailer: X-T\r\n\r\n".encode()
        + b'3;ext=1\r\n{"a\r\n4\r\n":1}\r\n0\r\nX-T: smuggled\r\n\r\n'
    )
    assert b"200 OK" in raw(gateway.url, request, until=b'{"ok":1}')
    seen = gateway.upstream.seen[-1]
    assert seen.body == b'{"a":1}'
    assert seen.all("content-length") == ["7"]
    assert seen.all("transfer-encoding") == seen.all("x-t") == seen.all("trailer") == []


def test_two_lengths_of_a_request_smuggle_nothing(gateway: Setup) -> None:
    gateway.upstream.answer = whole(b'{"ok":1}')
    before = len(gateway.upstream.seen)
    request = (
        f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n"
        f"2\r\n{{}}\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    )
    raw(gateway.url, request.encode())
    seen = gateway.upstream.seen[before:]
    assert [(one.target, one.body) for one in seen] in (
        [("/up" + CHAT, b"{}"), ("/up/smuggled", b"")],  # two requests of this client, read as two
        [("/up" + CHAT, b"{}")],
        [],
    )
    assert all(one.all("transfer-encoding") == [] for one in seen)


def test_trailers_of_the_upstream_do_not_pass(gateway: Setup) -> None:
    async def answer(seen: Seen, out: Out) -> None:
        await out.head(200, [*SSE, ("trailer", "X-T")])
        await out.raw(b"%x;ext=%s\r\n" % (len(chat("hi")), CANARY.encode()) + chat("hi") + b"\r\n")
        await out.raw(f"0\r\nX-T: {CANARY}\r\n\r\n".encode())

    gateway.upstream.answer = answer
    request = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    got = raw(gateway.url, request.encode())
    assert b"[DONE]" in got
    assert CANARY.encode() not in got


def test_an_old_client_is_served(gateway: Setup) -> None:
    gateway.upstream.answer = replaying(chat("hello"))
    got = raw(gateway.url, f"POST {CHAT} HTTP/1.0\r\ncontent-length: 0\r\n\r\n".encode())
    head, _, body = got.partition(b"\r\n\r\n")
    assert b"chunked" not in head
    assert said(body) == "hello"


HINT = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
OLD = b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


@pytest.mark.parametrize("head", [OLD, HINT + OLD.replace(b"1.0", b"1.1")])
def test_a_body_that_ends_with_its_connection_is_whole(gateway: Setup, head: bytes) -> None:
    async def answer(seen: Seen, out: Out) -> None:
        await out.raw(head + chat(f"a {CANARY} b"))
        out.writer.close()
        await out.writer.wait_closed()

    gateway.upstream.answer = answer
    got = gateway.client.post(CHAT, json={})
    assert got.status_code == 200
    assert said(got.content) == "a [REDACTED:canary:e6b0d319] b"
    assert got.text.endswith("data: [DONE]\n\n")


def test_a_large_answer_is_guarded_too(gateway: Setup) -> None:
    gateway.upstream.answer = whole(completion("long " * 100_000 + CANARY))
    got = gateway.client.post(CHAT, json={})
    content = got.json()["choices"][0]["message"]["content"]
    assert content == "long " * 100_000 + "[REDACTED:canary:e6b0d319]"


def test_two_types_at_once_are_none(gateway: Setup) -> None:
    gateway.upstream.answer = whole(CANARY.encode(), headers=[*JSON, ("content-type", "audio/mpeg")])
    got = gateway.client.post(CHAT, json={})
    assert (got.status_code, got.json()["error"]["code"]) == (502, "unguardable")


def test_connections_are_used_again(gateway: Setup) -> None:
    gateway.upstream.answer = whole(b'{"ok":1}')
    request = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n".encode()
    parts = urlsplit(gateway.url)
    with closing(socket.create_connection((parts.hostname, parts.port), timeout=10)) as connection:
        for _ in range(3):
            connection.sendall(request)
            got = b""
            while b'{"ok":1}' not in got:
                got += connection.recv(65536)
            assert got.startswith(b"HTTP/1.1 200 ")


def test_the_client_is_told_in_its_protocols_form_what_was_refused(gateway: Setup) -> None:
    gateway.upstream.answer = whole(b"x", headers=[("content-type", "audio/mpeg")])
    got = gateway.client.post("/v1/messages", json={}).json()
    assert got["type"] == "error"
    assert got["error"]["type"] == "api_error"
    got = gateway.client.post(CHAT, json={}).json()
    assert set(got["error"]) == {"message", "type", "param", "code"}


def test_structured_output_stays_valid() -> None:
    content = json.dumps({"password": "hunter2hunter", "n": 1})
    rule = Rule("any", r"hunter2hunter")
    with setup(replaying(chat(content, every=1)), guard=Redactor((rule,))) as gateway:
        asked = {"stream": True, "response_format": {"type": "json_object"}}
        shown = json.loads(said(gateway.client.post(CHAT, json=asked).content))
    assert shown["n"] == 1
    assert shown["password"].startswith("[REDACTED:any:")


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("provider", ["anthropic", "google"])
def test_structured_output_of_other_protocols_stays_valid(provider: str, *, streamed: bool) -> None:
    content = json.dumps({"a": 1, "b": "the <zqfence> tag", "c": 2})
    if provider == "anthropic":
        path, asked = "/v1/messages", {"output_config": {"format": {"type": "json_schema"}}}
        answer: Any = {"type": "message", "content": [{"type": "text", "text": content}]}
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        delta = {"type": "content_block_delta", "index": 0}
        events = [
            block,
            *({**delta, "delta": {"type": "text_delta", "text": char}} for char in content),
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        ]
    else:
        path = "/v1beta/models/g:" + ("streamGenerateContent?alt=sse" if streamed else "generateContent")
        asked = {"generationConfig": {"responseMimeType": "application/json"}}

        def chunk(text: str, **more: str) -> Any:
            return {"candidates": [{"index": 0, "content": {"parts": [{"text": text}]}, **more}]}

        answer = chunk(content, finishReason="STOP")
        events = [*map(chunk, content), chunk("", finishReason="STOP")]
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    upstream = replaying(body, every=50) if streamed else whole(json.dumps(answer).encode())
    with setup(upstream) as gateway:
        got = gateway.client.post(path, json=asked).text
    lines = [line.removeprefix("data: ") for line in got.splitlines() if line] if streamed else [got]
    texts = [
        json.loads(found) for line in lines for found in re.findall(r'"text": ?("(?:[^"\\]|\\.)*")', line)
    ]
    assert json.loads("".join(texts)) == {"a": 1, "b": "the ", "c": 2}


def test_lines_of_ollama_are_guarded(gateway: Setup) -> None:
    lines = [{"message": {"role": "assistant", "content": part}, "done": False} for part in f"a {CANARY} b"]
    body = b"".join(json.dumps(line).encode() + b"\n" for line in (*lines, {"done": True}))
    gateway.upstream.answer = replaying(body, every=11, headers=[("content-type", "application/x-ndjson")])
    got = gateway.client.post("/api/chat", json={})
    shown = [json.loads(line) for line in got.text.splitlines()]
    assert "".join(line.get("message", {}).get("content", "") for line in shown) == (
        "a [REDACTED:canary:e6b0d319] b"
    )
    assert shown[-1]["done"] is True


def test_requests_are_guarded_when_asked_to() -> None:
    with setup(whole(b"{}"), guard=Pipeline(), request_guard=GUARD) as gateway:
        call = {
            "id": CANARY,
            "type": "function",
            "function": {"name": "f", "arguments": f'{{"a":"{CANARY}"}}'},
        }
        messages = [
            {"role": "user", "content": f"my key is {CANARY}"},
            {"role": "user", "content": [{"type": "text", "text": CANARY}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
        ]
        gateway.client.post(CHAT, json={"model": "m", "messages": messages, "stop": ["é"]})
        sent = json.loads(gateway.upstream.seen[-1].body)
        assert sent["messages"][0]["content"] == "my key is [REDACTED:canary:e6b0d319]"
        assert sent["messages"][1]["content"][0]["text"] == "[REDACTED:canary:e6b0d319]"
        arguments = sent["messages"][2]["tool_calls"][0]["function"]["arguments"]
        assert json.loads(arguments) == {"a": "[REDACTED:canary:e6b0d319]"}
        assert sent["messages"][2]["tool_calls"][0]["id"] == CANARY
        untouched = b'{ "messages": [],"n" : 1.0}'
        gateway.client.post(CHAT, content=untouched)
        assert gateway.upstream.seen[-1].body == untouched
        before = len(gateway.upstream.seen)
        assert gateway.client.post(CHAT, content=b"{").status_code == 400
        packed = {"content-encoding": "gzip"}
        assert gateway.client.post(CHAT, content=b"x", headers=packed).status_code == 415
        assert len(gateway.upstream.seen) == before


def test_health_and_metrics_are_the_gateways_own(gateway: Setup) -> None:
    before = len(gateway.upstream.seen)
    assert gateway.client.get("/healthz").json() == {"status": "ok"}
    found = {"stage": "redactor", "rule": "canary", "action": "redacted"}
    redacted = gateway.count("streamguard_findings_total", **found)
    done = gateway.count("streamguard_streams_total", route="chat", outcome="complete")
    pieces = gateway.count("streamguard_hold_back_characters_count")
    assert len(gateway.upstream.seen) == before
    gateway.upstream.answer = replaying(chat(f"a {CANARY}", every=1), every=200)
    gateway.client.post(CHAT, json={})
    assert gateway.count("streamguard_findings_total", **found) == redacted + 1
    assert gateway.count("streamguard_streams_total", route="chat", outcome="complete") == done + 1
    assert gateway.count("streamguard_hold_back_characters_count") > pieces
    assert gateway.count("streamguard_hold_back_characters_sum") > 0
    assert gateway.count("streamguard_added_latency_seconds_count") > 0
    assert gateway.count("streamguard_streams_active") == 0
    assert CANARY not in gateway.client.get("/metrics").text


@pytest.mark.parametrize(
    "url", ["", "api.example.com", "ftp://x", "https://", "https://u:p@x", "https://x?q=1", "https://x#f"]
)
def test_an_upstream_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="upstream"):
        Gateway(url, GUARD)


def test_limits_are_positive() -> None:
    with pytest.raises(ValueError, match="read must be more than 0"):
        Limits(read=0)
