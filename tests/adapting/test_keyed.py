"""A value is guarded alone, then behind its name, and comes to the same for every cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamguard import End, FenceScrubber, Finding, Pipeline, Redactor, Rule
from streamguard.adapting.keyed import LONGEST_NAME, Keyed
from streamguard.testing import chunked, texts

GUARD = FenceScrubber("think") | Redactor()
NAMES = st.sampled_from([None, "", "password", "note", "<think>", 'a"b', "sk-ant-api03-" + "Aa1" * 31])
PARTS = ["hunter2", "<think>", "x", "</think>", " ", '"', "password=", "AKIA", "IOSFODNN7EXAMPLF", "\\", "é"]


@given(NAMES, chunked(texts(PARTS)), st.sampled_from(End))
def test_every_cut_comes_to_the_same(name: str | None, chunks: list[str], end: End) -> None:
    one, two = Keyed(GUARD).session(name), Keyed(GUARD).session(name)
    whole = one.feed("".join(chunks)) + one.flush(end)
    assert "".join(map(two.feed, chunks)) + two.flush(end) == whole


@given(NAMES, texts(["x", " ", '"', "'", ": ", "note", "é"]))
def test_what_nothing_is_found_in_is_left_alone(name: str | None, text: str) -> None:
    guard = FenceScrubber("think") | Redactor([Rule("never", "NEVER-[0-9]{4}")])
    assert Keyed(guard).scrub(text, name) == text


@given(NAMES, texts(PARTS))
def test_it_agrees_with_the_command_line(name: str | None, text: str) -> None:
    jsonl = pytest.importorskip("streamguard.cli.jsonl")
    strings = jsonl._Strings(GUARD, lambda _: None)
    assert Keyed(GUARD).scrub(text, name) == strings.scrub(text, name)


def test_a_guard_without_redactors_does_not_look_at_names() -> None:
    assert Keyed(FenceScrubber("think")).scrub("x", "password") == "x"
    assert Keyed(Pipeline()).scrub("x", "password") == "x"


def test_only_the_end_of_a_long_name_is_looked_at() -> None:
    assert Keyed(GUARD).scrub("hunter2hunter", "x" * LONGEST_NAME + "_password").startswith("[REDACTED")


def test_the_name_itself_is_never_reported() -> None:
    found: list[Finding] = []
    secret = "sk-ant-api03-" + "Canary0123456789" * 5 + "canaryAA"
    assert Keyed(GUARD).scrub("x", secret, on_finding=found.append) == "x"
    assert Keyed(GUARD).scrub("hunter2hunter", "password", on_finding=found.append)
    assert [(each.rule, each.offset) for each in found] == [("secret-literal", 0)]


def test_a_value_that_begins_in_its_name_shows_nothing_of_itself() -> None:
    guard = Redactor([Rule("odd", 'x": "canary[0-9]{2}')])
    assert Keyed(guard).scrub("canary12!", "x").startswith("[REDACTED:odd:")
    assert Keyed(guard).scrub("canon", "x") == "canon"
