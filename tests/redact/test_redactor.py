"""The redactor: what it replaces, what it holds, what it tells, and that twice is once."""

from __future__ import annotations

import dataclasses
import gc
import hashlib
import hmac
import pickle
import re
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from streamguard import Bound, End, Finding, PatternError, StreamClosedError
from streamguard.automaton import Matcher, State, Tail
from streamguard.redact import SECRETS, Redactor, Rule, digest
from streamguard.redact.placeholder import PLACEHOLDER
from streamguard.redact.rules import PII
from streamguard.redact.session import SHORT
from streamguard.testing import check_linear

EXAMPLES = settings().max_examples
UNSURE = [End.TRUNCATED, End.ERROR]
SURE = [End.COMPLETE, End.TOOL_CALL]


def _named(rule: str, digest: str) -> str:
    return f"<{rule}>"


def plain(*rules: Rule, limit: int = 256) -> Redactor:
    """A redactor whose placeholders are easy to read."""
    return Redactor(rules, placeholder=_named, limit=limit)


def streamed(
    t: Redactor, text: str, places: Sequence[int] = (), end: End = End.COMPLETE
) -> tuple[str, list[Finding]]:
    findings: list[Finding] = []
    session = t.session(on_finding=findings.append)
    edges = [0, *places, len(text)]
    out = "".join(session.feed(text[start:stop]) for start, stop in pairwise(edges))
    return out + session.flush(end), findings


def every_way(t: Redactor, text: str, end: End = End.COMPLETE) -> list[tuple[str, list[Finding]]]:
    cuts: list[Sequence[int]] = [[], range(len(text) + 1), *([place] for place in range(len(text) + 1))]
    return [streamed(t, text, places, end) for places in cuts]


def _even(value: str) -> bool:
    return len(value) % 2 == 0


def _short(value: str) -> bool:
    return len(value) < 6


def _has_a(value: str) -> bool:
    return "a" in value


def _without_bracket(value: str) -> bool:
    return "[" not in value


def _never(value: str) -> bool:
    return False


KEY = Rule("key", "sk-[a-z0-9]{8,}")
PIN = Rule("pin", "[0-9]{4}", context="pin[=:] ?")
WORD = Rule("word", r"[a-z]{4,}(?![a-z0-9-])", context="word=", checks=(_even,))
RULES = (KEY, PIN, WORD)

# -- what is replaced -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("nothing to see", "nothing to see"),
        ("", ""),
        ("use sk-abcdefgh123 now", "use <key> now"),
        ("sk-abcdefg", "sk-abcdefg"),
        ("pin=1234, pin: 5678, 9999", "pin=<pin>, pin: <pin>, 9999"),
        ("word=abcd word=abcde", "word=<word> word=abcde"),
        ("sk-aaaaaaaask-bbbbbbbb", "<key>-bbbbbbbb"),
        ("pin=12345678", "pin=<pin>5678"),
        ("xsk-aaaaaaaa\npin=1234", "x<key>\npin=<pin>"),
    ],
)
def test_values_are_replaced_and_nothing_else(text: str, outcome: str) -> None:
    for out, _ in every_way(plain(*RULES), text):
        assert out == outcome


def test_a_placeholder_names_the_rule_and_carries_the_digest_of_the_value() -> None:
    value = "sk-abcdefgh123"
    expected = hashlib.sha256(value.encode()).hexdigest()[:8]
    for out, _ in every_way(Redactor([KEY]), f"use {value}!"):
        assert out == f"use [REDACTED:key:{expected}]!"


def test_with_a_key_the_digest_is_that_of_an_hmac() -> None:
    value = "sk-abcdefgh123"
    expected = hmac.new(b"pepper", value.encode(), "sha256").hexdigest()[:8]
    assert Redactor([KEY], key=b"pepper").scrub(value) == f"[REDACTED:key:{expected}]"


def test_a_rule_that_is_not_hashed_has_no_digest_but_under_a_key() -> None:
    mail = Rule("mail", "[a-z]+@[a-z]+", hashed=False)
    assert Redactor([mail]).scrub("to a@b") == "to [REDACTED:mail]"
    keyed = Redactor([mail], key=b"k")
    assert keyed.scrub("to a@b") == f"to [REDACTED:mail:{digest('a@b', b'k')}]"


def test_equal_values_have_equal_placeholders_however_they_are_cut() -> None:
    text = "sk-aaaaaaaa sk-aaaaaaaab sk-aaaaaaaa"
    one, other, again = Redactor([KEY]).scrub(text).split()
    assert one == again != other
    assert {out for out, _ in every_way(Redactor([KEY]), text)} == {f"{one} {other} {again}"}


def test_another_placeholder_is_made_of_the_id_and_the_digest() -> None:
    t = Redactor([KEY, Rule("b", "bb", hashed=False)], placeholder=lambda rule, digest: f"({rule}|{digest})")
    assert t.scrub("sk-abcdefgh bb") == f"(key|{digest('sk-abcdefgh')}) (b|)"


def test_a_placeholder_may_be_empty() -> None:
    t = Redactor([KEY, Rule("b", "^b")], placeholder=lambda rule, digest: "")
    assert {out for out, _ in every_way(t, "sk-abcdefgh b")} == {" b"}


def test_after_a_value_contexts_begin_anew_and_the_placeholder_stands_before() -> None:
    t = plain(Rule("a", "a"), Rule("b", "b", context="xa?"), Rule("c", "(?<=>)c"), Rule("d", r"\bd"))
    assert t.scrub("xb xab aac ad a d") == "x<b> x<a>b <a><a><c> <a><d> <a> <d>"


def test_halves_of_surrogate_pairs_are_text_like_any_other() -> None:
    t = Redactor([Rule("quoted", '[^"]{3,}', context='key="')])
    value = "ab\ud800c\udfffd"
    text = f'key="{value}"\ud800'
    outcome = f'key="[REDACTED:quoted:{digest(value)}]"\ud800'
    assert {out for out, _ in every_way(t, text)} == {outcome}
    assert t.scrub("." * 300 + text) == "." * 300 + outcome


def test_checks_are_asked_once_and_all_of_them_have_to_agree() -> None:
    asked: list[str] = []

    def note(value: str) -> bool:
        asked.append(value)
        return True

    t = plain(Rule("word", r"[a-z]{2,9}\b", context="=", checks=(note, _even)))
    for places in ([], range(12)):
        asked.clear()
        assert streamed(t, "=abcd =abc =x", places)[0] == "=<word> =abc =x"
        assert asked == ["abcd", "abc"]


def test_what_a_check_refuses_another_rule_may_take() -> None:
    t = plain(Rule("a", "[a-z]{4,}[0-9]*", context="=", checks=(_never,)), Rule("b", "[a-z]{2}[0-9]+"))
    assert {out for out, _ in every_way(t, "=abcd12")} == {"=ab<b>"}


def test_rules_without_checks_come_before_rules_with() -> None:
    t = plain(Rule("checked", "[a-z0-9]{4,}", checks=(_even,)), Rule("plain", "[a-z]{3}"))
    assert {out for out, _ in every_way(t, "abcd1234")} == {"<plain>d1234"}


def test_the_order_of_the_rules_decides_between_equals() -> None:
    one, other = Rule("one", "ab+"), Rule("other", "[ab]+")
    assert plain(one, other).scrub("abb") == "<one>"
    assert plain(other, one).scrub("abb") == "<other>"
    assert plain(other, one).scrub("abba") == plain(one, other).scrub("abba") == "<other>"


# -- the end ------------------------------------------------------------------------------


@pytest.mark.parametrize("end", SURE)
def test_at_a_regular_end_a_half_received_secret_is_shown(end: End) -> None:
    for text in ("use sk-abc", "pin=12", "word=abcde", "sk-"):
        for out, findings in every_way(plain(*RULES), text, end):
            assert (out, findings) == (text, [])


@pytest.mark.parametrize("end", UNSURE)
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("use sk-abc", "use "),
        ("pin=12", "pin="),
        ("word=abc", "word="),
        ("use sk-", "use sk-"),
        ("a s", "a s"),
    ],
)
def test_when_the_stream_was_cut_off_a_half_received_secret_is_dropped(
    text: str, shown: str, end: End
) -> None:
    length = len(text) - len(shown)
    for out, findings in every_way(plain(*RULES), text, end):
        assert out == shown
        dropped = Finding("redactor", "half-received", "dropped", len(shown), length)
        assert findings == ([dropped] if length else [])


@pytest.mark.parametrize("end", list(End))
def test_a_value_that_is_certain_is_replaced_whatever_the_end(end: End) -> None:
    for out, findings in every_way(plain(*RULES), "use sk-abcdefgh", end):
        assert out == "use <key>"
        assert findings == [Finding("redactor", "key", "redacted", 4, 11)]


@pytest.mark.parametrize("end", UNSURE)
def test_a_value_that_its_check_takes_at_the_cut_is_replaced(end: End) -> None:
    assert {out for out, _ in every_way(plain(*RULES), "word=abcd", end)} == {"word=<word>"}


@pytest.mark.parametrize("end", UNSURE)
def test_what_may_be_the_rest_of_a_value_is_dropped_with_it(end: End) -> None:
    block = Rule("block", "BEGIN(?:[^;]*;END)?")
    for out, findings in every_way(plain(block), "a BEGINabc;EN", end):
        assert out == "a <block>"
        assert findings == [
            Finding("redactor", "block", "redacted", 2, 5),
            Finding("redactor", "half-received", "dropped", 7, 6),
        ]
    assert plain(block).scrub("a BEGINabc;EN") == "a <block>abc;EN"


@pytest.mark.parametrize("end", UNSURE)
def test_a_value_inside_a_half_received_one_does_not_bring_its_beginning_to_light(end: End) -> None:
    number = Rule("number", r"[0-9]{4}\b")
    for out, findings in every_way(plain(KEY, number), "x sk-abc1234", end):
        assert out == "x "
        assert findings == [Finding("redactor", "half-received", "dropped", 2, 10)]
    assert plain(KEY, number).scrub("x sk-abc1234") == "x sk-abc<number>"


@pytest.mark.parametrize("end", UNSURE)
def test_values_before_a_half_received_one_are_replaced(end: End) -> None:
    for out, findings in every_way(plain(*RULES), "pin=1234 sk-abcdefgh sk-ab", end):
        assert out == "pin=<pin> <key> "
        assert [(finding.rule, finding.offset) for finding in findings] == [
            ("pin", 4),
            ("key", 9),
            ("half-received", 21),
        ]


# -- findings --------------------------------------------------------------------------------


def test_findings_say_what_was_replaced_where_in_the_input() -> None:
    text = "é pin=1234 sk-abcdefgh, word=abcd pin: 9876 sk-" + "z" * 400
    expected = [
        Finding("redactor", "pin", "redacted", 6, 4),
        Finding("redactor", "key", "redacted", 11, 11),
        Finding("redactor", "word", "redacted", 29, 4),
        Finding("redactor", "pin", "redacted", 39, 4),
        Finding("redactor", "key", "redacted", 44, 403),
    ]
    for places in [[], range(len(text)), range(0, len(text), 7), *([place] for place in range(60))]:
        out, findings = streamed(Redactor(RULES), text, places)
        assert findings == expected
        assert out == Redactor(RULES).scrub(text)
    assert [text[found.offset :][: found.length] for found in expected[:2]] == ["1234", "sk-abcdefgh"]


def test_a_finding_is_told_as_soon_as_its_value_has_ended() -> None:
    findings: list[Finding] = []
    session = Redactor(RULES).session(on_finding=findings.append)
    session.feed("pin=123")
    assert not findings
    session.feed("4")
    assert len(findings) == 1
    session.feed(" sk-abcdefgh")
    assert len(findings) == 1
    session.feed("!")
    assert len(findings) == 2


def test_findings_carry_no_text() -> None:
    _, findings = streamed(Redactor(RULES), "pin=1234 sk-abcdefgh word=abcd")
    for finding in findings:
        values = dataclasses.asdict(finding).values()
        assert {type(value) for value in values} == {str, int}
        assert not {"1234", "sk-abcdefgh", "abcd"} & set(map(str, values))


def test_a_handler_that_raises_closes_the_session() -> None:
    def refuse(finding: Finding) -> None:
        raise RuntimeError("full")

    session = Redactor(RULES).session(on_finding=refuse)
    with pytest.raises(RuntimeError, match="full"):
        session.feed("pin=1234 sk-abcdefgh!")
    with pytest.raises(StreamClosedError):
        session.feed("x")


def test_a_check_that_raises_closes_the_session() -> None:
    def broken(value: str) -> bool:
        raise RuntimeError("no table")

    session = plain(Rule("a", "a[0-9]{1,5}", checks=(broken,))).session()
    with pytest.raises(RuntimeError, match="no table"):
        session.feed("a12 ")
    with pytest.raises(StreamClosedError):
        session.flush()


# -- settings ----------------------------------------------------------------------------------


def test_settings_are_compared_and_hashed_by_value_and_cannot_be_changed() -> None:
    one, same, other = Redactor(RULES, key=b"k"), Redactor(list(RULES), key=b"k"), Redactor(RULES)
    assert one == same != other
    assert hash(one) == hash(same)
    assert len({one, same, other}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.limit = 3  # type: ignore[misc]


def test_the_key_is_not_in_the_representation() -> None:
    t = Redactor([KEY], key=b"pepper-0123")
    assert "pepper" not in repr(t)
    assert "pepper" not in str(t)
    assert "sk-" in repr(t)


def test_settings_can_be_pickled() -> None:
    t = Redactor([KEY, PIN], key=b"k", limit=100)
    assert pickle.loads(pickle.dumps(t)) == t  # noqa: S301


def test_without_rules_the_secrets_are_redacted() -> None:
    assert Redactor().rules == SECRETS


def _one(rules: Sequence[Rule], **settings_: object) -> Callable[[], Redactor]:
    return lambda: Redactor(rules, **settings_)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "kind", "reason"),
    [
        (_one([]), ValueError, "at least one"),
        (_one([KEY], key=b""), ValueError, "empty key"),
        (_one([KEY], limit=15), ValueError, "at least 16"),
        (_one([KEY, PIN, Rule("key", "x")]), PatternError, "two rules have the id 'key'"),
        (_one([KEY, Rule("big", "a{260000}")]), PatternError, "rule 'big': .*use smaller repeat counts"),
        (_one([KEY, Rule("a", "ab", anchors=("x",))]), PatternError, "rule 'a': .*anchors"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    make: Callable[[], Redactor], kind: type[Exception], reason: str
) -> None:
    with pytest.raises(kind, match=reason):
        make()


def test_one_redactor_serves_streams_side_by_side() -> None:
    t = plain(*RULES)
    texts = ["pin=1234 sk-abcdefgh.", "sk-sk-sk-aaaaaaaaaaaa", "word=abcd word=abc", "pin=12 pin=1234"]
    sessions = [t.session() for _ in texts]
    outs = ["" for _ in texts]
    for at in range(max(map(len, texts))):
        for number, text in enumerate(texts):
            outs[number] += sessions[number].feed(text[at : at + 1])
    assert [out + session.flush() for out, session in zip(outs, sessions, strict=True)] == list(
        map(t.scrub, texts)
    )


# -- the limit, memory, bounds -------------------------------------------------------------------


@pytest.mark.parametrize("limit", [16, 50])
def test_a_value_undecided_at_the_limit_counts_as_one_and_its_checks_are_not_asked(limit: int) -> None:
    t = plain(Rule("quoted", '[^"]+', context='"', checks=(_never,)), limit=limit)
    for size in (1, limit - 1, limit, limit + 1, 5 * limit):
        text = f'"{"a" * size}" b'
        expected = text if size < limit else '"<quoted>" b'
        assert {out for out, _ in every_way(t, text)} == {expected}


def test_a_value_that_never_ends_is_hashed_while_it_passes() -> None:
    for rule in (KEY, Rule("key", "sk-[^ ]+", checks=(_never,))):
        findings: list[Finding] = []
        session = Redactor([rule]).session(on_finding=findings.append)
        out = session.feed("a sk-")
        for _ in range(2_000):
            out += session.feed("abcdefghij" * 10)
            assert session.pending < 256
        out += session.flush()
        value = "sk-" + "abcdefghij" * 20_000
        assert out == f"a [REDACTED:key:{digest(value)}]"
        assert findings == [Finding("redactor", "key", "redacted", 2, len(value))]


def _own_size(session: object) -> int:
    """Bytes a session reaches that are its own: not its settings, not the automaton."""
    seen: dict[int, object] = {}
    todo = [session]
    while todo:
        part = todo.pop()
        if id(part) in seen or isinstance(part, type | State | Tail | Redactor | Matcher):
            continue
        seen[id(part)] = part
        todo.extend(gc.get_referents(part))
    return sum(map(sys.getsizeof, seen.values()))


@pytest.mark.parametrize(
    ("rule", "begin", "again"),
    [
        (KEY, "sk-", "abcdefghij"),
        (Rule("quoted", '[^"]+', context='"', checks=(_never,)), '"', "abc "),
        (Rule("a", "a(?:[^c]*c)?"), "a", "b"),
        (Rule("a", r"abc\b"), "abc", "[REDACTED:a"),
        (Rule("a", r"abc\b"), "abc", "["),
        (Rule("a", "[^ ]{300}", checks=(_even,)), "", "["),
        (Rule("a", "[^ ]+x", context="=", checks=(_even,)), "=", "a="),
    ],
)
def test_a_session_stays_small_whatever_it_is_fed(rule: Rule, begin: str, again: str) -> None:
    t = Redactor([rule])
    most = max(bound.characters for bound in t.bounds())
    for chunk in (1, 37, 1000):
        session = t.session()
        text = begin + again * (8_000 // len(again))
        for at in range(0, len(text), chunk):
            session.feed(text[at : at + chunk])
            assert session.pending <= most
        assert _own_size(session) < 4096


def test_bounds_are_told_for_every_rule() -> None:
    t = Redactor(
        [Rule("a", "ABCD"), Rule("b", "AB[^ ]{9}C"), Rule("c", "A[^ ]*B", checks=(_even,))], limit=100
    )
    a, b, c = t.bounds()
    assert (a.stage, a.rule, a.policy) == ("redactor", "a", "")
    assert (b.rule, b.policy) == ("b", "")
    assert (c.rule, c.policy) == ("c", "counts as a value after 100 characters")
    assert str(c).endswith("unbounded: counts as a value after 100 characters")


OWN = len("[REDACTED:a:01234567]")
LONGEST = "-".join(["a" * 12 + "12a"] * 4)
ANY = len(f"[REDACTED:{LONGEST}:01234567]")


@pytest.mark.parametrize(
    ("rule", "most", "worst"),
    [
        (Rule("a", "(?<= )X{3}"), 2, " XX"),
        (Rule("a", "@[0-9]{5,}"), 5, "@1234"),
        (Rule("a", "[X-Z]{3}@", context="=", checks=(_even,)), 3 + OWN - 1, "=XYZ"),
        (Rule("a", r"XYZ\b"), 3 + OWN - 1, "XYZ[REDACTED:a:01234567"),
        (Rule("a", "@[^ ]{3}x"), 4 + OWN - 1, "@aa["),
        (Rule("a", "RED"), ANY - 2, f"[REDACTED:{LONGEST}:01234567"),
        (Rule("a", r"RED\b"), ANY - 2 + OWN - 1, "[RED"),
    ],
)
def test_a_bound_is_never_passed_and_reached_where_rules_are_simple(
    rule: Rule, most: int, worst: str
) -> None:
    t = Redactor([rule])
    assert t.bounds() == (Bound("redactor", "a", most),)
    session = t.session()
    held = 0
    for char in worst:
        session.feed(char)
        held = max(held, session.pending)
    assert held <= most
    if "REDACTED" in worst or most < OWN:
        assert held >= most - 1


# -- twice is once ---------------------------------------------------------------------------------

atoms = st.sampled_from(
    [
        "a",
        "r",
        "R",
        "E",
        r"\[",
        r"\]",
        ":",
        "[a-z]",
        "[0-9a-f]",
        "[A-Z]",
        "[^a]",
        ".",
        r"[^\]]",
        r"[^\[]",
        "ab",
        "RE",
        "D:",
        r"\w",
        r"\W",
        "[a-z:]",
        r"\[R",
        r"\[REDACTED",
        r"\S",
        r"\]a",
        r"[0-9a-f]{8}",
        "-",
    ]
)
behind = st.sampled_from(
    [r"\b", r"\B", "(?<=a)", "(?<!b)", r"(?<=\])", r"(?<!\])", r"(?<=[0-9a-f]\])", r"\A", r"(?<![a-z])"]
)
ahead = st.sampled_from(
    ["(?=a)", "(?!b)", r"(?=\Z|c)", r"\b", r"\B", r"(?=\[)", r"(?!\[)", "(?=[a-z])", r"\Z", r"(?![\w\[])"]
)
counts = st.sampled_from(["?", "*", "+", "{2}", "{1,3}", "{2,}"])


def _extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, counts).map(lambda parts: f"(?:{parts[0]}){parts[1]}"),
        st.tuples(behind, inner).map("".join),
        st.tuples(inner, ahead).map("".join),
    )


patterns = st.recursive(atoms, _extend, max_leaves=5)
checks = st.sampled_from([(), (), (), (_even,), (_short,), (_has_a,), (_without_bracket,), (_never,)])


@st.composite
def redactors(draw: st.DrawFn) -> Redactor:
    drawn = draw(st.lists(st.tuples(patterns, st.just("") | patterns, checks), min_size=1, max_size=3))
    try:
        rules = [
            Rule("abr"[number], value, context=context, checks=asked)
            for number, (value, context, asked) in enumerate(drawn)
        ]
        return Redactor(
            rules, limit=draw(st.sampled_from([16, 32, 256])), key=draw(st.sampled_from([None, b"k"]))
        )
    except PatternError:
        assume(False)
        raise


pieces = st.sampled_from(
    [
        "a",
        "b",
        "r",
        "e",
        "[",
        "]",
        ":",
        "R",
        "1",
        "0",
        " ",
        "\n",
        "[REDACTED:",
        "[REDACTED:a]",
        "[RE",
        "ab",
        "aa",
        "[REDACTED:r:0123abcd]",
        "[REDACTED:ab-1:0123abc",
        "fe",
        "x",
    ]
)
texts = st.lists(pieces, max_size=12).map("".join)


@settings(max_examples=5 * EXAMPLES)
@given(redactors(), texts)
@example(Redactor([Rule("a", r"ab\b"), Rule("b", "d+")]), "abdd")
@example(Redactor([Rule("a", r"[a-z]{2,}", checks=(_short,)), Rule("b", "d+")]), "abdddd")
@example(Redactor([Rule("a", r"z\["), Rule("b", "q")]), "zq")
@example(Redactor([Rule("a", "z.{3}"), Rule("b", "q")]), "zq")
@example(Redactor([Rule("a", r"\]x"), Rule("b", "q")]), "qx")
@example(Redactor([Rule("a", "[0-9a-f]{8}"), Rule("b", "q")]), "q")
@example(Redactor([Rule("a", "[a-z]", context="[0-9a-f]+:?"), Rule("b", "q")]), "qx")
@example(Redactor([Rule("a", "E[^x]*x", checks=(_even,)), Rule("b", "q")], limit=16), "E12345qx")
@example(Redactor([Rule("a", r"[^\]]+", checks=(_never,)), Rule("b", r"1\Z")], limit=16), "[REDACTED:a1:01c1")
@example(Redactor([Rule("a", ":"), Rule("b", "[^a]+", checks=(_never,))], limit=16), "[RER[RE[REDACTED:a")
def test_redacting_twice_changes_nothing(t: Redactor, text: str) -> None:
    once = t.scrub(text)
    assert t.scrub(once) == once


@settings(max_examples=3 * EXAMPLES)
@given(redactors(), texts)
@example(Redactor([Rule("a", r"abc\b")]), "abc" + "[" * 100)
@example(Redactor([Rule("a", r"[\[a]{3,}(?!x)")], limit=16), "aaa" + "[" * 100)
@example(Redactor([Rule("a", r"[^ ]{3,}", checks=(_never,))], limit=16), "aaa" + "[REDACTED:a" * 9)
def test_whatever_the_cuts_the_outcome_is_the_same_and_the_bounds_hold(t: Redactor, text: str) -> None:
    whole, findings = streamed(t, text)
    most = max(bound.characters for bound in t.bounds())
    for chunk in (1, 3):
        session = t.session(on_finding=(told := list[Finding]()).append)
        out = ""
        for at in range(0, len(text), chunk):
            out += session.feed(text[at : at + chunk])
            assert whole.startswith(out)
            assert session.pending <= most
        assert out + session.flush() == whole
        assert told == findings


@settings(max_examples=2 * EXAMPLES)
@given(redactors(), texts, st.sampled_from(UNSURE))
def test_a_cut_off_stream_shows_a_beginning_of_what_a_whole_one_shows(
    t: Redactor, text: str, end: End
) -> None:
    whole = t.scrub(text)
    for places in ([], range(len(text) + 1)):
        out, findings = streamed(t, text, places, end)
        assert whole.startswith(out)
        assert out == whole or findings[-1].rule == "half-received"


@pytest.mark.parametrize("text", ["[REDACTED:a]", "[REDACTED:a:0123abcd]", f"[REDACTED:{LONGEST}:01234567]"])
@pytest.mark.parametrize(
    "value", [".+", r"[^ ]+(?= |\Z)", "[A-Z:]+", r"\[[^ ]+", r"[^ ]+\]", "[0-9a-f]{8}", "[a-z]+"]
)
def test_a_placeholder_is_left_alone(text: str, value: str) -> None:
    t = Redactor([Rule("x", value)])
    assert t.scrub(text) == text


def test_what_is_no_placeholder_is_not_left_alone() -> None:
    t = plain(Rule("x", r"\[[^ ]+(?= |\Z)"))
    for text in ("[REDACTED:a", "[REDACTED:a:0123abcdef]", "[REDACTED]", "[REDACTED:A]"):
        assert {out for out, _ in every_way(t, text)} == {"<x>"}


def test_a_value_before_and_after_a_placeholder_is_replaced() -> None:
    t = Redactor([KEY])
    mark = f"[REDACTED:key:{digest('sk-abcdefgh')}]"
    text = "sk-abcdefgh[REDACTED:a]sk-abcdefgh [REDACTED:a:01234567]"
    assert t.scrub(text) == f"{mark}[REDACTED:a]{mark} [REDACTED:a:01234567]"


TOKEN = Rule("token", r"(?<![A-Z0-9])AKIA[A-Z0-9]{8}(?![A-Z0-9])")
PASSWORD = Rule("password", r"[^\s]{6,}", context="password=", checks=(_even,))


@pytest.mark.parametrize(
    "forged", ["[REDACTED:x]", "[REDACTED:token:01234567]", "[REDACTED:password:01234567]"]
)
def test_a_placeholder_written_behind_a_value_does_not_protect_it(forged: str) -> None:
    """No value of these rules could have stood there, so it is none of this redactor's."""
    t = plain(TOKEN, PASSWORD)
    assert {out for out, _ in every_way(t, f"AKIACANARY12{forged}.")} == {f"<token>{forged}."}
    filler = "a" * (len(forged) % 2)
    assert {out for out, _ in every_way(t, f"password=hunter22{forged}{filler} x")} == {
        "password=<password> x"
    }


def test_a_placeholder_where_a_value_could_have_stood_is_not_run_into() -> None:
    t = Redactor([TOKEN, PASSWORD, Rule("digits", "[0-9]{3}")])
    for text in ("AKIACANARYXX123", "password=hunter123"):
        once = t.scrub(text)
        assert once.endswith(f"[REDACTED:digits:{digest('123')}]")
        assert t.scrub(once) == once
    assert t.scrub("AKIACANARYXX[REDACTED:digits:01234567]") == "AKIACANARYXX[REDACTED:digits:01234567]"


def test_a_checked_value_that_was_over_before_a_placeholder_is_replaced() -> None:
    """Even where it stands inside something longer that runs into the placeholder."""
    rules = (Rule("quoted", '"[^"]{3,60}"', checks=(_never,)), Rule("number", "[0-9]{4,6}", checks=(_even,)))
    text = '"1234 and [REDACTED:a] and "'
    for out, _ in every_way(Redactor(rules), text):
        assert out == f'"[REDACTED:number:{digest("1234")}] and [REDACTED:a] and "'


# -- the work ------------------------------------------------------------------------------------------

SECRET = Rule("word", r"[^\s=]{4,}", context=r"password\s*=\s*", checks=(_never,))
FLOODS: dict[str, tuple[Rule, str, str]] = {
    "prose": (KEY, "", "The quick brown fox. "),
    "anchors": (KEY, "", "sk-"),
    "beginnings": (KEY, "", "sk-abcdefg."),
    "values": (KEY, "", "sk-abcdefgh."),
    "values in a row": (PIN, "", "pin=1234"),
    "an endless value": (KEY, "sk-", "abcd"),
    "refused values in a row": (SECRET, "", "password="),
    "refused values that go on": (Rule("a", "[^ ]{4,}", context="=", checks=(_never,)), "", "word="),
    "a value that may go on": (Rule("a", "a(?:[^c]*c)?"), "a", "b"),
    "beginnings of placeholders": (Rule("a", r"abc\b"), "", "abc["),
    "placeholders that break off": (Rule("a", r"abc\b"), "", "abc[REDACTED:abc"),
    "placeholders": (Rule("a", r"[^ ]{3,9}\b"), "", "ab[REDACTED:a]"),
    "contexts": (Rule("a", "[0-9]{4}", context="[a-z=]+"), "", "ab="),
    "a decision every few characters": (Rule("a", "a[0-9]"), "", "a1b"),
}


@pytest.mark.parametrize("name", FLOODS)
def test_the_work_grows_as_the_text_does(name: str) -> None:
    rule, begin, again = FLOODS[name]
    check_linear(Redactor([rule], limit=32), lambda size: begin + again * (size // len(again)), (1000, 3000))


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


@pytest.mark.parametrize("chunk", [1, SHORT, SHORT + 1, 10**6])
@pytest.mark.parametrize("name", FLOODS)
def test_a_character_is_read_a_few_times_at_most(name: str, chunk: int, steps: list[int]) -> None:
    rule, begin, again = FLOODS[name]
    text = begin + again * (6_000 // len(again))
    session = Redactor([rule], limit=32).session()
    for at in range(0, len(text), chunk):
        session.feed(text[at : at + chunk])
    session.flush()
    assert steps[0] <= 3 * len(text) + 500


def test_text_without_anchors_is_not_read_character_by_character(steps: list[int]) -> None:
    text = "The quick brown fox jumps over the lazy dog. " * 500
    assert Redactor(RULES).scrub(text) == text
    assert steps[0] < len(text) / 20


@pytest.mark.parametrize("chunk", [1, 4, 1000])
@pytest.mark.parametrize(
    "address",
    [
        "postgres://{token}:{password}@db.example.com/app",
        "smtp://{token}:{password}@mail.example.com",
        "https://{token}:{password}@git.example.com/x.git, and so on",
    ],
)
def test_a_password_is_found_behind_a_name_that_was_redacted(address: str, chunk: int) -> None:
    token, password = "0f2c1e7726876845" * 2, "Xk7pQ2z" + "LmB9w"
    text = address.format(token=token, password=password)
    shown = "".join(Redactor().transform_sync(text[at : at + chunk] for at in range(0, len(text), chunk)))
    assert token not in shown
    assert password not in shown
    assert shown == Redactor().scrub(text) == Redactor().scrub(shown)
    kept = Redactor(allow=[token]).scrub(text)
    assert token in kept
    assert password not in kept
    known = Redactor.literals({"DB_USER": token}) | Redactor()
    assert password not in known.scrub(text)


@pytest.mark.parametrize("mark", ["[REDACTED:{}]", "[REDACTED:{}:0123abcd]"])
def test_a_key_in_the_place_of_a_rules_id_makes_no_placeholder(mark: str) -> None:
    key = "sk-" + "a1b2c3d4" * 4
    assert key not in Redactor().scrub(mark.format(key))
    assert Redactor().scrub(mark.format("some-rule2")) == mark.format("some-rule2")


def test_every_rules_placeholder_is_taken_for_one_whatever_the_rules() -> None:
    for rule in (*SECRETS, *PII):
        assert re.fullmatch(PLACEHOLDER, f"[REDACTED:{rule.id}]")
