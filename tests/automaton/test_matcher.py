"""What is cut out is what brute force finds; a stream agrees, and holds no more than it must."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from operator import getitem

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamguard import PatternError
from streamguard.automaton import (
    END,
    Decided,
    Decision,
    Matcher,
    Pattern,
    Scan,
    State,
    Tail,
    deciding,
    parse,
    states,
    swallow,
)
from streamguard.automaton.nodes import (
    Alternation,
    CharSet,
    Concat,
    LookAhead,
    LookBehind,
    Node,
    Repeat,
)

EXAMPLES = settings().max_examples
MARK = "#"
Check = Callable[[str], bool]


@dataclass(frozen=True)
class R:
    """A rule of a test; its check speaks of the value alone."""

    value: str
    context: str = ""
    check: Check | None = None
    keep: bool = False

    def pattern(self) -> Pattern:
        return Pattern(
            parse(self.value),
            context=parse(self.context) if self.context else None,
            checked=self.check is not None,
            keep=self.keep,
        )


class Cutter:
    """Puts a mark in the place of every match, the way a stage does."""

    def __init__(self, matcher: Matcher, rules: Sequence[R], mark: str = MARK) -> None:
        self.matcher = matcher
        self.rules = rules
        self.mark = mark
        self.state = matcher.start
        self.held = ""
        self.tail: Tail | None = None
        self.open = False

    def feed(self, text: str) -> str:
        scan = Scan(self.matcher, self.state, self.held + text, len(self.held))
        out: list[str] = []
        shown = self._run(scan, out, 0, None)
        if not self.open:
            safe = len(scan.data) - scan.state.hold
            out.append(scan.data[shown:safe])
            shown = safe
        self.held = scan.data[shown:]
        self.state = scan.state
        return "".join(out)

    def flush(self) -> str:
        scan = Scan(self.matcher, self.state, self.held, len(self.held))
        out: list[str] = []
        shown = 0
        outcome: State | Decision | None = None
        while not isinstance(outcome, State):
            shown = self._run(scan, out, shown, outcome)
            if self.open:
                if self.tail is not None and self.tail.late(END) >= 0:
                    shown = len(scan.data)
                self._close(scan, out, shown)
                outcome = None
                continue
            outcome = self.matcher.finish(scan.state.config)
        out.append(scan.data[shown:])
        return "".join(out)

    def _run(self, scan: Scan, out: list[str], shown: int, decision: Decision | None) -> int:
        while True:
            if self.open:
                if self.tail is not None:
                    self.tail, scan.at, end, _ = swallow(self.tail, scan.data, scan.at, shown)
                    shown = max(shown, end)
                if self.tail is not None:
                    return shown
                self._close(scan, out, shown)
            decision = decision or scan.next()
            while decision is not None and (chosen := self._choose(scan, decision)) < 0:
                decision = scan.refuse(decision)
            if decision is None:
                return shown
            out.append(scan.data[shown : scan.at - decision.age])
            shown = chosen
            self.tail = decision.tail
            self.open = True
            decision = None

    def _choose(self, scan: Scan, decision: Decision) -> int:
        for rule, back in decision.matches:
            check = self.rules[rule].check
            end = scan.at - back
            if decision.tail is not None or check is None or check(scan.data[scan.at - decision.age : end]):
                return end
        return -1

    def _close(self, scan: Scan, out: list[str], end: int) -> None:
        out.append(self.mark)
        self.open = False
        self.tail = None
        scan.resume(self.matcher.after(self.mark), end)


@cache
def compiled(rules: tuple[R, ...], limit: int) -> Matcher:
    return Matcher([rule.pattern() for rule in rules], limit=limit)


def cut(rules: tuple[R, ...], text: str, places: Sequence[int] = (), limit: int = 64) -> str:
    cutter = Cutter(compiled(rules, limit), rules)
    edges = [0, *places, len(text)]
    chunks = [text[start:stop] for start, stop in pairwise(edges)]
    return "".join(map(cutter.feed, chunks)) + cutter.flush()


def every_way(rules: tuple[R, ...], text: str, limit: int = 64) -> set[str]:
    """The outcomes whole, character by character, and at every two-way cut."""
    ways = [[], list(range(len(text) + 1)), *([place] for place in range(len(text) + 1))]
    return {cut(rules, text, places, limit) for places in ways}


# -- brute force ------------------------------------------------------------------------


@cache
def _ending(pattern: str, rest: int) -> re.Pattern[str]:
    """Matches `pattern` where `rest` characters follow it."""
    return re.compile(f"(?:{pattern})(?s:.{{{rest}}})\\Z")


def by_force(rules: Sequence[R], text: str, mark: str = MARK) -> str:
    """The outcome by trying everything, on the text as it stands.

    The leftmost value wins; among those that begin together one without a check, then the
    longest, then the first rule. After a value contexts begin anew, and what stands before
    the rest is the mark. What begins inside a kept match stays.
    """
    out, before = "", ""
    while True:
        found = _first(rules, before + text, len(before))
        if found is None:
            return out + text
        start, end = (place - len(before) for place in found)
        out += text[:start] + mark
        before, text = mark, text[end:]


def _first(rules: Sequence[R], text: str, begin: int) -> tuple[int, int] | None:
    kept = begin
    for start in range(begin, len(text)):
        if start < kept:
            continue
        found: list[tuple[bool, int, int]] = []
        for number, rule in enumerate(rules):
            if not _in_context(rule, text, begin, start):
                continue
            end = next(
                (
                    end
                    for end in range(len(text), start, -1)
                    if _ending(rule.value, len(text) - end).match(text, start)
                ),
                0,
            )
            if end and (rule.check is None or rule.check(text[start:end])):
                found.append((rule.check is not None, -end, number))
        if found:
            _, end, number = min(found)
            if not rules[number].keep:
                return start, -end
            kept = -end
    return None


def _in_context(rule: R, text: str, begin: int, start: int) -> bool:
    if not rule.context:
        return True
    regex = _ending(rule.context, len(text) - start)
    return any(regex.match(text, place) for place in range(begin, start + 1))


# -- patterns ----------------------------------------------------------------------------

LETTERS = "abc"
atoms = st.sampled_from(["a", "b", "c", "[ab]", "[^a]", ".", "ab", "ba", "ca", r"\w", r"[^b\n]"])
behind = st.sampled_from([r"\b", r"\B", "(?<=a)", "(?<!b)", "(?<!ab)", "(?<=a|b)", r"\A"])
ahead = st.sampled_from(["(?=a)", "(?!b)", r"(?=\Z|c)", r"\b", r"\B", "(?=[ab])", r"\Z", r"(?!\Z)"])
counts = st.sampled_from(["?", "*", "+", "{2}", "{1,3}", "{2,}", "{0,2}"])


def _extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, counts).map(lambda parts: f"(?:{parts[0]}){parts[1]}"),
        st.tuples(behind, inner).map("".join),
        st.tuples(inner, ahead).map("".join),
    )


def usable(rules: Sequence[R]) -> bool:
    try:
        compiled(tuple(rules), 64)
    except PatternError:
        return False
    return True


patterns = st.recursive(atoms, _extend, max_leaves=5)
rule_sets = (
    st.lists(st.builds(R, patterns, st.just("") | st.just("") | patterns), min_size=1, max_size=3)
    .map(tuple)
    .filter(usable)
)
texts = st.text(st.sampled_from("aabbc \n"), max_size=11)


def starting_apart(letter: str) -> st.SearchStrategy[str]:
    """Values that begin with a letter and do not hold it again."""
    others = [other for other in "abc " if other != letter]
    inner = st.sampled_from([*others, f"[{''.join(others)}]", f"[^{letter}]", "".join(others)])
    body = st.recursive(inner, _extend_plainly, max_leaves=4)
    return st.tuples(body, ahead | st.just("")).map(lambda parts: letter + "".join(parts))


def _extend_plainly(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, counts).map(lambda parts: f"(?:{parts[0]}){parts[1]}"),
    )


def _even(value: str) -> bool:
    return len(value) % 2 == 0


def _ends_well(value: str) -> bool:
    return value[-1] in "bc"


def _never(value: str) -> bool:
    return False


def _always(value: str) -> bool:
    return True


checks = st.sampled_from([None, _even, _ends_well, _never, _always])
checked_sets = (
    st.lists(
        st.sampled_from("abc").flatmap(
            lambda letter: st.builds(R, starting_apart(letter), st.just("") | patterns, checks)
        ),
        min_size=1,
        max_size=3,
    )
    .map(tuple)
    .filter(usable)
)
any_checked_sets = (
    st.lists(st.builds(R, patterns, st.just("") | patterns, checks), min_size=1, max_size=3)
    .map(tuple)
    .filter(usable)
)
keep_sets = (
    st.tuples(
        starting_apart("c").map(lambda value: R(value, keep=True)),
        st.sampled_from("ab").flatmap(
            lambda letter: st.builds(R, starting_apart(letter), st.just("") | patterns)
        ),
        st.lists(starting_apart("b").map(R), max_size=1),
    )
    .map(lambda parts: (parts[0], parts[1], *parts[2]))
    .filter(usable)
)

# -- the whole text, and every cut of it ------------------------------------------------------


@settings(max_examples=2 * EXAMPLES)
@given(rule_sets, texts)
@example((R("abcd"), R("bc")), "abcd")
@example((R("ab?"), R("abb")), "abba")
@example((R("a*b", "c"),), "cab aab")
@example((R(r"b(?=\Z|c)"), R("bc")), "bcb")
def test_what_is_cut_out_is_what_brute_force_finds(rules: tuple[R, ...], text: str) -> None:
    assert every_way(rules, text) == {by_force(rules, text)}


@settings(max_examples=2 * EXAMPLES)
@given(checked_sets, texts)
@example((R("ab+", check=_even), R("bb", check=_always), R("b{2,}c")), "abbbbc")
def test_a_value_its_checks_refuse_is_as_if_it_had_never_matched(rules: tuple[R, ...], text: str) -> None:
    assert every_way(rules, text) == {by_force(rules, text)}


@settings(max_examples=2 * EXAMPLES)
@given(any_checked_sets, texts)
def test_with_any_checks_the_outcome_does_not_depend_on_the_cuts(rules: tuple[R, ...], text: str) -> None:
    assert len(every_way(rules, text)) == 1


@settings(max_examples=EXAMPLES)
@given(keep_sets, texts)
@example((R("c[ab]*c", keep=True), R("ab")), "cabcab cab")
def test_a_kept_match_stays_with_whatever_begins_inside(rules: tuple[R, ...], text: str) -> None:
    assert every_way(rules, text) == {by_force(rules, text)}


def test_a_value_that_begins_inside_a_refused_one_and_goes_on_like_it_is_refused_with_it() -> None:
    """Otherwise a documented example would be refused, and all of it but the first letter cut out."""
    rules = (R("[a-c]{3,}", check=lambda value: value != "abcabc"),)
    assert cut(rules, "abcabc abcab") == "abcabc #"


# -- the limit ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reach:
    """How a match of a part of a pattern stands after some text."""

    ends: frozenset[int]
    more: bool = False  # whether it may go on, or has to see the next character
    read: bool = False  # whether the last character was read for it


def _reach(node: Node, text: str, starts: frozenset[int], over: bool) -> Reach:
    """Where matches that begin at `starts` end; `over` where the text ends with this."""
    if isinstance(node, CharSet):
        regex = re.compile(node.source, node.flags)
        ends = frozenset(at + 1 for at in starts if at < len(text) and regex.fullmatch(text[at]))
        return Reach(ends, len(text) in starts and not over, len(text) in ends)
    if isinstance(node, Concat):
        reaches = []
        for part in node.parts:
            reaches.append(_reach(part, text, starts, over))
            starts = reaches[-1].ends
        return _joined(reaches, starts)
    if isinstance(node, Alternation):
        reaches = [_reach(branch, text, starts, over) for branch in node.branches]
        return _joined(reaches, frozenset[int]().union(*(reach.ends for reach in reaches)))
    if isinstance(node, Repeat):
        reaches = []
        found = starts if node.least == 0 else frozenset[int]()
        rounds = node.least + len(text) + 1 if node.most is None else node.most
        for count in range(1, rounds + 1):
            reaches.append(_reach(node.node, text, starts, over))
            starts = reaches[-1].ends
            if count >= node.least:
                found |= starts
        return _joined(reaches, found)
    if isinstance(node, LookBehind):
        return Reach(frozenset(at for at in starts if _stands_before(node, text, at) is not node.negated))
    known = frozenset(at for at in starts if at < len(text) or over)
    return Reach(
        frozenset(at for at in known if _comes_next(node, text, at) is not node.negated), known != starts
    )


def _joined(reaches: Sequence[Reach], ends: frozenset[int]) -> Reach:
    return Reach(ends, any(reach.more for reach in reaches), any(reach.read for reach in reaches))


def _stands_before(node: LookBehind, text: str, at: int) -> bool:
    return any(
        len(sequence) <= at
        and all(
            re.fullmatch(s.source, c, s.flags)
            for s, c in zip(sequence, text[at - len(sequence) : at], strict=True)
        )
        if sequence
        else at == 0
        for sequence in node.sequences
    )


def _comes_next(node: LookAhead, text: str, at: int) -> bool:
    if at == len(text):
        return node.end
    return any(re.fullmatch(s.source, text[at], s.flags) for s in node.sets)


def by_reading(rules: Sequence[R], text: str, limit: int) -> str:
    """The outcome by reading on, and asking afresh after each character where everything stands."""
    nodes = [parse(rule.value) for rule in rules]
    out, before = "", ""
    while True:
        found = _decided(rules, nodes, before + text, len(before), limit)
        if found is None:
            return out + text
        start, end = (place - len(before) for place in found)
        out += text[:start] + MARK
        before, text = MARK, text[end:]


def _decided(
    rules: Sequence[R], nodes: Sequence[Node], text: str, begin: int, limit: int
) -> tuple[int, int] | None:
    for at in range(begin + 1, len(text) + 2):
        over = at > len(text)
        read = text[:at]
        for start in range(begin, min(at, len(text))):
            allowed = [number for number, rule in enumerate(rules) if _in_context(rule, text, begin, start)]
            reaches = [_reach(nodes[number], read, frozenset([start]), over) for number in allowed]
            ends = [max(reach.ends) for reach in reaches if reach.ends]
            more = any(reach.more for reach in reaches)
            if ends:
                return start, _last(nodes, allowed, text, start, max(ends), at, limit)
            if more and at - start >= limit:
                return start, _forced(nodes, allowed, text, start, at)
            if more:
                break
    return None


def _last(  # noqa: PLR0917
    nodes: Sequence[Node], allowed: Sequence[int], text: str, start: int, end: int, at: int, limit: int
) -> int:
    """Where a value ends that is certain: the longest, unless it is not heard of for too long."""
    while at <= len(text):
        reaches = [_reach(nodes[number], text[:at], frozenset([start]), over=False) for number in allowed]
        end = max([end, *(place for reach in reaches for place in reach.ends)])
        if at - end > limit or not any(reach.more for reach in reaches):
            return end
        at += 1
    reaches = [_reach(nodes[number], text, frozenset([start]), over=True) for number in allowed]
    return max([end, *(place for reach in reaches for place in reach.ends)])


def _forced(nodes: Sequence[Node], allowed: Sequence[int], text: str, start: int, at: int) -> int:
    """Where a value ends that counts as one: where nothing reads on any more."""
    while at < len(text):
        reaches = [
            _reach(nodes[number], text[: at + 1], frozenset([start]), over=False) for number in allowed
        ]
        if not any(reach.read for reach in reaches):
            return at
        at += 1
    return at


@settings(max_examples=2 * EXAMPLES)
@given(rule_sets, st.text(st.sampled_from("aabbc "), max_size=14), st.integers(1, 5))
@example((R("b(?:b*c)?"),), "bbbbbbbbc", 3)
@example((R("a{6}b"),), "aaaaaaaaaaaab", 4)
@example((R("ab(?=c)"), R("a[bc]+ ")), "abcbcbcb abc", 3)
def test_an_undecided_value_is_decided_at_the_limit_wherever_the_text_is_cut(
    rules: tuple[R, ...], text: str, limit: int
) -> None:
    assert every_way(rules, text, limit) == {by_reading(rules, text, limit)}


@settings(max_examples=EXAMPLES)
@given(any_checked_sets, st.text(st.sampled_from("aabbc "), max_size=14), st.integers(1, 5))
def test_with_checks_and_a_limit_the_outcome_does_not_depend_on_the_cuts(
    rules: tuple[R, ...], text: str, limit: int
) -> None:
    assert len(every_way(rules, text, limit)) == 1


@pytest.mark.parametrize(
    ("text", "outcome"),
    [("a" + "b" * 9 + "c", "a" + "b" * 9 + "c"), ("abbc", "#"), ("abc" + "d" * 9, "#" + "d" * 9)],
)
def test_a_value_released_at_the_limit_ends_at_its_last_match_or_was_none(text: str, outcome: str) -> None:
    rules = (R("ab+c(?:d{8}e)?", check=_always),)
    matcher = Matcher([rule.pattern() for rule in rules], limit=5, release=True)
    for places in ([], range(len(text))):
        cutter = Cutter(matcher, rules)
        edges = [0, *places, len(text)]
        out = "".join(cutter.feed(text[start:stop]) for start, stop in pairwise(edges))
        assert out + cutter.flush() == outcome


# -- what is held ------------------------------------------------------------------------------


def common(outcomes: Iterator[str]) -> str:
    shared = next(outcomes)
    for outcome in outcomes:
        while not outcome.startswith(shared):
            shared = shared[:-1]
    return shared


def held_for_nothing(rules: tuple[R, ...], text: str, letters: str, deepest: int, limit: int = 64) -> str:
    """The text that all continuations agree on, and that is held all the same.

    Breaks off, by an assertion, where something was shown that a continuation takes back.
    """
    cutter = Cutter(compiled(rules, limit), rules)
    shown = "".join(map(cutter.feed, text))
    for depth in range(1, deepest + 1):
        words = (
            text + "".join(word) for length in range(depth + 1) for word in product(letters, repeat=length)
        )
        agreed = common(cut(rules, word, limit=limit) for word in words)
        assert agreed.startswith(shown)
        # A mark that is certain comes out once its value has ended.
        if agreed == shown or agreed.startswith(shown + MARK):
            return ""
    return agreed[len(shown) :]


def _plain(rules: Sequence[R]) -> bool:
    """Whether no condition in a pattern can contradict what stands beside it, and values are short."""
    return all(
        not re.search(r"\\[bBAZ]|\(\?[<=!]", rule.value + rule.context) and _shortest(parse(rule.value)) <= 6
        for rule in rules
    )


def _shortest(node: Node) -> int:
    if isinstance(node, Concat):
        return sum(map(_shortest, node.parts))
    if isinstance(node, Alternation):
        return min(map(_shortest, node.branches))
    if isinstance(node, Repeat):
        return node.least * _shortest(node.node)
    return int(isinstance(node, CharSet))


@settings(max_examples=EXAMPLES)
@given(rule_sets.filter(_plain), st.text(st.sampled_from("abc "), min_size=1, max_size=5))
@example((R("ab", "c"), R("bca")), "cab")
@example((R("abc|b"),), "ab")
def test_every_held_character_differs_between_two_continuations(rules: tuple[R, ...], text: str) -> None:
    assert held_for_nothing(rules, text, "abc ", 5) == ""


@settings(max_examples=EXAMPLES)
@given(rule_sets | keep_sets, st.text(st.sampled_from("abc "), max_size=6), st.sampled_from([3, 64]))
def test_nothing_is_shown_that_a_continuation_takes_back(rules: tuple[R, ...], text: str, limit: int) -> None:
    held_for_nothing(rules, text, "abc ", 2, limit)


@settings(max_examples=EXAMPLES)
@given(any_checked_sets, st.text(st.sampled_from("abc "), max_size=6), st.sampled_from([3, 64]))
def test_nothing_is_shown_that_a_check_may_take_back(rules: tuple[R, ...], text: str, limit: int) -> None:
    held_for_nothing(rules, text, "abc ", 2, limit)


def test_a_kept_match_holds_back_nothing_of_itself() -> None:
    rules = (R("c[^c]*c", keep=True), R("abc"))
    cutter = Cutter(compiled(rules, 64), rules)
    assert [cutter.feed(char) for char in "cbbxabbc"] == ["c", "b", "b", "x", "", "", "abb", "c"]


def test_a_group_is_held_from_its_first_character_on_and_shown_as_soon_as_it_cannot_match() -> None:
    rules = (R("abbbc"), R("bbd"))
    cutter = Cutter(compiled(rules, 64), rules)
    assert [cutter.feed(char) for char in "xabbbx"] == ["x", "", "", "", "", "abbbx"]
    assert [cutter.feed(char) for char in "abbbdabbd"] == ["", "", "", "", "ab#", "", "", "", "a#"]


# -- kept matches that are told, matches that are cut out with nothing in their place ------------


def told(
    matcher: Matcher, text: str, places: Sequence[int] = (), *, glue: bool = False
) -> tuple[str, list[str]]:
    """What is left where decisions are cut out, and what was; with `glue` matching goes on over the gap.

    What is kept is told and not cut out.
    """
    state, held = matcher.start, ""
    out: list[str] = []
    cut_out: list[str] = []
    edges = [0, *places, len(text)]
    for number, (first, last) in enumerate(pairwise(edges)):
        data = held + text[first:last]
        base = last - len(data)
        scan = Scan(matcher, state, data, len(held))
        shown = 0
        while True:
            decision = scan.next()
            if decision is None and number == len(edges) - 2:
                outcome = matcher.finish(scan.state.config)
                decision = outcome if isinstance(outcome, Decision) else None
            if decision is None:
                break
            rule, back = decision.matches[0]
            start, end = scan.at - decision.age, scan.at - back
            cut_out.append(text[base + start : base + end])
            out.append(data[shown : end if matcher.patterns[rule].keep else start])
            shown = end
            scan.resume(matcher.restore(decision.residue) if glue else matcher.after("x"), end)
        state = scan.state
        safe = max(shown, len(data) - state.hold)
        out.append(data[shown:safe])
        held = data[safe:]
    return "".join(out) + held, cut_out


def test_a_kept_match_may_be_told_once_it_has_ended() -> None:
    patterns_ = [Pattern(parse("a+"), keep=True), Pattern(parse("b+"), keep=True, told=True)]
    matcher = Matcher(patterns_, limit=5)
    for places in ([], range(12)):
        assert told(matcher, "aabb ab bbb", places) == ("aabb ab bbb", ["bb", "b", "bbb"])
    assert matcher.start["b"].hold == 0


def test_a_kept_match_however_long_leads_to_few_states() -> None:
    matcher = Matcher([Pattern(parse("b[^c]*c"), keep=True), Pattern(parse("aa"))], limit=20)
    cutter = Cutter(matcher, (R("b"), R("aa")))
    assert cutter.feed("b" + "ab" * 5_000) == "b" + "ab" * 5_000
    assert len(matcher._states) < 100
    assert cutter.feed("caa") == "c#"


@settings(max_examples=2 * EXAMPLES)
@given(st.text(st.sampled_from("<<x>>"), max_size=16))
@example("<<x>x>")
@example("<x<x>><x>>x>")
def test_where_matches_are_cut_out_the_two_sides_come_together(text: str) -> None:
    matcher = Matcher([Pattern(parse("<x>"))], limit=20, glue=True)
    left, cut_out = told(matcher, text, glue=True)
    assert "<x>" not in left
    assert len(left) + sum(map(len, cut_out)) == len(text)
    assert told(matcher, left, glue=True) == (left, [])
    for places in (range(len(text) + 1), *([place] for place in range(len(text)))):
        assert told(matcher, text, places, glue=True) == (left, cut_out)


def test_what_was_under_way_before_a_cut_goes_on_after_it() -> None:
    patterns_ = [Pattern(parse("<x>")), Pattern(parse(r"(?<![a-z])k"), context=parse("key ?"))]
    matcher = Matcher(patterns_, limit=20, glue=True)
    assert told(matcher, "key<x> k key<x>k a<x>k", glue=True)[1] == ["<x>", "k", "<x>", "<x>"]
    assert told(matcher, "<x><<x>x>", glue=True)[0] == "<"


# -- placeholders -----------------------------------------------------------------------------------


def _atomic(*values: str, stands_for: int | None = 0, limit: int = 20) -> Matcher:
    patterns_ = [Pattern(parse(value)) for value in values]
    return Matcher(
        [*patterns_, Pattern(parse(r"\{[ab]{1,3}\}"), atomic=True, stands_for=stands_for)], limit=limit
    )


@pytest.mark.parametrize(
    ("value", "text", "cut_out"),
    [
        ("a", "{a}a{aa}", ["a"]),  # inside
        (r"\{a", "{a}{ac", ["{a"]),  # from its beginning on
        (r"\}c", "{a}c }c", ["}c"]),  # beyond its end
        (r"c\{", "c{a} c{a", ["c{"]),  # into it
        (r"c\b", "c{a} c", ["c"]),  # up to it, asking what follows
        ("cc", "cc{a}", ["cc"]),  # up to it
        ("c{2}c?", "cc{a}", ["cc"]),
    ],
)
def test_nothing_is_cut_out_of_a_placeholder(value: str, text: str, cut_out: list[str]) -> None:
    matcher = _atomic(value)
    for places in ([], range(len(text) + 1), *([place] for place in range(len(text)))):
        assert told(matcher, text, places)[1] == cut_out


@pytest.mark.parametrize(
    ("value", "text"), [(r"c\b", "c{a}"), (r"c\{a\}d", "c{a}d"), (r"c[^ ]*(?= |\Z)", "c{a}d")]
)
def test_what_stands_for_no_value_protects_nothing_before_it(value: str, text: str) -> None:
    owned = _atomic(value, "(?<=c)b", stands_for=1)
    assert told(owned, text)[1] == []
    alien = _atomic(value, "(?<!c)b", stands_for=1)
    assert told(alien, text)[1] == told(_atomic(value, stands_for=None), text)[1] != []


def test_a_placeholder_is_never_held_for_its_own_sake() -> None:
    matcher = _atomic("xyz")
    state = matcher.start
    for char in "{ab}":
        state = state[char]
        assert state.hold == 0


# -- the work -----------------------------------------------------------------------------------


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the transitions of states and of tails."""
    count = [0]

    def step(self: dict[str, object], char: str) -> object:
        count[0] += 1
        return dict.__getitem__(self, char)

    monkeypatch.setattr(State, "__getitem__", step)
    monkeypatch.setattr(Tail, "__getitem__", step)
    return count


FLOODS: dict[str, tuple[tuple[R, ...], str, str, float]] = {
    "nothing of interest": ((R("sk-[a-z]{20,}"),), "", ".", 1),
    "anchors": ((R("sk-[a-z]{20,}"),), "", "sk-", 1),
    "prefixes": ((R("sk-[a-z]{20,}"),), "", "sk-" + "a" * 19 + ".", 1),
    "prefixes inside one another": ((R("a{9}b"), R("a{5}c")), "", "a", 1),
    "an endless value": ((R("sk-[a-z]{20,}"),), "sk-", "a", 1),
    "a value that may go on": ((R("a(?:[^c]*c)?"),), "a", "b", 2),
    "values in a row": ((R("a[bc]"),), "", "ab", 2),
    "values in a row that have to be seen to end": ((R(r"a[bc]+\b"),), "", "abc ", 3),
    "refused values": ((R(r"[^ =]{4,}(?==)", "=", check=_never),), "", "word=", 1),
    "refused values without an end": ((R(r"[^ ]{4,}", "=", check=_never),), "", "word=", 1),
    "refused values with another inside": ((R("a[^ ]*b", check=_never), R("cc")), "", "accb ", 2),
    "contexts inside one another": ((R("[^a]{3}", "a+"),), "", "a", 1),
    "look-ahead without end": ((R(r"a+\b"),), "", "a", 1),
}


@pytest.mark.parametrize("chunk", [1, 64, 10**6])
@pytest.mark.parametrize("name", FLOODS)
def test_every_character_is_read_a_bounded_number_of_times(name: str, chunk: int, steps: list[int]) -> None:
    rules, begin, again, most = FLOODS[name]
    taken: list[int] = []
    for size in (2_000, 8_000):
        text = begin + again * (size // len(again))
        cutter = Cutter(compiled(rules, 64), rules)
        steps[0] = 0
        for at in range(0, len(text), chunk):
            cutter.feed(text[at : at + chunk])
        cutter.flush()
        taken.append(steps[0])
        assert steps[0] <= most * len(text) + 500
    assert taken[1] <= 4.2 * taken[0] + 500


@pytest.mark.parametrize("chunk", [1, 10**6])
def test_text_read_beyond_a_value_is_read_again_up_to_the_limit(chunk: int, steps: list[int]) -> None:
    """The worst there is: every value may go on, and is given up only at the limit."""
    limit = 16
    rules = (R("b(?:b*c)?"),)
    text = "b" * 3_000
    cutter = Cutter(compiled(rules, limit), rules)
    for at in range(0, len(text), chunk):
        cutter.feed(text[at : at + chunk])
    cutter.flush()
    assert steps[0] <= (limit + 3) * len(text)


# -- the cache ------------------------------------------------------------------------------------


def _alive(kind: type[object], matcher: Matcher) -> int:
    gc.collect()
    return sum(isinstance(found, kind) and found.matcher is matcher for found in gc.get_objects())  # type: ignore[attr-defined]


def test_the_cache_keeps_to_its_bounds_and_changes_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = (R("[ab]{3,30}c[^ ]{2,9}", check=_even), R("(?<![a-z]{3})x[^ ]*y"), R("a(?=[bc])", "y"))
    words = ["abcxy", "é", "aab", "bbc", "xé", "y ", "ya", "x中", "c"]
    samples = [
        "".join(
            words[(seed * step + step * step) % len(words)] + chr(200 + seed * 40 + step)
            for step in range(40)
        )
        for seed in range(120)
    ]
    expected = [cut(rules, sample, range(len(sample)), limit=50) for sample in samples]
    monkeypatch.setattr(states, "MAX_CACHED_STATES", 60)
    monkeypatch.setattr(states, "MAX_CACHED_MOVES", 300)
    monkeypatch.setattr(deciding, "MAX_CACHED", 60)
    small = Matcher([rule.pattern() for rule in rules], limit=50)
    for sample, outcome in zip(samples, expected, strict=True):
        cutter = Cutter(small, rules)
        assert "".join(map(cutter.feed, sample)) + cutter.flush() == outcome
    assert _alive(State, small) <= 2 * 60
    assert _alive(Tail, small) <= 2 * 60


def test_a_stream_goes_on_in_a_state_that_the_cache_has_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = (R("a[bc]{9}d"), R("c[ab]*c", check=_even))
    monkeypatch.setattr(states, "MAX_CACHED_STATES", 3)
    matcher = Matcher([rule.pattern() for rule in rules], limit=50)
    cutters = [Cutter(matcher, rules) for _ in range(3)]
    texts_ = ["xabcbcbcbcbdcabc", "cabbcabccaabc a", "abbbbbbbbbdcc cac"]
    outs = ["", "", ""]
    for at in range(20):
        for number, text in enumerate(texts_):
            outs[number] += cutters[number].feed(text[at : at + 1])
    assert [out + cutter.flush() for out, cutter in zip(outs, cutters, strict=True)] == [
        by_force(rules, text) for text in texts_
    ]


def test_one_state_remembers_no_more_than_so_many_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "MAX_CACHED_CHARACTERS", 10)
    matcher = Matcher([Pattern(parse("ab"))], limit=50)
    for number in range(300, 400):
        assert matcher.start[chr(number)].quiet
    assert len(matcher.start) == 10


def test_threads_share_a_matcher() -> None:
    rules = (R("[ab]{3,30}c[^ ]{2,9}", check=_even), R("x[^ ]*y"), R("a(?=[bc])", "y"))
    samples = ["".join("abcxy é"[(seed * at + at * at // 3) % 7] for at in range(60)) for seed in range(200)]
    expected = [cut(rules, sample) for sample in samples]
    matcher = Matcher([rule.pattern() for rule in rules], limit=64)

    def run(sample: str) -> str:
        cutter = Cutter(matcher, rules)
        return "".join(map(cutter.feed, sample)) + cutter.flush()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            outcomes = list(pool.map(run, samples * 4))
    finally:
        sys.setswitchinterval(interval)
    assert outcomes == expected * 4


# -- states ---------------------------------------------------------------------------------------


def test_a_state_says_how_much_is_held_and_whether_anything_is_under_way() -> None:
    matcher = Matcher([Pattern(parse("abc")), Pattern(parse("[0-9]{4}"), context=parse("pin="))], limit=50)
    assert (matcher.start.hold, matcher.start.quiet) == (0, True)
    assert (matcher.start["a"].hold, matcher.start["a"].quiet) == (1, False)
    assert (matcher.start["a"]["b"].hold, matcher.start["a"]["x"].hold) == (2, 0)
    assert (matcher.start["p"].hold, matcher.start["p"].quiet) == (0, False)
    assert matcher.start["x"] is matcher.after("x")
    with pytest.raises(Decided) as decided:
        getitem(matcher.start["a"]["b"], "c")
    assert decided.value.decision.age == 3
    assert decided.value.decision.matches == ((0, 0),)
    assert decided.value.decision.tail is None


def test_a_value_that_can_be_empty_is_refused() -> None:
    for value in ("a*", "(?:a|b?)", r"\b", "(?=a)", "(?:a{0})+", r"(?:\Ba?)*"):
        with pytest.raises(PatternError, match="can be empty"):
            Matcher([Pattern(parse(value))], limit=50)


def test_patterns_that_need_too_many_states_are_refused() -> None:
    for value in ("a{260000}", "(?:a{600}){600}", "(?:a?){0,260000}b", "(?:(?:a{0,9}){0,199}){0,199}b"):
        with pytest.raises(PatternError, match="use smaller repeat counts"):
            Matcher([Pattern(parse(value))], limit=50)


# -- bounds ---------------------------------------------------------------------------------------


@settings(max_examples=2 * EXAMPLES)
@given(rule_sets, st.text(st.sampled_from("aabbc "), max_size=25), st.sampled_from([4, 9, 64]))
def test_no_more_is_ever_held_than_the_bounds_say(rules: tuple[R, ...], text: str, limit: int) -> None:
    matcher = compiled(rules, limit)
    most = max(matcher.bound(number)[0] for number in range(len(rules)))
    cutter = Cutter(matcher, rules)
    for char in text:
        cutter.feed(char)
        assert len(cutter.held) <= most


@settings(max_examples=EXAMPLES)
@given(any_checked_sets, st.text(st.sampled_from("aabbc "), max_size=25), st.sampled_from([4, 9, 64]))
def test_no_more_is_held_for_a_check_than_the_bounds_say(rules: tuple[R, ...], text: str, limit: int) -> None:
    test_no_more_is_ever_held_than_the_bounds_say.hypothesis.inner_test(rules, text, limit)  # type: ignore[attr-defined]


BOUNDS: list[tuple[R, str, int, bool]] = [
    (R("abc"), "ab", 2, False),
    (R("abc(?!d)"), "abc", 3, False),
    (R(r"abc\b"), "abc", 3, False),
    (R("ab{2,4}"), "ab", 2, False),
    (R("ab{2,4}", check=_always), "abbb", 4, False),
    (R("ab(?:c{3}d)?"), "abccc", 3, False),
    (R("[^x]{5}", "y"), "yaaaa", 4, False),
    (R("a[^x]*x"), "a" * 60, 19, True),
    (R("a[^x]*", check=_always), "a" * 60, 19, True),
    (R("a(?:[^x]*x)?"), "a" * 21, 20, True),
    (R("a{30}"), "a" * 29, 19, True),
    (R("a{20}b"), "a" * 20, 19, True),
    (R("a{19}b"), "a" * 19, 19, False),
]


@pytest.mark.parametrize(("rule", "text", "most", "by_limit"), BOUNDS)
def test_a_bound_is_reached(rule: R, text: str, most: int, by_limit: bool) -> None:
    matcher = compiled((rule,), 20)
    assert matcher.bound(0) == (most, by_limit)
    cutter = Cutter(matcher, (rule,))
    held = [(cutter.feed(char), len(cutter.held))[1] for char in text]
    assert max(held) == most
