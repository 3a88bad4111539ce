"""Chunks for the tests: recorded ones, made ones, and what a client would put together."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from streamguard import FenceScrubber, Redactor

Chunk = dict[str, Any]

DATA = Path(__file__).parents[4] / "shared" / "data"
INDEX = DATA / "recordings" / "index.jsonl"
RECORDINGS = (
    [
        DATA / "recordings" / entry["file"]
        for entry in map(json.loads, INDEX.read_text().splitlines())
        if entry["protocol"] == "google"
    ]
    if INDEX.exists()
    else []
)

GUARD = FenceScrubber("think") | Redactor()
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
CANARY = f"<think>kanarievogel</think> {TOKEN} "


def leaks(shown: object) -> bool:
    written = json.dumps(
        shown, ensure_ascii=False, default=lambda model: model.model_dump(mode="json", exclude_none=True)
    )
    return any(piece in written for piece in ("kanarie", "vogel", TOKEN[4:12], TOKEN[-8:], TOKEN[16:24]))


def chunk(*parts: Any, reason: str | None = None, index: int = 0, **extra: Any) -> Chunk:
    """A chunk of one candidate; a part that is a string is a text."""
    content = {"role": "model", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}
    candidate = {"content": content, "index": index, **extra}
    if reason is not None:
        candidate["finishReason"] = reason
    return {"candidates": [candidate], "usageMetadata": {"totalTokenCount": 3}, "responseId": "r1"}


def thought(text: str) -> dict[str, Any]:
    return {"text": text, "thought": True}


def read(path: Path) -> list[Chunk]:
    frames = re.findall(r"^data: ?(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return [json.loads(frame) for frame in frames]


def written(chunks: list[Chunk]) -> bytes:
    return "".join(f"data: {json.dumps(one)}\r\n\r\n" for one in chunks).encode()


def parts(one: Chunk) -> Iterator[tuple[int, dict[str, Any]]]:
    for position, candidate in enumerate(one.get("candidates", [])):
        for part in candidate.get("content", {}).get("parts", []):
            yield candidate.get("index", position), part


def texts(chunks: list[Any]) -> dict[tuple[int, bool], str]:
    """What the texts of each candidate come to."""
    joined: dict[tuple[int, bool], str] = {}
    for one in chunks:
        for index, part in parts(one):
            if "text" in part:
                key = (index, part.get("thought", False))
                joined[key] = joined.get(key, "") + part["text"]
    return joined


def rest(chunks: list[Chunk]) -> list[Chunk]:
    """The chunks without their texts."""
    copied = copy.deepcopy(chunks)
    for one in copied:
        for _, part in parts(one):
            if "text" in part:
                part["text"] = ""
    return copied


def planted(chunks: list[Chunk]) -> Iterator[tuple[tuple[int, bool], str, list[Chunk]]]:
    """Plant a canary in each text of copies, cut in two at every position."""
    for key, whole in texts(chunks).items():
        at = len(whole) // 2
        for cut in range(len(CANARY) + 1):
            copied: list[Chunk] = []
            seen, done = 0, False
            for one in chunks:
                for index, part in parts(one):
                    if done or "text" not in part or (index, part.get("thought", False)) != key:
                        continue
                    if seen + len(part["text"]) < at:
                        seen += len(part["text"])
                        continue
                    done = True
                    first = {"text": part["text"][: at - seen] + CANARY[:cut]}
                    if key[1]:
                        first["thought"] = True
                    second = {**part, "text": CANARY[cut:] + part["text"][at - seen :]}
                    copied.append(chunk(first, index=index))
                    copied[-1]["responseId"] = one["responseId"]
                    mine = copy.deepcopy(one)
                    next(p for i, p in parts(mine) if i == index and p == part).update(second)
                    copied.append(mine)
                    break
                else:
                    copied.append(one)
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
