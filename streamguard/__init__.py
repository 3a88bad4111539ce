"""Keep what must not be shown out of a language model's stream.

    guard = FenceScrubber("memory-context", "think") | PreambleTrimmer() | Redactor()

    async for text in guard.transform(tokens):
        ...

The names in this module are the public API of the core; a stage is loaded when its name
is first used. `streamguard.testing` and `streamguard.presets` are public as well.
"""

from typing import TYPE_CHECKING

from streamguard._lazy import lazily
from streamguard.session import (
    Bound,
    End,
    Finding,
    LimitExceededError,
    PatternError,
    Pipeline,
    Session,
    StreamBlocked,
    StreamClosedError,
    StreamGuardError,
    Transformer,
)

if TYPE_CHECKING:
    from streamguard.fence import HARMONY, MEMORY, REASONING, TOOL_MARKUP, Fence, FenceScrubber
    from streamguard.preamble import PreambleTrimmer
    from streamguard.redact import PII, SECRETS, LiteralRedactor, Redactor, Rule
    from streamguard.scaffold import ScaffoldScrubber
    from streamguard.stateops import StateOpScrubber

__version__ = "0.1.0"

__all__ = [
    "HARMONY",
    "MEMORY",
    "PII",
    "REASONING",
    "SECRETS",
    "TOOL_MARKUP",
    "Bound",
    "End",
    "Fence",
    "FenceScrubber",
    "Finding",
    "LimitExceededError",
    "LiteralRedactor",
    "PatternError",
    "Pipeline",
    "PreambleTrimmer",
    "Redactor",
    "Rule",
    "ScaffoldScrubber",
    "Session",
    "StateOpScrubber",
    "StreamBlocked",
    "StreamClosedError",
    "StreamGuardError",
    "Transformer",
]

_STAGES = {
    "fence": ("HARMONY", "MEMORY", "REASONING", "TOOL_MARKUP", "Fence", "FenceScrubber"),
    "preamble": ("PreambleTrimmer",),
    "redact": ("PII", "SECRETS", "LiteralRedactor", "Redactor", "Rule"),
    "scaffold": ("ScaffoldScrubber",),
    "stateops": ("StateOpScrubber",),
}
__getattr__, __dir__ = lazily(__name__, _STAGES)
