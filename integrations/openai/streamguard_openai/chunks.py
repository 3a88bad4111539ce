"""Chunks of chat completions by their shape: what they say, and others made of them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from streamguard.adapting import Path
from streamguard_openai.shapes import (
    fields,
    fields_or_none,
    graft,
    has_fields,
    is_sequence,
    only,
    with_fields,
)
from streamguard_openai.texts import KEPT

__all__ = [
    "IDENTITY",
    "NESTED",
    "Template",
    "alone",
    "around",
    "emptied",
    "held",
    "index_of",
    "is_choice",
    "is_text",
    "names_tool",
    "speaks",
    "text_alone",
]

IDENTITY = ("id", "object", "created", "model", "system_fingerprint", "service_tier", "provider")
NESTED = frozenset(
    {
        "audio",
        "content",
        "function_call",
        "provider_specific_fields",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "thinking",
        "thinking_blocks",
        "tool_calls",
    }
)
"""Fields of a delta that carry pieces of texts further inside; others come whole."""
_TEXTS = ("delta", "message", "response", "text", "token")


def index_of(choice: Mapping[str, Any]) -> int:
    """Return the index of a choice, by default that of the only one."""
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def is_choice(choice: Mapping[str, Any]) -> bool:
    """Tell whether a choice has its text where the protocol has it."""
    return (
        has_fields(choice.get("delta"))
        or isinstance(choice.get("text"), str)
        or has_fields(choice.get("message"))
    )


def is_text(name: str, value: Any) -> bool:
    """Tell whether a field in the wrong place is a piece of a text all the same, by its name."""
    return isinstance(value, str) and (name in NESTED or name in _TEXTS)


def speaks(choice: Any) -> bool:
    """Tell whether a choice goes on: it has a text that is not empty."""
    own = fields(choice)
    if not own:
        return _has_text(choice)
    if not is_choice(own):
        return any(_has_text(value) for name, value in own.items() if name not in KEPT)
    parts = (*fields(own.get("delta")).items(), *fields(own.get("message")).items())
    return any(value and is_text(name, value) for name, value in own.items()) or any(
        _has_text(value)
        for name, value in parts
        if name not in KEPT and (name in NESTED or isinstance(value, str))
    )


def _says_anything(choice: Mapping[str, Any]) -> bool:
    """Tell whether a choice says more than that it has finished."""
    parts = (*fields(choice.get("delta")).items(), *fields(choice.get("message")).items())
    return bool(choice.get("text")) or any(value for name, value in parts if name not in KEPT)


def _has_text(value: Any) -> bool:
    if isinstance(value, str):
        return value != ""
    if is_sequence(value):
        return any(map(_has_text, value))
    own = fields_or_none(value)
    return own is not None and any(_has_text(item) for name, item in own.items() if name not in KEPT)


def names_tool(value: Any) -> bool:
    """Tell whether calls of tools say more than their arguments: which tool, which call."""
    calls = value if is_sequence(value) else [value]
    for call in calls:
        own = fields(call)
        if own.get("id") or own.get("name"):
            return True
        for name in ("function", "custom"):
            inner = own.get(name)
            if inner is not None and has_fields(inner) and fields(inner).get("name"):
                return True
    return False


def emptied(choice: Mapping[str, Any]) -> dict[str, Any]:
    """Return what takes the text off a choice that goes on with its finish reason only."""
    text: dict[str, Any] = {}
    if has_fields(choice.get("delta")):
        text["delta"] = only(choice["delta"], {})
    elif has_fields(choice.get("message")):
        text["message"] = only(choice["message"], {})
    elif isinstance(choice.get("text"), str):
        text["text"] = ""
    return text if choice.get("logprobs") is None else {**text, "logprobs": None}


def alone(chunk: Any, choice: Any) -> Any:
    """Make a chunk like the given one, with this choice only and nothing about the whole."""
    own = fields(chunk)
    kept = {name: own[name] for name in IDENTITY if name in own}
    return only(chunk, {**kept, "choices": [choice]})


def text_alone(chunk: Any) -> Path | None:
    """Return the path to the text of a chunk that says nothing else, if it is such a chunk.

    What is never changed may stand beside it.
    """
    own = fields(chunk)
    choices: Any = own.get("choices")
    if not (is_sequence(choices) and len(choices) == 1) or _others(
        own, {*IDENTITY, "obfuscation", "choices"}
    ):
        return None
    choice = fields(choices[0])
    inner = "delta" if has_fields(choice.get("delta")) else "text"
    if _others(choice, {"index", inner}):
        return None
    if inner == "text":
        return ("choices", 0, "text") if isinstance(choice.get("text"), str) else None
    texts = [
        name for name, value in fields(choice["delta"]).items() if value is not None and name not in KEPT
    ]
    if len(texts) != 1 or not isinstance(fields(choice["delta"])[texts[0]], str):
        return None
    return ("choices", 0, "delta", texts[0])


def _others(own: Mapping[str, Any], names: Container[str]) -> bool:
    return any(value is not None and name not in names for name, value in own.items())


def held(chunk: Any, choice: Any, path: Sequence[str | int], text: str) -> Any:
    """Make a chunk like the last one of a lane that carries this text.

    Args:
        chunk: the last one of the lane.
        choice: the one of its choices that has the lane, or `None`: the lane is the chunk's own.
        path: leads to the text, in the choice or in the chunk.
        text: what was held.
    """
    own = fields(chunk if choice is None else choice)
    name, rest = str(path[0]), path[1:]
    said = {name: graft(own[name], rest, text)}
    if choice is None:
        return only(chunk, {**{name: own[name] for name in IDENTITY if name in own}, **said})
    kept: dict[str, Any] = {name: None for name in ("finish_reason", "logprobs") if name in own}
    if "index" in own:
        kept["index"] = own["index"]
    return alone(chunk, only(choice, {**kept, **said}))


def around(last: Any, texts: list[Any]) -> list[Any]:
    """Put texts before the finish reason of a chunk, and behind what else it says."""
    (choice,) = fields(last)["choices"]
    own = fields(choice)
    if not texts or not _says_anything(own):
        return [*texts, last]
    first = alone(last, with_fields(choice, {"finish_reason": None}))
    return [first, *texts, with_fields(last, {"choices": [with_fields(choice, emptied(own))]})]


Template = tuple[Any, Any, Path]
"""The last chunk of a lane, the choice in it or `None`, and the path to the text."""
