"""Every option of FenceScrubber by what it does, and what it refuses."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from functools import partial
from typing import Any

import pytest

from streamguard import (
    MEMORY,
    REASONING,
    Bound,
    End,
    Fence,
    FenceScrubber,
    Finding,
    LimitExceededError,
    PatternError,
    Redactor,
    StreamClosedError,
)
from streamguard.fence.plan import MAX_ATTRIBUTES
from streamguard.testing import every_cut

Reported = tuple[str, str, int, int]


def scrubbed(guard: FenceScrubber, chunks: list[str], end: End = End.COMPLETE) -> str:
    session = guard.session()
    return "".join(map(session.feed, chunks)) + session.flush(end)


def check(text: str, wanted: str, *fences: str | Fence, end: End = End.COMPLETE, **options: Any) -> None:
    guard = FenceScrubber(*fences or ("t",), **options)
    for chunks in every_cut(text):
        assert scrubbed(guard, chunks, end) == wanted, chunks


def findings(guard: FenceScrubber, chunks: list[str]) -> list[Reported]:
    found: list[Finding] = []
    session = guard.session(on_finding=found.append)
    for chunk in chunks:
        session.feed(chunk)
    session.flush()
    assert {finding.stage for finding in found} <= {"fence"}
    return [(finding.rule, finding.action, finding.offset, finding.length) for finding in found]


def hidden(guard: FenceScrubber, chunks: list[str], end: End = End.COMPLETE) -> list[tuple[str, str]]:
    """What was handed on, pieces of one block joined."""
    pieces: list[tuple[str, str]] = []

    def collect(name: str, text: str) -> None:
        assert text
        if pieces and pieces[-1][0] == name:
            pieces[-1] = (name, pieces[-1][1] + text)
        else:
            pieces.append((name, text))

    session = guard.session(on_hidden=collect)
    for chunk in chunks:
        session.feed(chunk)
    session.flush(end)
    return pieces


# -- matching -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a<t>b</t>c", "ac"),
        ("<t></t>", ""),
        ("a<T>b</t>c<t>d</T>e", "ace"),
        ("a<t>b</u>c</t>d", "ad"),
        ("<t>a</t><t>b</t>", ""),
        ("a<t>b", "a"),
        ("<<t>a</t>>", "<>"),
        ("a </t>  b", "a b"),
        ("a</t>\n b", "a\n b"),
        ("", ""),
    ],
)
def test_blocks_go_with_their_tags(text: str, wanted: str) -> None:
    check(text, wanted)


def test_the_leftmost_block_wins_whatever_its_fence() -> None:
    check("a<t>b<u>c</t>d</u>e", "ade", "t", "u")
    check("a<u>b<t>c</u>d</t>e", "ade", "t", "u")


def test_the_longest_delimiter_wins() -> None:
    fence = Fence(["<a", "<a|b"], ["c>", "c>>"], name="z")
    check("x<a|by c>> d", "x d", fence)
    assert hidden(FenceScrubber(fence), ["x<a|by c>> d"]) == [("z", "y ")]


def test_matching_is_done_on_the_output() -> None:
    check("<<t>a</t>t>SEC</t>b", "<b")
    check("<t<t>a</t>>SEC</t>b", "<tb")
    check("[<t>a</t>[SEC]]b", "[b", "t", Fence("[[", "]]"))
    check("<t<t>a</t> b", "<t b")


def test_what_stood_on_the_sides_of_two_blocks_far_apart_makes_no_tag() -> None:
    check("[</[[x]]System note:", "[</System note:", "t", Fence("[[", "]]"))
    check("[</[[[b", "[</[b", "t", Fence("[[", "]]"), max_block=0, on_limit="release")


def test_a_single_opener_of_several_characters_is_recognised_in_pieces() -> None:
    check("a<<<SEC>>>b", "ab", Fence("<<<", ">>>"), orphan_close="keep")
    check("a<< <b", "a<< <b", Fence("<<<", ">>>"), orphan_close="keep")
    check("xa<SEC>b", "b", Fence("xa<", ">"), orphan_close="keep")
    check("x<a>y", "x<a>y", Fence(r"\A<a>", "</a>", patterns=True), orphan_close="keep")
    check("<a>y</a>z", "z", Fence(r"\A<a>", "</a>", patterns=True), orphan_close="keep")


def test_fences_are_recognised_in_any_case_and_folding_moves_no_offset() -> None:
    check("İa[t]İ[/T]b", "İab", Fence("[T]", "[/T]"))
    assert findings(FenceScrubber("t"), ["İİ<T>İ</t>"]) == [("t", "hidden", 2, 8)]


def test_patterns_keep_the_case_they_are_given_in() -> None:
    check("a[T1]b[/T]c[t2]", "ac[t2]", Fence(r"\[T\d\]", r"\[/T\]", patterns=True))


# -- where --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<t>\na\n</t>\nb", "\nb"),
        ("<t>\r\na\r\n</t>\r\nb", "\r\nb"),
        ("a\n \t<t>\nb</t>c", "a\n \tc"),
        ("a <t>\nb</t>c", "a <t>\nb</t>c"),
        ("<t>a</t>", "<t>a</t>"),
        ("<t> \t\na</t>b", "b"),
        ("<t>\u200b\na</t>b", "b"),
        ("\ufeff<t>\na</t>b", "\ufeffb"),
        ("<t>", "<t>"),
        ("<t>\na", ""),
        ("a</t>b\n</t> c", "a</t>b\nc"),
        ("<t/>\na <t/>\nb", "\na <t/>\nb"),
        ("a <t>\n[System note: b]\n</t>c", "a c"),
        ("a <t>\n[System", "a <t>\n[System"),
        ("a <t/>\n[System note: b", "a \n[System note: b"),
        ("<t>\n<t>\na</t>\n</t>b", "b"),
        ("<t>\na <t> b</t>c", "c"),
        (" " * 200 + "<t>\na</t>b", " " * 200 + "b"),
    ],
)
def test_line_start(text: str, wanted: str) -> None:
    check(text, wanted, where="line_start")


def test_line_start_holds_a_tag_until_the_line_breaks() -> None:
    session = FenceScrubber("t", where="line_start").session()
    assert session.feed("<t>") == ""
    assert session.pending == 3
    assert session.feed("a") == "<t>a"


def test_a_system_note_is_a_part_of_the_block() -> None:
    guard = FenceScrubber("t", where="line_start")
    for chunks in every_cut("a <t>\n[System note: b]</t>c"):
        assert hidden(guard, chunks) == [("t", "\n[System note: b]")]
        assert findings(guard, chunks) == [("t", "hidden", 2, 24)]


def test_a_tag_put_together_before_a_system_note_opens_a_block() -> None:
    check("a <t<t>\n[System note:b</t>>\n[System note:SEC</t>c", "a <tc", where="line_start")
    check(
        "<|a<|a\n[System note:b",
        "<|ab",
        Fence("<|a", "|>"),
        where="line_start",
        max_block=0,
        on_limit="release",
    )


# -- attributes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<t a='b'>SEC</t>c", "c"),
        ("<t\n\ta\n>SEC</t\n>c", "c"),
        ("<t>SEC</t a>c", "c"),
        ("<t>SEC</  t>c", "c"),
        ("<t>SEC</   t>c", ""),
        ("< t>a", "< t>a"),
        ("<t/a>b", "<t/a>b"),
        ("<t/>a<t />b<t a/>c", "abc"),
        ("<t/ >a", "a"),
        ("<t a<t>SEC</t>c", "<t ac"),
        ("<\u200b\u200b\u200b\u200bt>SEC</t>c", "c"),
        ("<\u200b\u200b\u200b\u200b\u200bt>a", "<\u200b\u200b\u200b\u200b\u200bt>a"),
        ("<t " + "a" * MAX_ATTRIBUTES + ">SEC</t>c", "c"),
        ("<t " + "a" * MAX_ATTRIBUTES + "a>b", "<t " + "a" * MAX_ATTRIBUTES + "a>b"),
        ("a<t> <t/> </t>c", "ac"),
    ],
)
def test_attributes_and_white_space(text: str, wanted: str) -> None:
    check(text, wanted)


@pytest.mark.parametrize("text", ["<t >", "<t a>", "</ t>", "</t >", "<t\u200b>", "<t a/>", "<t />"])
def test_without_attributes_a_tag_is_nothing_but_its_name(text: str) -> None:
    check(f"a{text}b", f"a{text}b", attributes=False)
    check("a<t>b</t>c<t/>d", "acd", attributes=False)


# -- nested -------------------------------------------------------------------------------


def test_nested_blocks_are_counted() -> None:
    check("<t>a<t>b</t>SEC</t>c", "c")
    check("<t>a<t>b</t>SEC", "")
    check("<t>a<u>b</t>c", "c", "t", "u")


def test_nested_blocks_are_not_counted_if_told_so() -> None:
    check("<t>a<t>b</t>c</t>d", "cd", nested=False)
    check("[[a[[b]]c]]d", "cd", Fence("[[", "]]", nests=False))
    check("[[a[[b]]c]]d", "d", Fence("[[", "]]"))


# -- orphan_close -------------------------------------------------------------------------


def test_an_orphan_goes_with_the_blanks_after_it_where_one_stands_before_it() -> None:
    check("a </t> \t b</t>\nc", "a b\nc")
    check("</t>  a\n</t> b", "a\nb")
    check("a </t>" + " " * 20 + "b", "a" + " " * 5 + "b")
    check("a</t>  b<t>c</t></t> d", "a  b d")
    secret = "ghp_" + "Canary12" * 4 + "Can1"
    assert secret not in (FenceScrubber("t") | Redactor()).scrub(f"Your key</t> {secret}")


def test_an_orphan_may_stay() -> None:
    check("a</t> b<t>c</t>d</t>", "a</t> bd</t>", orphan_close="keep")


def test_orphans_are_dropped_by_fence() -> None:
    check("a</t>b]]c</u>", "abc</u>", "t", Fence("[[", "]]"))


# -- unclosed -----------------------------------------------------------------------------


def test_an_unclosed_block_is_hidden() -> None:
    for end in End:
        check("a<t>b", "a", end=end)


def test_half_a_tag_is_shown_however_the_stream_ended() -> None:
    for end in End:
        check("a <t", "a <t", end=end)


def test_an_unclosed_block_may_be_shown_at_the_end() -> None:
    for end in (End.COMPLETE, End.TOOL_CALL):
        check("a<t>b", "a<t>b", unclosed="keep", end=end)
    check("a<t>b</t>c<t>d", "ac<t>d", unclosed="keep")


def test_what_was_cut_off_is_no_unclosed_block() -> None:
    for end in (End.TRUNCATED, End.ERROR):
        check("a<t>b", "a", unclosed="keep", end=end)
        check("a<t>b</", "a", unclosed="keep", max_block=2, on_limit="release", end=end)


def test_what_is_shown_at_the_end_is_scrubbed_of_other_blocks() -> None:
    check("a<t>b<u>SEC</u>c</t>d<t>e<u>f", "ad<t>e<u>f", "t", "u", unclosed="keep")
    check("a<t>b<u>SEC</u>c", "a<t>bc", "t", "u", unclosed="keep")
    check("a<t>b<memory-context>SEC", "a<t>b", "t", *MEMORY, unclosed="keep")


def test_openers_in_what_is_shown_are_text() -> None:
    check("a<t>b<t>c</t>d", "a<t>b<t>cd", unclosed="keep")
    check("a<t>b<t>c", "a<t>b<t>c", unclosed="keep")


def test_private_fences_are_never_shown() -> None:
    check("a[[b", "a", Fence("[[", "]]", private=True), unclosed="keep")
    check("a<memory-context>b", "a", *MEMORY, unclosed="keep")


def test_a_block_too_long_to_keep_is_hidden() -> None:
    text = "a<t>" + "b" * 65_537
    assert FenceScrubber("t", unclosed="keep").scrub(text[:-1]) == text[:-1]
    assert FenceScrubber("t", unclosed="keep").scrub(text) == "a"
    check("a<t>bcd", "a<t>bcd", unclosed="keep", max_block=3)
    check("a<t>bcde", "a", unclosed="keep", max_block=3)
    check("a<t>", "a<t>", unclosed="keep", max_block=0)


def test_what_is_kept_counts_as_held() -> None:
    session = FenceScrubber("t", unclosed="keep").session()
    assert session.feed("a<t>bc") == "a"
    assert session.pending == 5
    assert session.feed("d</") == ""
    assert session.pending == 8
    assert session.feed("t>") == ""
    assert session.pending == 0


# -- start_inside -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a</t>b", "b"),
        ("a", ""),
        ("a<t>b</t>c</t>d", "d"),
        ("a</t>b<t>c</t>d", "bd"),
    ],
)
def test_a_stream_may_start_inside_a_block(text: str, wanted: str) -> None:
    check(text, wanted, start_inside="t")
    check(text, wanted, start_inside="t", unclosed="keep")


def test_the_block_a_stream_starts_in_is_reported_from_its_start() -> None:
    guard = FenceScrubber("t", Fence("[[", "]]", name="z"), start_inside="z")
    for chunks in every_cut("ab]]c"):
        assert findings(guard, chunks) == [("z", "hidden", 0, 4)]
        assert hidden(guard, chunks) == [("z", "ab")]


# -- code ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("`<t>` <t>SEC</t>`a`", "`<t>` `a`"),
        ("`a <t>b</t> c`", "`a <t>b</t> c`"),
        ("``<t>` <t>``b", "``<t>` <t>``b"),
        ("```<t>``` b", "```<t>``` b"),
        ("a ` <t>SEC</t>b", "a ` b"),
        ("a ` <t>SEC</t>\n`", "a ` \n`"),
        ("`` ` <t>SEC</t>b", "`` ` b"),
        ("````<t>SEC</t>````", "````````"),
        ("```\n<t>\n```\n<t>SEC</t>b", "```\n<t>\n```\nb"),
        ("```py x\n<t>\n```", "```py x\n<t>\n```"),
        ("   ~~~\n<t>\n   ~~~~  \n<t>SEC", "   ~~~\n<t>\n   ~~~~  \n"),
        ("    ```\n<t>SEC", "    ```\n"),
        ("a ```\n<t>SEC", "a ```\n"),
        ("```\n<t>\n~~~\n<t>\n``` a\n<t>\n", "```\n<t>\n~~~\n<t>\n``` a\n<t>\n"),
        ("`````\n```\n<t>\n`````\n<t>SEC", "`````\n```\n<t>\n`````\n"),
        ("``` a`b\n<t>SEC", "``` a`b\n"),
        ("<t>`</t>`b", "`b"),
        ("<t>\n```\n</t>b", "b"),
        ("```\n", "```\n"),
        ("```\n```<t>", "```\n```<t>"),
        ("`<t/>`<t/>`", "`<t/>``"),
    ],
)
def test_tags_in_markdown_code_are_text(text: str, wanted: str) -> None:
    check(text, wanted, code=True)


def test_a_tag_after_a_backtick_is_held_until_the_line_or_the_limit_ends() -> None:
    session = FenceScrubber("t", code=True).session()
    assert session.feed("a `b <t>") == "a `b "
    assert session.feed(" c") == ""
    assert session.feed("` d") == "<t> c` d"
    session = FenceScrubber("t", code=True).session()
    assert session.feed("`<t>" + "a" * 600) == "`"
    assert session.pending == 0


def test_without_code_a_backtick_means_nothing() -> None:
    check("`<t>`</t>b", "`b")


# -- escaped ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "a&lt;t&gt;SEC&lt;/t&gt;b",
        "a&LT;T&GT;SEC&LT;/T&GT;b",
        "a&#60;t&#62;SEC&#60;&#47;t&#62;b",
        "a&#x3c;t&#x3E;SEC&#X003C;&#x2f;t&#x3e;b",
        "a&#00060;t&#062;SEC</t>b",
        r"a\u003ct\u003eSEC\u003C/t\u003Eb",
        r"a\u003ct\u003eSEC\u003c\/t\u003eb",
        "a＜t＞SEC＜/t＞b",
        "a＜ｔ＞SEC＜／Ｔ＞b",
        "a&lt;t a=&quot;b&quot; c=1&gt;SEC</t a&gt;b",
        r"a\u003ct a=\"b\"\u003eSEC\u003c/t\u003eb",
        "a<t a&gt;SEC</t>b",
        "a&lt;t/&gt;b",
        "a&lt;/t&gt;b",
    ],
)
def test_escaped_tags_are_tags_if_told_so(text: str) -> None:
    check(text, "ab", escaped=True)
    if "<" not in text:
        check(text, text)


def test_escaped_is_once_and_in_these_forms() -> None:
    for text in ("&amp;lt;t&amp;gt;a", "%3Ct%3Ea", r"\x3ct\x3ea", "&lt;tt&gt;", "a &lt; b", "&lt"):
        check(text, text, escaped=True)


# -- max_block, on_limit ------------------------------------------------------------------


def test_a_limit_that_drops_changes_nothing() -> None:
    check("a<t>bcdef</t>g", "ag", max_block=3)
    check("a<t>bcdef", "a", max_block=3)


def test_a_limit_that_releases_shows_what_follows() -> None:
    check("a<t>bcd</t>e", "ae", max_block=3, on_limit="release")
    check("a<t>bcde</t>f", "aef", max_block=3, on_limit="release")
    check("a<t>bcde", "ae", max_block=3, on_limit="release")
    check("a<t>b", "ab", max_block=0, on_limit="release")
    check("a<t></t>b", "ab", max_block=0, on_limit="release")
    check("a<t>bcd</", "a/", max_block=4, on_limit="release")
    check("a<t>b<t>cd</t>e", "at>cde", max_block=2, on_limit="release")
    check("abcde</t>f", "def", max_block=3, on_limit="release", start_inside="t")


def test_what_is_released_is_scrubbed() -> None:
    options = {"max_block": 3, "on_limit": "release"}
    check("<t>abcd[[e]]f<t>g</t>h</t>i", "dfhi", "t", Fence("[[", "]]"), **options)


def test_kept_and_released_is_shown_from_the_opener_on() -> None:
    check("a<t>bcde</t>f", "a<t>bcdef", unclosed="keep", max_block=3, on_limit="release")
    check("a<t>bcd</t>f", "af", unclosed="keep", max_block=3, on_limit="release")
    check("a<t>b<u>c</u>d</t>e", "a<t>bde", "t", "u", unclosed="keep", max_block=8, on_limit="release")


def test_a_limit_that_raises() -> None:
    guard = FenceScrubber("t", max_block=3, on_limit="raise")
    check("a<t>bcd</t>e", "ae", max_block=3, on_limit="raise")
    for chunks in every_cut("a<t>bcde</t>f"):
        session = guard.session()
        shown: list[str] = []
        with pytest.raises(LimitExceededError) as caught:
            shown.extend(map(session.feed, chunks))
        assert (caught.value.stage, caught.value.rule, caught.value.limit) == ("fence", "t", 3)
        assert "bcd" not in str(caught.value)
        assert "".join(shown) in {"", "a"}
        for again in (lambda s=session: s.feed("x"), session.flush):
            with pytest.raises(StreamClosedError):
                again()


def test_a_limit_may_be_passed_at_the_end_only() -> None:
    session = FenceScrubber("t", max_block=3, on_limit="raise").session()
    session.feed("<t>bc</")
    with pytest.raises(LimitExceededError):
        session.flush()
    assert scrubbed(FenceScrubber("t", max_block=3, on_limit="raise"), ["<t>bc</"], End.ERROR) == ""


def test_a_block_to_keep_raises_at_its_own_limit() -> None:
    guard = FenceScrubber("t", unclosed="keep", on_limit="raise")
    with pytest.raises(LimitExceededError) as caught:
        guard.scrub("<t>" + "a" * 65_537)
    assert caught.value.limit == 65_536
    private = FenceScrubber(*MEMORY, unclosed="keep", on_limit="raise")
    assert private.scrub("<memory-context>" + "a" * 65_537) == ""


# -- trim ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<t>a</t>\n\nb", "b"),
        ("<t>a</t>\nb\nc", "b\nc"),
        ("<t>a</t> \t\n \n  b", "  b"),
        ("<t>a</t>\r\n\r\nb", "b"),
        ("<t>a</t>  b", "  b"),
        ("<t>a</t>\n\n- b\n  - c", "- b\n  - c"),
        ("a\n<t>b</t>\n\nc", "a\nc"),
        ("a\n\n<t>b</t>\nc", "a\n\nc"),
        ("a<t>b</t>\n\nc", "a\n\nc"),
        ("a\n  <t>b</t>\nc", "a\n  \nc"),
        ("<t>a</t>\n\n<t>b</t>\nc", "c"),
        ("<t>a</t>\n", ""),
        ("<t>a</t>  ", "  "),
        ("<t>a<t>b</t>\n\nc</t>\nd", "d"),
        ("<t>a", ""),
        ("</t>\n\na", "\n\na"),
    ],
)
def test_trim_takes_the_blank_lines_after_a_block_at_the_start_of_a_line(text: str, wanted: str) -> None:
    check(text, wanted, trim="lines")


def test_trim_after_the_block_that_the_prompt_opened() -> None:
    check("a</t>\n\nb", "b", trim="lines", start_inside="t")


def test_without_trim_line_breaks_stay() -> None:
    check("<t>a</t>\n\nb", "\n\nb")


# -- on_hidden and on_finding -------------------------------------------------------------


def test_hidden_text_is_handed_on_without_the_tags() -> None:
    guard = FenceScrubber("t", Fence("[[", "]]", name="z"))
    for chunks in every_cut("a<t x>b<t>c</t>\nd</t>e[[f]]g<t/><t></t>h</t><t>i</"):
        assert hidden(guard, chunks) == [("t", "b<t>c</t>\nd"), ("z", "f"), ("t", "i</")]


def test_hidden_text_is_handed_on_as_it_passes() -> None:
    pieces: list[str] = []
    session = FenceScrubber("t").session(on_hidden=lambda _name, text: pieces.append(text))
    for chunk in ("a<t>b", "c<", "d", "</t", ">e"):
        session.feed(chunk)
    assert pieces == ["b", "c", "<d"]


def test_trimmed_blank_lines_are_no_hidden_text() -> None:
    assert hidden(FenceScrubber("t", trim="lines"), ["<t>a\n</t>\n\nb"]) == [("t", "a\n")]


def test_a_kept_block_is_handed_on_when_it_is_closed() -> None:
    guard = FenceScrubber("t", unclosed="keep", max_block=3)
    pieces: list[str] = []
    session = guard.session(on_hidden=lambda _name, text: pieces.append(text))
    session.feed("<t>ab")
    assert pieces == []
    session.feed("c</t>")
    assert "".join(pieces) == "abc"
    for chunks in every_cut("a<t>bc"):
        assert hidden(guard, chunks) == []
        assert hidden(guard, chunks, End.ERROR) == [("t", "bc")]
    for chunks in every_cut("a<t>bcde</t>f<t>g"):
        assert hidden(guard, chunks) == [("t", "bcde")]


def test_released_text_is_no_hidden_text() -> None:
    for chunks in every_cut("a<t>bcde</t>f"):
        guard = FenceScrubber("t", max_block=3, on_limit="release")
        assert hidden(guard, chunks) == [("t", "bcd")]
        assert hidden(FenceScrubber("t", unclosed="keep", max_block=3, on_limit="release"), chunks) == []


@pytest.mark.parametrize(
    ("text", "options", "wanted"),
    [
        ("a<t>b</t>c", {}, [("t", "hidden", 1, 8)]),
        ("a<t>b<t>c</t></t>d", {}, [("t", "hidden", 1, 16)]),
        ("a </t>  b<t/>", {}, [("t", "dropped", 2, 6), ("t", "dropped", 9, 4)]),
        ("a<t>b", {}, [("t", "hidden", 1, 4)]),
        ("a<t>b", {"unclosed": "keep"}, []),
        ("<t<t>a</t>>b</t>c", {}, [("t", "hidden", 2, 8), ("t", "hidden", 10, 6)]),
        ("a<t>bcd", {"max_block": 2, "on_limit": "release"}, [("t", "hidden", 1, 5)]),
        ("a<t>b<u>c</u>", {"unclosed": "keep"}, [("u", "hidden", 5, 8)]),
        ("<t>a</t>\n\nb", {"trim": "lines"}, [("t", "hidden", 0, 10)]),
        ("`<t>`", {"code": True}, []),
    ],
)
def test_findings_count_characters_of_the_input(
    text: str, options: dict[str, Any], wanted: list[Reported]
) -> None:
    guard = FenceScrubber("t", "u", **options)
    for chunks in every_cut(text):
        assert findings(guard, chunks) == wanted


def test_findings_are_reported_at_once_and_carry_no_text() -> None:
    found: list[Finding] = []
    session = FenceScrubber("t").session(on_finding=found.append)
    session.feed("a<t>SEC</t")
    assert found == []
    session.feed(">")
    assert [vars_of(finding) for finding in found] == [("fence", "t", "hidden", 1, 10)]


def vars_of(finding: Finding) -> tuple[str, str, str, int, int]:
    return finding.stage, finding.rule, finding.action, finding.offset, finding.length


class StopError(Exception):
    pass


def stop(*_: object) -> None:
    raise StopError


@pytest.mark.parametrize("handler", ["on_finding", "on_hidden"])
@pytest.mark.parametrize("chunks", [["a<t>SEC</t>b"], list("a<t>SEC</t>b"), ["a<t>SEC"]])
def test_a_handler_that_raises_ends_the_stream_and_nothing_hidden_comes_out(
    handler: str, chunks: list[str]
) -> None:
    session = FenceScrubber("t").session(**{handler: stop})
    shown: list[str] = []
    with pytest.raises(StopError):
        shown.extend(use() for use in (*(partial(session.feed, chunk) for chunk in chunks), session.flush))
    assert "".join(shown) in {"", "a"}
    for use in (lambda: session.feed("</t>b"), session.flush):
        with pytest.raises(StreamClosedError):
            use()


# -- construction -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (FenceScrubber, PatternError, "without fences"),
        (lambda: FenceScrubber([]), PatternError, "without fences"),
        (lambda: FenceScrubber(""), PatternError, "needs a name"),
        (lambda: FenceScrubber("<t>"), PatternError, "name alone"),
        (lambda: FenceScrubber("t", "T"), PatternError, "'t'"),
        (lambda: FenceScrubber("t", Fence("a", "b", name="t")), PatternError, "'t'"),
        (lambda: FenceScrubber(Fence("(", "b", patterns=True)), PatternError, "not a regular"),
        (lambda: FenceScrubber(Fence("a*", "b", patterns=True)), PatternError, "empty"),
        (
            lambda: FenceScrubber(Fence("a", "b*", patterns=True), orphan_close="keep"),
            PatternError,
            "empty",
        ),
        (
            lambda: FenceScrubber(Fence("a", r"b(?=cd)", patterns=True), orphan_close="keep"),
            PatternError,
            "look-ahead",
        ),
        (lambda: FenceScrubber("t", where="line"), ValueError, "'anywhere' or 'line_start'"),
        (lambda: FenceScrubber("t", orphan_close=True), ValueError, "'drop' or 'keep'"),
        (lambda: FenceScrubber("t", unclosed="show"), ValueError, "'drop' or 'keep'"),
        (lambda: FenceScrubber("t", on_limit="keep"), ValueError, "'drop' or 'raise' or 'release'"),
        (lambda: FenceScrubber("t", trim=None), ValueError, "'none' or 'lines'"),
        (lambda: FenceScrubber("t", start_inside="u"), ValueError, "its fences are t"),
        (lambda: FenceScrubber("t", max_block=-1), ValueError, "0 or more"),
        (lambda: FenceScrubber("t", max_block=1.5), ValueError, "whole number"),
        (lambda: FenceScrubber("t", max_block=True), ValueError, "whole number"),
        (lambda: FenceScrubber(1), TypeError, "int"),
        (lambda: FenceScrubber("t", attribute=True), TypeError, "attribute"),
    ],
)
def test_what_is_refused(make: Callable[[], FenceScrubber], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_fences_may_be_given_in_groups_and_more_than_once() -> None:
    guard = FenceScrubber(REASONING, "think", MEMORY, iter(["t"]))
    assert guard == FenceScrubber(*REASONING, *MEMORY, "t")
    assert guard.fences == (*REASONING, *MEMORY, "t")


def test_equal_settings_are_one_key_and_no_option_is_left_out() -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"where": "line_start"},
        {"attributes": False},
        {"nested": False},
        {"orphan_close": "keep"},
        {"unclosed": "keep"},
        {"start_inside": "t"},
        {"code": True},
        {"escaped": True},
        {"max_block": 1},
        {"on_limit": "raise"},
        {"trim": "lines"},
    ]
    guards = [FenceScrubber("t", **change) for change in changes]
    assert len(set(guards)) == len(guards)
    assert guards == [FenceScrubber("t", **change) for change in changes]
    assert len(set(map(repr, guards))) == len(guards)


def test_settings_cannot_be_changed_and_can_be_copied() -> None:
    guard = FenceScrubber("t", Fence("[[", "]]"), max_block=3)
    with pytest.raises(FrozenInstanceError):
        guard.code = True  # type: ignore[misc]
    assert copy.deepcopy(guard) == guard
    assert pickle.loads(pickle.dumps(guard)) == guard  # noqa: S301 - our own


def test_bounds() -> None:
    fence = Fence("[[", "]]", name="z", private=True)
    assert FenceScrubber("t", fence, attributes=False).bounds() == (
        Bound("fence", "t", 20),  # </t> and 16 blanks
        Bound("fence", "z", 18),
    )
    assert FenceScrubber(fence, code=True).bounds() == (Bound("fence", "z", 512),)
    assert FenceScrubber(fence, trim="lines").bounds() == (Bound("fence", "z", 512),)
    (kept, private) = FenceScrubber("t", fence, attributes=False, unclosed="keep", max_block=7).bounds()
    assert kept == Bound("fence", "t", 47, "a longer block is hidden")
    assert private.policy == ""
    for on_limit, policy in {"raise": "raises an error", "release": "is shown"}.items():
        (bound,) = FenceScrubber("t", unclosed="keep", on_limit=on_limit).bounds()
        assert bound.policy == f"a longer block {policy}"
        assert bound.characters > 65_536


def test_one_scrubber_serves_any_number_of_threads() -> None:
    guard = FenceScrubber("t", Fence("[[", "]]"), code=True, attributes=True, trim="lines")
    text = "a<t x>b</t>\n<t <t>c</t>>d</t>`<t>`[[e]]\n```\n<t>\n```\n" * 20
    wanted = guard.scrub(text)
    found: list[str] = []

    def stream(size: int) -> None:
        chunks = [text[start : start + size] for start in range(0, len(text), size)]
        found.append(scrubbed(guard, chunks))

    threads = [threading.Thread(target=stream, args=(size,)) for size in (1, 1, 2, 3, 5, 8, 70, 1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * len(threads)


def test_more_scrubbers_than_are_remembered() -> None:
    guards = [FenceScrubber("t", max_block=size, on_limit="release") for size in range(70)]
    for size, guard in enumerate(guards):
        assert guard.scrub("<t>" + "a" * 70) == "a" * (70 - size)
