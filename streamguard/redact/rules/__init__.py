"""The rules that ship with the library, one file a category.

`SECRETS` is all of them, in order of priority: where two rules with checks claim the same
value, the first names it. The groups can be chosen or left out one by one. `PII` is the
rules of personal data, for whoever wants them; they are loaded when they are first named.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from streamguard.redact.rule import Rule
from streamguard.redact.rules.assignments import ASSIGNMENTS
from streamguard.redact.rules.auth_headers import AUTH_HEADERS
from streamguard.redact.rules.clouds import CLOUDS
from streamguard.redact.rules.connection_strings import CONNECTION_STRINGS
from streamguard.redact.rules.development import DEVELOPMENT
from streamguard.redact.rules.llm import LLM
from streamguard.redact.rules.messaging import MESSAGING
from streamguard.redact.rules.monitoring import MONITORING
from streamguard.redact.rules.payments import PAYMENTS
from streamguard.redact.rules.private_keys import PRIVATE_KEYS
from streamguard.redact.rules.registries import REGISTRIES
from streamguard.redact.rules.saas import SAAS
from streamguard.redact.rules.tokens import TOKENS

if TYPE_CHECKING:
    from streamguard.redact.rules.pii import (
        PII,
        PII_CONTACT,
        PII_CRYPTO,
        PII_IDENTITY,
        PII_NETWORK,
        PII_PAYMENT,
    )

__all__ = [
    "ASSIGNMENTS",
    "AUTH_HEADERS",
    "CLOUDS",
    "CONNECTION_STRINGS",
    "DEVELOPMENT",
    "LLM",
    "MESSAGING",
    "MONITORING",
    "PAYMENTS",
    "PII",
    "PII_CONTACT",
    "PII_CRYPTO",
    "PII_IDENTITY",
    "PII_NETWORK",
    "PII_PAYMENT",
    "PRIVATE_KEYS",
    "REGISTRIES",
    "SAAS",
    "SECRETS",
    "TOKENS",
]

SECRETS: tuple[Rule, ...] = (
    *PRIVATE_KEYS,
    *LLM,
    *DEVELOPMENT,
    *REGISTRIES,
    *CLOUDS,
    *MONITORING,
    *MESSAGING,
    *PAYMENTS,
    *SAAS,
    *TOKENS,
    *AUTH_HEADERS,
    *CONNECTION_STRINGS,
    *ASSIGNMENTS,
)


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("streamguard.redact.rules.pii"), name)
