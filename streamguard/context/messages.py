"""Reading messages: dictionaries as OpenAI's chat API takes them, and as Anthropic's does.

| | OpenAI | Anthropic |
|---|---|---|
| a call | an entry of `tool_calls` | a block `tool_use` |
| its result | a message of the role `tool` | a block `tool_result` in the next user message |

Both APIs refuse a conversation in which a call and its result are apart. So everything here
that divides a conversation divides it between *units*: an assistant's message with calls and
all messages with their results are one unit, every other message is one by itself.

Messages and blocks that are objects of an SDK are read by their attributes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeGuard

__all__ = [
    "Call",
    "Message",
    "Result",
    "Side",
    "blocks",
    "calls",
    "field",
    "results",
    "role",
    "side",
    "units",
]

Message = Mapping[str, object]
"""A message of a conversation."""

Side = Literal["system", "user", "assistant"]
"""Who speaks: results of tools stand on the user's side."""

_SIDES: dict[str, Side] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "tool": "user",
    "assistant": "assistant",
}


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool: its id, the tool's name, its arguments as JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call: the call's id and the text."""

    id: str
    text: str


def _is_mapping(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, Mapping)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def field(of: object, name: str) -> object:
    """Read a key of a dictionary, or an attribute of an object."""
    return of.get(name) if _is_mapping(of) else getattr(of, name, None)


def _text(of: object, name: str) -> str:
    value = field(of, name)
    return value if isinstance(value, str) else ""


def role(message: Message) -> str:
    """The role of a message.

    Raises:
        ValueError: it is none of system, developer, user, assistant and tool.
    """
    value = field(message, "role")
    if not isinstance(value, str) or value not in _SIDES:
        raise ValueError(f"the role of a message is one of {', '.join(_SIDES)}")
    return value


def side(message: Message) -> Side:
    """Who speaks in a message; errors as `role`."""
    return _SIDES[role(message)]


def blocks(message: object) -> Sequence[object]:
    """The blocks of the content of a message or a block; none if it is a plain text."""
    content = field(message, "content")
    return content if _is_list(content) else ()


def kind(block: object) -> str:
    """The type of a block."""
    return _text(block, "type")


def text_of(content: object) -> str:
    """The text of a content; what is no text is named in brackets."""
    if isinstance(content, str):
        return content
    return "\n".join(_pieces(content if _is_list(content) else ()))


def _pieces(content: Sequence[object]) -> Iterator[str]:
    for block in content:
        if isinstance(block, str):
            yield block
            continue
        match kind(block):
            case "text" | "input_text" | "output_text":
                yield _text(block, "text")
            case "refusal":
                yield _text(block, "refusal")
            case "tool_use" | "tool_result" | "thinking" | "redacted_thinking":
                pass  # read elsewhere, or not for others to read
            case other:
                yield f"[{other or 'unknown block'}]"


def calls(message: Message) -> list[Call]:
    """The calls of tools in a message, in order."""
    found: list[Call] = []
    listed = field(message, "tool_calls")
    for call in listed if _is_list(listed) else ():
        of = field(call, "function") or field(call, "custom")
        found.append(Call(_text(call, "id"), _text(of, "name"), _text(of, "arguments") or _text(of, "input")))
    if found:
        return found
    for block in blocks(message):
        if kind(block) == "tool_use":
            arguments = json.dumps(field(block, "input"), ensure_ascii=False, default=str)
            found.append(Call(_text(block, "id"), _text(block, "name"), arguments))
    return found


def results(message: Message) -> list[Result]:
    """The results of calls in a message, in order."""
    if field(message, "role") == "tool":
        return [Result(_text(message, "tool_call_id"), text_of(field(message, "content")))]
    return [
        Result(_text(block, "tool_use_id"), text_of(field(block, "content")))
        for block in blocks(message)
        if kind(block) == "tool_result"
    ]


def texts(message: Message) -> list[str]:
    """All that a message says: its text, its calls, its results."""
    found = [text_of(field(message, "content"))] if field(message, "role") != "tool" else []
    found += (result.text for result in results(message))
    for call in calls(message):
        found += (call.name, call.arguments)
    return found


def units(messages: Sequence[Message]) -> list[range]:
    """Divide a conversation where it may be divided.

    Args:
        messages: of which every result follows its call; see `repair_messages`.

    Returns:
        The units, as ranges of indices, in order and without gaps.
    """
    found: list[range] = []
    called = False
    for at, message in enumerate(messages):
        if called and results(message):
            found[-1] = range(found[-1].start, at + 1)
            continue
        found.append(range(at, at + 1))
        called = bool(calls(message))
    return found
