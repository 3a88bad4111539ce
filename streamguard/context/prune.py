"""Old results of tools, cleared: they are most of a long conversation, and the least read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from streamguard.context.messages import Message, blocks, kind, results, role

__all__ = ["prune_results"]

_LONG = 200  # characters from which on a result is cleared


def prune_results(messages: Sequence[Message], /) -> list[Message]:
    """Clear long results of tools, leaving word of how long they were.

    Args:
        messages: the messages; those without a long result are returned as they are.
    """
    return [_pruned(message) for message in messages]


def _pruned(message: Message) -> Message:
    found = results(message)
    if not any(len(result.text) > _LONG for result in found):
        return message
    if role(message) == "tool":
        return {**message, "content": _cleared(found[0].text)}
    texts = iter(found)
    content: list[object] = []
    for block in blocks(message):
        text = next(texts).text if kind(block) == "tool_result" else ""
        if len(text) > _LONG and isinstance(block, Mapping):
            content.append({**cast("Mapping[str, object]", block), "content": _cleared(text)})
        else:
            content.append(block)
    return {**message, "content": content}


def _cleared(text: str) -> str:
    return f"[an earlier result of {len(text):,} characters was cleared]"
