"""Real streams through the gateway, where the data lies beside the checkout."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from streamguard import Pipeline, Transformer

from .support import CANARY, GUARD, HIDDEN, Out, Seen, Setup, recordings, setup

PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "google": "/v1beta/models/m:streamGenerateContent",
}
RECORDINGS = [
    pytest.param(path, body, id=name)
    for protocol, path in PATHS.items()
    for name, body in recordings(protocol)
]
if not RECORDINGS:
    pytest.skip("the data is not here", allow_module_level=True)


def serving(guard: Transformer) -> Iterator[Setup]:
    async def answer(seen: Seen, out: Out) -> None:
        raise AssertionError

    with setup(answer, guard) as made:
        yield made


@pytest.fixture(scope="module")
def empty() -> Iterator[Setup]:
    yield from serving(Pipeline())


@pytest.fixture(scope="module")
def guarded() -> Iterator[Setup]:
    yield from serving(GUARD)


def hostile(body: bytes) -> list[list[bytes]]:
    """The body in one piece; in pieces of odd sizes; cut inside of line ends, escapes and characters."""
    source = random.Random(len(body))
    cuts, at = [], 0
    while at < len(body):
        at += source.choice((1, 2, 3, 5, 50, 700))
        cuts.append(at)
    marks = [i + 1 for i, byte in enumerate(body) if byte in b"\n\\\xe2" and source.random() < 0.3]
    return [[body], pieces(body, cuts), pieces(body, marks)]


def pieces(body: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *cuts[:400], len(body)]
    return [body[a:b] for a, b in pairwise(edges)]


@pytest.mark.parametrize(("path", "body"), RECORDINGS)
def test_an_empty_policy_changes_no_byte(empty: Setup, path: str, body: bytes) -> None:
    for cut in hostile(body):

        async def answer(seen: Seen, out: Out, cut: list[bytes] = cut) -> None:
            await out.stream(cut)

        empty.upstream.answer = answer
        got = empty.client.post(path, json={"stream": True})
        assert (got.status_code, got.content) == (200, body)


def texts(event: Any) -> Iterator[tuple[Any, dict[str, Any], str]]:
    """Where an event has a piece of a text: its lane, the object it stands in, its name."""
    for choice in event.get("choices") or ():
        delta = choice.get("delta") or {}
        for name in ("content", "reasoning_content"):
            if delta.get(name) and isinstance(delta[name], str):
                yield (choice.get("index"), name), delta, name
    kind = event.get("type") or ""
    if kind == "response.output_text.delta":
        yield (event["item_id"], event["content_index"]), event, "delta"
    if kind == "content_block_delta":
        for name in ("text", "thinking"):
            if event["delta"].get(name):
                yield (event["index"], name), event["delta"], name
    for candidate in event.get("candidates") or ():
        for place, part in enumerate((candidate.get("content") or {}).get("parts") or ()):
            if part.get("text") and not part.get("thought"):
                yield (candidate.get("index"), place), part, "text"


def planted(body: bytes) -> bytes:
    """A copy whose texts hold a secret and a fence, each cut in two by the events where there are two."""
    parts = re.split(r"(?m)^(data: ?)(\{.*\})", body.decode())
    events = {place: json.loads(part) for place, part in enumerate(parts) if place % 3 == 2}
    lanes: dict[Any, list[tuple[dict[str, Any], str]]] = {}
    for event in events.values():
        for lane, holder, name in texts(event):
            lanes.setdefault(lane, []).append((holder, name))
    text = f" {HIDDEN}{CANARY} "
    for first, *rest in lanes.values():
        cut = len(text) - 9 if rest else len(text)
        first[0][first[1]] += text[:cut]
        if rest:
            holder, name = rest[0]
            holder[name] = text[cut:] + holder[name]
    for place, event in events.items():
        parts[place] = json.dumps(event)
    return "".join(parts).encode()


COPIES = [pytest.param(case.values[0], planted(case.values[1]), id=case.id) for case in RECORDINGS]


@pytest.mark.parametrize(("path", "copy"), [case for case in COPIES if b"zqfence" in case.values[1]])
def test_what_is_planted_never_comes_out(guarded: Setup, path: str, copy: bytes) -> None:
    for cut in hostile(copy):

        async def answer(seen: Seen, out: Out, cut: list[bytes] = cut) -> None:
            await out.stream(cut)

        guarded.upstream.answer = answer
        got = guarded.client.post(path, json={"stream": True})
        assert got.status_code == 200
        assert not re.search("ZQCANARY|ZQHIDDEN|x7x7|zqfence", got.text)
