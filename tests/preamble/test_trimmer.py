"""What the trimmer takes away, what it leaves alone, and the laws."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamguard import End, Finding, PatternError
from streamguard.preamble import PreambleTrimmer
from streamguard.testing import check_linear, check_minimal, check_transformer, chunked, every_cut, texts

PROSE = "The sea was grey."
TRIMMER = PreambleTrimmer()
SCENE = (
    "The scene has progressed naturally. "
    "Let me mark the anchors that have been satisfied through our gameplay."
)

PREAMBLES = """\
Let me update the anchors now.
Let me now record this.
let me check
Let's log this.
Let us update the state.
I'll search for that.
I’ll search for that.
I will save the state.
I should note this.
I'm going to update the state.
I am going to now log it.
Now, let me continue.
Now I'll proceed.
The scene has progressed naturally.
The scene has advanced.
I've marked the anchors.
I have updated the state.
Let me call the tool.
Let me look up the weather for you.
Let me check the file:
Let me check the file...
I'll check the logs first!
First, let me read the README.md file.
Okay, let me open the config.
Alright, I'll run the tests.
Sure, let me check the docs.
First of all, I'll fetch the page.
I'll use the get_weather tool to look this up.
I'm going to query the database.
I need to check the schema first.
Let me take a look at the code (it is long).
Let me see what's in the directory.
Now let me write the tests.
I'll go ahead and retrieve the data.
I'll start by reading the code.
Let me check version 2.5, e.g. with the file.py script.
Got it. I'll update the anchors.
Great! Let me update the docs. I'll run the tests.
让我查一下。
让我更新一下锚点
我来搜索一下！
我先查看文件。
我将调用工具：
现在我来更新状态。
接下来我读取文件。
好的，我查一下。
好的。让我查一下。让我读取文件。
让我帮您查询一下订单。
首先，我来检查一下代码。""".splitlines()

OTHER_TEXT = r"""Let me know if you have questions.
Let me explain: it is simple.
Now, let me explain.
Now let me know what you think.
Let me update the state. It is easy.
Shall I update the state?
Let me check that, shall I?
I'll be here if you need me.
I'll run it again if you want.
I'll update the file once you confirm.
I'll update the file if needed.
I'll call you tomorrow.
I'll check back later.
Let me note that the port is wrong.
Let me check: 2 + 2 is 4.
Let me updateable.
He said I'll check it.
Okay.
Let me update the state. Okay.
(It is so. Let me check.)
**It is so. Let me check.**
_It is so. Let me check._
**Let me check.**
- Let me update the state.
1. Let me update the state.
> Let me update the state.
It is about apples, e.g. I'll check the red ones.
“Let me update the state.”
"Let me update the state."
He said "Let me update the state." and left.
“I am here. Let me update the state.
"I am here. Let me update the state.
'I am here. Let me update the state.
‘I don’t know. Let me update the state.
「我在。让我查一下。
„Ja. Let me update the state.
« Oui. Let me update the state.
“He said ‘go’. Let me update the state.
Let me read `config.py`.
Let me mark it "done".
`x. Let me check.
```\nLet me update the state.
```text\nx\n\nLet me update the state.
让我们继续前行。
我来了。
我将永远爱你。
如果您需要，我来查询。
如果您需要，请说。我来查询的话会很慢。
需要我查一下吗？
让我查一下：结果是5。
让我查一下“他”。""".splitlines()


def outcomes(trimmer: PreambleTrimmer, text: str, end: End = End.COMPLETE) -> Iterator[str]:
    for chunks in every_cut(text):
        session = trimmer.session()
        yield "".join(map(session.feed, chunks)) + session.flush(end)


def trimmed(text: str, trimmer: PreambleTrimmer = TRIMMER, end: End = End.COMPLETE) -> str:
    found = set(outcomes(trimmer, text, end))
    assert len(found) == 1
    return found.pop()


@pytest.mark.parametrize("preamble", PREAMBLES)
@pytest.mark.parametrize("between", ["\n", " ", " \n\n  "])
def test_a_preamble_at_the_end_goes_with_the_white_space_before_it(preamble: str, between: str) -> None:
    assert trimmed(f"{PROSE}{between}{preamble}") == PROSE


@pytest.mark.parametrize("preamble", PREAMBLES)
def test_a_preamble_before_other_text_stays(preamble: str) -> None:
    text = f"{PROSE}\n{preamble}\nThe wind fell."
    assert trimmed(text) == text


@pytest.mark.parametrize("preamble", PREAMBLES)
def test_a_text_of_preambles_alone_stays(preamble: str) -> None:
    assert trimmed(f" \n{preamble} \n") == f" \n{preamble} \n"


@pytest.mark.parametrize("other", OTHER_TEXT)
def test_other_text_at_the_end_stays(other: str) -> None:
    text = f"{PROSE}\n{other}".replace("\\n", "\n")
    assert trimmed(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("他转身离去。\nLet me update the anchors now.", "他转身离去。"),
        (f"…晨光无声流转。{SCENE}", "…晨光无声流转。"),
        (
            "林夕睁开眼睛，废墟在昏黄的天光下铺展开来。\n\n\nLet me mark the anchors now.",
            "林夕睁开眼睛，废墟在昏黄的天光下铺展开来。",
        ),
    ],
)
def test_the_documented_preambles_of_llm_scrub_go(text: str, expected: str) -> None:
    assert trimmed(text) == expected


def test_only_the_preambles_of_a_paragraph_go() -> None:
    text = "The house was old. I walked in. Let me update the state."
    assert trimmed(text) == "The house was old. I walked in."


def test_white_space_behind_a_preamble_goes_with_it() -> None:
    assert trimmed(f"{PROSE} Let me check. \n\n") == PROSE


def test_white_space_of_a_text_with_nothing_to_trim_stays() -> None:
    for text in (f"{PROSE} \n", f" \n{PROSE}\n\n\n", "Hello \n", " \n ", ""):
        assert trimmed(text) == text


def test_spaces_at_the_end_of_a_line_without_punctuation_stay() -> None:
    assert trimmed("A title  \nLet me check.") == "A title  "


@pytest.mark.parametrize("closing", ['"', "”", "’", "」", "）", ")", "**", '.")'])
def test_closing_marks_belong_to_the_sentence_before(closing: str) -> None:
    opening = {'"': '"', "”": "“", "’": "‘", "」": "「", '.")': '("'}.get(closing, "")
    assert trimmed(f"{opening}Go!{closing} Let me check.") == f"{opening}Go!{closing}"


def test_a_preamble_may_follow_chinese_punctuation_directly() -> None:
    assert trimmed("「走吧。」Let me update the anchors now.") == "「走吧。」"
    assert trimmed("他沉默了……让我查一下。") == "他沉默了……"
    assert trimmed("He paused…Let me check.") == "He paused…Let me check."


def test_a_blank_line_ends_a_quotation_somebody_forgot_to_close() -> None:
    assert trimmed('He said: "Go.\nLet me check.') == 'He said: "Go.\nLet me check.'
    assert trimmed('He said: "Go.\n\nLet me check.') == 'He said: "Go.\n'
    assert trimmed('He said: "Go.\r\nLet me check.') == 'He said: "Go.\r\nLet me check.'
    assert trimmed('He said: "Go.\r\n\r\nLet me check.') == 'He said: "Go.\r\n'


def test_apostrophes_open_no_quotation() -> None:
    assert trimmed("The dogs' and cats' food isn't here. Let me check.") == (
        "The dogs' and cats' food isn't here."
    )


def test_code_ends_where_its_backticks_do() -> None:
    assert trimmed("```\na ` b\n```\nLet me check.") == "```\na ` b\n```"
    assert trimmed("Use `` a`b. `` here. Let me check.") == "Use `` a`b. `` here."
    assert trimmed("Use `a here.\n\nLet me check.") == "Use `a here.\n"


@pytest.mark.parametrize(
    ("when", "end", "trims"),
    [
        ("end", End.COMPLETE, True),
        ("end", End.TOOL_CALL, True),
        ("end", End.TRUNCATED, True),
        ("tool_call", End.COMPLETE, False),
        ("tool_call", End.TOOL_CALL, True),
        ("tool_call", End.TRUNCATED, False),
    ],
)
def test_when_says_which_ends_trim(when: str, end: End, trims: bool) -> None:
    trimmer = PreambleTrimmer(when)  # type: ignore[arg-type]
    text = f"{PROSE} Let me check."
    assert trimmed(text, trimmer, end) == (PROSE if trims else text)


def test_what_is_held_is_dropped_after_an_error() -> None:
    findings: list[Finding] = []
    assert TRIMMER.scrub(f"{PROSE} Let me", end=End.ERROR, on_finding=findings.append) == PROSE
    assert findings == [Finding("preamble", "undecided", "dropped", len(PROSE), 7)]


def test_what_was_trimmed_is_found() -> None:
    for chunks in every_cut(f"{PROSE}\nOkay. 让我查一下。 Let me check.\n"):
        findings: list[Finding] = []
        session = TRIMMER.session(on_finding=findings.append)
        for chunk in chunks:
            session.feed(chunk)
        session.flush()
        assert findings == [Finding("preamble", "zh", "trimmed", len(PROSE), 28)]


def test_own_phrases_are_trimmed() -> None:
    trimmer = PreambleTrimmer(languages=(), phrases=(r"Internal note:", r"\[state\]"))
    findings: list[Finding] = []
    assert trimmed(f"{PROSE} internal note: The anchors are set.", trimmer) == PROSE
    assert trimmed(f"{PROSE} [state] updated.", trimmer) == PROSE
    assert trimmed(f"{PROSE} Let me check.", trimmer) == f"{PROSE} Let me check."
    trimmer.scrub(f"{PROSE} [state] updated.", on_finding=findings.append)
    assert [finding.rule for finding in findings] == ["custom"]
    assert trimmed(f"{PROSE} 好的，loading it.", PreambleTrimmer(phrases=["loading"])) == PROSE
    either = PreambleTrimmer(phrases=["(?:load|fetch){1,2}ing"])
    assert trimmed(f"{PROSE} Fetching it, I mean.", either) == PROSE


def test_what_makes_a_doubtful_sentence_stay_is_not_asked_of_own_phrases() -> None:
    trimmer = PreambleTrimmer(phrases=["let me know", "internal note"])
    assert trimmed(f"{PROSE} Let me know if you have questions.", trimmer) == PROSE
    assert trimmed(f"{PROSE} Now, let me know.", trimmer) == PROSE
    assert trimmed(f"{PROSE} Internal note: once you are done: stop.", trimmer) == PROSE
    assert trimmed(f"{PROSE} Internal note: ready?", trimmer) == f"{PROSE} Internal note: ready?"


def test_the_language_of_the_first_phrase_is_found() -> None:
    for text, rule in (("I'll check. 让我查一下。", "en"), ("Okay. 让我查一下。 I'll check.", "zh")):
        findings: list[Finding] = []
        TRIMMER.scrub(f"{PROSE} {text}", on_finding=findings.append)
        assert [finding.rule for finding in findings] == [rule]


def test_white_space_of_every_kind_and_digits_of_every_script_are_known() -> None:
    assert trimmed("走了。\u3000Let\u00a0me check.") == "走了。"
    assert trimmed("He left.\u2028\tLet me check.") == "He left."
    assert trimmed("x\n１. Let me check.") == "x\n１. Let me check."


def test_languages_are_chosen() -> None:
    english = PreambleTrimmer(languages=("en",))
    assert trimmed(f"{PROSE} 让我查一下。", english) == f"{PROSE} 让我查一下。"
    assert trimmed(f"{PROSE} Let me check.", english) == PROSE


def test_a_sentence_longer_than_the_limit_stays() -> None:
    for size, trims in ((240, True), (241, False)):
        sentence = "Let me check ".ljust(size - 1, "x") + "."
        text = f"{PROSE} {sentence}"
        assert trimmed(text) == (PROSE if trims else text)
        session = TRIMMER.session()
        session.feed(text)
        assert session.pending == (241 if trims else 0)


def test_a_run_longer_than_the_limit_stays_and_a_later_one_goes() -> None:
    run = " Let me check." * 43
    text = PROSE + run
    once = trimmed(text)
    assert PROSE < once < text
    assert len(text) - len(once) <= 360
    assert trimmed(once) == once


def test_white_space_without_end_is_let_go() -> None:
    session = TRIMMER.session()
    session.feed(PROSE)
    held = []
    for _ in range(2000):
        session.feed("\n")
        held.append(session.pending)
    assert max(held) == 120
    assert held[-1] == 0
    assert trimmed(f"{PROSE}{' ' * 120}Let me check.") == PROSE
    assert trimmed(f"{PROSE}{' ' * 121}Let me check.") == f"{PROSE}{' ' * 121}Let me check."
    assert trimmed(f"{PROSE} Let me check.{' ' * 346}") == PROSE
    assert trimmed(f"{PROSE} Let me check.{' ' * 347}") == f"{PROSE} Let me check.{' ' * 347}"


def test_bounds_name_every_rule() -> None:
    trimmer = PreambleTrimmer(phrases=("loading",), opening=True)
    assert [(bound.rule, bound.characters) for bound in trimmer.bounds()] == [
        ("en", 360),
        ("zh", 360),
        ("custom", 360),
        ("opening", 256),
    ]


def test_settings_are_compared_by_value() -> None:
    assert PreambleTrimmer(languages=["en"]) == PreambleTrimmer(languages=("en", "en"))
    assert len({PreambleTrimmer(), PreambleTrimmer("end")}) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"when": "never"}, "must be 'end' or 'tool_call'"),
        ({"languages": ("xx",)}, "no phrases for the language 'xx'; there are 'en', 'zh'"),
        ({"languages": ()}, "nothing would be trimmed"),
        ({"languages": (), "phrases": ("a",), "opening": True}, "opening needs"),
        ({"max_sentence": 100}, "must be at least"),
        ({"max_held": 240}, "must be greater"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PreambleTrimmer(**options)  # type: ignore[arg-type]


def test_a_string_in_place_of_several_is_refused() -> None:
    with pytest.raises(TypeError, match="languages takes several"):
        PreambleTrimmer(languages="en")
    with pytest.raises(TypeError, match="phrases takes several"):
        PreambleTrimmer(phrases="loading")


@pytest.mark.parametrize(
    "phrase", ["a+", "a{101}", "a.{0,100}", 'say "', "what[?]", "a\\. b", "a\nb", "`a", "a\\Z", "(a)\\1", ""]
)
def test_a_phrase_that_could_never_be_trimmed_is_refused(phrase: str) -> None:
    with pytest.raises(PatternError):
        PreambleTrimmer(phrases=(phrase,))


# --- the laws --------------------------------------------------------------------------------

FRAGMENTS = [
    *["Let me ", "update the state", ".", " ", "\n", "“", "”", '"', "Let me know", "好的，", "让我查一下"],
    *["。", "x", "I'll ", "search"],
]
COMPLETIONS = [
    preamble[at:]
    for preamble in ("Let me update the state", "I'll search", "Okay. Let me check", "好的，让我查一下")
    for at in range(len(preamble))
]


LAWFUL = [
    "x. Let me check. I'll search",
    "“x. Let me check” \nLet me know",
    "x。好的，让我查一下。Okay. \n",
]
CLEAN = ["Let me know if you like. \n", "他说：「让我查一下。」\n", "x. Let me check it: 1 and 2. "]


def test_the_laws_hold() -> None:
    check_transformer(TRIMMER, LAWFUL, alphabet=FRAGMENTS, clean=CLEAN, samples=8)


def test_the_laws_hold_before_tool_calls_and_with_openings() -> None:
    trimmer = PreambleTrimmer("tool_call", opening=True, phrases=("go on",))
    texts = ["Sure! Here is it:\n- x. Go on. \n", " \nOf course! Great. 让我查一下", "Okay, x"]
    check_transformer(trimmer, texts, alphabet=[*FRAGMENTS, "Sure", "!", ":"], samples=8)


@settings(max_examples=400, deadline=None)
@given(
    chunked(texts(FRAGMENTS, max_fragments=16)), st.sampled_from(End), st.sampled_from(["end", "tool_call"])
)
def test_what_was_shown_is_the_beginning_of_every_outcome(
    chunks: list[str], end: End, when: Literal["end", "tool_call"]
) -> None:
    trimmer = PreambleTrimmer(when, opening=True)
    whole = trimmer.scrub("".join(chunks), end=end)
    session = trimmer.session()
    shown = ""
    for chunk in chunks:
        shown += session.feed(chunk)
        assert whole.startswith(shown)
    assert shown + session.flush(end) == whole
    if end is not End.ERROR:
        assert trimmer.scrub(whole, end=end) == whole
        assert bool(whole.strip()) is bool("".join(chunks).strip())


@pytest.mark.parametrize(
    "text",
    [
        "x. Let me update the state. Okay. I'll search",
        "x\n\nThe scene has progressed; 12. Let me know",
        "“x. Let me update.” Let me check",
        "x。好的，让我查一下。x",
        "`x. Let` Let me check e.g. it.",
    ],
)
def test_nothing_is_held_without_need(text: str) -> None:
    others = ("The scene has progressed", "Let me keep track")
    completions = [*COMPLETIONS, *(other[at:] for other in others for at in range(len(other)))]
    check_minimal(TRIMMER, text, FRAGMENTS, continuations=completions, ends=(End.COMPLETE, End.TOOL_CALL))


@pytest.mark.parametrize(
    "text", ["x. go on. go on. go on", "x.    go on       x", "x. go go on", "x.       go on. stop x stop"]
)
def test_nothing_is_held_without_need_near_the_limits(text: str) -> None:
    trimmer = PreambleTrimmer(languages=(), phrases=("go on", r"stop\b"), max_sentence=8, max_held=14)
    completions = ["go on"[at:] for at in range(5)] + ["stop"[at:] for at in range(4)] + [" go on"]
    ends = (End.COMPLETE, End.TRUNCATED)
    check_minimal(trimmer, text, ["x", " ", ".", "\n", "g"], depth=3, continuations=completions, ends=ends)


def test_prose_is_held_for_one_character_behind_a_sentence() -> None:
    session = TRIMMER.session()
    held = 0
    text = "Birds sang, and he told us all of it. Kim waited! “Well?” Kim said.\nYears later it rained. "
    for char in text:
        session.feed(char)
        held = max(held, session.pending)
        assert session.pending == 0 or char in " \n"
    assert held == 1


def test_the_work_grows_as_the_text_does() -> None:
    check_linear(TRIMMER, lambda size: "x. " + "Let me update the state. " * (size // 25))
    check_linear(TRIMMER, lambda size: "“‘'\"`" * (size // 5))
    check_linear(TRIMMER, lambda size: "x. " + "Okay. " * (size // 6))


@pytest.mark.parametrize(
    "unit", ["Let me check. ", "Okay. ", "\n", "Let me ", "“‘'\"`", "Sure! ", "。让我查", "x. "]
)
def test_a_session_keeps_what_it_holds_and_nothing_else(unit: str) -> None:
    trimmer = PreambleTrimmer(opening=True)
    for beginning in ("", "x. ", "Sure! ", "x. Let me check: "):
        session = trimmer.session()
        session.feed(beginning)
        session.feed(unit * 10_000)
        for char in unit * 500:
            session.feed(char)
            assert session.pending <= 360
        kept = [getattr(session, name) for name in ("_held", "_fed", "_cut")]
        assert sum(map(sys.getsizeof, kept)) < 2_000
        assert len(session._state.config.place.opened) <= 8


def test_the_caches_are_bounded() -> None:
    trimmer = PreambleTrimmer(languages=(), phrases=("go on",), max_sentence=3_000, max_held=20_000)
    session = trimmer.session()
    session.feed("x. " + f"Go on {'a ' * 1400}.\n" * 4)
    machine = trimmer._machine()
    assert len(machine._states) <= 8_192
    assert session.flush() == ""
    session = trimmer.session()
    for number in range(20_000):
        session.feed("x" + chr(0x4E00 + number) + chr(0x4E00 + number // 2) * (number % 30))
    assert sum(map(len, machine._states.values())) <= 200_000
