"""A probe matches wherever its pattern does, and looks no further than it says."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamguard.automaton import parse
from streamguard.automaton.probe import FAR, MOST_WAYS, probe

PATTERNS = [
    "abc",
    r"(?<![a-z])sk-[a-z]{20,}",
    r"(?<=[(\[])a(?!b)[a-c]+",
    r"(?:ab|a[bc]{2,}d|cc?)c",
    r"a{0,3}b{2,70}c",
    r"(?:[ab]{1,9}c?){2,4}a",
    r"c://[^@ ]*:[^ ]+(?=@)",
    r"c(?:a+b|b+c)(?:a|)",
    r"(?i:AbC)(?s:.)[^a]",
    r"\bab\b",
    r"a+c{3}",
    r"(?:--B (?:[A-C]{2,12} ){0,3}Ck-|= B k)s+k",
    r"(?:a(?:b+c|c+b)|b{40}c)(?:a|b)*:",
    r"(?:(?:ab){30}|c+)[@/]",
    "(?:a?b?c?){9}@k",
]
TEXTS = st.lists(
    st.sampled_from(["--B ", "AB ", "Ck-", "= B k", "s", "k", "ab" * 30, "b" * 40, *"abcABC/:@ -s(k"]),
    max_size=30,
).map("".join)


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=TEXTS)
def test_a_probe_misses_nothing(pattern: str, text: str) -> None:
    beginning = re.compile(probe(parse(pattern)).source)
    for match in re.finditer(f"(?={pattern})", text):
        if match.start():
            assert beginning.match(text, match.start())


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_probe_reads_between_its_least_and_its_most(pattern: str) -> None:
    found = probe(parse(pattern))
    for text in ("abc" * 30, "sk-" + "a" * 99, "aab" + "b" * 99 + "c", "a" * 99 + "cccc", "c://u:p@h"):
        match = re.compile(found.source).match(" " + text, 1)
        assert match is None or found.least <= len(match[0]) <= found.most


@pytest.mark.parametrize(
    ("pattern", "refused"),
    [
        (r"(?<![a-z])sk-[a-z]{20,}", " sk-is short"),
        (r"(?<![a-z])sk-[a-z]{20,}", "disk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        (r"://[^@/ ]*:[^@ ]+@", " ://example.com/ and so on @"),
        (r"://[^@/ ]*:[^@ ]+@", " ://example com:x@"),
        ("name: [a-f]{40}", " name: abcdefx"),
    ],
)
def test_what_cannot_go_on_is_refused(pattern: str, refused: str) -> None:
    at = refused.index(next(anchor for anchor in ("sk-", "://", "name") if anchor in refused))
    assert not re.compile(probe(parse(pattern)).source).match(refused, at)


def test_what_has_to_come_is_looked_for_within_reason() -> None:
    beginning = re.compile(probe(parse("://[^@/ ]*:[^@ ]+@")).source)
    assert beginning.match(" ://" + "a" * (FAR + 1), 1)
    assert beginning.match(" ://" + "a" * (FAR - 1), 1)  # the text may go on
    assert not beginning.match(" ://" + "a" * (FAR - 1) + "/", 1)


@pytest.mark.parametrize(
    "pattern", [r"(?:[ab]{0,8}c?){0,8}d", "a?" * 40 + "b", "(?:a|aa){30}b", "(?:a{0,3}){20}b"]
)
def test_what_would_have_to_be_tried_in_many_ways_is_left_out(pattern: str) -> None:
    assert probe(parse(pattern)).ways <= MOST_WAYS
