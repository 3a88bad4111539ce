"""The automaton of all rules, and the questions asked of it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamguard import PatternError
from streamguard.automaton import parse
from streamguard.automaton.nfa import END, MAX_STATES, Nfa
from streamguard.automaton.nodes import Node
from streamguard.automaton.reach import (
    asking,
    can_begin,
    context_ends,
    leading,
    sets_read,
    spread,
    successors,
)


def nfa_of(*rules: str | tuple[str, str]) -> tuple[Nfa, list[int]]:
    """An automaton of values, or of `(context, value)`, and the states the values start in."""
    nfa = Nfa()
    starts = []
    for number, rule in enumerate(rules):
        context, value = ("", rule) if isinstance(rule, str) else rule
        starts.append(nfa.add_rule(number, parse(context) if context else None, parse(value)))
    return nfa, starts


def behind_of(nfa: Nfa, text: str) -> int:
    behind = 1
    for char in text:
        behind = nfa.step_behind(behind, nfa.classify(char))
    return behind


def walk(nfa: Nfa, start: int, text: str) -> set[int]:
    """The rules whose match is exactly the text, seen with the end of the text behind it."""
    states = {start}
    behind = 1
    for char in text:
        mask = nfa.classify(char)
        states = nfa.read(nfa.closure(states, behind, mask).consuming, mask)
        behind = nfa.step_behind(behind, mask)
    return set(nfa.closure(states, behind, END).accepts)


# -- classes -------------------------------------------------------------------------


def test_characters_of_the_same_sets_are_of_one_class() -> None:
    nfa, _ = nfa_of("[a-m]x", "[h-z]y")
    assert nfa.classify("a") == nfa.classify("b") != nfa.classify("h")
    assert nfa.classify("h") == nfa.classify("m") != nfa.classify("n")
    assert nfa.classify("x") != nfa.classify("y")
    assert nfa.classify("0") == nfa.classify("é") == 0


def test_no_character_is_of_the_class_of_the_end() -> None:
    nfa, _ = nfa_of(r"a(?=b|\Z)", "[^b].")
    assert not any(nfa.classify(char) & END for char in map(chr, range(1000)))


@given(st.text(st.characters(), max_size=3))
def test_a_class_says_of_every_set_what_re_says(text: str) -> None:
    sources = [r"[\w-]", r"\d", "[^a]", ".", "(?i:k)", r"[а-я]"]
    nfa, starts = nfa_of(*(f"{source}x" for source in sources))
    for char in text:
        mask = nfa.classify(char)
        for source, start in zip(sources, starts, strict=True):
            bit = sets_read(nfa, [start])
            assert bool(mask & bit) == bool(re.fullmatch(source, char))


def test_classes_are_forgotten_before_they_are_too_many() -> None:
    nfa, _ = nfa_of("[^a]x")
    for code in range(20_000):
        nfa.classify(chr(code))
    assert len(nfa._masks) <= 8193
    assert nfa.classify("b") == nfa.classify("中")


# -- building ---------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["a*", "a?b?", "(?:a|)", r"\b", r"(?<=a)\Z", "(?:a{0})"])
def test_a_value_that_can_be_empty_is_refused(value: str) -> None:
    with pytest.raises(PatternError, match="can be empty"):
        nfa_of(value)


def test_a_context_may_be_empty() -> None:
    nfa, starts = nfa_of(("a*", "b"))
    assert nfa.initial != starts
    assert starts[0] in spread(nfa, nfa.initial)


def test_too_many_states_are_refused() -> None:
    nfa_of(f"a{{{MAX_STATES - 2}}}")
    with pytest.raises(PatternError, match=f"more than {MAX_STATES} states"):
        nfa_of(f"a{{{MAX_STATES + 1}}}")
    with pytest.raises(PatternError, match=f"more than {MAX_STATES} states"):
        nfa_of(*[f"a{{{MAX_STATES // 4}}}"] * 5)


@pytest.mark.parametrize(
    ("value", "matches", "others"),
    [
        ("abc", ["abc"], ["ab", "abcd", ""]),
        ("a|bc", ["a", "bc"], ["b", "abc"]),
        ("ab*c", ["ac", "abbc"], ["abb"]),
        ("(?:ab){2,3}", ["abab", "ababab"], ["ab", "abababab"]),
        ("a{0,2}b", ["b", "ab", "aab"], ["aaab"]),
        ("a(?:b|c)?", ["a", "ab", "ac"], ["abc"]),
        (r"\bab\b", ["ab"], ["a"]),
        (r"\Aa(?<=a)b(?<!c)\Z", ["ab"], ["a"]),
        (r"a(?=b)b", ["ab"], ["a", "ac"]),
        (r"a(?!b).", ["ac"], ["ab"]),
        (r"a(?=b|\Z)", ["a"], ["ab"]),
    ],
)
def test_a_rule_reads_what_its_value_matches(value: str, matches: list[str], others: list[str]) -> None:
    nfa, (start,) = nfa_of(value)
    assert all(walk(nfa, start, text) == {0} for text in matches)
    assert not any(walk(nfa, start, text) for text in others)


def test_states_know_their_rule_and_whether_they_are_of_the_value() -> None:
    nfa, starts = nfa_of("ab", ("xy", "cd"))
    assert [nfa.rule[start] for start in starts] == [0, 1]
    assert all(nfa.is_value[start] for start in starts)
    assert nfa.initial[0] == starts[0]
    assert not nfa.is_value[nfa.initial[1]]


# -- what stands before --------------------------------------------------------------------

SEQUENCES = ["a", "ab", "[ab]b", "ba", "abababab", r"\w\W"]


@given(st.text("ab .", max_size=14))
def test_what_stands_before_is_known_for_every_sequence_at_once(text: str) -> None:
    nfa, starts = nfa_of(*(f"(?<={sequence})x" for sequence in SEQUENCES), *(f"(?<!{s})x" for s in SEQUENCES))
    behind = behind_of(nfa, text)
    can = [can_begin(nfa, start, behind) for start in starts]
    ends = [re.search(rf"(?:{sequence})\Z", text) is not None for sequence in SEQUENCES]
    assert can == [*ends, *(not end for end in ends)]


@given(st.text("ab", max_size=5))
def test_only_before_the_first_character_is_the_start(text: str) -> None:
    nfa, (start,) = nfa_of(r"\Ax")
    assert can_begin(nfa, start, behind_of(nfa, text)) == (text == "")


def test_whether_anything_asks_what_stands_before() -> None:
    assert nfa_of("ab", r"\Ab")[0].reach == 0
    assert nfa_of("ab", r"\bb")[0].reach == 1


# -- threads ---------------------------------------------------------------------------------


def test_an_edge_that_asks_for_the_next_character_waits_for_it() -> None:
    nfa, (start,) = nfa_of(r"a(?!b)")
    states = nfa.read(nfa.closure({start}, 1, None).consuming, nfa.classify("a"))
    behind = behind_of(nfa, "a")
    assert nfa.closure(states, behind, None).waiting
    assert nfa.closure(states, behind, None).accepts == ()
    assert nfa.closure(states, behind, nfa.classify("b")).accepts == ()
    assert nfa.closure(states, behind, nfa.classify("c")).accepts == (0,)
    assert nfa.closure(states, behind, END).accepts == (0,)


def test_rules_that_accept_are_told_in_their_order() -> None:
    nfa, starts = nfa_of("a", "[ab]", "a|c")
    states = nfa.read(nfa.closure(set(starts), 1, None).consuming, nfa.classify("a"))
    assert nfa.closure(states, 0, None).accepts == (0, 1, 2)
    assert nfa.closure(
        nfa.read(nfa.closure(set(starts), 1, None).consuming, nfa.classify("b")), 0, None
    ).accepts == (1,)


def test_successors_are_all_states_that_some_character_leads_to() -> None:
    nfa, (start,) = nfa_of("a(?:b|c)?d")
    after = successors(nfa, {start})
    assert len(after) == 1
    assert len(successors(nfa, after)) == 2  # past b or c, which are the same, and past d


# -- questions about rules ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "asks"),
    [
        ("ab", False),
        (r"ab\b", True),
        (r"ab(?!c)", True),
        (r"ab|cd\Z", True),
        (r"a(?=b)b", False),
        (r"\bab", False),
        (r"ab(?:c\b)*", True),
        (r"ab(?<=b)", False),
        (r"ab(?=c)(?<=b)", True),
    ],
)
def test_which_matches_depend_on_the_character_after_them(value: str, asks: bool) -> None:
    nfa, _ = nfa_of("zz", value)
    assert asking(nfa) == ({1} if asks else set())


@pytest.mark.parametrize(
    ("context", "before", "may"),
    [
        ("key=", "key=", True),
        ("key=", "=", True),
        ("key=", "key", False),
        ("key=?", "key", True),
        ("(?:key)?", "x", True),
        (r"key=(?!\s)", "=", True),
        (r"key\s*", "key", True),
        (r"key\s*", "é ", True),
        (r"key\s*", "=", False),
        ("", "x", True),
    ],
)
def test_where_a_context_may_have_ended(context: str, before: str, may: bool) -> None:
    nfa, starts = nfa_of("zz", (context, "v") if context else "v")
    ends = context_ends(nfa, starts)
    assert ends[0] == 0
    assert (not ends[1] or bool(ends[1] & behind_of(nfa, before))) is may


@pytest.mark.parametrize(
    ("value", "before", "can"),
    [
        ("a", "", True),
        ("(?<!x)a", "x", False),
        ("(?<!x)a|b", "x", True),
        (r"\ba", "x", True),  # what comes next is not asked
        (r"(?<=x)(?<!yx)a", "yx", False),
        (r"(?:(?<=x)b)?a", "y", True),
    ],
)
def test_whether_a_value_can_begin_after_a_text(value: str, before: str, can: bool) -> None:
    nfa, (start,) = nfa_of(value)
    assert can_begin(nfa, start, behind_of(nfa, before)) is can


def test_states_that_lead_somewhere_without_reading() -> None:
    nfa, (start,) = nfa_of("a(?:b|(?=c))")
    (end,) = [state for state, accepts in enumerate(nfa.accept) if accepts == 0]
    freely, at_all = leading(nfa, [end], freely=True), leading(nfa, [end], freely=False)
    assert end in freely < at_all
    assert start not in at_all
    assert all(end in spread(nfa, [state]) for state in at_all)
    assert {state for state in range(len(nfa.edges)) if end in spread(nfa, [state])} == at_all


def test_a_node_is_shared_between_rules_without_harm() -> None:
    node: Node = parse("a[bc]{2}")
    nfa = Nfa()
    one, other = nfa.add_rule(0, None, node), nfa.add_rule(1, node, node)
    assert walk(nfa, one, "abc") == {0}
    assert walk(nfa, other, "abc") == {1}
