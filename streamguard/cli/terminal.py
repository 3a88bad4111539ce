"""Text of others on a terminal: what would steer it is shown instead of sent."""

from __future__ import annotations

import re

__all__ = ["shown"]

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def shown(text: str, /) -> str:
    r"""A text with its control characters, tabs and line feeds aside, written as `\x1b` and the like."""
    return _STEERING.sub(lambda found: ascii(found[0])[1:-1], text)
