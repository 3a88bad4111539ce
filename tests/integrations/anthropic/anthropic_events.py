"""Events for the tests: recorded ones, made ones, and what a client would put together."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from streamguard import FenceScrubber, Redactor

Event = dict[str, Any]

DATA = Path(__file__).parents[4] / "shared" / "data"
INDEX = DATA / "recordings" / "index.jsonl"
RECORDINGS = (
    [
        DATA / "recordings" / entry["file"]
        for entry in map(json.loads, INDEX.read_text().splitlines())
        if entry["protocol"] == "anthropic"
    ]
    if INDEX.exists()
    else []
)

GUARD = FenceScrubber("think") | Redactor()
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
CANARY = f"<think>kanarievogel</think> {TOKEN} "
FIELD = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


def leaks(shown: object) -> bool:
    written = json.dumps(shown, ensure_ascii=False, default=lambda model: model.to_dict())
    return any(piece in written for piece in ("kanarie", "vogel", TOKEN[4:12], TOKEN[-8:], TOKEN[16:24]))


def start(index: int, kind: str = "text", **block: object) -> Event:
    empty: dict[str, dict[str, object]] = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"id": f"toolu_{index}", "name": "t", "input": {}},
    }
    content = {"type": kind, **empty.get(kind, {}), **block}
    return {"type": "content_block_start", "index": index, "content_block": content}


def delta(index: int, text: str, kind: str = "text_delta") -> Event:
    name = FIELD.get(kind, "signature")
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, name: text}}


def stop(index: int) -> Event:
    return {"type": "content_block_stop", "index": index}


def message(*events: Event, reason: str | None = "end_turn") -> list[Event]:
    head: Event = {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 3, "output_tokens": 1},
        },
    }
    tail: Event = {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 9},
    }
    return [head, *events, tail, {"type": "message_stop"}]


def read(path: Path) -> list[Event]:
    frames = re.findall(r"^data: ?(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return [json.loads(frame) for frame in frames]


def written(events: list[Event]) -> bytes:
    """The events as the provider sends them."""
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def texts(events: list[Any]) -> dict[tuple[int, str], str]:
    """What the deltas of each lane come to."""
    joined: dict[tuple[int, str], str] = {}
    for event in events:
        if event["type"] == "content_block_delta" and (name := FIELD.get(event["delta"]["type"])):
            key = (event["index"], event["delta"]["type"])
            joined[key] = joined.get(key, "") + event["delta"][name]
    return joined


def rest(events: list[Any]) -> list[Any]:
    """Everything but texts that stream."""
    return [
        event
        for event in events
        if event["type"] != "content_block_delta" or event["delta"]["type"] not in FIELD
    ]


def planted(events: list[Event]) -> Iterator[tuple[tuple[int, str], str, list[Event]]]:
    """Plant a canary in each text lane of copies, cut in two at every position."""
    for key, whole in texts(events).items():
        at = len(whole) // 2
        if key[1] == "input_json_delta":
            found = re.search(r': ?"', whole)
            if found is None:
                continue
            at = found.end()
        for cut in range(len(CANARY) + 1):
            copied, seen, done = [], 0, False
            for event in events:
                name = FIELD.get(event.get("delta", {}).get("type", ""))
                if done or name is None or (event["index"], event["delta"]["type"]) != key:
                    copied.append(event)
                    continue
                text = event["delta"][name]
                if seen + len(text) < at:
                    seen += len(text)
                    copied.append(event)
                    continue
                done = True
                halves = text[: at - seen] + CANARY[:cut], CANARY[cut:] + text[at - seen :]
                copied += [delta(key[0], half, key[1]) for half in halves]
            yield key, whole[:at] + CANARY + whole[at:], copied


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, (*path, name))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from leaves(part, (*path, index))


def changed(value: Any, path: tuple[Any, ...], change: Callable[[str], str]) -> Any:
    result = copy.deepcopy(value)
    place = result
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = change(place[path[-1]])
    return result
