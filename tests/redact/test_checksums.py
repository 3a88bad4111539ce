"""Checksums in tokens: right ones are known, anything else is not."""

from __future__ import annotations

import string
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamguard.redact.checksums import atlassian, confirmed, gitlab_routable

BASE36 = string.digits + string.ascii_lowercase
PAYLOADS = st.text(string.ascii_letters + string.digits + "_-", min_size=27, max_size=60)


def base36(number: int) -> str:
    digits = ""
    for _ in range(7):
        number, digit = divmod(number, 36)
        digits = BASE36[digit] + digits
    return digits


def of_atlassian(before: str) -> str:
    return f"{before}{zlib.crc32(before.encode()):08X}"


def of_gitlab(before: str) -> str:
    return before + base36(zlib.crc32(before.encode()))


@given(PAYLOADS, st.sampled_from(["ATATT3", "ATCTT3", "ATSTT3"]))
def test_a_right_checksum_of_atlassian_is_known(payload: str, prefix: str) -> None:
    token = of_atlassian(prefix + payload + "=")
    assert atlassian(token)
    assert confirmed(token)
    assert not gitlab_routable(token)


def test_a_right_checksum_of_bitbucket_is_known() -> None:
    assert atlassian(of_atlassian("ATBB" + "Canary12" * 3))


@given(PAYLOADS, st.sampled_from(["glpat-", "glrt-", "glcbt-"]), st.sampled_from([".0w", ".01.0w"]))
def test_a_right_checksum_of_gitlab_is_known(payload: str, prefix: str, tail: str) -> None:
    token = of_gitlab(prefix + payload + tail)
    assert gitlab_routable(token)
    assert confirmed(token)
    assert not atlassian(token)


@pytest.mark.parametrize(
    "token",
    [of_atlassian("ATATT3" + "Canary12" * 4 + "="), of_gitlab("glpat-" + "Canary12" * 4 + ".01.0w")],
)
def test_a_token_with_another_character_or_one_less_is_not_known(token: str) -> None:
    assert confirmed(token)
    assert not confirmed(token[:12] + "#" + token[13:])
    assert not confirmed(token[:12] + ("a" if token[12] != "a" else "b") + token[13:])
    assert not confirmed(token[:-1] + ("0" if token[-1] != "0" else "1"))
    assert not confirmed(token[:-1])
    assert not confirmed(token + "0")


@pytest.mark.parametrize(
    "value",
    ["", "ATATT3", "glpat-", "hunter2", of_atlassian("ATATX3" + "a" * 40), of_gitlab("xxpat-" + "a" * 40)],
)
def test_anything_else_is_not_known(value: str) -> None:
    assert not confirmed(value)


def test_a_checksum_is_written_in_the_vendors_letters() -> None:
    token = of_atlassian("ATATT3" + "Canary12" * 4 + "=")
    assert not atlassian(token[:-8] + token[-8:].lower())
