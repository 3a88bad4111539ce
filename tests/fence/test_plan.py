from __future__ import annotations

import re
import sys
import unicodedata
from typing import Any

import pytest

from streamguard import HARMONY, MEMORY, REASONING, TOOL_MARKUP, Fence
from streamguard.automaton import Scan, width
from streamguard.fence.plan import INVISIBLE, LIMIT, Kind, Plan, Target, code_end, delimiters

ALL = (*MEMORY, *REASONING, *TOOL_MARKUP, *HARMONY)


def plan(*fences: str | Fence, attributes: bool = True, escaped: bool = False, **options: Any) -> Plan:
    found = [delimiters(fence, attributes=attributes, escaped=escaped) for fence in fences]
    settings = {"line_start": False, "nested": True, "drop_orphans": True, "code": False}
    return Plan(found, **{**settings, **options})


@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("attributes", [False, True])
def test_delimiters_are_patterns_of_tags(attributes: bool, escaped: bool) -> None:
    found = delimiters("think", attributes=attributes, escaped=escaped)
    assert re.fullmatch(found.open, "<THINK>")
    assert re.fullmatch(found.close, "</Think>")
    assert re.fullmatch(found.void, "<think/>")
    assert bool(re.fullmatch(found.open, "<think a='b'>")) is attributes
    assert bool(re.fullmatch(found.void, "<think a='b' />")) is attributes
    assert bool(re.fullmatch(found.close, "&lt;/think&gt;")) is escaped
    for text in ("<think", "think>", "<thinker>", "<think-tank>", "<thin>", "<>", "</>", "< think>"):
        assert not re.fullmatch(found.open, text)


def test_delimiters_of_another_fence_are_what_it_says() -> None:
    found = delimiters(Fence(["[a.]", "(b)"], "]"), attributes=True, escaped=True)
    assert re.fullmatch(found.open, "[A.]")
    assert re.fullmatch(found.open, "(B)")
    assert not re.fullmatch(found.open, "[ab]")
    assert (found.name, found.void, found.nests, found.private) == ("[a.]", "", True, False)
    assert delimiters(Fence(r"\d", "x", patterns=True), attributes=True, escaped=False).open == r"\d"


def test_memory_fences_are_private() -> None:
    private = {
        fence if isinstance(fence, str) else fence.name
        for fence in ALL
        if delimiters(fence, attributes=True, escaped=False).private
    }
    assert private == set(MEMORY)


def test_every_delimiter_fits_the_limit() -> None:
    fences = [*ALL, "x" * 64]
    compiled = plan(*fences)
    for number in range(len(fences)):
        assert compiled.bound(number, trim=False) <= LIMIT
        for pattern in compiled.hidden(number, trim=False)[0].patterns:
            assert (width(pattern.value) or LIMIT + 1) <= LIMIT


def test_the_bound_is_the_width_of_the_widest_delimiter() -> None:
    exact = plan("t", Fence("[[", "]]]]"), attributes=False, drop_orphans=False)
    assert [exact.bound(number, trim=False) for number in (0, 1)] == [4, 4]
    assert exact.bound(0, trim=True) == LIMIT
    assert plan("t", attributes=False, drop_orphans=False, code=True).bound(0, trim=False) == LIMIT
    assert plan(Fence("a+", "b", patterns=True)).bound(0, trim=False) == LIMIT


@pytest.mark.parametrize(
    ("fences", "options", "mark"),
    [
        (("t",), {}, "<"),
        (MEMORY, {}, "<"),
        (("t", Fence("[[", "]]")), {}, ""),
        ((Fence("<<<", ">>>"),), {"drop_orphans": False}, ""),
        ((Fence("~", ">>>"),), {"drop_orphans": False}, "~"),
        ((Fence(r"\w~", ">>>", patterns=True),), {"drop_orphans": False}, ""),
        ((Fence(r"\w+", ">>>", patterns=True),), {"drop_orphans": False}, ""),
        (("t",), {"line_start": True}, ""),
        (("t",), {"code": True}, ""),
        (("t",), {"escaped": True}, ""),
    ],
)
def test_text_is_passed_over_only_where_everything_begins_with_one_character(
    fences: tuple[str | Fence, ...], options: dict[str, Any], mark: str
) -> None:
    compiled = plan(*fences, **options)
    assert compiled.mark == mark
    if mark:
        assert compiled.visible.after("x") is compiled.idle["x"]


def test_targets_say_what_the_rules_of_the_visible_matcher_mean() -> None:
    assert plan("t", Fence("[[", "]]")).targets == [
        *(Target(kind, 0) for kind in (Kind.VOID, Kind.OPEN, Kind.CLOSE, Kind.CLOSE)),
        *(Target(kind, 1) for kind in (Kind.OPEN, Kind.CLOSE, Kind.CLOSE)),
    ]
    at_line_starts = plan("t", line_start=True, drop_orphans=False).targets
    assert [(one.kind, one.ahead) for one in at_line_starts] == [
        *((kind, ahead) for kind in (Kind.VOID, Kind.OPEN) for ahead in ("", "\n[System note:"))
    ]
    code = plan("t", code=True).targets[4:]
    assert [one.kind for one in code] == [Kind.SPAN] * 3 + [Kind.CODE] * 12
    assert {one.code for one in code[3:]} == {mark * size for mark in "`~" for size in range(3, 9)}


def test_inside_a_block_its_closers_and_its_own_openers_count() -> None:
    compiled = plan("t", Fence("[[", "]]"), Fence("((", "))", nests=False))
    kinds = [compiled.hidden(number, trim=False)[1] for number in range(3)]
    assert kinds == [[Kind.CLOSE, Kind.VOID, Kind.OPEN], [Kind.CLOSE, Kind.OPEN], [Kind.CLOSE]]
    assert plan("t", nested=False).hidden(0, trim=False)[1] == [Kind.CLOSE]


def test_matchers_are_compiled_once() -> None:
    compiled = plan("t")
    assert compiled.hidden(0, trim=True) is compiled.hidden(0, trim=True)
    assert compiled.hidden(0, trim=True) is not compiled.hidden(0, trim=False)
    assert code_end("`", 3) is code_end("`", 3)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("```\n", True),
        ("  ```` \r\n", True),
        ("a\n```\n", True),
        ("```a\n", False),
        ("``\n", False),
        ("a```\n", False),
    ],
)
def test_the_line_that_ends_a_code_block(text: str, ends: bool) -> None:
    matcher = code_end("`", 3)
    assert (Scan(matcher, matcher.start, text).next() is not None) is ends


def test_characters_that_are_not_drawn() -> None:
    ignored = re.compile(INVISIBLE).fullmatch
    found = {char for char in map(chr, range(sys.maxunicode + 1)) if ignored(char)}
    assert set("\u00ad\u200b\u200c\u200d\u2060\ufeff\u202e\ufe0f\U000e0041\u3164") <= found
    drawn = {char for char in found if unicodedata.category(char) not in {"Cf", "Mn", "Cn", "Lo"}}
    assert drawn == set()
    assert not any(char.isspace() or char.isascii() for char in found)
