"""Recorded streams of a provider: their events, and the text in them, lane by lane.

An event is one JSON object, in a server-sent event or on a line of its own. What it says
becomes `Delta` (more text of a lane) and `Ends` (why lanes end). Four shapes are read:
OpenAI chat completions and what imitates them, OpenAI Responses, Anthropic messages,
Gemini generateContent. Snapshots that repeat the deltas are not text of their own.
"""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, cast

from streamguard.session import End

__all__ = ["PROVIDERS", "Delta", "Ends", "Lane", "Step", "read_events", "read_steps"]

Event = Mapping[str, object]
_DONE: Event = {"type": "[DONE]"}


@dataclass(frozen=True, slots=True)
class Lane:
    """One text of a response.

    Attributes:
        choice: index of the choice or candidate.
        field: the answer's text, or the reasoning before it.
        part: content block or output item, where a response has many.
    """

    choice: int
    field: Literal["text", "reasoning"]
    part: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    """More text of a lane."""

    lane: Lane
    text: str


@dataclass(frozen=True, slots=True)
class Ends:
    """The open lanes of a choice (of all choices where it is `None`) end, and why.

    Attributes:
        choice: which.
        end: why.
        now: no text of them can follow. Where it is false the reason is only noted:
            Gemini can repeat its finish reason in every event.
    """

    choice: int | None
    end: End
    now: bool = True


Step = Delta | Ends


def read_events(
    source: Iterable[bytes], form: Literal["sse", "jsonl"], /, *, on_broken: Callable[[], None]
) -> Iterator[Event]:
    """Parse the events of a recording.

    Args:
        source: the bytes of the recording, cut anywhere.
        form: `"sse"` (server-sent events) or `"jsonl"` (one object a line).
        on_broken: called for each event that is not a JSON object; it is left out.
    """
    lines = _lines(source)
    for data in _sse_data(lines) if form == "sse" else lines:
        if not data.strip():
            continue
        if data.strip() == "[DONE]":
            yield _DONE
            continue
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            on_broken()
            continue
        if isinstance(event, dict):
            yield event
        else:
            on_broken()


def _lines(source: Iterable[bytes]) -> Iterator[str]:
    # LF, CR and CRLF end a line, as the SSE standard says, and nothing else does.
    utf8 = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
    decoder = io.IncrementalNewlineDecoder(utf8, translate=True)
    started: list[str] = []

    def taken(text: str) -> Iterator[str]:
        *whole, rest = text.split("\n")
        for line in whole:
            yield "".join((*started, line))
            started.clear()
        if rest:
            started.append(rest)

    for chunk in source:
        yield from taken(decoder.decode(chunk))
    yield from taken(decoder.decode(b"", final=True))
    if started:
        yield "".join(started)


def _sse_data(lines: Iterable[str]) -> Iterator[str]:
    data: list[str] = []
    for line in lines:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data.clear()
    if data:  # a recording is often saved without its last empty line
        yield "\n".join(data)


def read_steps(event: Event, provider: str = "auto", /) -> Iterable[Step] | None:
    """Say what an event means; `None` if it is not one of `provider`."""
    if event is _DONE:
        return (Ends(None, End.COMPLETE),)
    if event.get("error") or event.get("type") == "error":
        return (Ends(None, End.ERROR),)
    for name, (recognises, read) in _READERS.items():
        if provider in (name, "auto") and recognises(event):
            return read(event)
    return None


def _chat(event: Event) -> Iterator[Step]:
    for choice in _tables(event.get("choices")):
        index = _index(choice.get("index"))
        delta = _table(choice.get("delta")) or _table(choice.get("message"))
        for reasoning in (delta.get("reasoning_content"), delta.get("reasoning")):
            if isinstance(reasoning, str) and reasoning:
                # Routers send both names with the same text.
                yield Delta(Lane(index, "reasoning"), reasoning)
                break
        for part in _chat_content(delta.get("content")):
            yield Delta(Lane(index, part[0]), part[1])
        for text in (delta.get("refusal"), choice.get("text")):
            if isinstance(text, str):
                yield Delta(Lane(index, "text"), text)
        if isinstance(finish := choice.get("finish_reason"), str):
            yield Ends(index, _CHAT_ENDS.get(finish, End.COMPLETE))


def _chat_content(content: object) -> Iterator[tuple[Literal["text", "reasoning"], str]]:
    if isinstance(content, str):
        yield "text", content
        return
    for part in _tables(content):  # Mistral sends parts where others send text
        if isinstance(text := part.get("text"), str):
            yield "text", text
        for thought in _tables(part.get("thinking")):
            if isinstance(text := thought.get("text"), str):
                yield "reasoning", text


def _responses(event: Event) -> Iterator[Step]:
    kind = str(event.get("type"))
    part = f"{event.get('output_index')}.{event.get('content_index', event.get('summary_index'))}"
    match kind.removeprefix("response."):
        case "output_text.delta" | "refusal.delta":
            yield from _delta(event, "delta", Lane(0, "text", part))
        case "reasoning_text.delta" | "reasoning_summary_text.delta":
            yield from _delta(event, "delta", Lane(0, "reasoning", f"{part} {kind}"))
        case "output_item.added":
            item = str(_table(event.get("item")).get("type"))
            yield Ends(None, End.TOOL_CALL if item.endswith("_call") else End.COMPLETE)
        case "completed":
            yield Ends(None, End.COMPLETE)
        case "incomplete" | "cancelled":
            yield Ends(None, End.TRUNCATED)
        case "failed":
            yield Ends(None, End.ERROR)
        case _:
            pass


def _anthropic(event: Event) -> Iterator[Step]:
    part = str(event.get("index"))
    match event.get("type"):
        case "content_block_start":
            block = _table(event.get("content_block"))
            # The block before this one has ended; only now it is known what it was followed by.
            tool = str(block.get("type")).endswith("tool_use")
            yield Ends(None, End.TOOL_CALL if tool else End.COMPLETE)
            yield from _anthropic_text(block, part)
        case "content_block_delta":
            yield from _anthropic_text(_table(event.get("delta")), part)
        case "message_delta":
            stop = _table(event.get("delta")).get("stop_reason")
            if isinstance(stop, str):
                yield Ends(None, _ANTHROPIC_ENDS.get(stop, End.COMPLETE))
        case _:
            pass


def _anthropic_text(body: Event, part: str) -> Iterator[Step]:
    if body.get("type") in {"text", "text_delta"}:
        yield from _delta(body, "text", Lane(0, "text", part))
    elif body.get("type") in {"thinking", "thinking_delta"}:
        yield from _delta(body, "thinking", Lane(0, "reasoning", part))


def _gemini(event: Event) -> Iterator[Step]:
    for candidate in _tables(event.get("candidates")):
        index = _index(candidate.get("index"))
        for part in _tables(_table(candidate.get("content")).get("parts")):
            if isinstance(text := part.get("text"), str):
                yield Delta(Lane(index, "reasoning" if part.get("thought") is True else "text"), text)
            elif "functionCall" in part:
                yield Ends(index, End.TOOL_CALL, now=False)
        finish = candidate.get("finishReason")
        if isinstance(finish, str) and finish != "STOP":
            yield Ends(index, End.TRUNCATED, now=False)
        elif finish:
            yield Ends(index, End.COMPLETE, now=False)


_CHAT_ENDS = {
    "tool_calls": End.TOOL_CALL,
    "function_call": End.TOOL_CALL,
    "length": End.TRUNCATED,
    "content_filter": End.TRUNCATED,
    "error": End.ERROR,
}
_ANTHROPIC_ENDS = {
    "tool_use": End.TOOL_CALL,
    "pause_turn": End.TOOL_CALL,
    "max_tokens": End.TRUNCATED,
    "model_context_window_exceeded": End.TRUNCATED,
    "refusal": End.TRUNCATED,
}
_ANTHROPIC_TYPES = {
    "message_start",
    "message_delta",
    "message_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "ping",
}


def _delta(body: Event, key: str, lane: Lane) -> Iterator[Step]:
    if isinstance(text := body.get(key), str):
        yield Delta(lane, text)


def _table(value: object) -> Event:
    return cast("Event", value) if isinstance(value, dict) else {}


def _tables(value: object) -> Iterator[Event]:
    if isinstance(value, list):
        yield from (_table(part) for part in cast("list[object]", value))


def _index(value: object) -> int:
    return value if isinstance(value, int) else 0


_READERS: dict[str, tuple[Callable[[Event], bool], Callable[[Event], Iterator[Step]]]] = {
    "openai-chat": (lambda event: isinstance(event.get("choices"), list), _chat),
    "openai-responses": (lambda event: str(event.get("type")).startswith("response."), _responses),
    "anthropic": (lambda event: event.get("type") in _ANTHROPIC_TYPES, _anthropic),
    "gemini": (lambda event: "candidates" in event or "promptFeedback" in event, _gemini),
}
PROVIDERS = ("auto", *_READERS)
