"""Keys of monitoring and analytics services."""

from __future__ import annotations

from streamguard.redact.rule import Rule

__all__ = ["MONITORING"]

MONITORING: tuple[Rule, ...] = ()
