"""What a redactor is told: which rules, what stays, what is only reported, what ends a stream."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

from streamguard import PII, SECRETS, Finding, Redactor, Rule, StreamBlocked
from streamguard.redact.rules import ASSIGNMENTS, LLM
from streamguard.redact.selection import Action
from streamguard.session import End, Session
from streamguard.testing import check_transformer

RULES = (
    Rule("word", r"secret-[a-z]{3,}"),
    Rule("number", r"[0-9]{4,}(?=;)", context="n="),
    Rule("checked", r"<[a-z]+>", checks=(lambda value: len(value) > 5,)),
)
TEXT = "a secret-word n=12345; and <abc> of <abcdef>, secret-words n=1234567;"


def stream(
    session: Session, chunks: str | list[str], end: End = End.COMPLETE
) -> tuple[str, StreamBlocked | None]:
    """What came out, and what ended the stream."""
    out = []
    try:
        for chunk in chunks:
            out.append(session.feed(chunk))
        out.append(session.flush(end))
    except StreamBlocked as blocked:
        return "".join(out), blocked
    return "".join(out), None


# -- which rules ---------------------------------------------------------------------


def test_rules_are_taken_and_left_out_by_name_and_group() -> None:
    assert Redactor().rules == SECRETS
    assert Redactor(only=["jwt", "llm"]).rules == tuple(r for r in SECRETS if r.id == "jwt" or r in LLM)
    assert Redactor(without=["ASSIGNMENTS", "jwt"]).rules == tuple(
        r for r in SECRETS if r.id != "jwt" and r not in ASSIGNMENTS
    )
    assert Redactor(RULES, only=["number"]).rules == RULES[1:2]
    assert Redactor(RULES, without=["number"]).rules == (RULES[0], RULES[2])
    assert Redactor(only=["pii"]).rules == PII
    assert Redactor(only=["secrets", "pii_contact"], without=["email"]).rules[: len(SECRETS)] == SECRETS


@pytest.mark.parametrize("options", [{"only": ["jvt"]}, {"without": ["jvt"]}, {"actions": {"jvt": "flag"}}])
def test_an_unknown_name_is_refused_with_the_one_that_may_be_meant(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="no rule or group 'jvt' here; did you mean 'jwt'"):
        Redactor(**options)  # type: ignore[arg-type]


def test_names_are_no_string() -> None:
    with pytest.raises(TypeError, match="list of strings"):
        Redactor(only="jwt")
    with pytest.raises(ValueError, match="redacts nothing"):
        Redactor(RULES, without=["word", "number", "checked"])


# -- what stays ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("allow", "stays"),
    [
        (["secret-word"], ["secret-word "]),
        (["secret-word", "secret-words"], ["secret-word ", "secret-words"]),
        ([re.compile("secret-.*")], ["secret-word ", "secret-words"]),
        (["12345"], ["n=12345;"]),
        ([re.compile("[0-9]{7}")], ["n=1234567;"]),
        (["<abcdef>"], ["<abcdef>"]),
        (["secret", "1234", "bcdef"], []),
    ],
)
def test_an_allowed_value_stays_and_no_other(allow: list[str | re.Pattern[str]], stays: list[str]) -> None:
    guard = Redactor(RULES, allow=allow)
    findings: list[Finding] = []
    shown = guard.scrub(TEXT, on_finding=findings.append)
    values = ["secret-word ", "n=12345;", "<abcdef>", "secret-words", "n=1234567;"]
    assert [value for value in values if value in shown] == stays
    assert len(findings) == len(values) - len(stays)
    check_transformer(guard, TEXT)


def test_what_may_be_allowed_is_kept_no_longer_than_that() -> None:
    session = Redactor(RULES, allow=["secret-word"]).session()
    session.feed("secret-wor")
    assert session.pending == 10
    session.feed("x")
    assert session.pending == 0
    assert (
        Redactor(RULES, allow=[re.compile(".*")], limit=64).scrub("secret-" + "a" * 100)
        != "secret-" + "a" * 100
    )


def test_allowed_values_are_not_shown_by_the_settings() -> None:
    assert "secret-word" not in repr(Redactor(RULES, allow=["secret-word"]))


def test_only_values_and_patterns_are_allowed() -> None:
    with pytest.raises(TypeError, match="strings and compiled patterns, not int"):
        Redactor(RULES, allow=[1])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="not one string"):
        Redactor(RULES, allow="hunter2")
    with pytest.raises(TypeError, match="not of bytes"):
        Redactor(RULES, allow=[re.compile(b"x")])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="empty value"):
        Redactor(RULES, allow=[""])


def test_arguments_of_another_kind_are_refused_at_once() -> None:
    with pytest.raises(TypeError, match="a key is bytes, not str"):
        Redactor(RULES, key="key")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a string, not int"):
        Redactor(RULES, only=[5])  # type: ignore[list-item]


# -- what is only reported -------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 5, 300])
def test_a_flagged_value_stays_and_is_reported(size: int) -> None:
    guard = Redactor(RULES, actions={"word": "flag"})
    findings: list[Finding] = []
    session = guard.session(on_finding=findings.append)
    shown, _ = stream(session, [TEXT[at : at + size] for at in range(0, len(TEXT), size)])
    assert shown == Redactor(RULES, without=["word"]).scrub(TEXT)
    flagged = [one for one in findings if one.action == "flagged"]
    assert [TEXT[one.offset : one.offset + one.length] for one in flagged] == ["secret-word", "secret-words"]
    assert {one.rule for one in flagged} == {"word"}
    assert sum(one.action == "redacted" for one in findings) == 3


def test_a_flagged_rule_takes_nothing_from_one_that_redacts() -> None:
    rules = (
        Rule("wide", r"key [a-z ]+(?=;)"),
        Rule("narrow", "secret-[a-z]+"),
        Rule("key", "secret", context="key "),
    )
    guard = Redactor(rules, actions={"wide": "flag"})
    assert guard.scrub("key secret; secret-abc") == Redactor(rules[1:]).scrub("key secret; secret-abc")


def test_flags_alone_change_nothing() -> None:
    findings: list[Finding] = []
    guard = Redactor(RULES, actions=dict.fromkeys(["word", "number", "checked"], "flag"))
    assert guard.scrub(TEXT, on_finding=findings.append) == TEXT
    assert [one.action for one in findings] == ["flagged"] * 5


# -- what ends the stream -----------------------------------------------------------------------


@pytest.mark.parametrize("allow", [[], ["nothing"]])
@pytest.mark.parametrize("size", [1, 2, 7, 300])
def test_a_blocked_value_ends_the_stream_after_what_stood_before(size: int, allow: list[str]) -> None:
    guard = Redactor(RULES, actions={"number": "block"}, allow=allow)
    findings: list[Finding] = []
    session = guard.session(on_finding=findings.append)
    shown, blocked = stream(session, [TEXT[at : at + size] for at in range(0, len(TEXT), size)])
    assert blocked is not None
    assert blocked.finding == findings[-1] == Finding("redactor", "number", "blocked", 16, 5)
    assert "12345" not in str(blocked)
    assert shown == Redactor(RULES).scrub("a secret-word n=")


def test_a_value_that_is_allowed_blocks_nothing() -> None:
    guard = Redactor(RULES, actions={"number": "block"}, allow=["12345", "1234567"])
    assert "n=12345;" in guard.scrub(TEXT)


def test_a_value_that_ends_with_the_text_blocks() -> None:
    guard = Redactor((Rule("end", r"[0-9]+(?=;|\Z)"),), actions={"end": "block"})
    shown, blocked = stream(guard.session(), ["ab ", "12"])
    assert (shown, blocked is not None) == ("ab ", True)


def test_actions_may_name_groups_and_a_rule_says_otherwise() -> None:
    guard = Redactor(actions={"llm": "flag", "anthropic": "block", "groq": "redact"})
    assert guard.blocking == {"anthropic"}
    assert {rule.id for rule in guard.flagged} == {rule.id for rule in LLM} - {"anthropic", "groq"}


def test_there_are_three_actions() -> None:
    action: Action = "drop"  # type: ignore[assignment]
    with pytest.raises(ValueError, match="must be one of redact, flag, block"):
        Redactor(RULES, actions={"word": action})


def test_a_redactor_is_copied_with_all_it_was_told() -> None:
    rules = (RULES[0], RULES[1])
    guard = Redactor(rules, actions={"word": "flag", "number": "block"}, allow=["12345"], limit=100)
    again = copy.deepcopy(guard)
    assert again == guard
    assert pickle.loads(pickle.dumps(guard)) == guard  # noqa: S301 - our own
    assert hash(again) == hash(guard)


def test_a_library_that_a_rule_needs_is_missed_at_once() -> None:
    rule = Rule("needy", "[0-9]{9}", needs=("no_such_module",))
    with pytest.raises(
        ModuleNotFoundError, match=r"rule 'needy' needs no_such_module: pip install .*\[pii\]"
    ):
        Redactor([*RULES, rule])
