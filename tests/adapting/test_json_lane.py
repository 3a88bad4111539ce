"""The strings of streamed JSON are guarded; everything else comes through as it was."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamguard import End, FenceScrubber, Finding, Pipeline, PreambleTrimmer, Redactor, Rule, Transformer
from streamguard.adapting import JsonLane
from streamguard.adapting.json_lane import DEPTH
from streamguard.adapting.keyed import Keyed
from streamguard.testing import check_linear, check_transformer, cuts_of, every_cut, random_cuts

sys.path.insert(0, str(Path(__file__).parent))
from documents import CANARY, HIDDEN, SPELLINGS, parsed, written

NOTHING = Pipeline()
UNFOUND = FenceScrubber("never-there") | Redactor([Rule("never", r"NEVER-[0-9]{8}")])
GUARD = FenceScrubber("think") | Redactor()
ENDS = [End.COMPLETE, End.TRUNCATED, End.ERROR, End.TOOL_CALL]


def joined(t: Transformer, chunks: list[str], end: End = End.COMPLETE) -> str:
    session = t.session()
    return "".join([session.feed(chunk) for chunk in chunks]) + session.flush(end)


def lane(text: str, guard: Transformer = GUARD) -> str:
    """Guard a text, cut in every systematic way; all come to the same."""
    results = {joined(JsonLane(guard), chunks) for chunks in every_cut(text)}
    assert len(results) == 1, results
    return results.pop()


# --- what is left alone --------------------------------------------------------------------


@pytest.mark.parametrize("guard", [NOTHING, UNFOUND])
def test_what_the_guard_leaves_keeps_its_bytes(guard: Transformer) -> None:
    assert lane(SPELLINGS, guard) == SPELLINGS


@given(st.data())
@pytest.mark.parametrize("guard", [NOTHING, UNFOUND])
def test_random_documents_keep_their_bytes(guard: Transformer, data: st.DataObject) -> None:
    text = data.draw(written())
    assert joined(JsonLane(guard), data.draw(cuts_of(text))) == text


def test_keys_are_left_alone() -> None:
    text = f'{{"{CANARY}": 1, "<think>": {{"<th": 2}}}}'
    assert lane(text) == text


def test_numbers_that_look_like_something_are_left_alone() -> None:
    guard = Redactor([Rule("digits", "[0-9]{6}")])
    assert lane('[123456, -123456.5, "123456"]', guard).startswith('[123456, -123456.5, "[REDACTED')


# --- what is guarded -----------------------------------------------------------------------


def test_a_value_is_seen_behind_its_key() -> None:
    assert lane('{"password": "hunter2hunter"}').startswith('{"password": "[REDACTED:secret-literal:')
    assert lane('{"note": "hunter2hunter"}') == '{"note": "hunter2hunter"}'


def test_strings_of_a_list_stand_under_the_key_of_the_list() -> None:
    out = lane('{"password": [1, ["hunter2hunter"]], "a": ["hunter2hunter"]}')
    assert out.startswith('{"password": [1, ["[REDACTED:')
    assert out.endswith('"a": ["hunter2hunter"]}')


def test_a_key_may_be_spelled_with_escapes() -> None:
    assert "hunter2" not in lane(r'{"p\u0061ssword": "hunter2hunter"}')


def test_the_key_of_an_outer_object_does_not_count_further_in() -> None:
    assert "hunter2hunter" in lane('{"password": {"note": "hunter2hunter"}}')


def test_strings_are_streamed() -> None:
    session = JsonLane(GUARD).session()
    assert session.feed('{"text": "Hello wor') == '{"text": "Hello wor'
    assert session.feed("ld <th") == "ld "
    assert session.pending == 3
    assert session.feed('"') == '<th"'
    assert session.feed(', "n": 12') == ', "n": '
    assert session.pending == 2
    assert session.feed("}") == "12}"


def test_the_offset_of_a_finding_counts_from_the_beginning_of_its_string() -> None:
    found: list[Finding] = []
    JsonLane(GUARD).scrub('{"password": "hunter2hunter"}', on_finding=found.append)
    assert [(each.rule, each.offset, each.length) for each in found] == [("secret-literal", 0, 13)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (r'"\u00e9\/<think>x</think>\u00e9\/é"', r'"\u00e9\/\u00e9\/\u00e9"'),
        (r'"\/<think>x</think>\u00e9\n"', r'"\/\u00e9\n"'),
        (r'"<think>x\u00e9</think>é\""', r'"\u00e9\""'),
        (r'"\u003cthink\u003ex\u003c/think\u003e\u003cb\u003e"', r'"\u003cb\u003e"'),
        (r'"<think>\ud83d</think>\ude00"', r'"\ude00"'),
        (r'"<think>x</think>\ud83d\ude00 日"', r'"\ud83d\ude00 日"'),
    ],
)
def test_behind_a_change_characters_are_spelled_as_they_were_first(before: str, after: str) -> None:
    assert lane(before, FenceScrubber("think")) == after


@given(st.data())
def test_the_output_has_the_structure_of_the_input_and_its_guarded_strings(data: st.DataObject) -> None:
    text = data.draw(written())
    out = joined(JsonLane(GUARD), data.draw(cuts_of(text)))
    assert out == JsonLane(GUARD).scrub(text)
    keyed = Keyed(GUARD)

    def guarded(value: object, key: str | None) -> object:
        if isinstance(value, str):
            return keyed.scrub(value, key)
        if isinstance(value, list):
            return [guarded(each, key) for each in value]
        if isinstance(value, dict):
            return {name: guarded(each, name) for name, each in value.items()}
        return value

    assert repr(normal(parsed(out))) == repr(normal([guarded(each, None) for each in parsed(text)]))
    in_a_word = any(re.search(f"[A-Za-z0-9_]{CANARY}", leaves(value)) for value in parsed(text))
    assert in_a_word or all(CANARY not in leaves(value) for value in parsed(out))
    for value in parsed(out):
        assert HIDDEN not in leaves(value) or HIDDEN in leaves(guarded(value, None))


def normal(value: object) -> object:
    """Two lone surrogates that came together are one character in JSON."""
    return json.loads(json.dumps(value))


def leaves(value: object) -> str:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return "\n".join(map(leaves, value))
    return value if isinstance(value, str) else ""


def test_it_keeps_the_laws() -> None:
    check_transformer(
        JsonLane(FenceScrubber("t") | Redactor([Rule("k", "k-[0-9]{3}")])),
        [r'"\/<t>k-123"'],
    )


@given(st.data())
def test_every_cut_agrees_for_guards_of_every_kind(data: st.DataObject) -> None:
    mark = Rule("mark", "t-[0-9]{2}")
    guard = data.draw(
        st.sampled_from(
            [
                FenceScrubber("think", trim="lines") | PreambleTrimmer() | Redactor(),
                FenceScrubber("think", unclosed="keep") | Redactor([mark], placeholder=lambda *_: 'é/"\n█'),
            ]
        )
    )
    parts = [
        "\\u00e9",
        "é",
        "\\/",
        "/",
        '\\"',
        "\\\\",
        "\\n",
        "\\ud83d",
        "\\ude00",
        "<think>",
        "</think>",
        "█",
    ]
    parts += [
        "\\u003cthink>",
        "t-12",
        "\\u0074-12",
        "\\u2588",
        "\\q",
        "\\u12",
        "Let me check that now.",
        " ",
        '"',
    ]
    text = '{"password": "' + "".join(data.draw(st.lists(st.sampled_from(parts), max_size=14)))
    chunks, end = data.draw(cuts_of(text)), data.draw(st.sampled_from(ENDS))
    whole = joined(JsonLane(guard), [text], end)
    assert joined(JsonLane(guard), chunks, end) == whole
    assert joined(JsonLane(guard), list(text), end) == whole


def test_the_whole_and_its_random_cuts_agree() -> None:
    guard = FenceScrubber("think") | PreambleTrimmer() | Redactor()
    whole = JsonLane(guard).scrub(SPELLINGS)
    assert HIDDEN not in whole
    assert "0123" not in whole
    for chunks in random_cuts(SPELLINGS, n=200):
        assert joined(JsonLane(guard), chunks) == whole


# --- the end -------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [End.TRUNCATED, End.ERROR])
def test_a_document_that_is_cut_off_shows_nothing_undecided(end: End) -> None:
    assert joined(JsonLane(GUARD), ['{"password": "h'], end) == '{"password": "'
    assert "hunt" not in joined(JsonLane(GUARD), ['{"password": "hunter2h'], end)
    for text in ('{"a": "<think>x', '{"a": "x\\u00', '{"a": "x\\ud83d\\ude'):
        out = joined(JsonLane(GUARD), [text], end)
        assert out == text[: text.rindex('"') + 1] + ("x" if '"x' in text else "")


@pytest.mark.parametrize("end", ENDS)
def test_every_beginning_of_a_document_comes_through_or_less(end: End) -> None:
    for stop in range(len(SPELLINGS) + 1):
        text = SPELLINGS[:stop]
        out = joined(JsonLane(NOTHING), list(text), end)
        if end in {End.COMPLETE, End.TOOL_CALL}:
            assert out == text
        else:
            assert text.startswith(out)
            assert len(text) - len(out) <= 11


# --- what is not JSON ----------------------------------------------------------------------

BROKEN = [
    "",
    '"',
    "\\",
    '{"a" "canarycanary1"}',
    '{"a": "x\\q\\u12G4\\',
    '"\\x<think>y</think>\\""',
    '"\\<think>y</think>\\""',
    "}}}]]]",
    '{"a": tru, "b": "x"}',
    '{"a": nul',
    "{'password': 'hunter2hunter'}",
    "01 + 2",
    "1-2-3 x",
    '{"a": 1}}{"b": [}',
    '"a\nb\x00"',
    ",,,:::",
    "1" * 70 + "abc",
    "1" * 64 + "abc",
    "// comment\n{}",
    "\ufeff{}",
    '{"a\\',
    'tr"ue"',
]


@pytest.mark.parametrize("text", BROKEN)
def test_broken_json_never_raises_and_is_left_alone_if_nothing_is_found(text: str) -> None:
    for end in ENDS:
        for chunks in every_cut(text):
            joined(JsonLane(GUARD), chunks, end)
    assert lane(text, NOTHING) == text
    lane(text)


@given(st.data())
def test_any_text_at_all_comes_to_the_same_for_every_cut(data: st.DataObject) -> None:
    text = data.draw(
        st.lists(
            st.sampled_from([*'{}[],:"\\ u', "d83d", "true", "1", "x", "\\u00", "<think>", "</think>"])
        ).map("".join)
    )
    chunks = data.draw(cuts_of(text))
    for end in ENDS:
        assert joined(JsonLane(GUARD), chunks, end) == joined(JsonLane(GUARD), [text], end)
    assert joined(JsonLane(NOTHING), chunks) == text


@pytest.mark.parametrize(
    "text",
    [
        f'{{"a" "{CANARY}"}}',
        f'"a" "{CANARY}"',
        f"my key is {CANARY} ok",
        f"{{'key': '{CANARY}'}}",
        f'{{"a": {CANARY}}}',
        f'{{"a": 1-"{CANARY}"',
        f'{{"a": "x\\q {CANARY}',
        f'[x "{CANARY}"]',
        '{"password": hunter2hunter}',
        "{'password': 'hunter2hunter'}",
    ],
)
def test_broken_json_shows_no_secret(text: str) -> None:
    out = lane(text)
    assert "anary0123" not in out
    assert "hunter2" not in out


def test_a_stray_backslash_escapes_nothing_else_when_what_follows_it_goes() -> None:
    assert lane('"\\<think>y</think>\\""', FenceScrubber("think")) == '"\\\\\\""'


# --- cost ----------------------------------------------------------------------------------


def test_nesting_needs_no_recursion() -> None:
    deep = 100_000
    guard = FenceScrubber("think") | Redactor([Rule("canary", "sk-ant-[A-Za-z0-9-]{20,}")])
    text = '{"a":[' * deep + f'"{CANARY}", {{"password": "x"}}' + "]}" * deep + ' {"a": "b"}'
    out = joined(JsonLane(guard), [text[at : at + 1000] for at in range(0, len(text), 1000)])
    assert CANARY not in out
    assert out.endswith("]}" * deep + ' {"a": "b"}')
    session = JsonLane(guard).session()
    session.feed(text[: 6 * deep])
    assert len(session._names) == DEPTH  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "unit",
    [
        '{"a": "b", "password": [1, true, "<th"]}',
        r'{"k": "\u00e9\/\ud83d\ude00\n <think>\u00e9</think>"}',
        "[",
        '{"a":',
        "x ",
        "1",
        '""',
    ],
)
def test_work_grows_as_the_text_does(unit: str) -> None:
    check_linear(JsonLane(GUARD), lambda size: unit * (size // len(unit)))


@pytest.mark.parametrize("unit", ["<think>", "a\\u00e9", "\\q", "sk-", "日"])
def test_work_grows_as_one_string_does(unit: str) -> None:
    check_linear(JsonLane(GUARD), lambda size: '{"a": "' + unit * (size // len(unit)))


def test_a_hidden_block_is_not_kept() -> None:
    session = JsonLane(GUARD).session()
    session.feed('{"a": "<think>')
    for _ in range(1000):
        session.feed("\\u00e9 hidden")
    assert len(session._speller._waiting) <= 256  # type: ignore[attr-defined]
    assert len(session._speller._odd) <= 256  # type: ignore[attr-defined]
    assert session.feed('</think>é"}') == '\\u00e9"}'
