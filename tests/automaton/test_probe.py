"""A probe matches wherever its pattern does, and looks no further than it says."""

from __future__ import annotations

import re
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamguard.automaton import parse
from streamguard.automaton.probe import FAR, MOST_WAYS, RUN, Beginning, probe

SIGHT = 300
"""More characters than a probe of these patterns reads."""
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
@given(text=TEXTS)
def test_a_probe_misses_nothing_that_the_end_of_the_text_cuts_off(pattern: str, text: str) -> None:
    beginning = re.compile(probe(parse(pattern)).source)
    for match in re.finditer(f"(?=({pattern}))", text):
        for end in range(match.start(), match.end(1)) if match.start() else ():
            assert beginning.match(text[:end], match.start())


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=TEXTS)
def test_what_stands_far_behind_changes_nothing(pattern: str, text: str) -> None:
    beginning = re.compile(probe(parse(pattern)).source)
    far = text + "." * (FAR + 2 * SIGHT)
    for start in range(1, len(text)):
        assert bool(beginning.match(far, start)) is bool(beginning.match(far + text, start))


@pytest.mark.parametrize(
    "patterns", [PATTERNS[:2], PATTERNS[5:9], ["abc", "abd", "ab", "b+c"], ["ab:", "ab:"]]
)
@given(text=TEXTS)
def test_what_is_merged_is_found_where_one_of_them_is(patterns: list[str], text: str) -> None:
    beginnings = [probe(parse(pattern)) for pattern in patterns]
    merged = re.compile(reduce(Beginning.merged, beginnings).source)
    text += "." * SIGHT
    for start in range(1, len(text) - SIGHT):
        apart = [re.match(f"(?s:.){{{start}}}{beginning.source}", text) for beginning in beginnings]
        assert bool(merged.match(text, start)) is any(apart)


@pytest.mark.parametrize(
    ("pattern", "refused"),
    [
        (r"(?<![a-z])sk-[a-z]{20,}", " sk-is short"),
        (r"(?<![a-z])sk-[a-z]{20,}", "disk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        (r"://[^@/ ]*:[^@ ]+@", " ://example.com/ and so on @"),
        (r"://[^@/ ]*:[^@ ]+@", " ://example com:x@"),
        ("name: [a-f]{40}", " name: abcdefx"),
        (r"name[ \t]*[:=][ \t]*[a-f]{8}", " name  =   abcdefx"),
        (r"name(?:[ ]*:|[ ]+is)?[ ]*=[a-f]{8}", " name    was it"),
        (r"name(?:\([a-z ]*\)|\[[0-9]+\])?=[a-f]{8}", " name(of the) x"),
    ],
)
def test_what_cannot_go_on_is_refused(pattern: str, refused: str) -> None:
    at = refused.index(next(anchor for anchor in ("sk-", "://", "name") if anchor in refused))
    assert not re.compile(probe(parse(pattern)).source).match(refused + " and more" * SIGHT, at)


def test_what_is_repeated_for_longer_than_is_looked_at_may_be_a_match() -> None:
    beginning = re.compile(probe(parse("name[ ]*=[a-f]{8}")).source)
    assert beginning.match(" name" + " " * 2 * RUN + "=none of it" * SIGHT, 1)
    assert not beginning.match(" name" + " " * (RUN // 2) + "=none of it" * SIGHT, 1)


def test_what_has_to_come_is_looked_for_within_reason() -> None:
    beginning = re.compile(probe(parse("://[^@/ ]*:[^@ ]+@")).source)
    assert beginning.match(" ://" + "a" * (FAR + SIGHT), 1)
    assert beginning.match(" ://" + "a" * (FAR - 1), 1)  # the text may go on
    assert not beginning.match(" ://" + "a" * (FAR - 1) + "/", 1)


@pytest.mark.parametrize(
    "pattern", [r"(?:[ab]{0,8}c?){0,8}d", "a?" * 40 + "b", "(?:a|aa){30}b", "(?:a{0,3}){20}b"]
)
def test_what_would_have_to_be_tried_in_many_ways_is_left_out(pattern: str) -> None:
    assert ways(probe(parse(pattern))) <= MOST_WAYS


def ways(beginning: Beginning) -> int:
    """In how many ways it may have to be tried."""
    return max((part.ways * ways(following) for part, following in beginning.values()), default=1)
