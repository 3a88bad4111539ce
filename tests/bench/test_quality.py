"""What streamguard finds, and what it wrongly finds. `python -m tests.bench.quality` compares."""

from __future__ import annotations

from hashlib import sha256

import pytest

from streamguard import Finding, Redactor

from .benign import documents
from .quality import DATA, covered, items, mean_by_rule
from .report import Report

pytestmark = pytest.mark.bench

REVIEWED = {
    ("secret-literal", "b8e374d8dbf16496"): "the secret key that moto puts into the environment",
    ("secret-literal", "6f22c5437a71527f"): "awscli's example of a database password that expires",
    ("secret-literal", "16529b293d4d3f1a"): "awscli's example of a secret two parties derive",
    ("secret-literal", "445a5c3c73242601"): "awscli's example of a WebDAV password",
    ("secret-literal", "8851d4bf2a74f438"): "the second of them",
    ("secret-literal", "e3c33e889e0e1b62"): "botocore's example of the password of a database",
    ("signed-url", "d2270e152abea353"): "awscli's example of a signed address of a log",
    ("signed-url", "b51d737bc89b2bce"): "awscli's example of a login to a database",
    ("signed-url", "317b7bdc1014b92e"): "awscli's example of a signed address of an image",
    ("signed-url", "b25a7c59756e5e0d"): "awscli's example of a signed address, which stands there twice",
}
"""Findings that are right: by rule and the first 16 digits of the SHA-256 of what it found."""

Span = tuple[int, int, str]


def _found(redactor: Redactor, text: str) -> list[Span]:
    found: list[Finding] = []
    redactor.scrub(text, on_finding=found.append)
    return [(one.offset, one.offset + one.length, one.rule) for one in found]


@pytest.mark.skipif(not DATA.exists(), reason="the labelled corpus is not beside the checkout")
def test_most_secrets_of_the_corpus_are_covered(report: Report) -> None:
    redactor = Redactor()
    pairs = [(item, covered(item, _found(redactor, item.text))) for item in items("secrets") if item.positive]
    rules = mean_by_rule(pairs).values()
    found, full = (sum(column) / len(rules) for column in zip(*rules, strict=True))
    report.target("secrets found, mean by rule of the corpus", found, 0.75)
    report.target("secrets covered, mean by rule of the corpus", full, 0.60)
    assert full >= 0.60


def test_ordinary_text_is_left_alone(report: Report) -> None:
    redactor = Redactor()
    found = [
        f"{rule} in {document.name}: {document.text[max(0, start - 60) : end + 20]!r}"
        for document in documents()
        for start, end, rule in _found(redactor, document.text)
        if (rule, sha256(document.text[start:end].encode()).hexdigest()[:16]) not in REVIEWED
    ]
    report.target("findings in ordinary text", len(found), most=4)
    assert len(found) < 5, "\n".join([f"{len(found)} findings", *found[:50]])
