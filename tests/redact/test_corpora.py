"""The rules against samples collected from other projects, where those are at hand.

The samples lie beside the checkout and are no part of it; without them these tests skip.
`pytest -rP tests/redact/test_corpora.py` prints the tables.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamguard.redact import Redactor, Rule
from streamguard.redact.rules import SECRETS
from streamguard.session import Finding

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the samples are not at hand")
ALL = Redactor(SECRETS)
write = sys.stdout.write


def samples(name: str) -> Iterator[dict[str, Any]]:
    path = DATA / f"{name}.jsonl"
    if path.exists():
        yield from map(json.loads, path.read_text().splitlines())


def redacted(text: str) -> list[Finding]:
    findings: list[Finding] = []
    ALL.scrub(text, on_finding=findings.append)
    return findings


# -- public reports -----------------------------------------------------------------

PATTERNS = {
    "secret-split": next(rule.value for rule in SECRETS if rule.id == "openai-legacy"),
    "secret-long-min": r"sk-ant-[A-Za-z0-9-]{95,}",
    "secret-eq-alphabet": r"gAAAA[A-Za-z0-9_=-]{20,}",
    "pem-longer-than-window": next(rule.value for rule in SECRETS if rule.id == "private-key"),
    "leftmost-over-later": "abc|b",
}


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case["id"]) for case in samples("stream_cases") if case["id"] in PATTERNS]
)
def test_a_public_report_of_a_split_secret(case: dict[str, Any]) -> None:
    text, wanted = "".join(case["chunks"]), case["wanted"]
    if case["id"] == "leftmost-over-later":
        redactor = Redactor(
            [Rule("one", "abc"), Rule("two", "b")],
            placeholder=lambda rule, _: {"one": "[1]", "two": "[2]"}[rule],
        )
    else:
        mark = wanted[wanted.index("[") : wanted.index("]") + 1]
        redactor = Redactor([Rule("only", PATTERNS[case["id"]])], placeholder=lambda *_: mark)
    assert "".join(redactor.transform_sync(case["chunks"])) == wanted
    assert redactor.scrub(text) == wanted
    for at in range(len(text) + 1):
        assert "".join(redactor.transform_sync([text[:at], text[at:]])) == wanted


ON_PURPOSE = {
    "userpass_web": "a password in a web address is one; leave the group CONNECTION_STRINGS out to keep it",
    "nl_split": "a line break ends a token: joining lines would hold back what follows every short prefix",
    "fw": "no rule for this provider yet",
}


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case["name"]) for case in samples("hermes_redact_cases")]
)
def test_what_another_redactor_expects(case: dict[str, Any]) -> None:
    text = "".join(case["chunks"])
    shown = ALL.scrub(text)
    assert "".join(ALL.transform_sync(case["chunks"])) == shown
    agrees = (
        not any(secret in shown for secret in case["absent"])
        and all(part in shown for part in case["present"])
        and case["equal"] in {None, shown}
    )
    assert agrees is (case["name"] not in ON_PURPOSE)


# -- recall and false positives -------------------------------------------------------

COVERED = {
    "llm": ({"anthropic", "openai"}, 0.95),
    "development": ({"github", "gitlab"}, 0.95),
    "clouds": ({"aws-access-token", "aws_key", "aws iam", "aws secret", "gcp-api-key", "google"}, 0.8),
    "messaging": ({"slack"}, 0.95),
    "payments": ({"stripe"}, 0.95),
    "tokens": ({"jwt", "json web token", "argocd", "kubernetes system"}, 0.95),
    "private keys": ({"private-key", "private key", "asymmetric"}, 0.7),
    "auth headers": ({"curl-auth-header", "authorization header"}, 0.9),
    "addresses": ({"url user and password", "sidekiq-sensitive-url", "basic_auth"}, 0.9),
    "assignments": (
        {"generic secret", "general secret", "generic-api-key", "ibm_cos", "ibm_cloud", "auth0 oauth"},
        0.85,
    ),
}
"""By group: how the names of the samples' own rules begin, and the least recall."""
ELSEWHERE = {"jwt-base64", "gitlab-session-cookie", "openshift-user-token"}


def group_of(rule: str) -> str | None:
    found = [
        group for group, (names, _) in COVERED.items() if any(rule.lower().startswith(name) for name in names)
    ]
    return found[0] if found and rule.lower() not in ELSEWHERE else None


def test_recall() -> None:
    seen: Counter[str] = Counter()
    hit: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    rules: dict[str, Counter[str]] = defaultdict(Counter)
    for sample in samples("rules_secrets_positive"):
        group = group_of(sample["rule"]) or "(no rule yet)"
        findings = redacted(sample["text"])
        masked = {at for one in findings for at in range(one.offset, one.offset + one.length)}
        spans = [range(*span) for span in sample["secret_spans"]] or [range(0)]
        size, covered = sum(map(len, spans)), sum(at in masked for span in spans for at in span)
        seen[group] += 1
        hit[group] += bool(covered) if size else bool(masked)
        whole[group] += covered >= 0.95 * size if size else bool(masked)
        rules[group].update(one.rule for one in findings)
    for group, count in seen.most_common():
        some, most = hit[group] / count, whole[group] / count
        write(f"{group:15} {count:5} {some:6.0%} {most:6.0%}  {dict(rules[group].most_common(6))}\n")
    for group, (_, least) in COVERED.items():
        assert hit[group] >= least * seen[group], group


def test_false_positives() -> None:
    """Of labelled texts in which nothing may be masked, and of ordinary lines with a keyword in them."""
    seen: Counter[str] = Counter()
    hit: Counter[str] = Counter()
    for sample in samples("rules_secrets_negative"):
        if sample["scope"] != "any":
            continue
        kind = "ordinary" if sample["rule"].startswith("benign:") else "labelled"
        findings = redacted(sample["text"])
        seen[kind] += 1
        hit[kind] += bool(findings)
        for one in findings:
            value = sample["text"][one.offset : one.offset + one.length]
            write(f"{kind} {sample['rule']}: {one.rule} {value!r}\n")
    write(f"{dict(hit)} of {dict(seen)}\n")
    assert hit["ordinary"] <= 0.005 * seen["ordinary"]
    assert hit["labelled"] <= 0.08 * seen["labelled"]
