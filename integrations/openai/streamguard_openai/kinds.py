"""What the events of a Responses stream are about: which text, in which part of which item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from streamguard.adapting import Path
from streamguard_openai.texts import Role

__all__ = ["KINDS", "TERMINAL", "Kind", "key_of", "parts_closed", "place_of"]


class Kind(NamedTuple):
    """The name of a text among those of an item, and its role."""

    lane: str
    role: Role


KINDS = {
    "response.output_text": Kind("text", "content"),
    "response.refusal": Kind("refusal", "text"),
    "response.reasoning_text": Kind("reasoning", "reasoning"),
    "response.reasoning": Kind("reasoning", "reasoning"),
    "response.reasoning_summary_text": Kind("summary", "reasoning"),
    "response.reasoning_summary": Kind("summary", "reasoning"),
    "response.function_call_arguments": Kind("arguments", "json"),
    "response.mcp_call_arguments": Kind("arguments", "json"),
    "response.mcp_call.arguments": Kind("arguments", "json"),
    "response.custom_tool_call_input": Kind("input", "tool"),
    "response.code_interpreter_call_code": Kind("code", "tool"),
    "response.code_interpreter_call.code": Kind("code", "tool"),
    "response.shell_call_command": Kind("command", "tool"),
    "response.apply_patch_call_operation_diff": Kind("diff", "tool"),
    "response.audio.transcript": Kind("transcript", "text"),
    "response.audio_transcript": Kind("transcript", "text"),
}
TERMINAL = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_INDICES = ("content_index", "summary_index", "command_index")


def place_of(own: Mapping[str, Any]) -> int | str:
    """Name the output item an event belongs to."""
    place = own.get("output_index")
    if isinstance(place, int):
        return place
    item = own.get("item_id")
    return item if isinstance(item, str) else 0


def key_of(own: Mapping[str, Any], prefix: str) -> Path:
    """Name the lane, or the part of the answer, that an event is about.

    Args:
        own: the fields of the event.
        prefix: its type, but for what is done to the text.
    """
    index = next((own[name] for name in _INDICES if isinstance(own.get(name), int)), 0)
    kind = KINDS.get(prefix)
    return (place_of(own), kind.lane if kind else prefix, index)


def parts_closed(own: Mapping[str, Any], kind: str) -> Path:
    """Name the part of the answer that an event closes, or the beginning of all it closes; else nothing."""
    if kind == "response.output_item.done":
        return (place_of(own), "text")
    if kind in ("response.output_text.done", "response.content_part.done"):
        return key_of(own, "response.output_text")
    return ()
