"""Rules: what they are made of, and what is refused."""

from __future__ import annotations

import dataclasses

import pytest

from streamguard import PatternError
from streamguard.automaton import parse
from streamguard.redact import Redactor, Rule


def _long(value: str) -> bool:
    return len(value) > 3


@pytest.mark.parametrize("name", ["a", "aws-key", "k8s", "a" * 64, "a-", "a--b", "a1"])
def test_an_id_is_lower_case_letters_digits_and_hyphens(name: str) -> None:
    assert Rule(name, "x").id == name


@pytest.mark.parametrize(
    "name", ["", "A", "aB", "1a", "-a", "a_b", "a b", "a" * 65, "é", "a\n", "a]", "a:b", "٣"]
)
def test_any_other_id_is_refused(name: str) -> None:
    with pytest.raises(PatternError, match="a rule's id is"):
        Rule(name, "x")


@pytest.mark.parametrize(
    ("value", "context", "reason"),
    [
        ("", "", "empty pattern"),
        ("a*?", "", "lazy repeat at position 2"),
        ("a", "b$", r"`\$` at position 1"),
        ("(a", "", "not a regular expression"),
        ("a", "(?<=b*)c", "look-behind at position 0"),
    ],
)
def test_a_refused_pattern_is_refused_with_the_rules_id(value: str, context: str, reason: str) -> None:
    with pytest.raises(PatternError, match=f"rule 'x-1': .*{reason}"):
        Rule("x-1", value, context=context)


@pytest.mark.parametrize("value", ["a*", "(?:a|b?)", r"\b", "(?=a)"])
def test_a_value_that_can_be_empty_is_refused_with_the_rules_id(value: str) -> None:
    with pytest.raises(PatternError, match=r"rule 'x-1': .*can be empty"):
        Rule("x-1", value)


def test_a_context_that_can_be_empty_asks_for_nothing() -> None:
    assert Redactor([Rule("x", "ab", context="k?")]).scrub("kab ab") == Redactor([Rule("x", "ab")]).scrub(
        "kab ab"
    )


def test_a_rule_is_a_value() -> None:
    one = Rule("a", "x[0-9]+", context="k=", checks=(_long,), examples=("k=x123",))
    other = Rule("a", "x[0-9]+", context="k=", checks=(_long,), examples=("k=x123",))
    assert one == other
    assert hash(one) == hash(other)
    assert one != dataclasses.replace(one, checks=())
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.id = "b"  # type: ignore[misc]


def test_a_rule_is_a_pattern_that_is_checked_if_it_has_checks() -> None:
    pattern = Rule("a", "x[0-9]+", context="k=", checks=(_long,)).pattern()
    assert (pattern.value, pattern.context, pattern.checked) == (parse("x[0-9]+"), parse("k="), True)
    assert not pattern.keep
    assert not pattern.atomic
    plain = Rule("a", "x[0-9]+").pattern()
    assert (plain.context, plain.checked) == (None, False)


def test_a_rule_needs_no_more_than_an_id_and_a_value() -> None:
    rule = Rule("a", "x")
    assert (rule.context, rule.anchors, rule.checks, rule.hashed) == ("", (), (), True)
    assert (rule.description, rule.source, rule.examples, rule.near_misses) == ("", "", (), ())


# -- anchors -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "anchors"),
    [
        (Rule("a", "sk-[a-z]{9}"), ("sk-",)),
        (Rule("a", "sk-[a-z]{9}"), ("k-",)),
        (Rule("a", "(?:ghp|gho)_[a-z]{9}"), ("ghp_", "gho_")),
        (Rule("a", "(?:ghp|gho)_[a-z]{9}"), ("gh",)),
        (Rule("a", "[^ ]{9}", context="password="), ("password",)),
    ],
)
def test_anchors_that_the_pattern_requires_are_accepted(rule: Rule, anchors: tuple[str, ...]) -> None:
    Redactor([dataclasses.replace(rule, anchors=anchors)])


@pytest.mark.parametrize(
    ("rule", "anchors"),
    [
        (Rule("a", "sk-[a-z]{9}"), ("pk-",)),
        (Rule("a", "(?:ghp|gho)_[a-z]{9}"), ("ghp_",)),
        (Rule("a", "(?i:sk-)[a-z]{9}"), ("sk-",)),
        (Rule("a", "[^ ]{9}"), ("x",)),
    ],
)
def test_anchors_that_the_pattern_does_not_require_are_refused(rule: Rule, anchors: tuple[str, ...]) -> None:
    with pytest.raises(PatternError, match="rule 'a': its pattern does not require its anchors"):
        Redactor([dataclasses.replace(rule, anchors=anchors)])
