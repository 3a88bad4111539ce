"""What users reported about tags in streams, with the result they should have had.

Each case runs whole, one character at a time and at every two-way cut. The collected
cases are read where the folder beside the repository is there. The cases below them are
our own, named after the public report of the same fault.
"""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

import pytest

from streamguard import HARMONY, MEMORY, REASONING, TOOL_MARKUP, Fence, FenceScrubber
from streamguard.testing import every_cut

COLLECTED = Path(__file__).parents[3] / "shared" / "data"


def scrubbed(guard: FenceScrubber, chunks: list[str]) -> str:
    session = guard.session()
    return "".join(map(session.feed, chunks)) + session.flush()


def check(guard: FenceScrubber, text: str, wanted: str) -> None:
    for chunks in every_cut(text):
        assert scrubbed(guard, chunks) == wanted, chunks


def collected(name: str) -> list[dict[str, Any]]:
    path = COLLECTED / name
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


# -- collected from bug trackers ----------------------------------------------------------

OPENED_BY_THE_PROMPT = FenceScrubber("think", start_inside="think", trim="lines")

STREAM_GUARDS = {
    "unclosed": FenceScrubber("think"),
    "ws-inside-content-kept": OPENED_BY_THE_PROMPT,
    "empty-open-tag": FenceScrubber("think", start_inside="think"),
    "tag-midline-late-close": FenceScrubber("think"),
    "empty-second-block": FenceScrubber("think"),
    "harmony-commentary": FenceScrubber(*HARMONY),
    "suffix-space-eaten": FenceScrubber("think"),
    "tag-exact-delta-only": FenceScrubber("think", trim="lines"),
    "second-block": FenceScrubber("think"),
    "orphan-close": OPENED_BY_THE_PROMPT,
    "fence-literal": FenceScrubber("thinking", code=True),
    "tag-lt-prose": FenceScrubber("think"),
    "tag-split-close-lost": FenceScrubber("think"),
    "tail-lt-lost": FenceScrubber("think"),
    "tail-partial-close": FenceScrubber("think"),
    "tag-split-open": FenceScrubber("think", "thinking"),
    "harmony": FenceScrubber(*HARMONY),
    "nested-2": FenceScrubber("think"),
    "orphan-close-unknown": FenceScrubber("think"),
    # "auto" cannot be had in a stream: by the time the closer comes, the reasoning is out. Who
    # knows that the template opens the tag says so.
    "orphan-close-dify": OPENED_BY_THE_PROMPT,
}


@pytest.mark.parametrize(
    "case",
    [case for case in collected("stream_cases.jsonl") if case["id"] in STREAM_GUARDS],
    ids=lambda c: c["id"],
)
def test_collected_stream_cases(case: dict[str, Any]) -> None:
    guard = STREAM_GUARDS[case["id"]]
    check(guard, "".join(case["chunks"]), case["wanted"])
    hidden: list[str] = []
    session = guard.session(on_hidden=lambda _name, text: hidden.append(text))
    shown = "".join(map(session.feed, case["chunks"])) + session.flush()
    assert shown == case["wanted"]
    assert "".join(hidden) == case.get("captured", "".join(hidden))


def test_every_collected_text_case_about_fences_is_run() -> None:
    about = {
        case["id"]
        for case in collected("stream_cases.jsonl")
        if case["kind"] == "text" and any(word in case["config-hint"] for word in ("Fence", "fence", "tags"))
    }
    assert about <= STREAM_GUARDS.keys()


@pytest.mark.parametrize(
    "case",
    [case for case in collected("stream_cases.jsonl") if case["kind"] == "bytes"],
    ids=lambda case: case["id"],
)
def test_collected_byte_cases_come_through_an_incremental_decoder(case: dict[str, Any]) -> None:
    decode = codecs.getincrementaldecoder("utf-8")().decode
    chunks = [decode(bytes.fromhex(chunk)) for chunk in case["chunks"]]
    assert scrubbed(FenceScrubber("think"), chunks) == case["wanted"]


# -- hermes-agent -------------------------------------------------------------------------

MEMORY_LINES = FenceScrubber(*MEMORY, where="line_start")

HERMES_GUARDS = {
    "memory_context": MEMORY_LINES,
    # There the tags stay in inline code, because a pair in it is no pair of one buffer.
    "think": FenceScrubber(*REASONING, code=True),
    "asymmetric_tags": FenceScrubber(*REASONING),
}
HERMES_OPTIONS = {
    # There an opener in the middle of a line opens only if its closer is in the same buffer;
    # `</thinking>` does not close `<think>`. A rule that looks at buffers gives another result
    # for other cuts. Ours shows the unclosed block at the end, if told to; the closer closes
    # nothing and goes, with the blank after it.
    "pending_close_with_matching_name_only": FenceScrubber(*REASONING, unclosed="keep"),
}


@pytest.mark.parametrize(
    "case",
    [case for case in collected("hermes_cases.jsonl") if case["kind"] in HERMES_GUARDS],
    ids=lambda case: f"{case['kind']}-{case['name']}",
)
def test_collected_hermes_cases(case: dict[str, Any]) -> None:
    guard = HERMES_OPTIONS.get(case["name"], HERMES_GUARDS[case["kind"]])
    check(guard, "".join(case["chunks"]), case["expected"])
    assert scrubbed(guard, case["chunks"]) == case["expected"]


# What that scrubber does and ours does not, with the reason.
DIFFERENT = {
    "orphan_close_line_kept": "\nb",  # a closer at the start of a line is no prose; there it is shown
    "whitespace_in_open_not_recognised": "\nbye",  # leaks there
    "whitespace_in_close_swallows_rest": "\nbye",  # the answer is lost there
    # Leaks here too: at the start of a list item a tag counts as prose, and where="anywhere" hides
    # it. Its closer stands on a line of its own and goes.
    "list_item_block_leaks": "- <memory-context>\nSEC\n\nbye",
}


@pytest.mark.parametrize(
    "case",
    [case for case in collected("hermes_cases.jsonl") if case["kind"] == "memory_context_observed"],
    ids=lambda case: case["name"],
)
def test_collected_hermes_behaviour_is_ours_or_listed(case: dict[str, Any]) -> None:
    text, observed = "".join(case["chunks"]), case["expected"]
    wanted = DIFFERENT.get(case["name"], observed)
    assert (wanted != observed) is (case["name"] in DIFFERENT)
    check(MEMORY_LINES, text, wanted)


# -- our own ------------------------------------------------------------------------------

THINK = FenceScrubber("think")
CONTEXT = FenceScrubber("memory-context")
ESCAPED = FenceScrubber("memory-context", escaped=True)
MARKDOWN = FenceScrubber("think", code=True)

CASES = {
    # What leaked past the scrubbers of hermes-agent.
    "attributes (hermes-agent)": (
        CONTEXT,
        'a <memory-context source="honcho">SEC</memory-context> b',
        "a  b",
    ),
    "attributes over lines (hermes-agent)": (THINK, "<think\n  budget='3'\n>SEC</think>b", "b"),
    "white space in the opener (hermes-agent)": (CONTEXT, "a<memory-context >SEC</memory-context>b", "ab"),
    "white space in the closer (hermes-agent)": (CONTEXT, "a<memory-context>SEC</memory-context >b", "ab"),
    "white space before the name of a closer": (THINK, "a<think>SEC</ think>b", "ab"),
    "white space and a line break in the closer": (THINK, "a<think>SEC</think\n>b", "ab"),
    "a character without width in the opener (hermes-agent)": (
        CONTEXT,
        "a<memory\u200b-context>SEC</memory-context>b",
        "ab",
    ),
    "a character without width in the closer (hermes-agent)": (
        CONTEXT,
        "a<memory-context>SEC</memory-con\u2060text>b",
        "ab",
    ),
    "characters without width at every place": (
        THINK,
        "a<\u200bt\u200ch\u200di\ufeffn\u00adk\u2063>SEC</think>b",
        "ab",
    ),
    "a variation selector and a tag character": (THINK, "a<th\ufe0fin\U000e0041k>SEC</think>b", "ab"),
    "a character without width before the tag (hermes-agent)": (
        CONTEXT,
        "\u200b<memory-context>SEC</memory-context>b",
        "\u200bb",
    ),
    "a byte order mark before the line (hermes-agent)": (
        MEMORY_LINES,
        "\ufeff<memory-context>\nSEC\n</memory-context>\nb",
        "\ufeff\nb",
    ),
    "a blank after the tag (hermes-agent)": (
        MEMORY_LINES,
        "<memory-context> \nSEC\n</memory-context>\nb",
        "\nb",
    ),
    "HTML-escaped (hermes-agent)": (ESCAPED, "a&lt;memory-context&gt;SEC&lt;/memory-context&gt;b", "ab"),
    "HTML-escaped by number": (
        ESCAPED,
        "a&#60;memory-context&#x3E;SEC&#x003c;&#47;memory-context&#062;b",
        "ab",
    ),
    "HTML-escaped with attributes": (
        ESCAPED,
        "a&lt;memory-context x=&quot;1&quot;&gt;SEC&lt;/memory-context&gt;b",
        "ab",
    ),
    "JSON-escaped": (ESCAPED, r"a\u003cmemory-context\u003eSEC\u003c\/memory-context\u003eb", "ab"),
    "full-width (hermes-agent)": (ESCAPED, "a＜memory-context＞SEC＜／memory-context＞b", "ab"),
    "full-width name": (ESCAPED, "a＜ｍｅｍｏｒｙ－ｃｏｎｔｅｘｔ＞SEC＜/memory-context＞b", "ab"),
    "opened escaped, closed plain": (ESCAPED, "a&lt;memory-context&gt;SEC</memory-context>b", "ab"),
    "content after a nested close (hermes-agent)": (
        CONTEXT,
        "<memory-context>a<memory-context>b</memory-context>SEC</memory-context>c",
        "c",
    ),
    "nested (openwhispr#1617)": (THINK, "<think>a<think>b</think>SEC</think>c", "c"),
    "nested three deep (inspect_ai#4385)": (THINK, "<think><think><think>a</think>b</think>c</think>d", "d"),
    "the fold of İ moves no offset (hermes-agent)": (THINK, "İİİ<think>SEC</think>İ", "İİİİ"),
    "İ inside the block": (THINK, "a<THINK>İSEC</ThInK>b", "ab"),
    # Tags that come together where something was removed.
    "assembled from a block (hermes-agent)": (
        CONTEXT,
        "<memory-<memory-context>x</memory-context>context>SEC</memory-context>b",
        "<memory-b",
    ),
    "assembled from a closer (hermes-agent)": (
        CONTEXT,
        "</memory-con</memory-context>text>b",
        "</memory-conb",
    ),
    "assembled around a block (hermes-agent)": (THINK, "<thi<think>x</think>nk>SEC</think>b", "<thib"),
    "assembled around a closer (hermes-agent)": (THINK, "<thi</think>nk>SEC</think>b", "<thib"),
    "assembled on two levels": (THINK, "<thi<thi<think>x</think>nk>y</think>nk>SEC</think>b", "<thi<thib"),
    "assembled from three pieces": (THINK, "<th<think>x</think>i<think>y</think>nk>SEC</think>b", "<thib"),
    "assembled around an empty tag": (THINK, "<thi<think/>nk>SEC</think>b", "<thib"),
    # Split tags, near misses, ends.
    "split over deltas (qwen-code#9607)": (FenceScrubber(*REASONING), "A <thinking>b</thinking> d", "A  d"),
    "shorter name first (qwen-code#9607)": (
        FenceScrubber("think", "thinking"),
        "<thinking>b</think>c</thinking>d",
        "d",
    ),
    "near misses (qwen-code#6777)": (
        THINK,
        "<th>,<thead>,<think-tank>,<thinker>,</thin>,<think",
        "<th>,<thead>,<think-tank>,<thinker>,</thin>,<think",
    ),
    "less than (memory-vault#152)": (THINK, "if a < b and c <t then a<<b", "if a < b and c <t then a<<b"),
    "the text ends in < (vercel/ai#15583)": (THINK, "a <", "a <"),
    "the text ends in half an opener (TensorRT-LLM#17156)": (THINK, "a <thi", "a <thi"),
    "the text ends in an opener with attributes": (THINK, "a <think x='", "a <think x='"),
    "the block ends in half a closer (smg#1998)": (THINK, "a<think>b</thi", "a"),
    "only a closer arrives (open-webui#9808)": (THINK, "plan</think>\n\nHi", "plan\n\nHi"),
    "only a closer, opened by the prompt (dify#17660)": (OPENED_BY_THE_PROMPT, "plan</think>\n\nHi", "Hi"),
    "a stray closer (vercel/ai#4920)": (THINK, "Okay.\n</think>  Hello", "Okay.\nHello"),
    "a stray closer, kept": (FenceScrubber("think", orphan_close="keep"), "a</think>b", "a</think>b"),
    "never closed (deeperseeker#20)": (THINK, "ok <think>cut off", "ok "),
    "an unclosed example, kept (hermes-agent)": (
        FenceScrubber("think", unclosed="keep"),
        "Write <think> first. Then <b>go</b>.",
        "Write <think> first. Then <b>go</b>.",
    ),
    "self-closing": (THINK, "a<think/>b<think />c", "abc"),
    "several blocks (kekzl/imp#793)": (THINK, "<think>a</think>V1 <think>b</think>V2", "V1 V2"),
    # Blank lines.
    "blank lines before the answer (openclaw#9285)": (
        FenceScrubber("think", trim="lines"),
        "<think>\na\n</think>\n\n\nHi\n\nthere",
        "Hi\n\nthere",
    ),
    "blank lines between paragraphs (openclaw#9285)": (
        FenceScrubber("think", trim="lines"),
        "One\n\n<think>a</think>\n\nTwo",
        "One\n\nTwo",
    ),
    "list newlines stay (vllm-mlx#464)": (
        FenceScrubber("think", trim="lines"),
        "<think>a</think>\n\n1. London\n2. Paris\n   - Louvre",
        "1. London\n2. Paris\n   - Louvre",
    ),
    "list newlines around a block stay (vllm-mlx#464)": (
        FenceScrubber("think", trim="lines"),
        "1. London\n<think>a</think>\n2. Paris",
        "1. London\n2. Paris",
    ),
    "a block in a line takes no line break along": (
        FenceScrubber("think", trim="lines"),
        "One <think>a</think>\n\nTwo",
        "One \n\nTwo",
    ),
    "indentation after a block stays": (
        FenceScrubber("think", trim="lines"),
        "<think>a</think>\n  \n    code()",
        "    code()",
    ),
    # Tags that are text.
    "inline code (openclaw-lark#488)": (
        MARKDOWN,
        "Use `<think>` and `</think>`.",
        "Use `<think>` and `</think>`.",
    ),
    "inline code with two backticks": (MARKDOWN, "``a ` <think>`` b", "``a ` <think>`` b"),
    "a code block (shinychat#235)": (
        MARKDOWN,
        "```xml\n<think>a</think>\n```\n<think>b</think>c",
        "```xml\n<think>a</think>\n```\nc",
    ),
    "a code block of tildes": (MARKDOWN, "~~~\n<think>a\n```\n~~~\nb", "~~~\n<think>a\n```\n~~~\nb"),
    "a longer fence around a shorter": (
        MARKDOWN,
        "````\n```\n<think>a\n````\nb",
        "````\n```\n<think>a\n````\nb",
    ),
    "a code block in a block": (MARKDOWN, "<think>\n```\n</think>b", "b"),
    "a backtick without its partner hides no tag": (MARKDOWN, "a ` b <think>SEC</think>\nc `", "a ` b \nc `"),
    "a mention at the start of a line, with text after it (hermes-agent#18351)": (
        MEMORY_LINES,
        "In the `<memory-context>` block\n<memory-context> is a tag.",
        "In the `<memory-context>` block\n<memory-context> is a tag.",
    ),
    "an echoed memory block in a line (hermes-agent#40170)": (
        MEMORY_LINES,
        "Sure! <memory-context>\r\n[System note: The following is recalled.]\r\nSEC</memory-context> Done.",
        "Sure!  Done.",
    ),
    # Other formats.
    "Harmony (odysseus#2420)": (
        FenceScrubber(*HARMONY),
        "<|channel|>analysis<|message|>SEC<|end|><|start|>assistant<|channel|>final<|message|>Hi<|return|>",
        "Hi",
    ),
    "Mistral": (FenceScrubber(*REASONING), "[THINK]SEC[/THINK]Hi", "Hi"),
    "Kimi": (FenceScrubber(*REASONING), "◁think▷SEC◁/think▷Hi", "Hi"),
    "Gemma": (FenceScrubber(*REASONING), "<|channel>thought\nSEC<channel|>Hi", "Hi"),
    "MiniMax": (FenceScrubber(*REASONING), "<mm:think>SEC</mm:think>Hi", "Hi"),
    "CJK names": (FenceScrubber(*REASONING), "<思考>SEC</思考>你好", "你好"),
    "CJK brackets": (
        FenceScrubber(Fence("【思考】", "【/思考】")),
        "【思考】SEC【/思考】你好【注】",
        "你好【注】",
    ),
    "a tool call (Hermes, Qwen)": (
        FenceScrubber(*TOOL_MARKUP),
        'Wait.<tool_call>{"name": "f"}</tool_call> Done.',
        "Wait. Done.",
    ),
    "tool calls (DeepSeek)": (
        FenceScrubber(*TOOL_MARKUP),
        "Wait.<｜tool▁calls▁begin｜>f<｜tool▁calls▁end｜>",
        "Wait.",
    ),
}


@pytest.mark.parametrize("report", CASES)
def test_reported(report: str) -> None:
    guard, text, wanted = CASES[report]
    check(guard, text, wanted)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("a<b", [0, 1, 0]),
        ("a < b", [0, 0, 1, 0, 0]),
        ("<th>", [1, 2, 3, 0]),
        ("<thead>", [1, 2, 3, 0, 0, 0, 0]),
        ("<think-t", [1, 2, 3, 4, 5, 6, 0, 0]),
        ("<thinker", [1, 2, 3, 4, 5, 6, 0, 0]),
        ("<<<b", [1, 1, 1, 0]),
        ("</thin>", [1, 2, 3, 4, 5, 6, 0]),
        ("<think a<", [1, 2, 3, 4, 5, 6, 7, 8, 1]),
        ("<THI ", [1, 2, 3, 4, 0]),
        ("<!--", [1, 0, 0, 0]),
    ],
)
def test_near_misses_come_through_at_the_first_character_that_tells(text: str, held: list[int]) -> None:
    session = THINK.session()
    pending: list[int] = []
    shown = ""
    for at, char in enumerate(text, 1):
        shown += session.feed(char)
        pending.append(session.pending)
        assert shown == text[: at - session.pending]
    assert pending == held


def test_prose_is_never_held() -> None:
    session = FenceScrubber(*MEMORY, *REASONING, *TOOL_MARKUP, *HARMONY).session()
    for char in "Prose, with 3 > 2, quotes \"'\u201c\u201d and\n\n- lists\n\ttabs | pipes & more. 思考 çé 🌍":
        assert session.feed(char) == char
        assert session.pending == 0
