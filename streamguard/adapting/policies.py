"""What adapters let their users choose."""

from __future__ import annotations

from typing import Literal

__all__ = ["LeafPolicy", "ReasoningPolicy", "ToolArgsPolicy"]

ToolArgsPolicy = Literal["guard", "keep", "drop"]
"""What happens to the arguments of tool calls: their strings are guarded, they are left as
they are, or they are emptied."""

ReasoningPolicy = Literal["guard", "drop", "keep"]
"""What happens to a lane of reasoning: guarded like any text, taken out, or left as it is."""

LeafPolicy = Literal["guard", "json", "drop", "keep"]
"""What happens to a leaf of an object: a text to guard, JSON in a string, taken out, left."""
