"""Keys of messaging and chat services."""

from __future__ import annotations

from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import LEFT, UNMASKED

__all__ = ["MESSAGING"]

_DIGITS = "1234567890"

MESSAGING = (
    Rule(
        "slack",
        value=(
            rf"{LEFT}(?:xox[abceoprs]-[0-9][A-Za-z0-9-]{{9,}}"
            rf"|xoxe\.xox[bp]-[0-9]-{UNMASKED}[A-Za-z0-9-]{{20,}}"
            r"|xoxd-[A-Za-z0-9%+/=_-]{40,}"
            r"|xapp-[0-9]-[A-Za-z0-9-]{20,})"
        ),
        anchors=("xox", "xapp-"),
        description="Slack bot, user, app, session and configuration tokens",
        source="Slack's documentation of token types",
        examples=(
            "xoxb-" + _DIGITS + "-" + _DIGITS + "-" + "Canary12" * 3,
            "token=xoxp-" + _DIGITS + "-canary&pretty=1",
            "xapp-1-" + "CANARY12-" * 3 + "canary",
            "xoxe.xoxp-1-" + "Canary12" * 8,
        ),
        near_misses=("xoxb-your-bot-token", "xoxo-", "xoxb-xxxxxxxxx-xxxxxxxxxx-xxxx", "2018-250-xoxo-1.jpg"),
    ),
    Rule(
        "slack-webhook",
        context=r"hooks\.slack\.com(?:/|\\/)(?:services|workflows|triggers)(?:/|\\/)",
        value=r"[A-Za-z0-9](?:[A-Za-z0-9+]|\\?/){30,}",
        anchors=("hooks.slack.com",),
        description="The secret part of a Slack webhook address",
        source="Slack's documentation of incoming webhooks",
        examples=("https://hooks.slack.com/services/" + "T0CANARY0/B0CANARY0/" + "Canary12" * 3 + " posts",),
        near_misses=("https://hooks.slack.com/services/...", "https://hooks.slack.com/services/T00/B00/x"),
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
