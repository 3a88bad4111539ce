"""Keys of code hosts and development tools."""

from __future__ import annotations

from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import LEFT, UNMASKED

__all__ = ["DEVELOPMENT"]

_GITLAB = ("pat", "oas", "dt", "rt", "rtr", "cbt", "ptt", "ft", "imt", "agent", "soat", "ffct", "wt")
_CANARY = "Canary12" * 5

DEVELOPMENT = (
    Rule(
        "github-classic",
        value=rf"{LEFT}gh[pour]_{UNMASKED}[A-Za-z0-9]{{20,}}",
        anchors=("ghp_", "gho_", "ghu_", "ghr_"),
        description="GitHub personal, OAuth, user-to-server and refresh tokens",
        source="GitHub's documentation of token prefixes; open-ended, since lengths have changed",
        examples=("ghp_" + _CANARY, "https://bob:gho_" + _CANARY + "@github.com/bob/x", r"a\tghu_" + _CANARY),
        near_misses=("ghp_short", "ghp_" + "x" * 36, "ghp_<token>", "weighp_" + "a" * 36),
    ),
    Rule(
        "github-app",
        value=rf"{LEFT}ghs_{UNMASKED}[A-Za-z0-9_](?:[.-]?[A-Za-z0-9_]){{19,}}",
        anchors=("ghs_",),
        description="GitHub tokens of app installations, those in JWT form included",
        source="GitHub's announcement of stateless installation tokens: dots and hyphens inside",
        examples=("ghs_" + _CANARY, "use ghs_eyJ" + ".".join([_CANARY] * 3) + "."),
        near_misses=("ghs_short", "ghs_" + "x" * 36, "lengths_" + "a" * 40),
    ),
    Rule(
        "github-fine-grained",
        value=rf"{LEFT}github_pat_{UNMASKED}[A-Za-z0-9_]{{20,}}",
        anchors=("github_pat_",),
        description="GitHub fine-grained personal access tokens",
        source="GitHub's documentation of token prefixes",
        examples=("github_pat_" + _CANARY[:22] + "_" + _CANARY, "(github_pat_" + _CANARY + ")"),
        near_misses=("github_pat_example", "github_pat_" + "x" * 22 + "_" + "x" * 59),
    ),
    Rule(
        "gitlab",
        value=(
            rf"{LEFT}(?:gl(?:{'|'.join(_GITLAB)})-{UNMASKED}(?:\.?[A-Za-z0-9_=-]){{20,}}"
            rf"|GR1348941{UNMASKED}[A-Za-z0-9_-]{{20,}})"
        ),
        anchors=(*(f"gl{kind}-" for kind in _GITLAB), "GR1348941"),
        description="GitLab tokens of every kind, routable ones included",
        source="GitLab's documentation of token prefixes",
        examples=(
            "leaked glpat-" + _CANARY[:20],
            "glrt-" + _CANARY + ".01." + "canary123 ",
            "Its value is glagent-" + _CANARY + ".",
            "GR13489" + "41" + _CANARY[:20],
        ),
        near_misses=("glpat-short", "my" + "glpat-" + "a" * 20, "glpat-" + "X" * 20, "glft-"),
    ),
)
