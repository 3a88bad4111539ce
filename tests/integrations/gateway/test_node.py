"""Clients in Node: its own fetch, and the npm package of OpenAI where that can be had."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from .streams import responses_stream, responses_whole
from .support import CANARY, HIDDEN, SSE, Hangup, Out, Seen, chat, completion, said, setup

HERE = Path(__file__).parent
TEXT = f"The key: {CANARY}, {HIDDEN}and more 🙂 é"
SHOWN = "The key: [REDACTED:canary:e6b0d319], and more 🙂 é"
NODE = shutil.which("node")

if NODE is None:
    pytest.skip("Node is not here", allow_module_level=True)


def node(*arguments: str) -> Any:
    done = subprocess.run(  # noqa: S603 - our own script
        [str(NODE), *arguments], capture_output=True, text=True, check=False, timeout=60, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


async def api(seen: Seen, out: Out) -> None:
    asked = json.loads(seen.body)
    streamed, whole = (
        (chat, completion)
        if "chat" in seen.target
        else (responses_stream, lambda text: json.dumps(responses_whole(text)).encode())
    )
    if not asked.get("stream"):
        await out.whole(whole(TEXT))
        return
    body = streamed(TEXT)
    if asked["model"] == "cut":
        await out.head(200, SSE)
        await out.chunk(body[: body.index(b"x7")])
        raise Hangup
    await out.stream([body[at : at + 29] for at in range(0, len(body), 29)])


def test_nodes_own_fetch_reads_a_stream_and_closes_one() -> None:
    closed = threading.Event()

    async def answer(seen: Seen, out: Out) -> None:
        if "chat" in seen.target:
            await api(seen, out)
            return
        await out.head(200, SSE)
        await out.chunk(responses_stream(TEXT)[:600])
        await out.gone()
        closed.set()

    with setup(answer) as gateway:
        shown = node(str(HERE / "fetch.mjs"), gateway.url)
        assert closed.wait(20)
    assert shown["status"] == 200
    assert shown["type"].startswith("text/event-stream")
    assert said(shown["body"].encode()) == SHOWN
    assert "ZQ" not in shown["body"]


@pytest.fixture(scope="module")
def package() -> Path:
    """The folder in which the npm package is installed: `npm install --prefix FOLDER openai`."""
    named = os.environ.get("STREAMGUARD_NODE_FOLDER")
    if named is None:
        pytest.skip("STREAMGUARD_NODE_FOLDER names no folder with the npm package of OpenAI")
    return Path(named)


def test_the_npm_client_of_openai(package: Path) -> None:
    with setup(api) as gateway:
        shown = node(str(HERE / "openai.mjs"), gateway.url, str(package))
    assert shown["whole"] == shown["streamed"] == shown["helper"] == shown["response"] == SHOWN
    assert shown["error"] is True
    assert shown["partial"].startswith("The key: ")
    assert "zqfence" not in shown["partial"]
