"""What these tests share: real streams, their texts, and what a reader makes of bytes.

The reader here is another than the one that is tested: it splits whole bodies.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamguard_asgi import BytesGuard

from streamguard import End, FenceScrubber, Redactor
from streamguard.redact import Rule

DATA = Path(__file__).parents[4] / "shared" / "data"
HIDDEN = "<zqfence>ZQHIDDEN</zqfence>"
CANARY = "ZQCANARY" + "x7" * 8
PLANTED = f" {HIDDEN}{CANARY} "
GUARD = FenceScrubber("zqfence") | Redactor((Rule("canary", r"ZQCANARY(?:x7){8}"),))
TRACES = ("ZQHIDDEN", "ZQCANARY", "x7x7x7x7", "zqfence")
"""Nothing of what is planted is shorter than the shortest of these and still gives it away."""

Path_ = tuple[Any, ...]
Key = tuple[Any, ...]


def recordings(*protocols: str) -> list[Any]:
    """The recorded bodies, of some protocols or all."""
    index = DATA / "recordings" / "index.jsonl"
    if not index.exists():
        return []
    entries = [json.loads(line) for line in index.read_text().splitlines()]
    return [
        pytest.param(DATA / "recordings" / entry["file"], id=entry["file"])
        for entry in entries
        if not protocols or entry["protocol"] in protocols
    ]


def through(guard: BytesGuard, body: bytes, cuts: Iterable[int] = (), end: End = End.COMPLETE) -> bytes:
    """Send a body through a guard, cut at these places."""
    out, start = b"", 0
    for cut in [*sorted(cuts), len(body)]:
        out += guard.feed(body[start:cut])
        start = cut
    return out + guard.flush(end)


def frames(body: bytes) -> list[str]:
    """The events of a body as text, without the empty lines."""
    text = body.decode("utf-8").replace("\r\n", "\n")
    return [frame for frame in re.split(r"\n\n+", text) if frame]


def data_of(frame: str) -> str | None:
    lines = [line[5:].removeprefix(" ") for line in frame.split("\n") if line.startswith("data:")]
    return "\n".join(lines) if lines else None


def events(body: bytes) -> list[Any]:
    """The JSON of every event that has any."""
    found = [data_of(frame) for frame in frames(body)]
    return [json.loads(data) for data in found if data and data != "[DONE]"]


def with_events(body: bytes, new: list[Any]) -> bytes:
    """The body with other JSON in its events, in their order."""
    rest = iter(new)
    out = []
    for frame in frames(body):
        data = data_of(frame)
        if data and data != "[DONE]":
            others = [line for line in frame.split("\n") if not line.startswith("data:")]
            out.append("\n".join([*others, "data: " + json.dumps(next(rest))]) + "\n\n")
        else:
            out.append(frame + "\n\n")
    return "".join(out).encode()


def lanes(given: list[Any]) -> dict[Key, list[Path_]]:
    """The streamed texts of a response: under each key the paths to their pieces, in order."""
    found: dict[Key, list[Path_]] = {}
    finished: dict[Any, int] = {}  # text behind a finish reason is a new text
    for place, event in enumerate(given):
        for key, path in _pieces(event):
            found.setdefault((*key, finished.get(key[0], 0)), []).append((place, *path))
        for choice in event.get("choices") or []:
            if choice.get("finish_reason"):
                finished["choice"] = finished.get("choice", 0) + 1
    return found


def _pieces(event: Any) -> Iterator[tuple[Key, Path_]]:
    kind = str(event.get("type"))
    if kind.endswith(".delta") and isinstance(event["delta"], str):
        yield (kind, event.get("output_index"), event.get("content_index"), event.get("item_id")), ("delta",)
    if kind == "content_block_delta":
        for name in ("text", "thinking", "partial_json"):
            if name in event["delta"]:
                yield (kind, event["index"], name), ("delta", name)
    for number, choice in enumerate(event.get("choices") or []):
        start = ("choices", number, "delta")
        yield from _inside(choice.get("delta"), ("choice", choice.get("index", 0)), start)
    for number, candidate in enumerate(event.get("candidates") or []):
        for position, part in enumerate(candidate.get("content", {}).get("parts") or []):
            if "text" in part:
                key = ("candidate", candidate.get("index", number), bool(part.get("thought")))
                yield key, ("candidates", number, "content", "parts", position, "text")


_NO_TEXT = frozenset(
    {"id", "type", "name", "role", "format", "signature", "data", "channel", "executed_tools"}
)


def _inside(value: Any, key: Key, path: Path_) -> Iterator[tuple[Key, Path_]]:
    if isinstance(value, str):
        yield key, path
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in _NO_TEXT:
                yield from _inside(item, (*key, name), (*path, name))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            index = item.get("index", "*") if isinstance(item, dict) else "*"
            yield from _inside(item, (*key, index), (*path, place))


def texts(given: list[Any]) -> dict[Key, str]:
    """The streamed texts of a response, joined."""
    joined = {key: "".join(at(given, path) for path in paths) for key, paths in lanes(given).items()}
    return {key: text for key, text in joined.items() if text}


def at(value: Any, path: Path_) -> Any:
    for part in path:
        value = value[part]
    return value


def edit(value: Any, path: Path_, change: Callable[[str], str]) -> None:
    target = at(value, path[:-1])
    target[path[-1]] = change(target[path[-1]])


def is_arguments(key: Key) -> bool:
    return "arguments" in str(key) or "partial_json" in str(key)


def planted(given: list[Any], cut: int) -> tuple[list[Any], dict[Key, str]]:
    """Plant what must not be seen into every text of a copy, cut in two between events.

    Returns:
        The events, and every text as it should come out, arguments apart.
    """
    copied = copy.deepcopy(given)
    told: dict[str, str] = {}  # what snapshots have to say instead
    for key, paths in lanes(copied).items():
        before = "".join(at(copied, path) for path in paths)
        if is_arguments(key):
            if not before.startswith("{"):
                continue
            rest = before[1:].lstrip()
            value = json.dumps(PLANTED)
            head = '{"zq": ' + value[: cut + 1]
            tail = value[cut + 1 :] + (rest if rest.startswith("}") else ", " + rest)
            for path in paths:
                edit(copied, path, lambda _: "")
            pair = (paths[0], paths[1] if len(paths) > 1 else paths[0])
        else:
            middle = len(paths) // 2
            pair = (paths[max(0, middle - 1)], paths[middle])
            head, tail = PLANTED[:cut], PLANTED[cut:]
        if pair[0] == pair[1]:
            edit(copied, pair[0], lambda text: text + head + tail)  # noqa: B023
        else:
            edit(copied, pair[0], lambda text: text + head)  # noqa: B023
            edit(copied, pair[1], lambda text: tail + text)  # noqa: B023
        told[before] = "".join(at(copied, path) for path in paths)
    told.pop("", None)
    pieces = {path[0] for paths in lanes(copied).values() for path in paths}
    copied = [
        event if place in pieces and "response" not in event else _told(event, told)
        for place, event in enumerate(copied)
    ]
    return copied, {key: text for key, text in texts(copied).items() if not is_arguments(key)}


def _told(value: Any, told: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _told(item, told) for name, item in value.items()}
    if isinstance(value, list):
        return [_told(item, told) for item in value]
    return told.get(value, value) if isinstance(value, str) else value
