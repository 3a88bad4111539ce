"""The way in: tool results and human messages, guarded before the model sees them."""

from __future__ import annotations

import copy
from typing import Any

from langchain_core.messages import BaseMessage, ChatMessage, FunctionMessage, HumanMessage, ToolMessage

from streamguard import Transformer
from streamguard.session import FindingHandler
from streamguard_langchain.free import FreeData

__all__ = ["guard_inputs", "is_asked"]

_ROLES = frozenset({"human", "user", "tool", "function"})


def guard_inputs(
    messages: list[BaseMessage], guard: Transformer, /, *, on_finding: FindingHandler | None = None
) -> list[BaseMessage]:
    """Guard the content of tool results and human messages: each text of it, alone.

    Args:
        messages: what is to be sent to a model; they are not changed, copies replace them.
        guard: what their texts go through. Encoded data (images, files) is left as it is.
        on_finding: called with each finding.
    """
    return [_guarded(message, guard, on_finding) for message in messages]


def is_asked(message: BaseMessage, /) -> bool:
    """Tell whether a message is a tool's result or a person's: of these each block is a text of its own."""
    return isinstance(message, HumanMessage | ToolMessage | FunctionMessage) or (
        isinstance(message, ChatMessage) and message.role in _ROLES
    )


def _guarded(message: BaseMessage, guard: Transformer, on_finding: FindingHandler | None) -> BaseMessage:
    if not is_asked(message):
        return message
    content: Any = message.content
    safe = FreeData(guard, on_finding=on_finding, urls=False).guarded(content)
    if safe is content:
        return message
    made = copy.copy(message)
    vars(made)["content"] = safe
    return made
