"""Patterns mean what `re` says they mean, or are refused with a reason."""

from __future__ import annotations

import re
import time
import warnings
from functools import cache

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from streamguard import PatternError
from streamguard.automaton import pattern as module
from streamguard.automaton.nodes import (
    Alternation,
    CharSet,
    Concat,
    LookAhead,
    LookBehind,
    Node,
    Repeat,
)
from streamguard.automaton.pattern import parse

EXAMPLES = settings().max_examples
ALPHABET = "aAbBsSkKiI01_ -]#^{},.\n\té"
HEAD = r"\A(?:\(\?[aimsxu]+\))*"
SPECIAL = "ſKİıßςσΣвВåÅ٣²"

# -- what a tree means, in the plainest words --------------------------------------


@cache
def _test(charset: CharSet) -> re.Pattern[str]:
    return re.compile(charset.source, charset.flags)


def _in(charset: CharSet, char: str) -> bool:
    return _test(charset).fullmatch(char) is not None


def spans(node: Node, text: str, starts: frozenset[int]) -> frozenset[int]:
    """Where a match of `node` can end if it begins at one of `starts`."""
    if isinstance(node, CharSet):
        return frozenset(at + 1 for at in starts if at < len(text) and _in(node, text[at]))
    if isinstance(node, Concat):
        for part in node.parts:
            starts = spans(part, text, starts)
        return starts
    if isinstance(node, Alternation):
        return frozenset().union(*(spans(branch, text, starts) for branch in node.branches))
    if isinstance(node, Repeat):
        for _ in range(min(node.least, len(text) + 1)):
            starts = spans(node.node, text, starts)
        found = starts
        for _ in range(len(text) + 1 if node.most is None else min(node.most - node.least, len(text) + 1)):
            starts = spans(node.node, text, starts)
            found |= starts
        return found
    if isinstance(node, LookBehind):
        return frozenset(at for at in starts if _stands_before(node, text, at) is not node.negated)
    return frozenset(at for at in starts if _comes_next(node, text, at) is not node.negated)


def _stands_before(node: LookBehind, text: str, at: int) -> bool:
    return any(
        (len(sequence) <= at and all(map(_in, sequence, text[at - len(sequence) : at])))
        if sequence
        else at == 0
        for sequence in node.sequences
    )


def _comes_next(node: LookAhead, text: str, at: int) -> bool:
    if at == len(text):
        return node.end
    return any(_in(charset, text[at]) for charset in node.sets)


def by_tree(pattern: str, text: str, flags: int = 0) -> set[tuple[int, int]]:
    node = parse(pattern, flags)
    return {(at, end) for at in range(len(text) + 1) for end in spans(node, text, frozenset([at]))}


def by_re(pattern: str, text: str, flags: int = 0) -> set[tuple[int, int]]:
    """Every span of a match: `re` is made to stop wherever it can."""
    flags = re.compile(pattern, flags).flags
    body = re.sub(HEAD, "", pattern) + ("\n" if flags & re.VERBOSE else "")
    found: set[tuple[int, int]] = set()
    for end in range(len(text) + 1):
        regex = re.compile(f"(?:{body})(?s:.{{{len(text) - end}}})\\Z", flags)
        found.update((at, end) for at in range(end + 1) if regex.match(text, at))
    return found


def accepted(pattern: str, flags: int = 0) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            re.compile(pattern, flags)
            re.compile(f"(?:{re.sub(HEAD, '', pattern)}\n)", flags)  # flags stand at the start alone
        except (re.error, ValueError, OverflowError, Warning):
            return False
    return True


def refused(pattern: str, flags: int = 0) -> str:
    try:
        parse(pattern, flags)
    except PatternError as refusal:
        return str(refusal)
    return ""


# -- patterns -----------------------------------------------------------------------

literals = st.sampled_from(
    [
        *"aAbBsSkKiI01_-]#é",
        *SPECIAL,
        " ",
        r"\ ",
        r"\n",
        r"\t",
        r"\.",
        r"\x61",
        r"\u00e9",
        r"\U00000062",
        r"\-",
        r"\#",
        r"\{",
        r"\]",
        r"\\",
        r"\"",
        "{",
        "}",
        ",",
        "{}",
        "{a}",
        "{1,a}",
        "{,a",
    ]
)
sets = st.sampled_from(
    [
        ".",
        r"\w",
        r"\W",
        r"\d",
        r"\D",
        r"\s",
        r"\S",
        "[ab]",
        "[^ab]",
        "[]a]",
        "[^]a]",
        r"[\]a]",
        r"[a\]]",
        r"[a\\]",
        r"[\\]",
        r"[^\\]",
        "[a-]",
        "[-a]",
        "[a-c]",
        r"[\w-]",
        r"[^\W_]",
        "[s-t]",
        "[A-K]",
        "[^k]",
        "[ #]",
        r"[\x61-\x63]",
        r"[\u00e5]",
        "[éß]",
        "[σ]",
        "[{}]",
        "[(]",
        "[)|]",
        "[a^]",
        r"[\n ]",
        r"[\d.]",
        r"[\b]",
        r"[\N{GREEK SMALL LETTER SIGMA}]",
        r"[\141b]",
        "[в-г]",
    ]
)
assertions = st.sampled_from(
    [
        r"\b",
        r"\B",
        r"\A",
        "^",
        r"\Z",
        "(?<=a)",
        "(?<!a)",
        "(?<=[ab]a)",
        "(?<!ab|ba)",
        r"(?<=\s)",
        "(?<!k{2})",
        "(?=a)",
        "(?!a)",
        "(?=[^b])",
        r"(?=\s|\Z)",
        r"(?!\w)",
        "(?=(?:a|b)|k)",
        r"(?<=(?i:S))",
        r"(?=(?i:K))",
        "(?<=" + "[a-k]" * 8 + ")",
    ]
)
repeats = st.sampled_from(["*", "+", "?", "{2}", "{0}", "{1,2}", "{,2}", "{1,}", "{,}", "{0,0}"])
blanks = st.sampled_from(["", "", "", " ", "(?#a)", "(?#)", "#b\n", "\n"])
groups = st.sampled_from(["(?:", "(", "(?i:", "(?-i:", "(?s:", "(?a:", "(?u:", "(?x:", "(?i-s:", "(?-x:"])
globals_ = st.sampled_from(["", "", "(?i)", "(?s)", "(?x)", "(?a)", "(?ia)", "(?sx)", "(?i)(?x)", "(?u)"])


def _extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.tuples(groups, st.lists(inner, min_size=1, max_size=3).map("|".join)).map(
            lambda parts: f"{parts[0]}{parts[1]})" if "#b" not in parts[1] else f"{parts[0]}{parts[1]}\n)"
        ),
        st.tuples(groups, inner, repeats).map(lambda parts: f"{parts[0]}{parts[1]}\n){parts[2]}"),
        st.tuples(inner, blanks, inner).map("".join),
        st.tuples(literals | sets, blanks, repeats).map("".join),
    )


patterns = st.tuples(
    globals_,
    st.recursive(literals | sets | assertions, _extend, max_leaves=6),
    st.sampled_from(["", "(?#c)"]),
).map("".join)
texts = st.text(st.sampled_from(ALPHABET) | st.sampled_from(SPECIAL), max_size=6) | st.text(
    st.sampled_from("abAk "), max_size=8
)

SCRAPS = [
    "a",
    "b",
    "k",
    "[",
    "]",
    "^",
    "-",
    "\\",
    "(",
    "(?:",
    "(?i:",
    "(?-i:",
    "(?i)",
    ")",
    "|",
    "*",
    "+",
    "?",
]
SCRAPS += [
    "{",
    "}",
    ",",
    "2",
    "{2}",
    "{,1}",
    " ",
    "#",
    "\n",
    "(?#",
    ".",
    "(?<=",
    "(?<!",
    "(?=",
    "(?!",
    "(?x)",
]
SCRAPS += ["\\b", "\\Z", "\\d", "[^", "[]", "(?x:", "$", "&", "~"]


# -- meaning --------------------------------------------------------------------------


@settings(max_examples=6 * EXAMPLES)
@given(patterns, st.lists(texts, min_size=1, max_size=4), st.sampled_from([0, 0, 0, re.I, re.A, re.X, re.S]))
def test_a_pattern_of_the_subset_means_what_re_says(pattern: str, samples: list[str], flags: int) -> None:
    assume(accepted(pattern, flags))
    refusal = refused(pattern, flags)
    assert "a repeated assertion" in (refusal or "a repeated assertion")
    assume(not refusal)
    for text in samples:
        if text or r"\B" not in pattern:  # Python 3.14 changed \B in an empty text
            assert by_tree(pattern, text, flags) == by_re(pattern, text, flags)


@settings(max_examples=6 * EXAMPLES)
@given(st.lists(st.sampled_from(SCRAPS), min_size=1, max_size=9).map("".join))
@example("[]a]")
@example("[^]a]")
@example("[\\]a]")
@example("[a\\\\]")
@example("a(?#b)*")
@example("a{,}b")
@example("(?x)a #b\n *")
@example("(?x) a [ #] {2} b")
@example("((?:(?i:a)b)|k)a")
@example("(?i:a(?-i:b)k)b")
def test_any_pattern_at_all_is_read_as_re_reads_it_or_refused(pattern: str) -> None:
    assume(accepted(pattern))
    assume(not refused(pattern))
    for text in ("", "a", "kKaAb", "aabb2", "[a]b^-\\", "a{2}b,{", " #a\n#b", "&a~(b)"):
        assert by_tree(pattern, text) == by_re(pattern, text)


@pytest.mark.parametrize("pattern", ["[]a]+", "[^]a]", r"[\]a]+", r"[a\]]", r"[a\\]", r"[\\\]]", r"[\d\]x-]"])
def test_a_class_ends_where_it_ends_for_re(pattern: str) -> None:
    node = parse(pattern + "]")
    assert isinstance(node, Concat)
    assert node.parts[-1] == CharSet(r"\]")


@pytest.mark.parametrize("pattern", ["a{", "a{}", "a{b}", "a{1,b}", "a{,b}", "a{ 2}", "a{٣}", "{a", "{}"])
def test_a_brace_that_is_no_repeat_is_a_literal(pattern: str) -> None:
    assert by_tree(pattern, pattern) == {(0, len(pattern))}


def test_the_unicode_flag_of_a_group_undoes_the_ascii_flag() -> None:
    assert by_tree(r"(?a)\w(?u:\w)", "aé") == {(0, 2)}
    assert by_tree(r"(?a)\w(?u:\w)", "éé") == set()


def test_flags_of_a_group_end_with_it_and_flags_at_the_start_go_on_over_branches() -> None:
    assert by_tree("(?:(?i:a)|b)k", "AkBkAK") == {(0, 2)}
    assert by_tree("(?i)a|b", "AB") == {(0, 1), (1, 2)}


def test_repeats_of_what_reads_nothing_are_cheap() -> None:
    begun = time.process_time()
    assert by_tree(r"(?:){4000000000}a", "a") == {(0, 1)}
    assert by_tree(r"(?:\b){4000000000}a", "a") == {(0, 1)}
    assert by_tree(r"(?:(?:a{0}){60000}){60000}b", "b") == {(0, 1)}
    assert by_tree(r"(?:\b){0}a", "ba") == {(1, 2)}
    assert time.process_time() - begun < 5


# -- refusals -------------------------------------------------------------------------

REFUSED = [
    (r"(a)\1", "back-reference", 3, "spell the alternatives out"),
    (r"(?P<n>a)(?P=n)", "back-reference", 8, "spell the alternatives out"),
    (r"(a)(?(1)b|c)", "conditional group", 3, "spell the alternatives out"),
    (r"x(?>ab)", "atomic group", 1, "(?:...)"),
    (r"ab*?", "lazy repeat", 3, "leave the `?` out"),
    (r"ab+?c", "lazy repeat", 3, "leave the `?` out"),
    (r"ab??", "lazy repeat", 3, "leave the `?` out"),
    (r"ab{2,3}?", "lazy repeat", 7, "leave the `?` out"),
    (r"ab*+", "possessive repeat", 3, "leave the `+` out"),
    (r"ab{2}+", "possessive repeat", 5, "leave the `+` out"),
    (r"ab$", "`$`", 2, r"\Z"),
    (r"(?m)ab", "the flag 'm'", 0, r"(?=\n|\Z)"),
    (r"x(?m:ab)", "the flag 'm'", 1, r"(?<![^\n])"),
    (r"x(?-m:ab)", "the flag 'm'", 1, r"(?<![^\n])"),
    (r"a\0", "octal escape", 1, r"\x.."),
    (r"a\012", "octal escape", 1, r"\x.."),
    (r"a\141", "octal escape", 1, r"\x.."),
    (r"a\N{SNOWMAN}", "named character", 1, "the character itself"),
    (r"x(?<=a|bc)d", "look-behind", 1, "several look-behinds"),
    (r"x(?<=a{1,2})d", "look-behind", 1, "1 to 8"),
    (r"x(?<=a*)d", "look-behind", 1, "1 to 8"),
    (r"x(?<!ab?)d", "look-behind", 1, "1 to 8"),
    (r"x(?<=\ba)d", "look-behind", 1, "characters and sets only"),
    (r"x(?<=)d", "look-behind", 1, "1 to 8"),
    (r"x(?<=a{9})d", "look-behind this wide", 1, "context"),
    (r"x(?<=(?:a|b){1000})d", "look-behind this wide", 1, "context"),
    (r"x(?<=(?:a|b|c|d){8})d", "look-behind of more than 256 alternatives", 1, "sets"),
    (r"a(?=bc)", "look-ahead of more than one character", 1, "one character"),
    (r"a(?!b*)", "look-ahead of more than one character", 1, "one character"),
    (r"a(?=b|cd)", "look-ahead of more than one character", 1, "one character"),
    (r"a(?!)", "look-ahead", 1, "one character"),
    (r"a(?=\b)", "look-ahead of more than one character", 1, "one character"),
    (r"a(?=b)*", "repeated assertion", 6, "write it once"),
    (r"a(?<=b){2}", "repeated assertion", 7, "write it once"),
    ("(?:" * 60 + "a" + ")" * 60, "nested deeper than 50", 150, "flat"),
]


@pytest.mark.parametrize(("pattern", "construct", "position", "instead"), REFUSED, ids=range(len(REFUSED)))
def test_a_refusal_names_the_construct_where_it_stands_and_what_to_write(
    pattern: str, construct: str, position: int, instead: str
) -> None:
    assert accepted(pattern) or "(?<" in pattern
    with pytest.raises(PatternError) as refusal:
        parse(pattern)
    message = str(refusal.value)
    assert construct in message
    assert f"at position {position} " in message
    assert instead in message


@pytest.mark.parametrize(
    "pattern", ["a(", "[a", "*a", "a**", r"\b*", "^*", "a(?i)b", r"\q", "(?P<1>a)", r"a{3,2}"]
)
def test_what_re_refuses_is_refused_with_its_words(pattern: str) -> None:
    with pytest.raises(re.error) as theirs:
        re.compile(pattern)
    with pytest.raises(PatternError, match="not a regular expression") as ours:
        parse(pattern)
    assert str(theirs.value) in str(ours.value)


def test_an_empty_pattern_is_refused() -> None:
    with pytest.raises(PatternError, match="empty pattern"):
        parse("")


@pytest.mark.parametrize("flag", [re.MULTILINE, re.LOCALE, re.DEBUG])
def test_a_flag_that_cannot_be_kept_is_refused(flag: re.RegexFlag) -> None:
    with pytest.raises(PatternError, match=flag.name or ""):
        parse("^a", flag)


def test_flags_that_exclude_each_other_are_refused() -> None:
    with pytest.raises(PatternError, match="not a regular expression"):
        parse("(?u)a", re.ASCII)


@pytest.mark.parametrize("pattern", ["a{99999999999}", "a{1,99999999999}"])
def test_a_count_too_large_for_re_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="too large"):
        parse(pattern)


def test_groups_nested_too_deep_for_re_are_refused() -> None:
    with pytest.raises(PatternError, match="nested deeper"):
        parse("(?:" * 5000 + "a" + ")" * 5000)


def test_a_pattern_error_is_a_value_error() -> None:
    assert issubclass(PatternError, ValueError)


def test_groups_written_alike_are_one_object_and_flags_tell_them_apart() -> None:
    first, second = parse("x(?:a|bc)"), parse("y(?:a|bc)")
    assert isinstance(first, Concat)
    assert isinstance(second, Concat)
    assert first.parts[1] is second.parts[1]
    assert parse("x(?:a|bc)", re.IGNORECASE) != first
    assert parse("(?i:x(?:a|bc))") != first


def test_groups_are_remembered_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_GROUPS", 3)
    for number in range(9):
        assert parse(f"x(?:{number})") == parse(f"x{number}")
        assert len(module._GROUPS) <= 3
