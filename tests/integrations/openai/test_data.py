"""Public reports and real streams, where the data lies beside the checkout."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamguard_openai import guard_stream

from streamguard import FenceScrubber, Pipeline, Redactor
from streamguard.adapting import guard_events_sync
from streamguard.redact import Rule

from .support import cases, chat_texts, frames, objects, plain, recordings

CANARY = "ZQCANARY" + "x7" * 8
HIDDEN = "<zqfence>ZQHIDDEN</zqfence>"
GUARD = FenceScrubber("zqfence") | Redactor((Rule("canary", r"ZQCANARY(?:x7){8}"),))
EMAIL = Redactor((Rule("email", r"[a-z]+@[a-z]+\.[a-z]{2,3}"),))
PASSWORD = Redactor((Rule("password", r"[^\s\"]+", context="password="),))
CHAT = recordings("openai-chat")
RESPONSES = recordings("openai-responses")

if not CHAT:
    pytest.skip("the data is not here", allow_module_level=True)


def chosen(hint: str) -> Any:
    if "email" in hint:
        return EMAIL
    return PASSWORD if "password" in hint else FenceScrubber("think")


def source(chunks: list[Any]) -> Iterator[Any]:
    for given in chunks:
        if "raise" in given:
            raise RuntimeError
        yield given


@pytest.mark.parametrize("case", cases("openai-chat"))
@pytest.mark.parametrize("form", ["dict", "object"])
def test_a_reported_chat_stream(case: dict[str, Any], form: str) -> None:
    chunks, wanted = case["chunks"], case["wanted"]
    restarts = [place for place, given in enumerate(chunks) if "restart" in given]
    if restarts:  # a retry is a new stream, and what came before it is not shown with it
        chunks = chunks[restarts[-1] + 1 :]
    if form == "object":
        chunks = [given if "raise" in given else objects([given], "chat")[0] for given in chunks]
    shown: list[Any] = []
    failed = False
    try:
        for event in guard_stream(
            source(chunks) if form == "dict" else _source(chunks), chosen(case["config-hint"])
        ):
            shown.append(plain(event))
    except RuntimeError:
        failed = True
    assert failed == wanted.get("error_reraised", False)
    texts = {str(key[0]): text for key, text in chat_texts(shown).items() if key[1] == "content"}
    want = {
        index: re.sub(re.escape("[EMAIL]"), EMAIL.scrub("a@b.com"), text)
        for index, text in wanted.get("text", {}).items()
    }
    if "a@b.com" not in json.dumps(
        chunks if form == "dict" else [plain(given) for given in chunks if not isinstance(given, dict)]
    ) and "mail" in str(want):
        pattern = re.escape(want["0"]).replace(
            re.escape(EMAIL.scrub("a@b.com")), r"\[REDACTED:email:[0-9a-f]{8}\]"
        )
        assert re.fullmatch(pattern, texts["0"])
    else:
        assert texts == want
    for word in wanted.get("raw_contains_not", []):
        assert word not in json.dumps(shown)
    finishes = [
        (str(choice["index"]), choice["finish_reason"], place)
        for place, event in enumerate(shown)
        for choice in event["choices"]
        if choice.get("finish_reason")
    ]
    for index, reason in wanted.get("finish", {}).items():
        assert (index, reason) in [finish[:2] for finish in finishes]
    if wanted.get("finish_last") or "order" in wanted:
        assert finishes[-1][2] == len(shown) - 1
    if "finish_events" in wanted:
        assert len(finishes) == wanted["finish_events"]
    if wanted.get("usage_passed"):
        assert shown[-1]["usage"]["total_tokens"] == 3
    if wanted.get("first_event_has_role"):
        assert shown[0]["choices"][0]["delta"]["role"] == "assistant"
    if wanted.get("tool_args_json_valid"):
        (arguments,) = (text for key, text in chat_texts(shown).items() if key[-1] == "arguments")
        json.loads(arguments)


def _source(chunks: list[Any]) -> Iterator[Any]:
    for given in chunks:
        if isinstance(given, dict):
            raise RuntimeError
        yield given


@pytest.mark.parametrize("case", cases("openai-responses"))
@pytest.mark.parametrize("form", ["dict", "object"])
def test_a_reported_responses_stream(case: dict[str, Any], form: str) -> None:
    chunks = objects(case["chunks"], "responses") if form == "object" else case["chunks"]
    shown = [plain(event) for event in guard_stream(iter(chunks), EMAIL)]
    said = "".join(event["delta"] for event in shown if event["type"].endswith(".delta"))
    done = next(event["text"] for event in shown if event["type"].endswith(".done"))
    assert said == done == shown[-1]["response"]["output"][0]["content"][0]["text"]
    assert said == "mail " + EMAIL.scrub("a@b.com")
    assert "a@b.com" not in json.dumps(shown)


@pytest.mark.parametrize("path", CHAT + RESPONSES)
@pytest.mark.parametrize("form", ["dict", "object"])
def test_an_empty_pipeline_changes_nothing_of_a_recording(path: Path, form: str) -> None:
    events = frames(path.read_text(encoding="utf-8"))
    given = _as(events, form)
    before = copy.deepcopy([plain(event) for event in given])
    shown = list(guard_stream(iter(given), Pipeline()))
    assert [plain(event) for event in shown] == before


@pytest.mark.parametrize("path", CHAT)
@pytest.mark.parametrize("form", ["dict", "object"])
def test_a_guard_with_nothing_to_find_changes_no_text_of_a_chat(path: Path, form: str) -> None:
    events = frames(path.read_text(encoding="utf-8"))
    given = _as(events, form)
    shown = list(guard_stream(iter(given), GUARD))
    assert chat_texts(shown) == chat_texts(given)
    for kept in ("usage", "error", "finish_reason"):
        assert _all(shown, kept) == _all(given, kept)


@pytest.mark.parametrize("path", RESPONSES)
@pytest.mark.parametrize("form", ["dict", "object"])
def test_a_guard_with_nothing_to_find_changes_no_text_of_a_response(path: Path, form: str) -> None:
    events = frames(path.read_text(encoding="utf-8"))
    given = _as(events, form)
    shown = list(guard_stream(iter(given), GUARD))
    assert _deltas(shown) == _deltas(given)
    assert [_bare(event) for event in shown if not _is_delta(event)] == [
        _bare(event) for event in given if not _is_delta(event)
    ]
    numbers = [plain(event).get("sequence_number") for event in shown]
    first = numbers[0]
    assert numbers == ([None] * len(numbers) if first is None else list(range(first, first + len(numbers))))


@pytest.mark.parametrize("path", CHAT + RESPONSES)
def test_canaries_planted_in_every_lane_never_come_out(path: Path) -> None:
    """Every text lane of a copy gets a secret and a fence, at every cut around them."""
    events = frames(path.read_text(encoding="utf-8"))
    planted = f" {HIDDEN}{CANARY} "
    want = GUARD.scrub(planted)
    lanes = _lane_places(events)
    for cut in range(len(planted) + 1):
        copied = copy.deepcopy(events)
        for first, second in lanes.values():
            _put(copied, first, planted[:cut], second, planted[cut:])
        _repair(copied, planted)
        shown = [plain(event) for event in guard_events_sync(iter(copied), _adapter(copied))]
        text = json.dumps(shown)
        assert "ZQHIDDEN" not in text
        assert "ZQCANARY" not in text
        assert "x7x7x7x7" not in text
        assert "zqfence" not in text
        if cut % 10 == 0:
            before, after = _lane_texts(copied), _lane_texts(shown)
            assert after == {key: value.replace(planted, want) for key, value in before.items()}


@pytest.mark.parametrize("path", CHAT + RESPONSES)
def test_canaries_in_the_arguments_of_tools_never_come_out(path: Path) -> None:
    """The arguments of every call of a copy get a secret and a fence, cut in two anywhere."""
    events = frames(path.read_text(encoding="utf-8"))
    found = {key: text for key, text in _lane_texts(events).items() if "arguments" in str(key) and text}
    calls = {key: text for key, text in found.items() if text.startswith("{")}
    if not calls or any("executed_tools" in str(key) for key in calls):
        pytest.skip("no tool is called")
    value = json.dumps(f'q"é {HIDDEN}{CANARY} ')
    for cut in range(len(value) + 1):
        copied = copy.deepcopy(events)
        planted = {}
        for key, text in calls.items():
            rest = text[1:].lstrip()
            new = '{"zq": ' + value + (rest if rest.startswith("}") else ", " + rest)
            planted[text] = new
            _spread(copied, key, new[: 7 + cut], new[7 + cut :])
        for place, event in enumerate(copied):
            if not _is_delta(event):
                copied[place] = _replaced(event, planted)
        shown = [plain(event) for event in guard_stream(iter(copied), GUARD)]
        text = json.dumps(shown)
        assert "ZQHIDDEN" not in text
        assert "ZQCANARY" not in text
        after = _lane_texts(shown)
        for key, original in calls.items():
            arguments = json.loads(after[key])
            assert arguments.pop("zq") == GUARD.scrub(json.loads(value))
            assert arguments == json.loads(original)


def _spread(events: list[Any], key: Any, head: str, tail: str) -> None:
    """Put a text into the pieces of a lane: the first two, or both into the only one."""
    paths: list[Any] = []
    for place, event in enumerate(events):
        if _is_delta(event) and key == (
            event["type"],
            event.get("output_index"),
            event.get("content_index"),
            event.get("item_id"),
        ):
            paths.append((place, "delta"))
        for number, choice in enumerate(event.get("choices") or []):
            start = (place, "choices", number, "delta")
            paths += [
                path
                for found, path in _places(choice.get("delta"), (choice.get("index", 0),), start)
                if found == key
            ]
    for path in paths:
        _edit(events, path, lambda text: "")
    if len(paths) == 1:
        head, tail = head + tail, ""
    else:
        _edit(events, paths[1], lambda text: tail)
    _edit(events, paths[0], lambda text: head)


def _replaced(value: Any, texts: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _replaced(item, texts) for name, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, texts) for item in value]
    return texts.get(value, value) if isinstance(value, str) else value


def _adapter(events: list[Any]) -> Any:
    from streamguard_openai.streams import StreamAdapter

    from streamguard.adapting import Settings

    return StreamAdapter(Settings(GUARD))


def _as(events: list[Any], form: str) -> list[Any]:
    if form == "dict":
        return events
    return [
        objects([event], "responses" if "choices" not in event and "type" in event else "chat")[0]
        for event in events
    ]


def _all(events: list[Any], name: str) -> list[Any]:
    found = []
    for event in events:
        for part in (plain(event), *(plain(event).get("choices") or [])):
            if part.get(name) is not None:
                found.append(part[name])
    return found


def _is_delta(event: Any) -> bool:
    return str(plain(event).get("type")).endswith(".delta")


def _bare(event: Any) -> Any:
    return {name: value for name, value in plain(event).items() if name != "sequence_number"}


def _deltas(events: list[Any]) -> dict[Any, str]:
    lanes: dict[Any, str] = {}
    for event in map(plain, events):
        if _is_delta(event):
            key = (event["type"], event.get("output_index"), event.get("content_index"), event.get("item_id"))
            lanes[key] = lanes.get(key, "") + event["delta"]
    return lanes


def _lane_texts(events: list[Any]) -> dict[Any, str]:
    return {**chat_texts(events), **_deltas(events)}


def _places(value: Any, key: tuple[Any, ...], path: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, str):
        yield key, path
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in ("id", "type", "name", "role", "format", "signature", "data", "channel"):
                yield from _places(item, (*key, name), (*path, name))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            index = item.get("index", "*") if isinstance(item, dict) else "*"
            yield from _places(item, (*key, index), (*path, place))


def _lane_places(events: list[Any]) -> dict[Any, tuple[Any, Any]]:
    """Two following pieces of each streamed text, as paths into the events."""
    found: dict[Any, list[Any]] = {}
    finished: set[Any] = set()  # text behind a finish reason is a new text
    for place, event in enumerate(events):
        if _is_delta(event):
            key = (event["type"], event.get("output_index"), event.get("content_index"), event.get("item_id"))
            found.setdefault(key, []).append((place, "delta"))
        for number, choice in enumerate(event.get("choices") or []):
            if choice.get("index") in finished:
                continue
            if choice.get("finish_reason"):
                finished.add(choice.get("index"))
            start = (place, "choices", number, "delta")
            for key, path in _places(choice.get("delta"), (choice.get("index", 0),), start):
                if "executed_tools" not in key:
                    found.setdefault(key, []).append(path)
    pairs = {}
    for key, paths in found.items():
        middle = len(paths) // 2
        if "arguments" in str(key):
            continue  # cut inside its strings by other tests
        pairs[key] = (paths[max(0, middle - 1)], paths[middle])
    return pairs


def _put(events: list[Any], first: Any, head: str, second: Any, tail: str) -> None:
    if first == second:
        _edit(events, first, lambda text: text + head + tail)
    else:
        _edit(events, first, lambda text: text + head)
        _edit(events, second, lambda text: tail + text)


def _edit(events: list[Any], path: Any, change: Any) -> None:
    value: Any = events
    for part in path[:-1]:
        value = value[part]
    value[path[-1]] = change(value[path[-1]])


def _repair(events: list[Any], planted: str) -> None:
    """Snapshots of a stream say what its deltas say."""
    texts = _deltas(events)
    originals = {text.replace(planted, ""): text for text in texts.values()}
    originals.pop("", None)
    for place, event in enumerate(events):
        if not _is_delta(event):
            events[place] = _replaced(event, originals)
