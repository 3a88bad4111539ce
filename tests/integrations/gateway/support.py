"""What the tests of the gateway share: an upstream that does what it is told, and servers on loopback."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families
from streamguard_gateway import Gateway
from streamguard_gateway.server import server_of

from streamguard import FenceScrubber, Redactor, Transformer
from streamguard.redact import Rule

DATA = Path(__file__).parents[4] / "shared" / "data"
CANARY = "ZQCANARY" + "x7" * 8
HIDDEN = "<zqfence>ZQHIDDEN</zqfence>"
GUARD = FenceScrubber("zqfence") | Redactor((Rule("canary", r"ZQCANARY(?:x7){8}"),))
SSE = [("content-type", "text/event-stream; charset=utf-8")]
JSON = [("content-type", "application/json")]


@dataclass
class Seen:
    """A request as the upstream got it."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]


@dataclass
class Out:
    """The upstream's side of one connection; chunks are written as they are given."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self, status: int, headers: Iterable[tuple[str, str]], *, chunked: bool = True) -> None:
        lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in headers)]
        if chunked:
            lines.append("transfer-encoding: chunked")
        await self.raw("\r\n".join((*lines, "", "")).encode("latin-1"))

    async def chunk(self, data: bytes) -> None:
        if data:
            await self.raw(b"%x\r\n%s\r\n" % (len(data), data))

    async def end(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def stream(self, pieces: Iterable[bytes], headers: Iterable[tuple[str, str]] = SSE) -> None:
        await self.head(200, headers)
        for piece in pieces:
            await self.chunk(piece)
        await self.end()

    async def whole(self, body: bytes, status: int = 200, headers: Iterable[tuple[str, str]] = JSON) -> None:
        await self.head(status, [*headers, ("content-length", str(len(body)))], chunked=False)
        await self.raw(body)

    async def gone(self) -> None:
        """Wait until the gateway has closed its end."""
        try:
            while await self.reader.read(65536):
                pass
        except ConnectionError:
            pass


Answer = Callable[[Seen, Out], Awaitable[None]]


@dataclass
class Upstream:
    """A server on loopback.

    Attributes:
        answer: what it does; tests may change it at any time.
        seen: the requests, in order.
    """

    answer: Answer
    seen: list[Seen] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await self._head(reader):
                method, target, *_ = head[0].split(" ")
                headers = [
                    (name.strip().lower(), value.strip())
                    for name, _, value in (x.partition(":") for x in head[1:])
                ]
                size = next((int(value) for name, value in headers if name == "content-length"), 0)
                seen = Seen(method, target, headers, await reader.readexactly(size))
                self.seen.append(seen)
                await self.answer(seen, Out(reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError, Hangup):
            pass
        finally:
            writer.transport.abort()

    async def _head(self, reader: asyncio.StreamReader) -> list[str]:
        try:
            return (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
        except asyncio.IncompleteReadError:
            return []


class Hangup(Exception):  # noqa: N818
    """Raised by an answer: the connection is cut."""


@contextmanager
def upstream(answer: Answer) -> Iterator[Upstream]:
    """Run an upstream in a thread of its own."""
    server = Upstream(answer)
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def main() -> None:
        tasks: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task
            tasks.add(task)
            try:
                await server.serve(reader, writer)
            except asyncio.CancelledError:
                pass
            finally:
                tasks.discard(task)

        listening = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=1024, limit=1 << 20)
        server.port = listening.sockets[0].getsockname()[1]
        ready.set()
        await stop.wait()
        listening.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()), daemon=True)
    thread.start()
    assert ready.wait(5)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


@contextmanager
def serving(app: Gateway) -> Iterator[str]:
    """Run a gateway in a thread of its own; gives its URL."""
    server = server_of(app, grace=1)
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            while not server.started and thread.is_alive():
                thread.join(0.005)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)


@dataclass
class Setup:
    """A gateway before an upstream."""

    url: str
    upstream: Upstream
    app: Gateway
    client: httpx.Client

    def count(self, name: str, **labels: str) -> float:
        """A sample of the metrics, once all answers have come to their end; 0 if there is none."""
        while self._sample("streamguard_streams_active", {}):
            pass
        return self._sample(name, labels)

    def _sample(self, name: str, labels: dict[str, str]) -> float:
        families = text_string_to_metric_families(self.client.get("/metrics").text)
        found = (
            s.value for family in families for s in family.samples if (s.name, s.labels) == (name, labels)
        )
        return next(found, 0.0)


@contextmanager
def setup(answer: Answer, guard: Transformer = GUARD, prefix: str = "", **options: Any) -> Iterator[Setup]:
    with upstream(answer) as server:
        app = Gateway(server.url + prefix, guard, **options)
        with serving(app) as url, httpx.Client(base_url=url, timeout=20, trust_env=False) as client:
            yield Setup(url, server, app, client)


def replaying(body: bytes, *, every: int = 0, headers: Iterable[tuple[str, str]] = SSE) -> Answer:
    """Answer with a stream, in pieces of so many bytes."""
    pieces = [body[at : at + every] for at in range(0, len(body), every)] if every else [body]

    async def answer(seen: Seen, out: Out) -> None:
        await out.stream(pieces, headers)

    return answer


def recordings(protocol: str) -> list[tuple[str, bytes]]:
    index = DATA / "recordings" / "index.jsonl"
    if not index.exists():
        return []
    entries = [json.loads(line) for line in index.read_text().splitlines()]
    return [
        (entry["file"], (DATA / "recordings" / entry["file"]).read_bytes())
        for entry in entries
        if entry["protocol"] == protocol
    ]


def chat(text: str, *, every: int = 3, finish: str = "stop") -> bytes:
    """A stream of chat completions that says this."""
    same = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[at : at + every]} for at in range(0, len(text), every)]
    chunks = [{**same, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**same, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return b"".join(b"data: " + json.dumps(c).encode() + b"\n\n" for c in chunks) + b"data: [DONE]\n\n"


def completion(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return json.dumps(
        {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    ).encode()


def said(stream: bytes) -> str:
    """The content of a stream of chat completions."""
    events = [line[6:] for line in stream.decode().split("\n") if line.startswith("data: {")]
    return "".join(
        choice["delta"].get("content") or ""
        for event in events
        for choice in json.loads(event).get("choices", [])
    )
