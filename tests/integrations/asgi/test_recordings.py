"""Real streams of 13 providers, byte by byte; skipped where the data does not lie beside."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from streamguard_asgi import SSEGuard

from streamguard import Pipeline

from .bodies import (
    CANARY,
    DATA,
    GUARD,
    PLANTED,
    TRACES,
    data_of,
    events,
    frames,
    is_arguments,
    planted,
    recordings,
    texts,
    through,
    with_events,
)

ALL = recordings()
if not ALL:
    pytest.skip("the data is not here", allow_module_level=True)


@pytest.mark.parametrize("path", ALL)
def test_an_empty_pipeline_changes_no_byte_at_any_cutting(path: Path) -> None:
    body = path.read_bytes()
    some = random.Random(path.name)
    cuttings = [range(0), range(1, len(body), 1000), sorted(some.sample(range(len(body)), 50))]
    if len(body) < 20_000:
        cuttings.append(range(1, len(body)))
    for cuts in cuttings:
        assert through(SSEGuard(Pipeline()), body, cuts) == body


@pytest.mark.parametrize("path", ALL)
def test_a_guard_with_nothing_to_find_changes_no_text(path: Path) -> None:
    body = path.read_bytes()
    shown = through(SSEGuard(GUARD), body)
    given, came = events(body), events(shown)
    assert texts(came) == texts(given)
    assert [_ending(event) for event in came if _ending(event)] == [
        _ending(event) for event in given if _ending(event)
    ]
    assert frames(shown)[-1] == frames(body)[-1]


def _ending(event: Any) -> Any:
    """What an event says of the end of a text, or of the whole response."""
    kind = str(event.get("type"))
    reasons = [
        choice.get("finish_reason")
        for choice in event.get("choices") or []
        if choice.get("finish_reason") is not None
    ]
    reasons += [
        one["finishReason"] for one in event.get("candidates") or [] if one.get("finishReason") is not None
    ]
    if kind.endswith((".done", ".completed", ".failed", "_stop", "message_delta")):
        reasons.append({name: value for name, value in event.items() if name != "sequence_number"})
    return (reasons, event.get("usage")) if reasons or event.get("usage") else None


def check(path: Path, cut: int) -> None:
    """Plant into every text, cut between events and, around each trace, between bytes."""
    body = path.read_bytes()
    given, wanted = planted(events(body), cut)
    sent = with_events(body, given)
    places = [at - len("<zqfence>") for at in range(len(sent)) if sent.startswith(b"ZQ", at)]
    guard = SSEGuard(GUARD)
    shown = through(guard, sent, {min(place + cut, len(sent)) for place in places})
    assert guard.failure is None
    assert not [trace for trace in TRACES if trace.encode() in shown]
    came = events(shown)  # valid JSON, all of it
    after = texts(came)
    assert {key: text for key, text in after.items() if not is_arguments(key)} == {
        key: GUARD.scrub(text) for key, text in wanted.items()
    }
    for key, text in texts(given).items():
        if is_arguments(key) and "zq" in text:
            before = json.loads(text)
            assert json.loads(after[key]) == {**before, "zq": GUARD.scrub(PLANTED)}
    # What closes the stream is last still, and what closes a text comes after all of it.
    assert came[-1].get("type") == given[-1].get("type")
    assert (data_of(frames(shown)[-1]) == "[DONE]") == (data_of(frames(sent)[-1]) == "[DONE]")
    assert _late(came) == _late(given)


def _late(given: list[Any]) -> set[Any]:
    """The texts that go on behind the event that closes them."""
    closed: set[Any] = set()
    late: set[Any] = set()
    for event in given:
        kind = str(event.get("type"))
        place = (event.get("output_index"), event.get("content_index"), event.get("index"))
        if kind.endswith((".delta", "_delta")) and kind != "message_delta":
            late |= {(kind.removesuffix(".delta"), *place)} & closed
        if kind.endswith(".done"):
            closed.add((kind.removesuffix(".done"), *place))
        if kind == "content_block_stop":
            closed.add(("content_block_delta", *place))
        for choice in event.get("choices") or []:
            key = ("choice", choice.get("index"))
            if any((choice.get("delta") or {}).get(name) for name in ("content", "reasoning", "tool_calls")):
                late |= {key} & closed
            if choice.get("finish_reason"):
                closed.add(key)
    return late


@pytest.mark.parametrize("path", ALL)
def test_what_is_planted_never_comes_out_and_all_else_does(path: Path) -> None:
    whole = len(PLANTED)
    for cut in sorted({0, 1, len(" <zq"), len(PLANTED) - len(CANARY) + 2, whole - 2, whole}):
        check(path, cut)


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", ALL)
def test_what_is_planted_never_comes_out_wherever_it_is_cut(path: Path) -> None:
    for cut in range(len(PLANTED) + 1):
        check(path, cut)


@pytest.mark.parametrize("path", ALL)
@pytest.mark.parametrize("cut", [0.1, 0.5, 0.9])
def test_a_stream_that_breaks_off_ends_with_an_error_and_shows_no_part_of_an_event(
    path: Path, cut: float
) -> None:
    from streamguard import End

    given, _ = planted(events(path.read_bytes()), len(PLANTED) // 2)
    sent = with_events(path.read_bytes(), given)
    place = int(len(sent) * cut)
    shown = through(SSEGuard(GUARD), sent[:place], end=End.ERROR)
    assert not [trace for trace in TRACES if trace.encode() in shown]
    assert shown.endswith(b"\n\n")
    last = data_of(frames(shown)[-1])
    assert last == "[DONE]" or "error" in json.loads(str(last)) or "response" in json.loads(str(last))


def _case() -> list[Any]:
    lines = (DATA / "stream_cases.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    return [pytest.param(case, id=case["id"]) for case in found if case["kind"] == "sse"]


@pytest.mark.parametrize("case", _case())
def test_a_reported_stream(case: dict[str, Any]) -> None:
    from streamguard import FenceScrubber

    for cuts in ((), range(1, len("".join(case["chunks"])))):
        guard = SSEGuard(FenceScrubber("think"))
        shown = through(guard, "".join(case["chunks"]).encode(), cuts)
        said = {str(key[1]): text for key, text in texts(events(shown)).items()}
        assert said == case["wanted"]["text"]
        assert shown.endswith(b"data: [DONE]\n\n")
