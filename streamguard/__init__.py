"""Keep what must not be shown out of a language model's stream."""

from streamguard.session import (
    Bound,
    End,
    Finding,
    LimitExceededError,
    PatternError,
    Pipeline,
    Session,
    StreamClosedError,
    StreamGuardError,
    Transformer,
)

__version__ = "0.1.0"

__all__ = [
    "Bound",
    "End",
    "Finding",
    "LimitExceededError",
    "PatternError",
    "Pipeline",
    "Session",
    "StreamClosedError",
    "StreamGuardError",
    "Transformer",
]
