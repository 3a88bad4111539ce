from __future__ import annotations

import json

from streamguard import Finding
from streamguard.cli.findings import Tally


def tally() -> Tally:
    counts = Tally()
    counts.start("a.log")
    counts.add(Finding("redactor", "github-pat", "redacted", 3, 40))
    counts.add(Finding("fence", "think", "hidden", 0, 12))
    counts.add(Finding("redactor", "github-pat", "redacted", 90, 41))
    counts.start("b.log")
    return counts


def test_counts_by_source_stage_and_rule() -> None:
    assert tally().total == 3
    assert json.loads(tally().as_json()) == {
        "findings": 3,
        "sources": [
            {
                "source": "a.log",
                "findings": [
                    {
                        "stage": "fence",
                        "rule": "think",
                        "action": "hidden",
                        "count": 1,
                        "characters": 12,
                    },
                    {
                        "stage": "redactor",
                        "rule": "github-pat",
                        "action": "redacted",
                        "count": 2,
                        "characters": 81,
                    },
                ],
            },
            {"source": "b.log", "findings": []},
        ],
    }


def test_text_for_people() -> None:
    assert tally().as_text() == (
        "a.log: 3 findings\n"
        "  fence/think          hidden 1 (12 characters)\n"
        "  redactor/github-pat  redacted 2 (81 characters)\n"
        "b.log: nothing found"
    )


def test_a_source_named_twice_is_counted_together() -> None:
    counts = tally()
    counts.start("a.log")
    counts.add(Finding("fence", "think", "hidden", 0, 1))
    assert counts.as_text().startswith("a.log: 4 findings")
