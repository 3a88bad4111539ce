"""Keys of payment services and of shops."""

from __future__ import annotations

from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import LEFT, UNMASKED

__all__ = ["PAYMENTS"]

PAYMENTS = (
    Rule(
        "stripe",
        value=(
            rf"{LEFT}(?:[sr]k_(?:live|test|prod|org)_(?:live_|test_)?{UNMASKED}[A-Za-z0-9]{{10,}}"
            rf"|whsec_{UNMASKED}[A-Za-z0-9+/]{{24,}}={{0,2}})"
        ),
        anchors=("sk_", "rk_", "whsec_"),
        description="Stripe secret and restricted keys, and webhook signing secrets",
        source="Stripe's documentation of API keys",
        examples=(
            "sk_live_" + "Canary12" * 3,
            "STRIPE_KEY='rk_test_" + "Canary12" * 3 + "'",
            "whsec_" + "Canary12" * 4,
        ),
        near_misses=(
            "pk_live_" + "Canary12" * 3,
            "task_test_" + "Canary12" * 3,
            "sk_live_...",
            "sk_test_" + "x" * 24,
        ),
    ),
    Rule(
        "mmw",
        value=rf"{LEFT}mmw_{UNMASKED}[A-Za-z0-9_-]{{16,}}",
        anchors=("mmw_",),
        description="Keys that begin with mmw_",
        source="a prefix in use for the keys of a chat product",
        examples=("mmw_" + "Canary12" * 3, r'{"line": "a\nmmw_' + "Canary12" * 3 + '"}'),
        near_misses=("mmw_short", "hmmw_" + "a" * 30, "mmw_" + "x" * 30),
    ),
)
