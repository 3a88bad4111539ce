"""Redaction: rules, the redactor, known values, placeholders."""

from importlib import import_module
from typing import TYPE_CHECKING

from streamguard.redact.placeholder import digest, placeholder
from streamguard.redact.redactor import Redactor
from streamguard.redact.rule import Rule
from streamguard.redact.selection import Action

if TYPE_CHECKING:
    from streamguard.redact.literals import LiteralRedactor
    from streamguard.redact.rules import PII, SECRETS

__all__ = ["PII", "SECRETS", "Action", "LiteralRedactor", "Redactor", "Rule", "digest", "placeholder"]

_LATER = {
    "PII": "streamguard.redact.rules",
    "SECRETS": "streamguard.redact.rules",
    "LiteralRedactor": "streamguard.redact.literals",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(name)
    return getattr(import_module(_LATER[name]), name)
