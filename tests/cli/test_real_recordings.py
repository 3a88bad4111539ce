"""Real recordings of providers, where they lie beside the checkout.

`../shared/data/recordings` has `index.jsonl` (`{file, protocol}`) and the bodies. What is
expected is worked out here from the raw events, apart from the reader under test.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamguard import SECRETS, FenceScrubber, Pipeline, Redactor, Transformer
from streamguard.cli.answer import guard_recording
from streamguard.cli.demo.scenes import fake_secret

ROOT = Path(__file__).parents[3] / "shared" / "data" / "recordings"
INDEX = ROOT / "index.jsonl"
ROWS = [json.loads(line) for line in INDEX.read_text("utf-8").splitlines()] if INDEX.exists() else []
PROVIDER = {"google": "gemini"}
GUARD = FenceScrubber("memory-context", "think") | Redactor(SECRETS)
TOKEN = fake_secret("github")
CANARY = "canary-in-memory"

pytestmark = pytest.mark.skipif(not ROWS, reason="no recordings beside the checkout")
recordings = pytest.mark.parametrize("row", ROWS, ids=lambda row: row["file"])


def show(
    data: bytes,
    guard: Transformer,
    protocol: str,
    *,
    provider: str = "",
    reasoning: bool = False,
    cut: int = 0,
) -> str:
    chunks = [data[at : at + cut] for at in range(0, len(data), cut)] if cut else [data]
    out = guard_recording(
        chunks,
        guard,
        "sse",
        provider=provider or PROVIDER.get(protocol, protocol),
        reasoning=reasoning,
        name="recording",
        on_finding=lambda _: None,
        on_broken=pytest.fail,
    )
    return b"".join(out).decode()


def texts(event: dict[str, Any], protocol: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The places of an event that hold a text delta of the answer: the object and the key."""
    if protocol == "openai-chat":
        for choice in event.get("choices") or ():
            delta = choice.get("delta") or {}
            if isinstance(delta.get("content"), str):
                yield delta, "content"
            for part in delta["content"] if isinstance(delta.get("content"), list) else ():
                if part["type"] == "text":
                    yield part, "text"
    elif protocol == "openai-responses":
        if event.get("type") == "response.output_text.delta":
            yield event, "delta"
    elif protocol == "anthropic":
        if event.get("type") == "content_block_delta" and event["delta"]["type"] == "text_delta":
            yield event["delta"], "text"
        if event.get("type") == "content_block_start" and event["content_block"]["type"] == "text":
            yield event["content_block"], "text"
    else:
        for candidate in event.get("candidates") or ():
            for part in candidate.get("content", {}).get("parts", ()):
                if "text" in part and not part.get("thought"):
                    yield part, "text"


def events(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.decode().splitlines():
        if line.startswith("data:") and line[5:].strip() != "[DONE]":
            yield json.loads(line[5:])


def answer(data: bytes, protocol: str) -> str:
    return "".join(place[key] for event in events(data) for place, key in texts(event, protocol))


def planted(data: bytes, protocol: str, pieces: list[str]) -> bytes:
    """A copy of a recording with deltas of its own kind before its first: one for each piece."""
    lines: list[str] = []
    rest = pieces
    for line in data.decode().replace("\r\n", "\n").split("\n"):
        first = (list(texts(event, protocol)) for event in events(line.encode()))
        if rest and any(place[key] for places in first for place, key in places):
            for piece in rest:
                (copy,) = events(line.encode())
                for choice in copy.get("choices", ()):
                    choice["finish_reason"] = None
                for place, key in texts(copy, protocol):
                    place[key] = piece
                lines += [f"data: {json.dumps(copy)}", ""]
            rest = []
        lines.append(line)
    return "\n".join(lines).encode()


@recordings
@pytest.mark.parametrize("cut", [0, 7])
def test_with_nothing_to_remove_the_answer_is_its_deltas(row: dict[str, str], cut: int) -> None:
    data = (ROOT / row["file"]).read_bytes()
    wanted = answer(data, row["protocol"])
    for guard in (Pipeline(), GUARD):
        assert show(data, guard, row["protocol"], cut=cut) == wanted
        assert show(data, guard, row["protocol"], provider="auto", cut=cut) == wanted


@recordings
def test_reasoning_comes_before_the_answer(row: dict[str, str]) -> None:
    data = (ROOT / row["file"]).read_bytes()
    both = show(data, Pipeline(), row["protocol"], reasoning=True)
    if row["protocol"] != "anthropic":  # its blocks may take turns
        assert both.endswith(answer(data, row["protocol"]))
    assert len(both) >= len(answer(data, row["protocol"]))


@recordings
def test_canaries_cut_over_several_deltas_do_not_leak(row: dict[str, str]) -> None:
    data = (ROOT / row["file"]).read_bytes()
    protocol = row["protocol"]
    plain = answer(data, protocol)
    if not plain:
        pytest.skip("it has no text")
    block = f"<memory-context>\n{CANARY} {TOKEN}\n</memory-context>"
    for pieces in ([block], list(block), [block[at : at + 5] for at in range(0, len(block), 5)]):
        assert show(planted(data, protocol, pieces), GUARD, protocol) == plain
    for pieces in ([" ", TOKEN, " "], [" ", *TOKEN, " "], [" ", TOKEN[:9], TOKEN[9:31], TOKEN[31:], " "]):
        copy = planted(data, protocol, pieces)
        assert answer(copy, protocol) == f" {TOKEN} {plain}"
        shown = show(copy, GUARD, protocol)
        assert re.sub(r"^ \[REDACTED:[a-z-]+:[0-9a-f]{8}\] ", "", shown) == plain
