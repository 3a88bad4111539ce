"""The scenes of the demo: recorded by hand, cut at the places that hurt.

A scene is a JSON file: a title, a policy, why the stream ends, and the chunks in order.
A chunk is text, or `{"hidden": text}` for what no reader should see, or `{"secret": kind,
"pieces": n}` for a credential in n chunks. Credentials are drawn when the scene is read:
no file of the project holds anything that looks like one.
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise
from random import Random
from typing import Any

from streamguard.policy import parse_policy
from streamguard.session import End, Transformer

__all__ = ["Piece", "Scene", "fake_secret", "load_scenes"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk of the model's stream.

    Attributes:
        text: the chunk.
        hidden: whether it is what no reader should see.
    """

    text: str
    hidden: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """One stream and the guard it goes through."""

    title: str
    guard: Transformer
    pieces: tuple[Piece, ...]
    end: End


def load_scenes() -> list[Scene]:
    """Read the shipped scenes, in order."""
    files = resources.files("streamguard.cli.demo") / "streams"
    names = sorted(file.name for file in files.iterdir() if file.name.endswith(".json"))
    return [_scene(json.loads((files / name).read_text(encoding="utf-8"))) for name in names]


def _scene(data: Mapping[str, Any]) -> Scene:
    return Scene(
        title=data["title"],
        # A demo needs no key, and its placeholders are the same on every machine.
        guard=parse_policy(data["policy"], source="demo", environ={}),
        pieces=tuple(piece for chunk in data["chunks"] for piece in _pieces(chunk)),
        end=End(data.get("end", "complete")),
    )


def _pieces(chunk: str | Mapping[str, Any]) -> Iterator[Piece]:
    if isinstance(chunk, str):
        yield Piece(chunk, hidden=False)
    elif "hidden" in chunk:
        yield Piece(chunk["hidden"], hidden=True)
    else:
        secret, pieces = fake_secret(chunk["secret"]), chunk["pieces"]
        edges = [len(secret) * part // pieces for part in range(pieces + 1)]
        for start, stop in pairwise(edges):
            yield Piece(secret[start:stop], hidden=True)


def fake_secret(kind: str, /, *, seed: int = 7) -> str:
    """Draw a credential of a known form that was never valid; the same seed draws the same."""
    letters = string.ascii_letters + string.digits
    random = Random(seed)  # noqa: S311 - it is to be reproducible, not secret
    prefix, length = {"github": ("ghp_", 36), "openai": ("sk-proj-", 48)}[kind]
    return prefix + "FAKE" + "".join(random.choices(letters, k=length - 4))
