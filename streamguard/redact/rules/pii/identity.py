"""Numbers under which states know their people."""

from __future__ import annotations

from streamguard.redact.rule import Rule
from streamguard.redact.rules.pii.identity_shapes import SHAPES
from streamguard.redact.rules.pii.identity_words import WORDS

__all__ = ["PII_IDENTITY"]

PII_IDENTITY: tuple[Rule, ...] = (*SHAPES, *WORDS)
