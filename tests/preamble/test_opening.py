"""Filler at the start of a text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from streamguard import End, Finding
from streamguard.preamble import PreambleTrimmer
from streamguard.testing import check_linear, check_minimal, chunked, every_cut, texts

TRIMMER = PreambleTrimmer(opening=True)


def trimmed(text: str, trimmer: PreambleTrimmer = TRIMMER) -> str:
    found = {"".join(trimmer.transform_sync(chunks)) for chunks in every_cut(text)}
    assert len(found) == 1
    return found.pop()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Sure! Here is the JSON:\n{"a": 1}', '{"a": 1}'),
        ("Certainly!\n\nThe sea is grey.", "The sea is grey."),
        ("Of course, the three steps you asked for:\n1. Go.", "1. Go."),
        ("Here's a summary of notes.txt at 10:30: it is long.", "it is long."),
        ("Great question! I'd be happy to help with that. The sea is grey.", "The sea is grey."),
        ("当然！以下是结果：\n一", "一"),
        ("好的，下面是修改后的文本：一", "一"),
        ("当然可以。一", "一"),
        (" \nSure! The sea.", " \nThe sea."),
        ("Sure. Okay. Certainly! x", "x"),
    ],
)
def test_filler_before_text_goes(text: str, expected: str) -> None:
    assert trimmed(text) == expected
    assert trimmed(text, PreambleTrimmer()) == text


@pytest.mark.parametrize(
    "text",
    [
        "Sure!",
        "Sure! \n",
        "当然！",
        "Surely! The sea.",
        "Sure enough, it rained.",
        "Sure!x",
        "Certainly the sea is grey.",
        "Here is the sea.",
        "Here is the thing. It is: grey.",
        "Here is “the: thing”.",
        "Of course, it rained. So: we left.",
        "“Sure! Here is the JSON:” he said.",
        "The sea. Sure! Here is the JSON:\n{}",
        "当然要去。",
        "这是海。",
    ],
)
def test_other_text_at_the_start_stays(text: str) -> None:
    assert trimmed(text) == text


def test_the_last_filler_stays_where_nothing_follows() -> None:
    assert trimmed("Sure! Here is the JSON:\n") == "Here is the JSON:\n"


def test_a_text_of_filler_and_preambles_is_not_left_empty() -> None:
    assert trimmed("Sure! Let me check.") == "Let me check."
    assert trimmed("Sure! It is grey. Let me check.") == "It is grey."


def test_findings_count_in_the_input_of_the_stage() -> None:
    text = " Sure! Great. It is grey. Let me check."
    for chunks in every_cut(text):
        findings: list[Finding] = []
        assert "".join(TRIMMER.transform_sync(chunks, on_finding=findings.append)) == " It is grey."
        assert findings == [
            Finding("preamble", "opening", "trimmed", 1, 6),
            Finding("preamble", "opening", "trimmed", 7, 7),
            Finding("preamble", "en", "trimmed", 25, 14),
        ]


def test_filler_that_is_undecided_is_dropped_after_an_error() -> None:
    findings: list[Finding] = []
    assert TRIMMER.scrub(" Sure! Great! Her", end=End.ERROR, on_finding=findings.append) == " "
    assert findings == [
        Finding("preamble", "opening", "trimmed", 1, 6),
        Finding("preamble", "opening", "trimmed", 7, 7),
        Finding("preamble", "undecided", "dropped", 14, 3),
    ]


def test_white_space_behind_filler_without_end_is_let_go() -> None:
    session = TRIMMER.session()
    held = []
    for char in "Sure!" + " " * 1000:
        session.feed(char)
        held.append(session.pending)
    assert max(held) == 255
    assert held[-1] == 0


@pytest.mark.parametrize(
    "text", ["Sure! Here is x: y", " Certainly!\n\nSure x", "好的！以下是：x", "Okay, x"]
)
def test_nothing_is_held_without_need(text: str) -> None:
    beginnings = (
        "Sure! ",
        "Certainly! ",
        "Here is x: ",
        "好的！",
        "以下是：",
        "Okay! ",
        "Okay, here is x: ",
        "Excellent! ",
    )
    completions = [f"{beginning[at:]}y" for beginning in beginnings for at in range(len(beginning))]
    check_minimal(TRIMMER, text, ["x", " ", "!", ":", ". "], continuations=completions, ends=tuple(End)[:3])


@settings(max_examples=300, deadline=None)
@given(
    chunked(
        texts(["Sure", "! ", "Here is ", "x", ": ", "\n", "当然", "！", "Let me check. ", "以下是", "："])
    )
)
def test_the_cut_changes_nothing_and_twice_is_once(chunks: list[str]) -> None:
    whole = TRIMMER.scrub("".join(chunks))
    assert "".join(TRIMMER.transform_sync(chunks)) == whole
    assert TRIMMER.scrub(whole) == whole


def test_the_work_grows_as_the_text_does() -> None:
    check_linear(TRIMMER, lambda size: "Sure! " * (size // 6))
    check_linear(TRIMMER, lambda size: "Sure!" + " " * size)
