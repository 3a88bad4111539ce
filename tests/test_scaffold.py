"""Scaffold blocks leave a stream line by line; everything else stays, however it is cut."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamguard import Bound, End, Finding, Pipeline, Transformer
from streamguard.scaffold import OUTPUT_TRANSITIONS, SCAFFOLD_HEADERS, ScaffoldScrubber
from streamguard.stateops import StateOpScrubber
from streamguard.testing import check_linear, check_minimal, check_transformer, chunked, every_cut, texts

SCRUBBER = ScaffoldScrubber()
HEADER = "=== 世界设定 ==="
LINE = "好，开始输出。"


def streamed(t: Transformer, chunks: list[str], end: End = End.COMPLETE) -> str:
    session = t.session()
    return "".join([*map(session.feed, chunks), session.flush(end)])


def common_prefix(one: str, other: str) -> str:
    length = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    return min(one, other, key=len) if length is None else one[:length]


def findings(text: str, end: End = End.COMPLETE) -> list[Finding]:
    found: list[Finding] = []
    SCRUBBER.scrub(text, end=end, on_finding=found.append)
    return found


def reference(text: str, end: End = End.COMPLETE) -> str:
    """The definition on the whole text: one letter a line, and two expressions over the letters."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    letters = "".join(_letter(line, end) for line in lines)
    letters = re.sub(r"h[^b]*b?", lambda block: "X" * len(block.group()), letters)
    letters = re.sub(r"(?<=X)(b*)(t[tb]*)", lambda run: run.group(1) + "X" * len(run.group(2)), letters)
    letters = re.sub(r"t[tb]*(?=X)", lambda run: "X" * len(run.group()), letters)
    result = "".join(line for line, letter in zip(lines, letters, strict=True) if letter != "X")
    return text if result != text and not result.strip() and end is End.COMPLETE else result


def _letter(line: str, end: End) -> str:
    bare = line.strip()
    if not bare:
        return "b"
    ended = bare.endswith("=") or (end is End.TRUNCATED and not line.endswith("\n"))
    if ended and bare.startswith("===") and any(key in bare.strip("=") for key in SCAFFOLD_HEADERS):
        return "h"
    condensed = "".join(bare.split())
    if {condensed, condensed[:-1]} & {*OUTPUT_TRANSITIONS} and condensed[-1] in "。.!！出文":
        return "t"
    return "o"


FRAGMENTS = (
    *("=", "===", "世界设定", "\n", "\n\n", " ", "a", "好", "，", "现在", "开始", "输出", "。", "正文"),
    *(HEADER, HEADER + "\n", "\n" + HEADER + "\n", LINE, LINE + "\n", "=== 序章 ===\n", "\n\na"),
)


# --- what goes ------------------------------------------------------------------------------------

GONE = [
    pytest.param(
        "她走进废墟。\n\n=== 相关原文片段 ===\n某段原文\n\n她捡起刀。",
        "她走进废墟。\n\n她捡起刀。",
        id="within",
    ),
    pytest.param(f"{HEADER}\n某段原文\n\n她捡起刀。", "她捡起刀。", id="at the beginning"),
    pytest.param(f"她。\n{HEADER}\n某段原文", "她。\n", id="at the end"),
    pytest.param(f"她。\n{HEADER}", "她。\n", id="header alone"),
    pytest.param(f"她。\n{HEADER}\n\n他。", "她。\n他。", id="header and blank line"),
    pytest.param(
        f"她。\n{HEADER}\na\n=== 相关角色 ===\nb\n \t\n他。", "她。\n他。", id="header after header"
    ),
    pytest.param(f"她。\n{HEADER}\na\n\n=== 相关角色 ===\nb\n\n他。", "她。\n他。", id="block after block"),
    pytest.param(f"她。\n{HEADER}\na\n=== 序章 ===\n\n他。", "她。\n他。", id="other header in a block"),
    pytest.param(
        "她。\n \t====世界设定（三）=\r\na\r\n\r\n他。", "她。\n他。", id="other marks, white space"
    ),
    pytest.param(f"她。\n{HEADER}\na\n\n\n\n他。", "她。\n\n\n他。", id="more blank lines stay"),
    # transitions
    pytest.param(f"好，开始输出。\n\n{HEADER}\na\n\n林夕。", "林夕。", id="transition before a block"),
    pytest.param(f"{HEADER}\na\n\n好，开始输出。\n\n\n　林夕。", "　林夕。", id="transition after a block"),
    pytest.param(f"想。\n\n现在 开始写正文 ！\n{HEADER}\n\n林夕。", "想。\n\n林夕。", id="transition within"),
    pytest.param(f"开始正文\n\n好,开始输出.\n \n{HEADER}\n\n夕", "夕", id="two transitions before a block"),
    pytest.param(
        f"{HEADER}\n\n好开始输出\n好，现在开始输出正文\n\n夕", "夕", id="two transitions after a block"
    ),
    pytest.param(f"{HEADER}\n\n\n开始输出。\n夕", "\n夕", id="blank lines in front of a transition stay"),
    pytest.param(f"夕\n{HEADER}\na\n\n开始输出。", "夕\n", id="transition at the end"),
    pytest.param(
        f"开始输出。\n{HEADER}\na\n\n开始输出。\n{HEADER}\nb\n\n夕", "夕", id="block, transition, block"
    ),
]


@pytest.mark.parametrize(("text", "shown"), GONE)
def test_scaffold_goes(text: str, shown: str) -> None:
    for chunks in every_cut(text):
        assert streamed(SCRUBBER, chunks) == shown
    assert SCRUBBER.scrub(shown) == shown
    assert reference(text) == shown


# --- what stays -----------------------------------------------------------------------------------

STAYS = [
    "",
    " \n\n ",
    "  她走进废墟。\n\n\t捡起刀。 \n",
    "=== 序章 ===\n她走进废墟。\n\n===\n\n=====\n",
    "标题\n====\n世界设定\n===\n",
    "=== 世界设定\n世界设定 ===\n= 世界设定 =\n== 世界设定 ==\n=== ===\n",
    "她看见 === 世界设定 === 写在墙上。\n=== 世界设定 === 。\n",
    "= == 世界设定 ===\n",
    "a === b\nif a == b:\n",
    "世界设定：废墟。\n",
    "好，开始输出。\n\n她走进废墟。",
    "好的。\n现在他走。\n开始了。\n好，开始输出。再见。\n好，\n",
    "开始输出",
    "好，开始输出。。\n" + "\n" * 3,
]


@pytest.mark.parametrize("text", STAYS)
def test_everything_else_stays(text: str) -> None:
    for chunks in every_cut(text):
        assert streamed(SCRUBBER, chunks) == text
    assert findings(text) == []


def test_a_transition_goes_only_next_to_a_block() -> None:
    for between in ("她。\n", "好，\n", "\n她\n\n"):
        for text in (f"{LINE}\n{between}{HEADER}\n\n", f"{HEADER}\n\n{between}{LINE}\n"):
            assert LINE in SCRUBBER.scrub(text)


def test_no_block_is_put_together_from_two() -> None:
    # Lines are removed whole, so a line is a header before as after.
    assert SCRUBBER.scrub(f"===\n{HEADER}\na\n\n世界设定 ===\nb\n") == "===\n世界设定 ===\nb\n"
    assert SCRUBBER.scrub(f"=== 世界\n{HEADER}\n\n设定 ===\nb\n") == "=== 世界\n设定 ===\nb\n"


# --- how long text is held ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("她", "她"),
        ("她。\n", "她。\n"),
        ("她。 ", "她。 "),
        ("她。\n ", "她。\n"),
        ("她。\n \n", "她。\n \n"),
        ("她。\n 走", "她。\n 走"),
        ("她 === 世界设定", "她 === 世界设定"),
        ("她。\n=", "她。\n"),
        ("她。\n= ", "她。\n= "),
        ("她。\n==a", "她。\n==a"),
        ("她。\n=== 序章 ===", "她。\n"),
        ("她。\n=== 序章 ===\n", "她。\n=== 序章 ===\n"),
        ("好", ""),
        ("好的", "好的"),
        ("现在开", ""),
        ("现在开门", "现在开门"),
        ("好，开始输出。", ""),
        ("好，开始输出。。", "好，开始输出。。"),
        ("好，开始输出。\n\n", ""),
        ("好，开始输出。\n\n==", ""),
        ("好，开始输出。\n\n==a", "好，开始输出。\n\n==a"),
        (f"她。\n{HEADER}\n", "她。\n"),
        (f"她。\n{HEADER}\n\n\n", "她。\n\n"),
        (f"她。\n{HEADER}\n\n好", "她。\n"),
        (f"她。\n{HEADER}\n\n{LINE}\n\n ", "她。\n"),
    ],
)
def test_text_is_held_to_the_character_that_decides(text: str, shown: str) -> None:
    for chunks in every_cut(text):
        session = SCRUBBER.session()
        assert "".join(map(session.feed, chunks)) == shown


def test_a_long_line_is_released_and_no_header() -> None:
    session = ScaffoldScrubber(max_line=20).session()
    assert session.feed("a\n=== " + "b" * 16) == "a\n"
    assert session.pending == 20
    assert session.feed("b") == "=== " + "b" * 17
    assert session.feed(" 世界设定 ===\n") == " 世界设定 ===\n"
    # So is white space, and a long run of transitions and blank lines.
    assert session.feed(" " * 21) == " " * 21
    assert session.feed(f"\n{LINE}\n" + "\n" * 12) == "\n"
    assert session.feed("\n") == f"{LINE}\n" + "\n" * 13
    assert session.feed(f"{HEADER}\na\n\nb") == "b"


def test_a_block_is_never_stored() -> None:
    session = SCRUBBER.session()
    assert session.feed(f"a\n{HEADER}\n") == "a\n"
    for _ in range(1000):
        assert session.feed("x" * 1000) == ""
        assert session.pending == 0
    assert session.feed("\n\nb") == "b"


def test_what_is_held_can_still_become_something_else() -> None:
    alphabet = ("=", "==", "世界设定", "\n", " ", "a", "好", "开始", "输出", "。")
    beginnings = ("", "=", "==", "===", "\n===", "开始输出\n===", "始输出\n===", "输出\n===", "\n", "出\n===")
    endings = (
        "世界设定 ===",
        "世界设定 ===\n\nz",
        "世界设定 ===\n\n\nz",
        "界设定 ===\n\nz",
        "=\n\nz",
        "z",
        "\n\nz",
    )
    continuations = ["", *alphabet, *map("".join, product(beginnings, endings))]
    for opening, middle in product(("", f"{HEADER}\na\n\n"), product(alphabet, repeat=3)):
        text = opening + "".join(middle)
        session = SCRUBBER.session()
        shown = "".join(map(session.feed, text))
        common = None
        for continuation in continuations:
            outcome = SCRUBBER.scrub(text + continuation)
            common = outcome if common is None else common_prefix(common, outcome)
            if common == shown:
                break
        assert common == shown, text


@pytest.mark.parametrize("text", ["她\n==", f"a\n{HEADER}\n\n好，", f"{LINE}\n\n ", "现在开始"])
def test_the_least_is_held_whatever_the_end(text: str) -> None:
    check_minimal(
        SCRUBBER,
        text,
        FRAGMENTS,
        depth=1,
        continuations=[f"{a}{HEADER}\n\nz" for a in ("", "\n", "输出\n", "始输出\n", "开始输出\n")]
        + ["= 世界设定 =\n\nz", "\n\nz", "开始输出\nz", "输出\nz"],
        ends=tuple(End),
    )


# --- how the stream ends --------------------------------------------------------------------------


def test_a_text_of_scaffold_alone_comes_back_if_the_stream_is_complete() -> None:
    for text in (HEADER, f"\n{HEADER}\na\n\n\n", f"{LINE}\n\n{HEADER}\na\n\n{LINE}\n"):
        for chunks in every_cut(text):
            assert streamed(SCRUBBER, chunks) == text
            for end in (End.TOOL_CALL, End.TRUNCATED, End.ERROR):
                assert streamed(SCRUBBER, chunks, end).strip() == ""
        assert findings(text) == []
        assert findings(text, End.TRUNCATED) != []


def test_a_text_longer_than_what_may_come_back_does_not() -> None:
    t = ScaffoldScrubber(max_restore=len(HEADER))
    assert t.scrub(HEADER) == HEADER
    assert t.scrub(HEADER + "\n") == ""
    assert ScaffoldScrubber(max_restore=0).scrub(HEADER) == ""


def test_an_undecided_line_is_shown_at_the_end() -> None:
    for text in ("a\n=== 世界设定", "a\n===", "a\n ", "好，开始输出。\n\n", "a\n现在"):
        for chunks in every_cut(text):
            assert streamed(SCRUBBER, chunks) == text
            assert streamed(SCRUBBER, chunks, End.TOOL_CALL) == text


def test_after_a_cut_a_line_that_begins_like_a_header_and_has_a_key_is_dropped() -> None:
    text = f"a\n{LINE}\n=== 世界设定（"
    assert SCRUBBER.scrub(text, end=End.TRUNCATED) == "a\n"
    assert findings(text, End.TRUNCATED) == [
        Finding("scaffold", "transition", "trimmed", 2, 8),
        Finding("scaffold", "世界设定", "trimmed", 10, 9),
    ]
    for shown in ("a\n=== 世界设", f"a\n{LINE}\n=="):
        assert SCRUBBER.scrub(shown, end=End.TRUNCATED) == shown


def test_after_an_error_nothing_undecided_is_shown() -> None:
    for held in ("\n", "===", HEADER, LINE, f"{LINE}\n\n"):
        assert SCRUBBER.scrub(f"a\n{held}", end=End.ERROR) == "a\n" + "\n" * (held == "\n")


# --- what is reported -----------------------------------------------------------------------------


def test_findings_have_the_key_of_the_header() -> None:
    text = f"她\n{LINE}\n\n{HEADER}\na\n=== 相关角色 ===\n\n{LINE}\n\n他\n{HEADER}\nb"
    first = 2 + len(LINE) + 2
    second = first + len(HEADER) + 3
    third = second + 14
    last = third + len(LINE) + 4
    expected = [
        Finding("scaffold", "transition", "trimmed", 2, len(LINE) + 2),
        Finding("scaffold", "世界设定", "trimmed", first, len(HEADER) + 3),
        Finding("scaffold", "相关角色", "trimmed", second, 14),
        Finding("scaffold", "transition", "trimmed", third, len(LINE) + 2),
        Finding("scaffold", "世界设定", "trimmed", last, len(HEADER) + 2),
    ]
    for chunks in every_cut(text):
        found: list[Finding] = []
        session = SCRUBBER.session(on_finding=found.append)
        for chunk in chunks:
            session.feed(chunk)
        session.flush()
        assert found == expected


@given(chunked(texts(FRAGMENTS)))
def test_findings_and_hidden_text_add_up_to_what_was_taken_out(chunks: list[str]) -> None:
    found: list[Finding] = []
    hidden: list[str] = []
    session = SCRUBBER.session(on_finding=found.append, on_hidden=lambda _, text: hidden.append(text))
    text = ["a\n", *chunks, "\n\nz"]
    shown = "".join([*map(session.feed, text), session.flush()])
    taken = len("".join(text)) - len(shown)
    assert sum(finding.length for finding in found) == taken == len("".join(hidden))


def test_hidden_text_is_passed_on_as_it_passes() -> None:
    hidden: list[tuple[str, str]] = []
    session = SCRUBBER.session(on_hidden=lambda rule, text: hidden.append((rule, text)))
    for chunk in (f"一\n{LINE}\n\n{HEADER}", "\na", "b", "c\n", "\n二"):
        session.feed(chunk)
    assert hidden == [
        ("transition", f"{LINE}\n\n"),
        ("世界设定", f"{HEADER}\n"),
        ("世界设定", "a"),
        ("世界设定", "b"),
        ("世界设定", "c\n"),
        ("世界设定", "\n"),
    ]


# --- settings -------------------------------------------------------------------------------------


def test_headers_and_transitions_can_be_chosen() -> None:
    t = ScaffoldScrubber(
        headers=("World State",), extra_headers=("我的脚手架",), transitions=("Begin output",)
    )
    for header in ("=== World State ===", "=== 我的脚手架 ==="):
        assert t.scrub(f"a\n Begin output. \n{header}\nb\n\nc") == "a\nc"
    assert t.scrub(f"a\n{HEADER}\nb\n\nc") == f"a\n{HEADER}\nb\n\nc"


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        ScaffoldScrubber(extra_headers=("",))
    with pytest.raises(ValueError, match="empty"):
        ScaffoldScrubber(transitions=(" ",))
    with pytest.raises(ValueError, match="negative"):
        ScaffoldScrubber(max_line=-1)
    with pytest.raises(ValueError, match="negative"):
        ScaffoldScrubber(max_restore=-1)


def test_equal_settings_are_equal_and_hash_alike() -> None:
    assert ScaffoldScrubber() == SCRUBBER
    assert hash(ScaffoldScrubber()) == hash(SCRUBBER)
    assert ScaffoldScrubber(extra_headers=("a",)) != SCRUBBER


def test_bounds_are_those_of_the_settings() -> None:
    assert ScaffoldScrubber(max_line=7, max_restore=9).bounds() == (
        Bound("scaffold", "header", 7, "released"),
        Bound("scaffold", "transition", 7, "released"),
        Bound("scaffold", "restore", 9, "dropped"),
    )


# --- the laws -------------------------------------------------------------------------------------


@given(texts(FRAGMENTS), st.sampled_from((End.COMPLETE, End.TRUNCATED)))
def test_the_stream_agrees_with_the_definition(text: str, end: End) -> None:
    assert SCRUBBER.scrub(text, end=end) == reference(text, end)


@given(chunked(texts(FRAGMENTS)), st.sampled_from(End))
def test_the_result_does_not_depend_on_the_cut(chunks: list[str], end: End) -> None:
    for t in (SCRUBBER, ScaffoldScrubber(max_line=12, max_restore=20)):
        assert streamed(t, chunks, end) == t.scrub("".join(chunks), end=end)


@given(texts(FRAGMENTS), texts(FRAGMENTS, max_fragments=4), st.sampled_from(End))
def test_what_is_shown_stays(text: str, continuation: str, end: End) -> None:
    for t in (SCRUBBER, ScaffoldScrubber(max_line=12, max_restore=20)):
        assert t.scrub(text + continuation, end=end).startswith(t.session().feed(text))
        assert t.scrub(text, end=End.ERROR) == t.session().feed(text)


@given(texts(FRAGMENTS))
def test_twice_is_once(text: str) -> None:
    for t in (SCRUBBER, ScaffoldScrubber(max_line=12, max_restore=20)):
        assert t.scrub(t.scrub(text)) == t.scrub(text)


def test_the_laws_hold() -> None:
    check_transformer(
        SCRUBBER,
        [f"她\n{HEADER}\na\n\n他", f"{LINE}\n\n{HEADER}\nb", f"{HEADER}\n\n{LINE}\n\n", "=== 世界设定"],
        alphabet=("=", "\n", " ", "好", "开始", "a"),
        clean=STAYS[2:4],
        samples=4,
    )


@pytest.mark.parametrize(
    "unit", ["=", "\n", " ", "好，开始输出。\n", f"{HEADER}\n", "===\n", "a", "开始", "=== ="]
)
def test_the_work_grows_as_the_text_does(unit: str) -> None:
    for beginning in ("a\n", "", f"a\n{HEADER}\n"):
        check_linear(SCRUBBER, lambda size, beginning=beginning: beginning + unit * (size // len(unit)))  # type: ignore[misc]


def test_state_operations_and_scaffold_go_together() -> None:
    text = (
        "好，开始输出。\n\n"
        "=== 时间线检索锚点 ===\n"
        "当前时间：序章 · 站台\n\n"
        "林夕睁开眼睛，废墟在昏黄的天光下铺展开来。\n\n"
        '```json\n[{"op": "set", "path": "world.location", "value": "废墟"}]\n```\n'
    )
    both = Pipeline(StateOpScrubber(), SCRUBBER)
    for chunks in every_cut(text):
        assert streamed(both, chunks) == "林夕睁开眼睛，废墟在昏黄的天光下铺展开来。"
    # What the first stage takes out may leave a header to the second.
    assert both.scrub('a\n=== {"op": 1}世界设定 ===\nb\n\nc') == "a\nc"
