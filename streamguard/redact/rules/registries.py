"""Keys of package registries."""

from __future__ import annotations

from streamguard.redact.rule import Rule

__all__ = ["REGISTRIES"]

REGISTRIES: tuple[Rule, ...] = ()
