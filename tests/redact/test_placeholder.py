"""What stands in the place of a value."""

from __future__ import annotations

import hashlib
import hmac
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamguard.automaton import parse
from streamguard.redact import digest, placeholder
from streamguard.redact.placeholder import DIGEST_SIZE, PLACEHOLDER, Digest, placeholder_of

ids = st.from_regex(r"[a-z][a-z0-9-]{0,63}", fullmatch=True)
values = st.text(st.characters(), max_size=40)  # halves of surrogate pairs included


def test_the_digest_is_the_beginning_of_the_sha_256_of_the_value() -> None:
    assert digest("hunter2") == hashlib.sha256(b"hunter2").hexdigest()[:8]
    assert digest("Ключ") == hashlib.sha256("Ключ".encode()).hexdigest()[:8]


def test_with_a_key_it_is_that_of_the_hmac() -> None:
    assert digest("hunter2", b"k") == hmac.new(b"k", b"hunter2", hashlib.sha256).hexdigest()[:8]
    assert digest("hunter2", b"k") != digest("hunter2", b"l") != digest("hunter2")


@given(st.lists(values, max_size=5), st.none() | st.binary(min_size=1, max_size=20))
def test_a_value_taken_in_parts_has_the_digest_of_the_whole(parts: list[str], key: bytes | None) -> None:
    whole = Digest(key)
    for part in parts:
        whole.update(part)
    assert str(whole) == digest("".join(parts), key)


def test_halves_of_surrogate_pairs_are_told_apart() -> None:
    assert len({digest("\ud800"), digest("\udc00"), digest("\ufffd"), digest("?")}) == 4


def test_the_standard_form() -> None:
    assert placeholder("aws-key", "0123abcd") == "[REDACTED:aws-key:0123abcd]"
    assert placeholder("email", "") == "[REDACTED:email]"


WORD = "[a-z]{1,12}[0-9]{0,2}[a-z]?"


@given(st.from_regex(f"{WORD}(?:-{WORD}){{0,3}}", fullmatch=True), values)
def test_every_placeholder_of_the_standard_form_is_known_for_one(rule: str, value: str) -> None:
    for mark in (placeholder(rule, digest(value)), placeholder(rule, "")):
        assert re.fullmatch(PLACEHOLDER, mark)


@given(ids, values)
def test_the_placeholders_of_a_rule_are_told_from_those_of_others(rule: str, value: str) -> None:
    hashed, plain = placeholder(rule, digest(value)), placeholder(rule, "")
    assert re.fullmatch(placeholder_of(rule, hashed=True), hashed)
    assert not re.fullmatch(placeholder_of(rule, hashed=True), plain)
    assert re.fullmatch(placeholder_of(rule, hashed=False), plain)
    assert re.fullmatch(placeholder_of(rule, hashed=False), hashed)
    assert not re.fullmatch(placeholder_of(rule + "0", hashed=True), hashed)


def test_the_pattern_of_placeholders_can_be_matched_while_text_streams() -> None:
    parse(PLACEHOLDER)


@pytest.mark.parametrize(
    "text",
    [
        "[REDACTED]",
        "[REDACTED:]",
        "[REDACTED:A]",
        "[REDACTED:a:0123abc]",
        "[REDACTED:a:0123ABCD]",
        "[redacted:a]",
        "[REDACTED:a:0123abcde]",
        "[REDACTED:-a]",
        f"[REDACTED:{'a' * 65}]",
        "[REDACTED:a b]",
        "[REDACTED:a:]",
    ],
)
def test_what_only_resembles_a_placeholder_is_none(text: str) -> None:
    assert not re.fullmatch(PLACEHOLDER, text)


def test_a_digest_has_eight_digits() -> None:
    assert DIGEST_SIZE == len(digest("")) == 8
