"""Whatever ends, and whoever ends it: nothing leaks, the stream is valid, the gateway lives."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from streamguard_gateway import Gateway, Limits

from streamguard import Redactor
from streamguard.redact import Rule

from .streams import anthropic_stream, responses_stream
from .support import (
    CANARY,
    GUARD,
    HIDDEN,
    JSON,
    SSE,
    Hangup,
    Out,
    Seen,
    Setup,
    chat,
    completion,
    said,
    serving,
    setup,
)

CHAT = "/v1/chat/completions"
BLOCKING = Redactor((Rule("canary", r"ZQCANARY(?:x7){8}"),), actions={"canary": "block"})


@pytest.fixture(scope="module")
def gateway() -> Iterator[Setup]:
    async def answer(seen: Seen, out: Out) -> None:
        raise AssertionError

    with setup(answer, GUARD | Redactor(), limits=Limits(body=20_000, event=10_000)) as made:
        yield made


KEY = "ghp_" + "a8Bc9De0Fg1Hi2Jk3Lm4" + "No5Pq6Rs7Tu8Vw9X"
STREAMS = {CHAT: chat, "/v1/messages": anthropic_stream, "/v1/responses": responses_stream}


def frames(stream: bytes) -> list[dict[str, Any]]:
    """The events of a stream; it has to be valid to its last byte."""
    text = stream.decode()
    assert text.endswith("\n\n")
    datas = [re.findall(r"(?m)^data: ?(.*)$", frame) for frame in text[:-2].split("\n\n")]
    return [json.loads(data[0]) for data in datas if data and data[0] != "[DONE]"]


@pytest.mark.parametrize("path", STREAMS)
def test_an_upstream_that_is_cut_anywhere_leaves_a_valid_stream(gateway: Setup, path: str) -> None:
    body = STREAMS[path](f"one {KEY} {HIDDEN} two")
    end = body.rfind(b"data: ")  # a cut behind what ends the stream is none
    for place in range(1, end, len(body) // 40):

        async def answer(seen: Seen, out: Out, place: int = place) -> None:
            await out.head(200, SSE)
            await out.chunk(body[:place])
            raise Hangup

        gateway.upstream.answer = answer
        got = gateway.client.post(path, json={"stream": True})
        assert got.status_code == 200
        shown = frames(got.content)
        assert "broke off" in json.dumps(shown[-1])
        assert not any(KEY[at : at + 5] in got.text for at in range(5, len(KEY) - 5))
        assert "ZQHIDDEN" not in said(got.content)


@pytest.mark.parametrize("path", STREAMS)
@pytest.mark.parametrize("chunked", [True, False])
def test_an_upstream_that_ends_in_the_middle_of_an_event_has_broken_off(
    gateway: Setup, path: str, chunked: bool
) -> None:
    body = STREAMS[path](f"one {KEY} {HIDDEN} two")
    begins = [found.start() for found in re.finditer(rb"data: ", body)]
    labels = {"route": path.rpartition("/")[2].replace("completions", "chat"), "outcome": "cut"}
    for begin in begins[1:-1:4]:

        async def answer(seen: Seen, out: Out, place: int = begin + 20) -> None:
            if chunked:
                await out.stream([body[:place]])
            else:
                await out.head(200, [*SSE, ("connection", "close")], chunked=False)
                await out.raw(body[:place])
                out.writer.write_eof()
                await out.gone()

        gateway.upstream.answer = answer
        before = gateway.count("streamguard_streams_total", **labels)
        got = gateway.client.post(path, json={"stream": True})
        assert got.status_code == 200
        assert "broke off" in json.dumps(frames(got.content)[-1])
        assert gateway.count("streamguard_streams_total", **labels) == before + 1
        assert KEY[4:12] not in got.text


def test_a_stream_that_ends_too_early_without_a_cut_shows_nothing_unguarded(gateway: Setup) -> None:
    body = chat(f"one {KEY} two", every=60)
    for place in range(1, len(body), 41):

        async def answer(seen: Seen, out: Out, place: int = place) -> None:
            await out.stream([body[:place]])

        gateway.upstream.answer = answer
        got = gateway.client.post(CHAT, json={})
        assert KEY[4:12] not in got.text
        assert all(json.loads(data) for data in re.findall(r"(?m)^data: (\{.*)$", got.text))


def test_a_whole_answer_that_is_cut_is_an_error(gateway: Setup) -> None:
    async def answer(seen: Seen, out: Out) -> None:
        await out.head(200, [*JSON, ("content-length", "5000")], chunked=False)
        await out.raw(completion(CANARY))
        raise Hangup

    gateway.upstream.answer = answer
    got = gateway.client.post(CHAT, json={})
    assert (got.status_code, got.json()["error"]["code"]) == (502, "cut")
    assert "x-should-retry" not in got.headers
    assert "ZQ" not in got.text


def test_an_unguarded_body_that_is_cut_is_broken_off() -> None:
    async def answer(seen: Seen, out: Out) -> None:
        await out.head(200, [("content-type", "audio/mpeg")])
        await out.chunk(b"half")
        raise Hangup

    with setup(answer, pass_unguarded=("*",)) as gateway, pytest.raises(httpx.RemoteProtocolError):
        gateway.client.get("/v1/audio")


@pytest.mark.parametrize("moment", ["before the head", "in the stream"])
def test_a_client_that_goes_away_closes_the_upstream(gateway: Setup, moment: str) -> None:
    begun, closed = threading.Event(), threading.Event()

    async def answer(seen: Seen, out: Out) -> None:
        if moment == "in the stream":
            await out.head(200, SSE)
            await out.chunk(chat("hello")[:400])
        begun.set()
        await out.gone()  # nothing more is sent: only the client's going away can end this
        closed.set()

    gateway.upstream.answer = answer
    done = gateway.count("streamguard_streams_total", route="chat", outcome="disconnected")
    parts = urlsplit(gateway.url)
    with closing(socket.create_connection((parts.hostname, parts.port))) as client:
        client.sendall(f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{{}}".encode())
        assert begun.wait(10)
        if moment == "in the stream":
            assert client.recv(100)
        # a reset instead of a farewell
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert closed.wait(10)
    assert gateway.count("streamguard_streams_total", route="chat", outcome="disconnected") == done + 1


def test_a_client_that_stops_in_the_middle_of_its_request_reaches_no_upstream(gateway: Setup) -> None:
    before = len(gateway.upstream.seen)
    parts = urlsplit(gateway.url)
    for sent in ("content-length: 100\r\n\r\nhalf", "transfer-encoding: chunked\r\n\r\n5\r\nha"):
        with closing(socket.create_connection((parts.hostname, parts.port))) as client:
            client.sendall(f"POST {CHAT} HTTP/1.1\r\nhost: x\r\n{sent}".encode())
    gateway.count("streamguard_streams_active")
    assert len(gateway.upstream.seen) == before


GARBAGE = [
    b"\x00\xff\x16\x03\x01" * 100 + b"\r\n\r\n",
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n",
    b"CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n",
    b"GET http://elsewhere.example/v1/models HTTP/1.1\r\nhost: x\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
def test_a_client_that_sends_garbage_is_refused(gateway: Setup, garbage: bytes) -> None:
    async def answer(seen: Seen, out: Out) -> None:
        await out.whole(completion("fine"))

    gateway.upstream.answer = answer
    before = len(gateway.upstream.seen)
    parts = urlsplit(gateway.url)
    with closing(socket.create_connection((parts.hostname, parts.port), timeout=10)) as client:
        client.sendall(garbage)
        client.shutdown(socket.SHUT_WR)
        got = b""
        while piece := client.recv(65536):
            got += piece
    assert re.match(rb"HTTP/1\.1 (4|5)\d\d ", got) or not got
    assert len(gateway.upstream.seen) == before
    assert gateway.client.post(CHAT, json={}).status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00\x01garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: br\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\n" + b"a: " + b"b" * 200_000 + b"\r\n\r\n",
        b"",
    ],
)
def test_an_upstream_that_sends_garbage_is_an_error(gateway: Setup, sent: bytes) -> None:
    async def answer(seen: Seen, out: Out) -> None:
        await out.raw(sent)
        raise Hangup

    gateway.upstream.answer = answer
    got = gateway.client.post(CHAT, json={})
    assert got.status_code == 502
    assert got.json()["error"]["type"] == "streamguard"


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe\x00data\x00: \x80\x81\n\n" * 5,
        f"{CANARY}\n\nevent: {CANARY}\nid: {CANARY}\n: {CANARY}\ndata: {CANARY}\n\n".encode(),
        f'data: {{"choices": "{CANARY}"}}\n\ndata: [[["{CANARY}"]]]\n\ndata: "{CANARY}"\n\n'.encode(),
        f'data: {{"choices": [{{"delta": {{"content": "{CANARY}'.encode(),
        b"data: " + b"[" * 3000 + f'"{CANARY}"'.encode() + b"\n\n",
        f'{{"error": {{"message": "{CANARY}"}}}}'.encode(),
    ],
    ids=range(6),
)
def test_a_stream_of_garbage_leaks_nothing(gateway: Setup, body: bytes) -> None:
    for every in (1, 7, 10_000):

        async def answer(seen: Seen, out: Out, every: int = every) -> None:
            await out.stream([body[at : at + every] for at in range(0, len(body), every)])

        gateway.upstream.answer = answer
        got = gateway.client.post(CHAT, json={})
        assert CANARY.encode() not in got.content


def test_an_event_that_is_too_large_ends_the_stream(gateway: Setup) -> None:
    async def answer(seen: Seen, out: Out) -> None:
        await out.head(200, SSE)
        await out.chunk(chat("fine").split(b"data: [DONE]")[0])
        for _ in range(200):
            await out.chunk(b"data: " + b"x" * 1000 + b"\n")
        await out.gone()

    gateway.upstream.answer = answer
    got = gateway.client.post(CHAT, json={})
    assert said(got.content) == "fine"
    assert "xxx" not in got.text
    assert "could not be guarded" in json.dumps(frames(got.content)[-1])
    assert gateway.count("streamguard_streams_total", route="chat", outcome="limit") == 1


def test_bodies_that_are_too_large_are_refused(gateway: Setup) -> None:
    async def answer(seen: Seen, out: Out) -> None:
        await out.whole(completion("y" * 30_000))

    gateway.upstream.answer = answer
    got = gateway.client.post(CHAT, json={})
    assert (got.status_code, got.json()["error"]["code"]) == (502, "too_large")
    before = len(gateway.upstream.seen)
    for content in (b"x" * 30_000, iter([b"x" * 15_000, b"x" * 15_000])):
        got = gateway.client.post(CHAT, content=content)
        assert (got.status_code, got.json()["error"]["code"]) == (413, "too_large")
    expecting = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 30000\r\n\r\n"
    parts = urlsplit(gateway.url)
    with closing(socket.create_connection((parts.hostname, parts.port), timeout=10)) as client:
        client.sendall(expecting.encode())
        assert client.recv(65536).startswith(b"HTTP/1.1 413 ")
    assert len(gateway.upstream.seen) == before


@pytest.mark.parametrize("streamed", [True, False])
def test_a_rule_that_blocks_ends_the_answer(streamed: bool) -> None:
    closed = threading.Event()

    async def answer(seen: Seen, out: Out) -> None:
        if streamed:
            await out.head(200, SSE)
            await out.chunk(chat(f"fine {CANARY} more").split(b"data: [DONE]")[0])
            await out.gone()
            closed.set()
        else:
            await out.whole(completion(f"fine {CANARY} more"))

    with setup(answer, guard=BLOCKING) as gateway:
        got = gateway.client.post(CHAT, json={})
        assert "ZQ" not in got.text
        if streamed:
            assert said(got.content) == "fine "
            assert frames(got.content)[-1]["choices"][0]["finish_reason"] == "content_filter"
            assert closed.wait(10)
        else:
            assert (got.status_code, got.json()["error"]["code"]) == (403, "blocked")
            assert got.headers["x-should-retry"] == "false"
        assert gateway.count("streamguard_streams_total", route="chat", outcome="blocked") == 1


class Silent(httpx.AsyncBaseTransport):
    """An upstream that says so much and then nothing, for longer than is allowed."""

    def __init__(self, said: bytes | None) -> None:
        self.said = said
        self.closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        assert request.extensions["timeout"] == {"connect": 3, "read": 7, "write": 7, "pool": 7}
        if self.said is None:
            raise httpx.ReadTimeout("")
        return httpx.Response(200, headers=SSE, stream=SilentStream(self))


class SilentStream(httpx.AsyncByteStream):
    def __init__(self, upstream: Silent) -> None:
        self.upstream = upstream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.upstream.said or b""
        raise httpx.ReadTimeout("")

    async def aclose(self) -> None:
        self.upstream.closed = True


@pytest.mark.asyncio
async def test_silence_of_the_upstream_has_an_end() -> None:
    for upstream in (Silent(None), Silent(chat(f"hello {CANARY}")[:700])):
        app = Gateway("http://x", GUARD, limits=Limits(connect=3, read=7), transport=lambda up=upstream: up)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://g") as client:
            got = await client.post(CHAT, json={})
        if upstream.said is None:
            assert (got.status_code, got.json()["error"]["code"]) == (504, "upstream_timeout")
        else:
            assert got.status_code == 200
            assert "broke off" in json.dumps(frames(got.content)[-1])
            assert upstream.closed


def test_silence_of_a_client_has_an_end() -> None:
    closed = threading.Event()

    async def endless(seen: Seen, out: Out) -> None:
        await out.head(200, SSE)
        try:
            while True:
                await out.chunk(b": " + b"x" * 5000 + b"\n\n")
        finally:
            closed.set()

    with setup(endless, limits=Limits(idle=0.2)) as gateway:
        parts = urlsplit(gateway.url)
        head = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n".encode()
        with closing(socket.create_connection((parts.hostname, parts.port), timeout=10)) as client:
            client.sendall(head + b"{")
            assert client.recv(65536).startswith(b"HTTP/1.1 408 ")
        with closing(socket.create_connection((parts.hostname, parts.port), timeout=10)) as client:
            client.sendall(head + b"{}")
            assert closed.wait(20)  # it takes nothing of what it is sent


def test_too_many_requests_at_a_time_are_told_to_come_back() -> None:
    begun, release = threading.Event(), threading.Event()

    async def answer(seen: Seen, out: Out) -> None:
        begun.set()
        await asyncio.to_thread(release.wait, 10)
        await out.whole(completion("fine"))

    with setup(answer, limits=Limits(streams=1)) as gateway:
        first: list[httpx.Response] = []
        asking = threading.Thread(target=lambda: first.append(gateway.client.post(CHAT, json={})))
        asking.start()
        assert begun.wait(10)
        got = gateway.client.post(CHAT, json={})
        assert (got.status_code, got.json()["error"]["code"]) == (503, "busy")
        assert "x-should-retry" not in got.headers
        assert gateway.client.get("/healthz").status_code == 200
        release.set()
        asking.join(10)
        assert first[0].status_code == 200
        assert gateway.count("streamguard_streams_active") == 0  # it ends a little behind its answer
        assert gateway.client.post(CHAT, json={}).status_code == 200


def test_an_upstream_that_is_down_is_an_error_until_it_is_back(gateway: Setup) -> None:
    async def answer(seen: Seen, out: Out) -> None:
        await out.whole(completion("fine"))

    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    with serving(Gateway(f"http://127.0.0.1:{port}", GUARD)) as url:
        got = httpx.post(url + CHAT, json={})
        assert (got.status_code, got.json()["error"]["code"]) == (502, "upstream_unreachable")
        assert httpx.get(url + "/healthz").status_code == 200
    gateway.upstream.answer = answer
    assert gateway.client.post(CHAT, json={}).status_code == 200


def test_nothing_that_was_said_is_logged(capfd: pytest.CaptureFixture[str]) -> None:
    sent = f"data: {{{CANARY}\n\n".encode() + chat(CANARY)[:300]

    async def answer(seen: Seen, out: Out) -> None:
        await out.head(200, [*SSE, ("x-echo", "fine")])
        await out.chunk(sent)
        raise Hangup

    with setup(answer) as gateway:
        gateway.client.post(CHAT + f"?key={CANARY}", json={"messages": [CANARY]}, headers={"x-key": CANARY})
        gateway.client.post(f"/{CANARY}/../x", content=CANARY)
        gateway.client.post(f"/{CANARY}", content=CANARY)
    shown = capfd.readouterr()
    assert "chat: cut" in shown.err
    assert CANARY not in shown.err + shown.out
