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
from statistics import fmean
from typing import Any

import pytest

from streamguard.redact import Redactor, Rule
from streamguard.redact.rules import PII, SECRETS
from streamguard.session import Finding

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(not DATA.is_dir(), reason="the samples are not at hand"),
]
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
    "llm": ({"anthropic", "openai"}, 1.0, 1.0),
    "development": ({"github", "gitlab"}, 0.97, 0.97),
    "clouds": ({"aws-access-token", "aws_key", "aws iam", "aws secret", "gcp-api-key", "google"}, 0.92, 0.82),
    "messaging": ({"slack"}, 1.0, 0.86),
    "payments": ({"stripe"}, 1.0, 1.0),
    "tokens": ({"jwt", "json web token", "argocd", "kubernetes system", "openshift"}, 1.0, 1.0),
    "private keys": ({"private-key", "private key", "asymmetric"}, 0.8, 0.8),
    "auth headers": ({"curl-auth-header", "authorization header"}, 1.0, 1.0),
    "addresses": ({"url user and password", "sidekiq-sensitive-url", "basic_auth"}, 0.96, 0.38),
    "assignments": (
        {"generic secret", "general secret", "generic-api-key", "ibm_cos", "ibm_cloud", "auth0 oauth"},
        0.95,
        0.58,
    ),
    "others": ({""}, 0.87, 0.81),
}
"""By group: how the names of the samples' own rules begin, how many are found at least, and how
many whole. What else they mark, such as the user of an address, is left alone on purpose."""
FOUND, WHOLE = 0.945, 0.89
"""The same for all, where each rule of each collection counts as much as any other."""


def group_of(rule: str) -> str:
    return next(group for group, (names, *_) in COVERED.items() if rule.lower().startswith(tuple(names)))


def test_recall() -> None:
    seen: Counter[str] = Counter()
    hit: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    rules: dict[str, Counter[str]] = defaultdict(Counter)
    by_rule: dict[tuple[str, str], list[tuple[bool, bool]]] = defaultdict(list)
    for sample in samples("rules_secrets_positive"):
        group = group_of(sample["rule"])
        findings = redacted(sample["text"])
        masked = {at for one in findings for at in range(one.offset, one.offset + one.length)}
        spans = [range(*span) for span in sample["secret_spans"]] or [range(0)]
        size, covered = sum(map(len, spans)), sum(at in masked for span in spans for at in span)
        some = bool(covered) if size else bool(masked)
        most = covered >= 0.95 * size if size else bool(masked)
        seen[group] += 1
        hit[group] += some
        whole[group] += most
        by_rule[sample["source"], sample["rule"]].append((some, most))
        rules[group].update(one.rule for one in findings)
    for group, count in seen.most_common():
        some_of, most_of = hit[group] / count, whole[group] / count
        write(f"{group:15} {count:5} {some_of:6.1%} {most_of:6.1%}  {dict(rules[group].most_common(6))}\n")
    found, entire = (fmean(fmean(one[part] for one in ones) for ones in by_rule.values()) for part in (0, 1))
    write(f"{'by rule':15} {len(by_rule):5} {found:6.1%} {entire:6.1%}\n")
    for group, (_, least, least_whole) in COVERED.items():
        assert hit[group] >= least * seen[group], group
        assert whole[group] >= least_whole * seen[group], group
    assert found >= FOUND
    assert entire >= WHOLE


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
    assert hit["ordinary"] <= 0.003 * seen["ordinary"]
    assert hit["labelled"] <= 0.08 * seen["labelled"]


# -- chunks ---------------------------------------------------------------------------

AROUND = (
    "The meeting was moved to Thursday, since the train was late; so the notes of last week are below. " * 4
)
EVERYTHING = Redactor((*SECRETS, *PII))


@pytest.mark.parametrize(
    "name", [f"rules_{kind}_{sign}" for kind in ("secrets", "pii") for sign in ("positive", "negative")]
)
def test_one_character_at_a_time_gives_what_the_whole_text_gives(name: str) -> None:
    """Of each text alone, and amid others, where the whole is searched for what a rule requires."""
    pytest.importorskip("stdnum", reason="the extra pii is not installed")
    pytest.importorskip("phonenumbers", reason="the extra pii is not installed")
    for sample in samples(name):
        for text in (sample["text"], AROUND[:300] + sample["text"] + AROUND[:300]):
            session = EVERYTHING.session()
            shown = "".join([*map(session.feed, text), session.flush()])
            assert shown == EVERYTHING.scrub(text), sample["id"]
