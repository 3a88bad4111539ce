"""Older turns as text for whoever summarizes them: guarded first, then cut.

Each message is a line of JSON, so that nothing in a message can pass for the beginning of
another. Texts are guarded whole and cut afterwards: half a secret is found by no rule.

Arguments are guarded in three readings: values behind their keys, keys by themselves, and in
the end all of them as one text. A model reads them, not a tool, so they need not stay valid.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from streamguard.adapting import JsonLane
from streamguard.context.listing import scrub_name
from streamguard.context.messages import Message, calls, field, results, role, text_of
from streamguard.context.shorten import shorten
from streamguard.session import FindingHandler, Transformer

__all__ = ["Turn", "read_turns", "write_turns"]

_LONGEST = 8_000  # characters of one text
_SHORTEST = 200
_STRING = re.compile(r'"(?P<inner>(?:[^"\\]|\\.)*+)(?:(?P<key>"\s*+:)|(?P<value>")|)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Turn:
    """What one message says, guarded.

    Attributes:
        role: of the message; `"tool"` for one that has results alone.
        text: what it says besides calls and results.
        calls: names of tools and the arguments they were called with.
        results: what tools returned.
    """

    role: str
    text: str
    calls: tuple[tuple[str, str], ...]
    results: tuple[str, ...]


def read_turns(
    messages: Sequence[Message], guard: Transformer, on_finding: FindingHandler | None = None
) -> list[Turn]:
    """Read messages through a guard.

    Args:
        messages: the messages.
        guard: takes out what a summarizer must not see.
        on_finding: is told what was taken out.
    """

    def safe(text: str) -> str:
        return guard.scrub(text, on_finding=on_finding)

    lane = JsonLane(guard)

    def safe_arguments(text: str) -> str:
        return safe(_with_keys(lane.scrub(text, on_finding=on_finding), safe))

    turns: list[Turn] = []
    for message in messages:
        answers = tuple(safe(result.text) for result in results(message))
        tool = role(message) == "tool"
        text = "" if tool else safe(text_of(field(message, "content")))
        called = tuple(
            (scrub_name(call.name, safe), safe_arguments(call.arguments)) for call in calls(message)
        )
        turns.append(Turn("tool" if tool or (answers and not text) else role(message), text, called, answers))
    return turns


def _with_keys(text: str, safe: Callable[[str], str]) -> str:
    """JSON whose keys are guarded, and with them a string that is cut off."""

    def guarded(found: re.Match[str]) -> str:
        if found["value"]:
            return found[0]  # the lane has guarded it
        try:
            key = str(json.loads(f'"{found["inner"]}"', strict=False))
        except ValueError:
            key = found["inner"]
        shown = safe(key)
        return found[0] if shown == key else json.dumps(shown, ensure_ascii=False)[:-1] + (found["key"] or "")

    return _STRING.sub(guarded, text)


def write_turns(turns: Sequence[Turn], limit: int) -> str:
    """Write turns as lines of JSON.

    Args:
        turns: what the messages say.
        limit: characters, at most. Long texts are cut first; if that is not enough, turns in
            the middle are left out, and a line says how many.
    """
    longest = _LONGEST
    lines = [_line(turn, longest) for turn in turns]
    while sum(map(len, lines)) + len(lines) > limit and longest > _SHORTEST:
        longest //= 2
        lines = [_line(turn, longest) for turn in turns]
    if sum(map(len, lines)) + len(lines) <= limit:
        return "\n".join(lines)
    first = _within(lines, limit // 4)
    last = _within(lines[first:][::-1], limit * 5 // 8)
    out = len(lines) - first - last
    return "\n".join([*lines[:first], json.dumps({"left out": f"{out} messages"}), *lines[first + out :]])


def _within(lines: Sequence[str], limit: int) -> int:
    """How many lines, from the first on, are within so many characters."""
    for at, line in enumerate(lines):
        limit -= len(line) + 1
        if limit < 0:
            return at
    return len(lines)


def _line(turn: Turn, longest: int) -> str:
    said: dict[str, object] = {"role": turn.role}
    if turn.text:
        said["text"] = shorten(turn.text, longest)
    if turn.calls:
        said["calls"] = [f"{shorten(name, 100)} {shorten(with_, longest)}" for name, with_ in turn.calls]
    if turn.results:
        said["results"] = [shorten(text, longest) for text in turn.results]
    return json.dumps(said, ensure_ascii=False)
