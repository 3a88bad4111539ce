"""What streamguard finds, and what it wrongly finds. `python -m tests.bench.quality` compares."""

from __future__ import annotations

import pytest

from streamguard import Finding, Redactor

from .benign import documents
from .quality import DATA, covered, items, mean_by_rule
from .report import Report

pytestmark = pytest.mark.bench

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
    texts = documents()
    found = [
        f"{span[2]} in {document.name}: {document.text[max(0, span[0] - 60) : span[1] + 20]!r}"
        for document in texts
        for span in _found(redactor, document.text)
    ]
    report.target("findings in ordinary text", len(found), most=4)
    assert len(found) < 5, "\n".join([f"{len(found)} findings", *found[:50]])
