"""What a threat is: a rule that finds it, how grave it is, and where it is one."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from streamguard.redact import Rule
from streamguard.session import Finding

__all__ = ["STAGE", "OnMatch", "Scope", "Severity", "Threat", "complete"]

STAGE = "injection"

Scope = Literal["memory", "context"]
"""Where a text goes: into the memory that every later prompt repeats, or, as a file or a tool's
result, into one prompt. Instructions are usual in a file and out of place in a memory."""


class Severity(enum.IntEnum):
    """How grave a threat is; from `MEDIUM` on something is done about it by default."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3


OnMatch = Callable[[Finding, Severity, bool], None]
"""Receives what was found, how grave it is there, and whether it is quoted."""


@dataclass(frozen=True, slots=True)
class Threat:
    """A rule with what the finder of it needs to know.

    Attributes:
        rule: its pattern, in the subset of `re` that streams; it has a check, so that it is
            acted on when it is complete.
        severity: how grave it is.
        scopes: where it counts.
    """

    rule: Rule
    severity: Severity
    scopes: Collection[Scope] = ("memory", "context")


def complete(value: str) -> bool:
    """The check of every threat: it is one if it has matched."""
    return bool(value)
