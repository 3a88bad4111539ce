"""Signed tokens that any service may issue."""

from __future__ import annotations

from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import LEFT

__all__ = ["TOKENS"]

_PART = r"[A-Za-z0-9_-]"
_DOT = r"(?:=|%3[Dd]){0,2}\."
_HEADER = "eyJhbGciOiJDYW5hcnkifQ"  # {"alg":"Canary"}
_PAYLOAD = "eyJjYW5hcnkiOiJDYW5hcnkifQ"

TOKENS = (
    Rule(
        "jwt",
        # The header is bounded, so that base64 of JSON with no dot in it is soon let go.
        value=(
            rf"{LEFT}eyJ{_PART}{{10,220}}{_DOT}"
            rf"(?:eyJ{_PART}{{5,}}|{_PART}{{10,}}|\.{_PART}{{10,}})(?:{_DOT}{_PART}+){{0,3}}"
        ),
        anchors=("eyJ",),
        description="JSON Web Tokens, signed, encrypted or without a signature",
        source="RFC 7519 and 7516: base64url of a JSON object, parts joined by dots",
        examples=(
            f"{_HEADER}.{_PAYLOAD}." + "Canary_123" * 5,
            f'"id_token": "{_HEADER}.{_PAYLOAD}"',
            f"before {_HEADER}.{_PAYLOAD} after.",
            f"{_HEADER}=.{_PAYLOAD}=.Canary12",
            f"{_HEADER}..{'Canary12' * 2}.{'Canary12' * 8}.{'Canary' * 5}",
        ),
        near_misses=("eyJust a normal word", f"{_HEADER} alone", "eyJ.eyJ.sig", "a.eyJ" + "x" * 300),
    ),
)
