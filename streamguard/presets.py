"""Ready-made chains of stages."""

from __future__ import annotations

from collections.abc import Iterable

from streamguard.preamble import PreambleTrimmer
from streamguard.scaffold import ScaffoldScrubber
from streamguard.session import Pipeline
from streamguard.stateops import StateOpScrubber

__all__ = ["roleplay"]


def roleplay(*, extra_headers: Iterable[str] = ()) -> Pipeline:
    """What a role-play backend leaks into its prose: state operations, preambles, scaffolding.

    Args:
        extra_headers: further headers of scaffold blocks.

    Returns:
        `StateOpScrubber() | PreambleTrimmer() | ScaffoldScrubber()`.
    """
    return StateOpScrubber() | PreambleTrimmer() | ScaffoldScrubber(extra_headers=tuple(extra_headers))
