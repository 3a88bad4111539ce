"""Keys of business and productivity services."""

from __future__ import annotations

from streamguard.redact.rule import Rule

__all__ = ["SAAS"]

SAAS: tuple[Rule, ...] = ()
