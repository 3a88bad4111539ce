from __future__ import annotations

import json
import subprocess
import sys

from click.testing import CliRunner

from streamguard import PII, SECRETS, Redactor
from streamguard.cli.app import app


def test_every_rule_is_listed_with_its_hold_back() -> None:
    done = CliRunner().invoke(app, ["rules", "--json"])
    assert done.exit_code == 0
    rows = [json.loads(line) for line in done.output.splitlines()]
    assert [row["id"] for row in rows] == [rule.id for rule in (*SECRETS, *PII)]
    bounds = Redactor((*SECRETS, *PII)).bounds()
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
    assert f"{len(SECRETS) + len(PII)} rules" in done.output


def test_all_there_is_to_know_of_a_rule() -> None:
    done = CliRunner().invoke(app, ["rules", "groq"])
    assert done.exit_code == 0
    (rule,) = (rule for rule in SECRETS if rule.id == "groq")
    for told in (rule.description, rule.source, *map(repr, rule.anchors)):
        assert told in done.output
    for text in (*rule.examples, *rule.near_misses):
        assert repr(text) in done.output
    (row,) = map(json.loads, CliRunner().invoke(app, ["rules", "--json", "groq"]).output.splitlines())
    assert row["near_misses"] == list(rule.near_misses)


def test_a_rule_that_is_none() -> None:
    done = CliRunner().invoke(app, ["rules", "nope"])
    assert done.exit_code == 2
    assert "there is no rule 'nope'" in done.stderr


def test_personal_data_is_redacted_if_asked_for() -> None:
    text = "write to canary@example.org"
    assert CliRunner().invoke(app, ["scrub"], input=text).output == text
    assert CliRunner().invoke(app, ["scrub", "--pii"], input=text).output == "write to [REDACTED:email]"
    assert CliRunner().invoke(app, ["scrub", "--pii", "--no-redact"], input=text).exit_code == 2


def test_without_the_extra_rules_are_listed_and_personal_data_is_refused_in_one_line() -> None:
    program = (
        "import sys; sys.modules['stdnum'] = sys.modules['phonenumbers'] = None\n"
        "from streamguard.cli import main; sys.exit(main())\n"
    )
    run = [sys.executable, "-c", program]
    listed = subprocess.run([*run, "rules", "us-ssn"], capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert "us-ssn (pii-identity)" in listed.stdout
    refused = subprocess.run([*run, "scrub", "--pii"], input="x", capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "pip install 'streamguard-llm[pii]'" in refused.stderr


def test_a_set_in_the_place_of_a_rule() -> None:
    done = CliRunner().invoke(app, ["rules", "llm"])
    assert done.exit_code == 2
    assert "there is no rule 'llm'; it is a set of rules: --set llm" in done.stderr
