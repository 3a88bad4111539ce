"""Many streams at a time, each with a secret and a fence of its own, all in step."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import random
import re
import string
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamguard_gateway import Gateway

from streamguard import FenceScrubber, Redactor

from .support import SSE, Hangup, Out, Seen, chat, said, serving, setup, upstream

CHAT = "/v1/chat/completions"


def secret_of(number: int) -> str:
    letters = random.Random(number).choices(string.ascii_letters + string.digits, k=36)
    return "ghp_" + "".join(letters)


def text_of(number: int, words: int) -> str:
    talk = f"stream {number} talks on and on. " * words
    hidden = f"<think>hidden {number}</think>"
    return f"I am {number}. {hidden}My key is {secret_of(number)}, {talk}the end of {number}"


def shown_of(number: int, words: int) -> str:
    digest = hashlib.sha256(secret_of(number).encode()).hexdigest()[:8]
    talk = f"stream {number} talks on and on. " * words
    return f"I am {number}. My key is [REDACTED:github-classic:{digest}], {talk}the end of {number}"


def in_step(streams: int, words: int, after: Callable[[], None] = lambda: None) -> Callable[..., object]:
    """Answer all streams event by event: none gets its next one before all have got this one."""
    barrier = asyncio.Barrier(streams)

    fewest = chat(text_of(0, words), every=8).count(b"\n\n")

    async def answer(seen: Seen, out: Out) -> None:
        number = int(seen.body)
        events = [event + b"\n\n" for event in chat(text_of(number, words), every=8).split(b"\n\n")[:-1]]
        await out.head(200, SSE)
        for place, event in enumerate(events):
            if place < fewest and await barrier.wait() == 0 and place == fewest // 2:
                after()
            await out.chunk(event)
        await out.end()

    return answer


async def ask(port: int, number: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    body = str(number).encode()
    writer.write(b"POST %s HTTP/1.0\r\ncontent-length: %d\r\n\r\n%s" % (CHAT.encode(), len(body), body))
    answer = await reader.read(-1)
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return answer.partition(b"\r\n\r\n")[2]


def check(port: int, streams: int, words: int) -> None:
    async def all_of_them() -> list[bytes]:
        return await asyncio.gather(*(ask(port, number) for number in range(streams)))

    for number, body in enumerate(asyncio.run(all_of_them())):
        assert said(body) == shown_of(number, words)
        assert body.endswith(b"data: [DONE]\n\n")


def test_streams_at_a_time_do_not_mix() -> None:
    with (
        upstream(in_step(40, 3)) as server,
        serving(Gateway(server.url, FenceScrubber("think") | Redactor())) as url,
    ):
        check(int(url.rpartition(":")[2]), 40, 3)


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_five_hundred_streams_on_one_core_do_not_mix_and_memory_is_flat() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    core = min(os.sched_getaffinity(0))
    memory: list[int] = []
    with upstream(in_step(500, 1)) as server:
        gateway = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "streamguard", "serve", "--port", "0", "--upstream", server.url],
            stderr=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if name != "STREAMGUARD_KEY"},
        )
        assert gateway.stderr
        try:
            os.sched_setaffinity(gateway.pid, {core})
            port = 0
            while not port:
                found = re.search(r"http://127\.0\.0\.1:(\d+) guards", gateway.stderr.readline())
                port = int(found[1]) if found else 0
            drain = subprocess.Popen(["cat"], stdin=gateway.stderr, stdout=subprocess.DEVNULL)  # noqa: S607

            def weigh() -> None:
                status = Path(f"/proc/{gateway.pid}/status").read_text()
                memory.append(int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0]))

            for _ in range(6):
                server.answer = in_step(500, 1, weigh)
                check(port, 500, 1)
        finally:
            gateway.kill()
            gateway.wait()
            drain.wait()
            gateway.stderr.close()
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    print("resident kB in the middle of each round:", memory)
    assert memory[-1] < memory[2] * 1.1


def test_whatever_goes_wrong_around_them_other_streams_are_right() -> None:
    """Sixty streams: some upstreams break off or send garbage, some clients go away."""
    words = 2

    async def answer(seen: Seen, out: Out) -> None:
        number = int(seen.body)
        body = chat(text_of(number, words), every=8)
        fate = random.Random(number)
        await out.head(200, SSE)
        if number % 4 == 0:
            await out.chunk(body)
            await out.end()
            return
        at = 0
        while at < len(body) // 2:
            size = fate.randrange(1, 300)
            await out.chunk(body[at : at + size])
            at += size
        if number % 4 == 1:
            raise Hangup
        if number % 4 == 2:
            await out.raw(f"zz {secret_of(number)} \x00\r\n".encode() * 20)
            raise Hangup
        await out.gone()

    async def client(port: int, number: int) -> bytes:
        if number % 4 != 3:
            return await ask(port, number)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        body = str(number).encode()
        writer.write(
            b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%s" % (CHAT.encode(), len(body), body)
        )
        got = await reader.readuntil(b"data: ")
        writer.transport.abort()
        return got

    async def all_of_them(port: int) -> list[bytes]:
        return await asyncio.gather(*(client(port, number) for number in range(60)))

    with setup(answer, FenceScrubber("think") | Redactor()) as gateway:
        shown = asyncio.run(all_of_them(int(gateway.url.rpartition(":")[2])))
        for number, body in enumerate(shown):
            if number % 4 == 0:
                assert said(body) == shown_of(number, words)
            assert secret_of(number)[4:12].encode() not in body
            assert f"hidden {number}<".encode() not in body
        streams = "streamguard_streams_total"
        outcomes = {
            o: gateway.count(streams, route="chat", outcome=o) for o in ("complete", "cut", "disconnected")
        }
        assert outcomes == {"complete": 15, "cut": 30, "disconnected": 15}
