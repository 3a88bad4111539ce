"""Why a message, and a text in it, has ended."""

from __future__ import annotations

from streamguard import End

__all__ = ["TOOL_BLOCKS", "end_of"]

TOOL_BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
"""Blocks that call a tool; a text right before one stands before a tool call."""

_ENDS = {
    "max_tokens": End.TRUNCATED,
    "model_context_window_exceeded": End.TRUNCATED,
    "pause_turn": End.TRUNCATED,
    "tool_use": End.TOOL_CALL,
    "refusal": End.ERROR,
}


def end_of(stop_reason: object) -> End:
    """Translate a stop reason; an unknown one is a regular end."""
    return _ENDS.get(str(stop_reason), End.COMPLETE)
