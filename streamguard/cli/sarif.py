"""Findings as SARIF 2.1.0 (OASIS), the format in which code hosts take them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import quote

from streamguard import __version__

if TYPE_CHECKING:
    from streamguard.cli.scan import Problem

__all__ = ["sarif"]

_LEVELS = {"low": "note", "medium": "warning", "high": "error"}
_SCORES = {"low": "2.0", "medium": "5.0", "high": "8.0"}
"""GitHub sorts by these, which are read as CVSS scores."""


def sarif(problems: Sequence[Problem]) -> dict[str, object]:
    """One run with these findings."""
    ids = list(dict.fromkeys(f"{one.what}/{one.rule}" for one in problems))
    worst = dict.fromkeys(ids, "low")
    for one in problems:
        id_ = f"{one.what}/{one.rule}"
        worst[id_] = max(worst[id_], one.severity, key=list(_LEVELS).index)
    driver = {
        "name": "streamguard",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(id_, worst[id_]) for id_ in ids],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, ids) for one in problems],
            }
        ],
    }


def _rule(id_: str, severity: str) -> dict[str, object]:
    what, _, name = id_.partition("/")
    text = _descriptions().get(name) or name
    return {
        "id": id_,
        "name": "".join(part.title() for part in name.split("-")),
        "shortDescription": {"text": f"{'Prompt injection' if what == 'injection' else 'Secret'}: {text}"},
        "defaultConfiguration": {"level": _LEVELS[severity]},
        "properties": {"tags": ["security"], "security-severity": _SCORES[severity]},
    }


def _descriptions() -> dict[str, str]:
    from streamguard.memory.hidden import HIDDEN
    from streamguard.memory.threats import THREATS
    from streamguard.redact import SECRETS

    found = {rule.id: rule.description for rule in (*SECRETS, *(threat.rule for threat in THREATS))}
    return {**found, **{one.id: one.description for one in HIDDEN}}


def _result(one: Problem, ids: list[str]) -> dict[str, object]:
    id_ = f"{one.what}/{one.rule}"
    what = "Text that tries to take a model over" if one.what == "injection" else "A secret"
    quoted = ", quoted" if one.quoted else ""
    region = {
        "startLine": one.start[0],
        "startColumn": one.start[1],
        "endLine": one.end[0],
        "endColumn": one.end[1],
    }
    location = {"artifactLocation": {"uri": quote(PurePath(one.file).as_posix())}, "region": region}
    return {
        "ruleId": id_,
        "ruleIndex": ids.index(id_),
        "level": _LEVELS[one.severity],
        "message": {"text": f"{what} ({one.rule}{quoted})."},
        "locations": [{"physicalLocation": location}],
    }
