"""Messages that come whole, and the parts of a stream that do.

They are guarded as their stream would be. The blocks of text are one text until a block calls a
tool, and each gets back what it gave; thinking is one text a block, for its signature is valid for
that block alone. The input of a tool goes string by string, everything else (results of tools,
citations) leaf by leaf. Types, ids, names and what is encrypted are kept.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, TypeVar, cast

from streamguard import End, Transformer
from streamguard.adapting import (
    LeafPolicy,
    Path,
    ReasoningPolicy,
    Settings,
    Spread,
    ToolArgsPolicy,
    guard_object,
)
from streamguard.session import FindingHandler
from streamguard_anthropic.ends import TOOL_BLOCKS, end_of
from streamguard_anthropic.shape import fields, get, put

__all__ = [
    "KEPT",
    "guard_beside",
    "guard_block",
    "guard_leaves",
    "guard_message",
    "guard_response",
    "is_reasoning",
    "text_of",
    "with_text",
]

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
        guard: what every text goes through. The blocks of text are one text until one calls a tool.
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
    texts = _texts(blocks, settings, end_of(get(message, "stop_reason")))
    changes: dict[str, object] = {}
    shown: list[Any] = []
    for at, block in enumerate(blocks):
        if not (settings.reasoning == "drop" and is_reasoning(block)):
            safe = guard_block(block, settings)
            shown.append(with_text(safe, texts[at]) if at in texts else safe)
    if len(shown) != len(blocks) or any(new is not old for new, old in zip(shown, blocks, strict=True)):
        changes["content"] = shown
    message = guard_beside(message, ("content",), settings)
    return put(message, **changes) if changes else message


def is_reasoning(block: object) -> bool:
    """Tell whether a block is thinking, readable or not."""
    return get(block, "type") in ("thinking", "redacted_thinking")


def text_of(block: object) -> str | None:
    """Return the text of a block of text or thinking, `None` where there is none."""
    kind = get(block, "type")
    text = get(block, kind) if kind in ("text", "thinking") else None
    return text if isinstance(text, str) else None


def with_text(block: Any, text: str) -> Any:
    """Return a block of text or thinking with another text. With that a signature is invalid."""
    kind = get(block, "type")
    if get(block, kind) == text:
        return block
    return put(block, thinking=text, signature="") if kind == "thinking" else put(block, text=text)


def guard_block(block: Any, settings: Settings) -> Any:
    """Guard a whole block of content, but for what `text_of` returns."""
    kind = get(block, "type")
    if kind in TOOL_BLOCKS:
        return _tool_block(block, settings)
    if kind in ("text", "thinking"):
        return _beside_text(block, settings)
    if kind == "redacted_thinking":
        return guard_beside(block, ("data",), settings)
    return guard_leaves(block, settings)


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


def guard_beside(obj: Any, known: Container[str], settings: Settings) -> Any:
    """Guard the fields of an object leaf by leaf, but for those that are dealt with elsewhere."""
    changes = {
        name: safe
        for name, value in fields(obj).items()
        if not (value is None or name in known or name in KEPT)
        and (safe := guard_leaves({name: value}, settings).get(name)) is not value
    }
    return put(obj, **changes) if changes else obj


def _texts(blocks: Sequence[object], settings: Settings, last: End) -> dict[int, str]:
    """What may be shown of each text and each thinking."""
    shown: dict[int, str] = {}
    text: Spread[int] | None = None

    def show(pieces: list[tuple[int, str]]) -> None:
        for at, piece in pieces:
            shown[at] += piece

    for at, block in enumerate(blocks):
        if text is not None and get(block, "type") in TOOL_BLOCKS:
            show(text.flush(End.TOOL_CALL))
            text = None
        said = text_of(block)
        if said is None:
            continue
        if not is_reasoning(block):
            shown[at] = ""
            if text is None:
                text = Spread(settings.for_content, on_finding=settings.on_finding)
            show(text.feed(at, said))
        elif settings.reasoning == "guard":
            end = End.COMPLETE if get(block, "signature") else _end(blocks, at, last)
            shown[at] = settings.guard.scrub(said, end=end, on_finding=settings.on_finding)
    if text is not None:
        show(text.flush(last))
    return shown


def _end(blocks: Sequence[object], at: int, last: End) -> End:
    """Why thinking has ended; if it is signed, it is complete."""
    if at + 1 == len(blocks):
        return last
    return End.TOOL_CALL if get(blocks[at + 1], "type") in TOOL_BLOCKS else End.COMPLETE


def _beside_text(block: Any, settings: Settings) -> Any:
    block = guard_beside(block, ("text", "thinking", "parsed_output"), settings)
    parsed = get(block, "parsed_output")
    if parsed is None:
        return block
    safe = guard_object(parsed, settings.guard, on_finding=settings.on_finding)
    return block if safe is parsed else put(block, parsed_output=safe)


def _tool_block(block: Any, settings: Settings) -> Any:
    block = guard_beside(block, ("input",), settings)
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
