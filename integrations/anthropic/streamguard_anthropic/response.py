"""Messages that come whole, and the parts of a stream that do.

A block is guarded as its stream would be: text and thinking as one text each, the input of a
tool string by string, everything else (results of tools, citations) leaf by leaf. Types, ids,
names and what is encrypted are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, cast

from streamguard import End, Transformer
from streamguard.adapting import LeafPolicy, Path, ReasoningPolicy, Settings, ToolArgsPolicy, guard_object
from streamguard.session import FindingHandler
from streamguard_anthropic.ends import TOOL_BLOCKS, end_of
from streamguard_anthropic.shape import get, put

__all__ = ["KEPT", "guard_block", "guard_leaves", "guard_message", "guard_response", "is_reasoning"]

M = TypeVar("M")

KEPT = frozenset(
    {
        "type",
        "id",
        "role",
        "model",
        "name",
        "signature",
        "stop_reason",
        "stop_sequence",
        "media_type",
        "file_type",
        "language",
        "error_code",
        "category",
        "service_tier",
        "inference_geo",
        "usage",
        "container",
        "caller",
    }
)
"""Names of fields whose texts are the provider's or the user's own."""

_FREE = frozenset({"input", "parsed_output", "structured_content"})
"""Names of objects the user has shaped: nothing below is known to be harmless."""


def guard_response(
    message: M,
    guard: Transformer,
    *,
    tool_args: ToolArgsPolicy = "guard",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    json_content: bool = False,
    on_finding: FindingHandler | None = None,
) -> M:
    """Guard a message that was not streamed.

    Args:
        message: the SDK's message or a dictionary; it is not changed.
        guard: what every text goes through.
        tool_args: what happens to the input of tools.
        reasoning: what happens to thinking. A signature is kept only with unchanged thinking,
            else it is empty; dropped thinking leaves no block.
        tool_guard: what the input of tools goes through; by default `guard`.
        json_content: the text is JSON (a structured output); only its strings are guarded.
        on_finding: called with each finding.

    Returns:
        The message itself if nothing changed, else a copy.

    Raises:
        ValueError: a policy is unknown.
        LimitExceededError: a stage was told to raise on a limit.
    """
    settings = Settings(guard, tool_args, reasoning, tool_guard, json_content, on_finding)
    return cast("M", guard_message(message, settings))


def guard_message(message: Any, settings: Settings) -> Any:
    """Guard a message by the given settings; what is no message is guarded leaf by leaf."""
    content = get(message, "content")
    if not isinstance(content, list):
        return guard_leaves(message, settings)
    blocks = cast("list[Any]", cast("object", content))
    last = end_of(get(message, "stop_reason"))
    changes: dict[str, object] = {}
    shown = [
        guard_block(block, settings, _end(blocks, index, last))
        for index, block in enumerate(blocks)
        if not (settings.reasoning == "drop" and is_reasoning(block))
    ]
    if len(shown) != len(blocks) or any(new is not old for new, old in zip(shown, blocks, strict=True)):
        changes["content"] = shown
    details = get(message, "stop_details")
    if details is not None and (safe := guard_leaves(details, settings)) is not details:
        changes["stop_details"] = safe
    return put(message, **changes) if changes else message


def is_reasoning(block: object) -> bool:
    """Tell whether a block is thinking, readable or not."""
    return get(block, "type") in ("thinking", "redacted_thinking")


def guard_block(block: Any, settings: Settings, end: End = End.COMPLETE) -> Any:
    """Guard a whole block of content."""
    kind = get(block, "type")
    if kind == "text":
        return _text_block(block, settings, end)
    if kind == "thinking":
        text = get(block, "thinking")
        if settings.reasoning == "keep" or not isinstance(text, str):
            return block
        signed = bool(get(block, "signature"))  # only complete thinking is
        safe = _text(text, settings.guard, settings, End.COMPLETE if signed else end)
        return block if safe == text else put(block, thinking=safe, signature="")
    if kind in TOOL_BLOCKS:
        return _tool_block(block, settings)
    return block if kind == "redacted_thinking" else guard_leaves(block, settings)


def guard_leaves(obj: Any, settings: Settings) -> Any:
    """Guard an object leaf by leaf."""

    def select(path: Path) -> LeafPolicy:
        for part in path:
            if part in _FREE:
                return "guard"
            if isinstance(part, str) and (
                part in KEPT or part.endswith("_id") or part.startswith("encrypted_")
            ):
                return "keep"
        return "keep" if path and path[-1] == "data" and _is_binary(obj, path) else "guard"

    return guard_object(obj, settings.guard, select=select, on_finding=settings.on_finding)


def _end(blocks: Sequence[object], index: int, last: End) -> End:
    if index + 1 == len(blocks):
        return last
    return End.TOOL_CALL if get(blocks[index + 1], "type") in TOOL_BLOCKS else End.COMPLETE


def _text(text: str, guard: Transformer, settings: Settings, end: End) -> str:
    session = guard.session(on_finding=settings.on_finding)
    return session.feed(text) + session.flush(end)


def _text_block(block: Any, settings: Settings, end: End) -> Any:
    changes: dict[str, object] = {}
    text = get(block, "text")
    if isinstance(text, str) and (safe := _text(text, settings.for_content, settings, end)) != text:
        changes["text"] = safe
    citations, parsed = get(block, "citations"), get(block, "parsed_output")
    if citations and (new := guard_leaves(citations, settings)) is not citations:
        changes["citations"] = new
    if parsed is not None:
        new = guard_object(parsed, settings.guard, on_finding=settings.on_finding)
        if new is not parsed:
            changes["parsed_output"] = new
    return put(block, **changes) if changes else block


def _tool_block(block: Any, settings: Settings) -> Any:
    value = get(block, "input")
    if settings.tool_args == "keep" or not value:
        return block
    if settings.tool_args == "drop":
        return put(block, input={})
    safe = guard_object(value, settings.for_tools, on_finding=settings.on_finding)
    return block if safe is value else put(block, input=safe)


def _is_binary(obj: Any, path: Path) -> bool:
    for part in path[:-1]:
        obj = obj[part] if isinstance(part, int) else get(obj, part)
    return bool(get(obj, "type") == "base64")
