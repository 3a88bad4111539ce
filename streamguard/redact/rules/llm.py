"""Keys of model providers."""

from __future__ import annotations

from streamguard.redact.checks import opaque
from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import LEFT, STRICT_LEFT, UNMASKED

__all__ = ["LLM"]

_CANARY = "Canary12" * 6

LLM = (
    Rule(
        "anthropic",
        value=rf"{LEFT}sk-ant-{UNMASKED}[A-Za-z0-9_-]{{20,}}",
        anchors=("sk-ant-",),
        description="Anthropic API, admin and OAuth keys",
        source="Anthropic's documentation: sk-ant-api03-, sk-ant-admin01-, sk-ant-oat01-",
        examples=(
            "sk-ant-" + "api03-" + _CANARY,
            '{"x-api-key": "sk-ant-' + "admin01-" + _CANARY + '"}',
            r'"line\nsk-ant-' + "oat01-" + _CANARY + '"',
            "ANTHROPIC_API_KEY=sk-ant-" + _CANARY,
        ),
        near_misses=("sk-ant-api03-...", "task-ant-colony-" + "optimisation" * 2, "sk-ant-" + "x" * 40),
    ),
    Rule(
        "openai-project",
        value=rf"{LEFT}sk-(?:proj|svcacct|admin|service|None)-{UNMASKED}[A-Za-z0-9_-]{{20,}}",
        anchors=("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-service-", "sk-None-"),
        description="OpenAI keys of projects, service accounts and administrators",
        source="OpenAI's documentation of project and admin keys",
        examples=(
            "sk-proj-" + _CANARY,
            "key%3Dsk-svcacct-" + _CANARY + "%26",
            r"key\u003dsk-admin-" + _CANARY,
            "\x1b[32msk-None-" + _CANARY + "\x1b[0m",
        ),
        near_misses=("sk-proj-short", "disk-proj-" + "a" * 30, "sk-proj-" + "X" * 48, "sk-proj-..."),
    ),
    Rule(
        "openai-legacy",
        value=rf"{STRICT_LEFT}sk-{UNMASKED}[A-Za-z0-9]{{32,}}",
        anchors=("sk-",),
        description="Keys of sk- and an unbroken run: OpenAI before projects, and providers like it",
        source="the form many providers took over from OpenAI: sk- and 32 or 48 letters and digits",
        examples=("sk-" + _CANARY, "key: sk-" + "canarycan" * 4 + ", next"),
        near_misses=("sk-" + "x" * 48, "disk-" + "a" * 40, "sk-learn", "path/sk-" + "a" * 40),
    ),
    Rule(
        "openai-like",
        value=rf"{STRICT_LEFT}sk-(?:[a-z0-9]{{1,8}}-){{0,3}}[A-Za-z0-9_-]{{20,}}",
        anchors=("sk-",),
        checks=(opaque,),
        description="Other keys that begin with sk-",
        source="gateways and providers whose keys begin as OpenAI's do: sk-or-v1-, sk-lf-, sk-sp-",
        examples=("sk-or-v1-" + "canary0123456789ab" * 4, "sk-canaryABC-defgh_1234567890jkl"),
        near_misses=(
            "sk-toggleable__label-arrow-before",
            "sk-test-token-for-documentation-only",
            "sk-" + "a" * 24,
            "sk-1234567",
        ),
    ),
)
