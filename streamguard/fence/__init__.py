"""Fences: hidden blocks taken out while the text streams."""

from streamguard.fence.fences import HARMONY, MEMORY, REASONING, TOOL_MARKUP, Fence
from streamguard.fence.scrubber import FenceScrubber

__all__ = ["HARMONY", "MEMORY", "REASONING", "TOOL_MARKUP", "Fence", "FenceScrubber"]
