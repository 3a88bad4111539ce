"""Redaction: rules, the redactor, its placeholders."""

from typing import TYPE_CHECKING

from streamguard.redact.placeholder import digest, placeholder
from streamguard.redact.redactor import Redactor
from streamguard.redact.rule import Rule

if TYPE_CHECKING:
    from streamguard.redact.rules import SECRETS

__all__ = ["SECRETS", "Redactor", "Rule", "digest", "placeholder"]


def __getattr__(name: str) -> object:
    if name == "SECRETS":
        from streamguard.redact.rules import SECRETS

        return SECRETS
    raise AttributeError(name)
