"""What the tests of this adapter share: secrets that are none, and where they show."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from streamguard import FenceScrubber, Redactor

GUARD = FenceScrubber("think") | Redactor()
POLICY = {"stage": [{"type": "fence", "fences": ["think"]}, {"type": "redactor"}]}
ASK: dict[str, Any] = {"model": "openai/gpt-4o", "api_key": "k"}


class Canary:
    """A text with a made-up key and a hidden fence in it, different each time."""

    def __init__(self, seed: object) -> None:
        random_ = random.Random(str(seed))
        letters = "abcdefghkmnpqrstuvwxyzABCDEFGHKMNPQRSTUVWXYZ23456789"
        self.key = "sk-" + "proj-" + "".join(random_.choices(letters, k=60))
        self.hidden = "".join(random_.choices(letters, k=20))
        self.text = f"Sûre: <think>{self.hidden}</think>use {self.key} now, 1 <"
        self.arguments = json.dumps({"note": self.text, "n": 3, "list": [self.key]}, ensure_ascii=False)

    def script(self, *names: str) -> dict[str, str]:
        """Put it in these fields of a `Script`."""
        return {name: self.arguments if name == "arguments" else self.text for name in names}

    def seen_in(self, texts: Iterable[str]) -> set[str]:
        """Return the pieces of it, of eight characters, that stand in these texts."""
        pieces = [word[at : at + 8] for word in (self.key, self.hidden) for at in range(len(word) - 7)]
        return {
            piece for text in texts for piece in pieces if piece in text and not piece.startswith("sk-proj")
        }


def strings(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Every string of an object of JSON, with its path; items of lists by their `index`."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from strings(item, (*path, name))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            index = item.get("index", place) if isinstance(item, dict) else place
            yield from strings(item, (*path, index))


def joined(events: Iterable[Any]) -> dict[tuple[Any, ...], str]:
    """The strings of all events, those of one path joined, and of one block of a message."""
    lanes: dict[tuple[Any, ...], str] = defaultdict(str)
    for event in events:
        place = (
            tuple(event.get(name) for name in ("index", "output_index", "type"))
            if isinstance(event, dict)
            else ()
        )
        for path, text in strings(event):
            lanes[(*place, *path)] += text
    return lanes


def frames(raw: bytes | str) -> list[Any]:
    """The JSON of the frames of a stream of events."""
    text = raw.decode() if isinstance(raw, bytes) else raw
    events = []
    for frame in text.replace("\r\n", "\n").split("\n\n"):
        data = "\n".join(line[5:].lstrip() for line in frame.split("\n") if line.startswith("data:"))
        if data and data != "[DONE]":
            events.append(json.loads(data))
    return events


def plain(item: Any) -> Any:
    return (
        item.model_dump(mode="json", exclude_none=True, warnings=False)
        if hasattr(item, "model_dump")
        else item
    )


def content(events: Iterable[Any], index: int = 0, name: str = "content") -> str:
    """The text of one field of one choice."""
    texts = []
    for event in map(plain, events):
        for choice in event.get("choices") or []:
            if choice.get("index", 0) == index:
                texts.append((choice.get("delta") or {}).get(name) or choice.get(name) or "")
    return "".join(texts)
