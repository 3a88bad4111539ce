"""Anchors are derived, so they cannot miss; skipping is a matter of speed alone."""

from __future__ import annotations

import random
import re
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from streamguard.automaton import Decision, Matcher, Pattern, Scan, parse
from streamguard.automaton import prefilter as module
from streamguard.automaton.anchors import (
    MAX_STRINGS,
    Anchors,
    anchors,
    exact,
    members,
    prefix_length,
    width,
)
from streamguard.automaton.nodes import CharSet
from streamguard.automaton.prefilter import ALL, Prefilter
from streamguard.automaton.scan import BLOCK

EXAMPLES = settings().max_examples
EVERY = "".join(map(chr, range(0x110000)))


def derived(pattern: str) -> Anchors:
    found = anchors(parse(pattern))
    assert found is not None
    return found


# -- the members of a set -----------------------------------------------------------

LISTED = [*"askiKSI7.-\n", *"ßẞσςΣвåÅſıİµǆǅﬅᎠꭰ𐐀中éΐẛΩ"]
LISTED += ["\u212a", "\u212b", "\u1c80", "[ks]", "[a-k]", "[A-J0-9_]", "[åß]", "[]a]"]


@pytest.mark.parametrize("flags", [0, re.IGNORECASE, re.IGNORECASE | re.ASCII], ids=["plain", "i", "ia"])
@pytest.mark.parametrize("source", LISTED)
def test_the_members_of_a_set_are_exact_over_all_of_unicode(source: str, flags: int) -> None:
    charset = CharSet(source if len(source) > 1 else re.escape(source), flags)
    found = members(charset)
    assert found is not None
    assert found == set(re.findall(charset.source, EVERY, charset.flags))


@pytest.mark.parametrize("source", [".", "[^a]", r"\w", r"\d", r"[\s]", "[а-я]", "[\\x61]", r"[a\u00e9]"])
def test_a_set_that_is_large_or_hard_to_list_has_no_members(source: str) -> None:
    assert members(CharSet(source)) is None


@pytest.mark.parametrize("source", [r"[a\N{GREEK SMALL LETTER SIGMA}]", r"[a\351]", r"[a-\377]", "[a\ud800]"])
def test_what_is_written_in_ascii_for_other_characters_is_not_overlooked(source: str) -> None:
    assert members(CharSet(source)) is None


@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
@pytest.mark.parametrize(
    "source", ["[a-zA-Z]", "[!-~]", "[!-a]", r"[\]\\-]", "[]a]", r"[\b]", r"[\n\t]", "[k-s]"]
)
def test_a_set_that_has_members_has_no_others(source: str, flags: int) -> None:
    found = members(CharSet(source, flags))
    if found is not None:
        assert found == set(re.findall(source, EVERY, flags))


# -- the strings a pattern stands for, and what it requires -----------------------------

literals = st.sampled_from(
    [*"abck", "ab", "ka", "[ab]", "[^a]", ".", r"\w", "(?i:k)", "(?i:ab)", "é", "(?i:ß)"]
)


def _extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeat = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}"])
    return st.one_of(
        st.lists(inner, min_size=2, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda branches: f"(?:{'|'.join(branches)})"),
        st.tuples(inner, repeat).map(lambda parts: f"(?:{parts[0]}){parts[1]}"),
    )


patterns = st.recursive(literals, _extend, max_leaves=10)


@settings(max_examples=2 * EXAMPLES)
@given(st.data())
def test_every_match_contains_an_anchor_within_its_lead(data: st.DataObject) -> None:
    pattern = data.draw(patterns)
    found = anchors(parse(pattern))
    assume(found is not None)
    assert found is not None
    match = data.draw(st.from_regex(pattern, fullmatch=True, alphabet=st.characters(codec="utf-8")))
    offsets = [match.find(string) for string in found.strings if string in match]
    assert offsets
    assert min(offsets) <= found.lead


@settings(max_examples=2 * EXAMPLES)
@given(st.data())
def test_strings_width_and_prefix_are_those_of_the_matches(data: st.DataObject) -> None:
    pattern = data.draw(patterns)
    node = parse(pattern)
    match = data.draw(st.from_regex(pattern, fullmatch=True, alphabet=st.characters(codec="utf-8")))
    strings = exact(node)
    if strings is not None:
        assert match in strings
        assert len(strings) <= MAX_STRINGS
    widest = width(node)
    assert widest is None or len(match) <= widest
    assert prefix_length(node) <= len(match)


@settings(max_examples=EXAMPLES)
@given(patterns)
def test_every_string_a_pattern_stands_for_is_a_match(pattern: str) -> None:
    for string in exact(parse(pattern)) or ():
        assert re.fullmatch(pattern, string)


@pytest.mark.parametrize(
    ("pattern", "strings", "lead"),
    [
        ("sk-[a-z0-9]{20,}", {"sk-"}, 0),
        ("(?:ghp|gho)_[A-Za-z0-9]{36}", {"ghp_", "gho_"}, 0),
        ("[a-z]{1,9}://x", {"://x"}, 9),
        ("[0-9]{4}-[0-9]{4}", {"-"}, 4),
        ("a{3}[^x]b", {"aaa"}, 0),
        ("(?i:k)[0-9]*z", {"k", "K", "\u212a"}, 0),
        ("x?[^=]+=", None, None),
        ("[^a]+", None, None),
        (r"\w+@\w+", None, None),
        ("a|[^0-9]", None, None),
    ],
)
def test_the_most_telling_literal_is_the_anchor(
    pattern: str, strings: set[str] | None, lead: int | None
) -> None:
    found = anchors(parse(pattern))
    if strings is None or lead is None:
        assert found is None
    else:
        assert found == Anchors(frozenset(strings), lead)


def test_long_literals_and_nested_counts_are_cheap_to_look_through() -> None:
    assert len(min(derived("a" * 500 + "[^x]").strings, key=len)) >= 64
    assert anchors(parse("(?:(?:(?:(?:a{1,12}){1,12}){1,12}){1,12})")) is not None


# -- skipping ------------------------------------------------------------------------

Spans = list[tuple[int, int, int]]


def walk(matcher: Matcher, text: str, chunk: int) -> Spans:
    """The matches, found in chunks; chunks up to BLOCK characters are walked."""
    found: Spans = []
    state = matcher.start
    held = ""
    base = 0
    for begin in range(0, len(text) + chunk, chunk):
        data = held + text[begin : begin + chunk]
        scan = Scan(matcher, state, data, len(held))
        final = begin >= len(text)
        shown = 0
        while True:
            decision = scan.next()
            if decision is None and final:
                outcome = matcher.finish(scan.state.config)
                decision = outcome if isinstance(outcome, Decision) else None
            if decision is None:
                break
            assert decision.tail is None
            rule, back = decision.matches[0]
            found.append((base + scan.at - decision.age, base + scan.at - back, rule))
            shown = scan.at - back
            scan.resume(matcher.after("#"), shown)
        state = scan.state
        shown = max(shown, len(data) - state.hold)
        held = data[shown:]
        base += shown
    return found


def matcher_of(*values: str | tuple[str, str]) -> Matcher:
    patterns = [
        Pattern(parse(value), checked=True)
        if isinstance(value, str)
        else Pattern(parse(value[1]), context=parse(value[0]), checked=True)
        for value in values
    ]
    return Matcher(patterns, limit=200)


MATCHERS: dict[str, tuple[Matcher, list[str], str]] = {
    "literals inside one another": (
        matcher_of("abcd", "bc", "cde"),
        ["abcd", "bc", "cde", "abcde", "bcd"],
        ".ad",
    ),
    "anchors that overlap": (matcher_of("xabc[0-9]", "bcd"), ["xabc1", "xabcd", "abcd", "bcd1"], "xab1"),
    "anchors far behind the start": (
        matcher_of("[a-z]{0,40}://q", "k{3}"),
        ["a://q", "a" * 40 + "://q", "a" * 45 + "://q", "kkk", "kkkkkk"],
        "a:/k. ",
    ),
    "one character": (matcher_of("[0-9]{1,3}@[0-9]{2}"), ["1@22", "123@45", "1234@567"], "1@. "),
    "several characters": (matcher_of("[0-9]{2}[@%][0-9]"), ["11@2", "11%2", "1%22@3"], "1@%. "),
    "contexts": (
        matcher_of(("pass(?:word)?[=: ]{1,3}", r"[^\s;]{4,20}"), ("key=", "[a-f]{4}")),
        ["password= abcdef", "pass:abcd", "key=abcd", "key=pass=abcdefg"],
        "pas=; k",
    ),
    "look-behind and the start of the text": (
        matcher_of(r"(?<![a-z0-9]{2})ab\b", r"\Acd", r"(?<=12345678)z"),
        ["ab", "xab", "xyab", "cd", "12345678z", "2345678z"],
        "a1 x",
    ),
    "look-behind inside of a match": (
        matcher_of(r"key[a-z]{1,60}(?<!xx)(?<=[a-f]x)=[0-9]{2}", r"(?<=x)==[a-z]{3}", r"tok[0-9]{3}"),
        ["keyabfx=12", "keyabxx=12", "key" + 50 * "b" + "fx=12", "keyfx==abc", "tok123", "keyetok123fx=12"],
        "key=fx1",
    ),
    "no literal": (
        matcher_of("(?<![0-9])[0-9]{4}-?[0-9]{4}(?![0-9])", "[A-F0-9]{2}(?::[A-F0-9]{2}){3,5}", "key:[a-z]"),
        ["1234-5678", "12345678", "123456789", "A0:BB:11:22", "A0:BB:11:22:33:44", "key:a"],
        "1A:-.k",
    ),
    "look-ahead": (matcher_of(r"ab{1,9}(?![b-d])", "ab{3}c"), ["abbb", "abbbc", "abbbd", "ab"], "abc "),
    "nothing to look for": (matcher_of("[^a. ]{3}", "ab"), ["123", "1234567", "ab"], "12a. "),
    "case": (
        matcher_of("(?i:sKß)x"),
        ["skßx", "\u017f\u212a\u1e9ex", "s\u212aßx", "SKSSx", "SKẞx"],
        "sSkKßx.",
    ),
}


def planted(values: list[str], noise: str, *, seed: int, size: int) -> str:
    """A long text with values at random places, at its ends, and around the borders of blocks."""
    rng = random.Random(seed)
    parts = [rng.choice(["", *values])]
    filled = len(parts[0])
    while filled < size:
        kind = rng.random()
        if kind < 0.4:
            part = "".join(rng.choice(noise) for _ in range(rng.randint(0, 30)))
        elif kind < 0.6:
            part = "." * rng.randint(0, 3 * BLOCK)
        elif kind < 0.7:
            border = -(filled % BLOCK) % BLOCK
            part = "." * max(0, border - rng.randint(0, 6))
        else:
            value = rng.choice(values)
            part = value[: rng.randint(1, len(value))] if kind > 0.9 else value
        parts.append(part)
        filled += len(part)
    parts.append(rng.choice(["", *values, values[0][:-1]]))
    return "".join(parts)


@pytest.mark.parametrize("name", MATCHERS)
def test_skipping_finds_what_walking_finds(name: str) -> None:
    matcher, values, noise = MATCHERS[name]
    for seed in range(60):
        text = planted(values, noise, seed=seed, size=12 * BLOCK)
        expected = walk(matcher, text, 1)
        for chunk in (2, BLOCK - 1, BLOCK + 1, 2 * BLOCK + 1, 5 * BLOCK, len(text) + 1):
            assert walk(matcher, text, chunk) == expected


@pytest.mark.parametrize("name", MATCHERS)
def test_a_value_is_found_wherever_it_stands_in_a_long_text(name: str) -> None:
    matcher, values, _ = MATCHERS[name]
    size = 5 * BLOCK
    for value in values:
        for at in range(0, size, 1 if value == values[0] else 7):
            text = "." * at + value + "." * (size - at)
            assert walk(matcher, text, len(text)) == walk(matcher, text, 1)


@pytest.mark.parametrize("window", [1, 5, 16, 100])
@pytest.mark.parametrize("name", MATCHERS)
def test_a_text_searched_in_windows_is_searched_whole(
    name: str, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    matcher, values, noise = MATCHERS[name]
    monkeypatch.setattr(module, "WINDOW", window)
    for seed in range(100, 115):
        text = planted(values, noise, seed=seed, size=12 * BLOCK)
        assert walk(matcher, text, len(text)) == walk(matcher, text, 1)


def test_an_anchor_may_stand_nearer_to_the_start_of_a_text_than_to_that_of_other_matches() -> None:
    stop = Prefilter([parse("[a-z]{1,9}@xy"), parse("abcd")]).stops("ab@xy" + "." * 300)
    assert stop(0)[::2] == (0, 0b1)


def test_an_anchor_that_no_match_can_have_is_passed_over() -> None:
    text = "." * 50 + "key: none of it" + "." * 100 + "key: 123456789" + "." * 200
    stop = Prefilter([parse("key:[ ]*[0-9]{9}")]).stops(text)
    assert stop(0).start == text.index("key: 1")


def test_a_text_full_of_anchors_is_no_long_list_of_them() -> None:
    text = "sk-" * 100_000
    stop = Prefilter([parse("sk-[a-z]{9}x"), parse("ab")]).stops(text)
    tracemalloc.start()
    try:
        at = 0
        while at < len(text):
            start, until, _ = stop(at)
            at = max(until, start + 1)
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


def test_a_text_with_half_a_surrogate_pair_is_looked_through() -> None:
    matcher = matcher_of("abcd", "x[0-9]{2}")
    text = "." * 200 + "\ud800abcd\udfff" + "." * 200 + "\udcffx12"
    assert walk(matcher, text, len(text)) == walk(matcher, text, 1) == [(201, 205, 0), (407, 410, 1)]


def test_a_pattern_of_half_a_surrogate_pair_is_found() -> None:
    matcher = matcher_of("\ud83dab", "[\ud800x]y")
    text = "." * 200 + "\ud83dab" + "." * 200 + "\ud800y"
    assert walk(matcher, text, len(text)) == walk(matcher, text, 1) == [(200, 203, 0), (403, 405, 1)]


def test_only_the_rules_of_an_anchor_are_followed_where_it_stands() -> None:
    prefilter = Prefilter([parse("key:[a-z]{9}"), parse("(?:key:|pass:)[0-9]{9}"), parse("sk-[a-z]{9}")])
    text = "." * 50 + "sk-abcdefghi" + "." * 200 + "key:123456789" + "." * 200 + "pass:123456789" + "." * 100
    stop = prefilter.stops(text)
    assert [stop(0).owners, stop(100).owners, stop(300).owners, stop(600).owners] == [0b100, 0b11, 0b11, ALL]


# -- what a skip costs -----------------------------------------------------------------


def _stops(prefilter: Prefilter, data: str) -> Iterator[int]:
    stop = prefilter.stops(data)
    at = 0
    while at < len(data):
        start, until, _ = stop(at)
        assert at <= start
        yield start
        at = max(until, start + 1)


@pytest.mark.parametrize("patterns", [["sk-[a-z]{9}"], ["[0-9]{1,4}@"], ["[0-9]{1,4}[@%]"]])
def test_a_text_without_anchors_is_passed_over_at_once(patterns: list[str]) -> None:
    prefilter = Prefilter([parse(pattern) for pattern in patterns])
    starts = list(_stops(prefilter, "." * 10_000))
    assert len(starts) == 1
    assert 10_000 - 20 <= starts[0] <= 10_000


def test_without_anchors_for_every_pattern_nothing_is_passed_over() -> None:
    prefilter = Prefilter([parse("sk-[a-z]"), parse("[^0-9]+")])
    assert not prefilter.complete
    assert prefilter.stops("." * 1000)(7) == (7, 1000, ALL)
