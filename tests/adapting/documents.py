"""JSON documents for the tests: random ones, and one with every spelling."""

from __future__ import annotations

import json

from hypothesis import strategies as st

CANARY = "sk-ant-api03-" + "Canary0123456789" * 5 + "canaryAA"
HIDDEN = "hidden thought"

SPELLINGS = (
    r'{"password" : "canary\u0031\n23\/4" ,"n":[-1.5e3, 0,true,null ],"caf\u00e9\"\\":"\u00e9\u00E9é'
    r'\ud83d\ude00😀 \ud800 \udc00\ud83d\ud83d\ude00\/ / \" \\ \b\u000a\u003cb\u003e",'
    "\r\n\t"
    r'"deep":{"api_key":["x","canary\\0123"]},"t":"<think>hidden thought\"</think> \/ \u00e9 <th"}'
    ' "<think>hidden thought</think>top" [] {}\n12'
)

KEYS = st.sampled_from(["password", "text", "a\\b", 'q"', "caf\u00e9", "", "n", "🙂", "api_key", "</think>"])
TEXTS = st.lists(
    st.sampled_from(
        [
            "a",
            " ",
            "\n",
            '"',
            "\\",
            "/",
            "\u00e9",
            "🙂",
            "\ud800",
            "\x01",
            "<th",
            "<think>",
            "</think>",
            HIDDEN,
            f"<think>{HIDDEN}</think>",
            CANARY,
            "canarycanary1",
            "password=",
            "{",
            ",",
            "日本",
        ]
    ),
    max_size=6,
).map("".join)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(
    LEAVES,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(KEYS, below, max_size=4),
    max_leaves=12,
)


@st.composite
def written(draw: st.DrawFn) -> str:
    """One to three documents, as some encoder writes them."""
    documents = draw(st.lists(VALUES, min_size=1, max_size=3))
    ascii_only, indent = draw(st.booleans()), draw(st.sampled_from([None, None, 2]))
    text = draw(st.sampled_from(["\n", " "])).join(
        json.dumps(document, ensure_ascii=ascii_only, indent=indent) for document in documents
    )
    if draw(st.booleans()):
        text = text.replace("/", "\\/")
    if draw(st.booleans()):
        text = text.replace("<", "\\u003c").replace(">", "\\u003E")
    return text


def parsed(text: str) -> list[object]:
    """Every document in a text."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        value, at = decoder.raw_decode(text, at)
        found.append(value)
    return found
