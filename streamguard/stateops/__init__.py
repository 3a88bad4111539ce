"""JSON state operations, taken out of prose while it streams."""

from streamguard.stateops.reading import STATE_OP_FENCES, STATE_OP_MARKERS
from streamguard.stateops.scrubber import StateOpScrubber

__all__ = ["STATE_OP_FENCES", "STATE_OP_MARKERS", "StateOpScrubber"]
