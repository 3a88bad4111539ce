"""What texts pass on their way to a summarizer."""

from __future__ import annotations

import html
import json
from urllib.parse import quote

import pytest

from streamguard import Finding
from streamguard.context.guard import default_guard
from streamguard.memory import build_memory_block

KEY = "sk-proj-" + "Fake0Key1" * 6
BLOCK = build_memory_block("Ada lives in Oslo")
WIDE = str.maketrans({char: chr(ord(char) + 0xFEE0) for char in "<>/-memorycontext"})


@pytest.mark.parametrize(
    "text",
    [
        BLOCK,
        html.escape(BLOCK),
        html.escape(html.escape(BLOCK)),
        BLOCK.replace("<", "＜").replace(">", "＞"),
        BLOCK.translate(WIDE),
        BLOCK.replace("<", "&#60;").replace(">", "&#62;"),
        BLOCK.replace("<", "\\u003c").replace(">", "\\u003e"),
        json.dumps(BLOCK),
        quote(BLOCK),
        html.escape(BLOCK.partition("</")[0]),
        "<think&gt;Ada lives in Oslo</think&gt;",
        "&lt;think&gt;Ada lives in Oslo&lt;/think&gt;",
        "<think>Ada lives in Oslo</think>",
    ],
)
def test_a_fence_is_found_however_it_is_spelled(text: str) -> None:
    guard = default_guard()
    shown = guard.scrub(f"Before. {text}")
    assert "Oslo" not in shown
    assert shown.startswith("Before. ")
    assert guard.scrub(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "The tag &lt;think&gt; begins a thought. Ada lives in Oslo.",
        "`&lt;think&gt;` and `<think>` are tags. Ada lives in Oslo.",
        "if (a &lt; b &amp;&amp; c &gt; d) { Oslo }",
        "中文，全角（标点）：好。",
    ],
)
def test_text_that_speaks_of_tags_goes_on(text: str) -> None:
    assert default_guard().scrub(text) == text


def test_secrets_are_found_behind_fences_that_are_taken_out_and_both_are_told() -> None:
    found: list[Finding] = []
    half = len(KEY) // 2
    text = f"{KEY[:half]}&lt;memory-context&gt;x&lt;/memory-context&gt;{KEY[half:]}"
    assert KEY[:half] not in default_guard().scrub(text, on_finding=found.append)
    assert {finding.stage for finding in found} == {"fence", "redactor"}


def test_it_holds_a_text_until_it_is_whole() -> None:
    session = default_guard().session()
    assert session.feed("Some text. ") == ""
    assert session.pending == len("Some text. ")
    assert session.flush() == "Some text. "
    assert any(bound.policy == "held until the end" for bound in default_guard().bounds())
