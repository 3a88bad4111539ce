"""Keys of payment services."""

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
)
