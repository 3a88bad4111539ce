from __future__ import annotations

import json

from click.testing import CliRunner

from streamguard import SECRETS, Redactor
from streamguard.cli.app import app


def test_every_rule_is_listed_with_its_hold_back() -> None:
    done = CliRunner().invoke(app, ["rules", "--json"])
    assert done.exit_code == 0
    rows = [json.loads(line) for line in done.output.splitlines()]
    assert [row["id"] for row in rows] == [rule.id for rule in SECRETS]
    bounds = Redactor(SECRETS).bounds()
    assert [(row["hold_back"], row["policy"]) for row in rows] == [
        (bound.characters, bound.policy) for bound in bounds
    ]
    assert all(row["matches"] for row in rows)


def test_a_group_alone() -> None:
    done = CliRunner().invoke(app, ["rules", "--json", "--set", "private-keys"])
    assert {json.loads(line)["set"] for line in done.output.splitlines()} == {"private-keys"}


def test_a_set_that_is_none() -> None:
    done = CliRunner().invoke(app, ["rules", "--set", "nope"])
    assert done.exit_code == 2
    assert done.stderr.startswith(
        "streamguard rules: Invalid value for '--set': 'nope' is not one of secrets, "
    )


def test_a_table_for_people() -> None:
    done = CliRunner().invoke(app, ["rules"], env={"COLUMNS": "140"})
    assert done.exit_code == 0
    for rule in SECRETS:
        assert rule.id in done.output
    assert f"{len(SECRETS)} rules" in done.output
