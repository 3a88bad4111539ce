"""What a guarded server-sent event costs, beside passing it on and beside parsing it."""

from __future__ import annotations

import json
from time import process_time

import pytest

from streamguard import FenceScrubber, Pipeline, Redactor, Transformer

from .report import Report
from .rounds import Turn, interleave
from .texts import chunks, prose

pytestmark = pytest.mark.bench
ROUNDS = 7
PIECES = chunks(prose(10_000), 6)


def _chat() -> list[bytes]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "some-model"}
    return [
        b"data: %s\n\n"
        % json.dumps(
            {**head, "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
        ).encode()
        for piece in PIECES
    ]


def _anthropic() -> list[bytes]:
    kind = "content_block_delta"
    return [
        b"event: %s\ndata: %s\n\n"
        % (
            kind.encode(),
            json.dumps({"type": kind, "index": 0, "delta": {"type": "text_delta", "text": piece}}).encode(),
        )
        for piece in PIECES
    ]


def _text() -> list[bytes]:
    return [b"data: %s\n\n" % piece.replace("\n", " ").encode() for piece in PIECES]


def _guarding(events: list[bytes], guard: Transformer) -> Turn:
    from streamguard_asgi import SSEGuard

    def turn() -> float:
        body = SSEGuard(guard)
        out: list[bytes] = []
        start = process_time()
        for event in events:
            out.append(body.feed(event))
        return process_time() - start

    return turn


def _passing(events: list[bytes]) -> Turn:
    def turn() -> float:
        out: list[bytes] = []
        start = process_time()
        for event in events:
            out.append(event)
        return process_time() - start

    return turn


def _parsing(events: list[bytes]) -> Turn:
    """What a client does at least: find the data and read its JSON."""

    def turn() -> float:
        start = process_time()
        for event in events:
            json.loads(event[event.index(b"data: ") + 6 :])
        return process_time() - start

    return turn


def test_a_guarded_event(report: Report) -> None:
    guard = FenceScrubber("memory-context", "think") | Redactor()
    rows = report.table(
        "Microseconds a server-sent event", "events", "passed on", "parsed", "guarded, no stages", "guarded"
    )
    for name, events in (("chat", _chat()), ("anthropic", _anthropic()), ("text", _text())):
        turns = {"pass": _passing(events), "empty": _guarding(events, Pipeline())}
        turns["guard"] = _guarding(events, guard)
        if name != "text":
            turns["parse"] = _parsing(events)
        best = {key: seconds / len(events) * 1e6 for key, seconds in interleave(turns, ROUNDS).items()}
        parsed = f"{best['parse']:.1f}" if "parse" in best else "-"
        rows.append((name, f"{best['pass']:.2f}", parsed, f"{best['empty']:.1f}", f"{best['guard']:.1f}"))
