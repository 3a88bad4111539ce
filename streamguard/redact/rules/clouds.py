"""Keys of cloud providers."""

from __future__ import annotations

from streamguard.redact.checks import base64_key, genuine
from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import LEFT, UNMASKED, spellings

__all__ = ["CLOUDS"]

_SECRET_NAME = f"(?:{spellings('secret', 'access', 'key')}|{spellings('aws', 'secret', 'key')})"

_SECRET = "Canary+/0123456789abcdefghijkl" + "MNOPQRSTUV"

CLOUDS = (
    Rule(
        "aws-access-key-id",
        value=rf"{LEFT}(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}(?![A-Za-z0-9])",
        anchors=("A3T", "AKIA", "ASIA", "ABIA", "ACCA"),
        checks=(genuine,),
        description="AWS access key ids",
        source="AWS documentation of unique identifier prefixes",
        examples=("AKIA" + "CANARY12" * 2, "aws_access_key_id = ASIA" + "CANARY23" * 2 + "\n"),
        near_misses=(
            "AKIA" + "IOSFODNN7" + "EXAMPLE",
            "AKIA" + "X" * 16,
            "AKIA" + "CANARY12" * 3,
            "TODAYINASIA" + "ABCDEFGHIJKLMNOP",
        ),
    ),
    Rule(
        "aws-secret-key",
        context=rf"""{_SECRET_NAME}\\?["']?[ \t]{{0,8}}(?:=>|[:=]{{1,2}}|,)[ \t]{{0,8}}\\?["']?""",
        value=r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])",
        anchors=("ecret", "ECRET"),
        checks=(base64_key,),
        description="AWS secret access keys, next to their name only",
        source="AWS documentation: 40 characters of base64; alone they look like a commit hash",
        examples=(
            "aws_secret_access_key = " + _SECRET,
            '{"SecretAccessKey": "' + _SECRET + '", "Expiration": 1}',
            "AWS_SECRET_KEY=" + _SECRET,
        ),
        near_misses=(
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
            "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        ),
    ),
    Rule(
        "google-api-key",
        value=rf"{LEFT}AIza{UNMASKED}[A-Za-z0-9_-]{{30,}}",
        anchors=("AIza",),
        description="Google API keys",
        source="Google Cloud documentation of API keys: AIza and 35 characters",
        examples=("AIza" + "Canary1" * 5, "https://maps.example.com/api?key=AIza" + "Canary1" * 5 + "&v=3"),
        near_misses=("AIza", "AIza" + "x" * 35, "AIza" + "short" * 3),
    ),
    Rule(
        "google-oauth",
        value=(
            rf"{LEFT}(?:(?:ya29\.|GOCSPX-){UNMASKED}[A-Za-z0-9_-]{{20,}}(?:\.[A-Za-z0-9_-]+)?"
            r"|1//0[A-Za-z0-9_-]{40,})"
        ),
        anchors=("ya29.", "GOCSPX-", "1//0"),
        description="Google OAuth access tokens, refresh tokens and client secrets",
        source="Google Identity documentation: ya29., 1//0, GOCSPX-",
        examples=(
            "ya29." + "Canary12" * 10,
            '"client_secret":"GOCSPX-' + "Canary1" * 4 + '"',
            "1//0" + "Canary12" * 6,
        ),
        near_misses=("ya29.short", "GOCSPX-" + "x" * 28, "1//0 means one"),
    ),
)
