"""The laws of every stage other than FenceScrubber, for drawn options, on texts built to collide.

`check_transformer` tries each text at every cut, in turns with other streams, and a second time;
what is pending is compared with the bounds after every character. FenceScrubber has laws of
its own beside this file, and pipelines too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from streamguard import (
    End,
    PreambleTrimmer,
    Redactor,
    Rule,
    ScaffoldScrubber,
    StateOpScrubber,
    Transformer,
)
from streamguard.testing import Law, check_minimal, check_transformer, texts

LAWS = (
    Law.USED_ONCE,
    Law.CHUNK_INVARIANCE,
    Law.PREFIX_SAFETY,
    Law.FRESHNESS,
    Law.IDEMPOTENCE,
    Law.FAIL_CLOSED,
)


def colliding(fragments: Sequence[str], most: int = 8) -> st.SearchStrategy[str]:
    """Texts of a few kinds of fragments each, so that the same ones meet again and again."""
    few = st.lists(st.sampled_from(fragments), min_size=2, max_size=6, unique=True)
    return few.flatmap(lambda chosen: texts(chosen, max_fragments=most))


def further(fragments: Sequence[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(fragments), min_size=1, max_size=3, unique=True)


def keeps_the_laws(t: Transformer, text: str, letters: list[str], end: End) -> None:
    check_transformer(t, [text], laws=LAWS, alphabet=letters, ends=(end,), samples=1)
    most = sum(bound.characters for bound in t.bounds())
    session = t.session()
    for char in text:
        session.feed(char)
        assert 0 <= session.pending <= most
    session.flush(end)


ends = st.sampled_from(End)

# -- Redactor -----------------------------------------------------------------------------

SHIPPED = Redactor()
SECRETS = [
    *("[REDACTED:", "[REDACTED:openai:", "[REDACTED:x:01234567]", "]", ":0123abcd]", "sk-", "proj-"),
    *("sk-proj-" + "aB3dE5fG7h" * 4, "aB3dE5fG7h" * 2, "Zx9", "ghp_", "AKIA", "IOSFODNN7EXAMPLE", "eyJ"),
    *("-----BEGIN ", "PRIVATE KEY-----", "-----END ", "\n", "MIIEvQIBADANBg", "=", "password", "password="),
    *('"', "'", " ", "://", "postgres://", "user:", "hunter2!X9", "@", "host", "Authorization: ", "Bearer "),
    *("Basic ", "dXNlcjpwYXNz", "api_key", ": ", "{{", "}}", "${", "4111", "-", ".", "*", "é"),
]


def many_bs(value: str) -> bool:
    return len(value) % 3 != 0


def with_zero(value: str) -> bool:
    return "0" in value


RULES = [
    Rule("a", "ab+"),
    Rule("b", "[0-9a-f]{4}"),
    Rule("c", "x{2,}", context="k="),
    Rule("d", "ab+c?", checks=(many_bs,)),
    Rule("e", "[0-9a-f]{2,5}", checks=(with_zero,)),
    Rule("f", r"\b[ax]{2,6}\b", hashed=False),
    Rule("g", "k=x+k|=x", context="b"),
]
OWN = [
    *("a", "b", "ab", "abb", "c", "0", "00", "f0", "x", "xx", "k", "k=", "=", " ", "\n", "[", "]", "x" * 17),
    *("[REDACTED:", "[REDACTED:a:", "[REDACTED:f]", "[REDACTED:a:0000abcd]", "[REDACTED:c:12345678]", ":"),
]
own_rules = st.lists(st.sampled_from(RULES), min_size=1, max_size=3, unique_by=lambda rule: rule.id)
keys = st.sampled_from([None, b"a key"])
limits = st.sampled_from([16, 17, 256])


@settings(max_examples=max(10, settings.default.max_examples // 4))
@given(colliding(SECRETS, 6), further(SECRETS), ends, keys)
def test_the_shipped_rules(text: str, letters: list[str], end: End, key: bytes | None) -> None:
    keeps_the_laws(Redactor(key=key), text, letters, end)


@settings(max_examples=max(10, settings.default.max_examples // 4))
@given(colliding(SECRETS, 5), further(SECRETS), ends, st.integers(16, 40))
def test_the_shipped_rules_with_a_small_limit(text: str, letters: list[str], end: End, limit: int) -> None:
    keeps_the_laws(Redactor(limit=16 if limit < 28 else 40), text, letters, end)


redactors = st.builds(Redactor, own_rules, key=keys, limit=limits)


@given(redactors, colliding(OWN), further(OWN), ends)
def test_own_rules(t: Redactor, text: str, letters: list[str], end: End) -> None:
    keeps_the_laws(t, text, letters, end)


PLACED = r"\[REDACTED:[a-g](?::[0-9a-f]{8})?\]"
COMPLETIONS = [
    *("z", "b", "bz", "0z", "00z", "000z", "0000z", "xz", "xxz", "=xxz", "k=xxz", "abz"),
]


@given(
    st.lists(st.sampled_from(RULES[:3]), min_size=1, unique_by=lambda rule: rule.id), colliding(OWN[:15], 5)
)
def test_own_rules_hold_nothing_that_all_continuations_agree_on(rules: list[Rule], text: str) -> None:
    check_minimal(Redactor(rules), text, "abx0k=", depth=1, continuations=COMPLETIONS, atomic=PLACED)


# -- PreambleTrimmer ----------------------------------------------------------------------

PREAMBLES = [
    *("Let me ", "let me", "update the notes", "check the log", "I'll ", "I will now ", "Okay, ", "Sure! "),
    *("Here is it:", "Of course! ", "go on", "Go on. ", "if you like", "The scene has progressed"),
    *(". ", ".", "? ", "!", "\n", "\n\n", " ", ": ", "“", "”", '"', "`", "```\n", "*", "x", "The sea. ", "…"),
    *("让我", "查一下", "更新记录", "。", "！", "？", "好的，", "当然", "以下是", "：", "- x", ", ", "’"),
]
trimmers = st.builds(
    PreambleTrimmer,
    when=st.sampled_from(["end", "tool_call"]),
    languages=st.sampled_from([("en", "zh"), ("en",), ("zh",)]),
    phrases=st.sampled_from([(), ("go on",), ("go on", "x")]),
    opening=st.booleans(),
)


@given(trimmers, colliding(PREAMBLES), further(PREAMBLES), ends)
def test_preambles(t: PreambleTrimmer, text: str, letters: list[str], end: End) -> None:
    keeps_the_laws(t, text, letters, end)


@given(colliding(PREAMBLES), further(PREAMBLES), ends)
def test_own_preambles_alone(text: str, letters: list[str], end: End) -> None:
    keeps_the_laws(PreambleTrimmer(languages=(), phrases=("go on", "let me")), text, letters, end)


# -- StateOpScrubber ----------------------------------------------------------------------

OPS = [
    *('{"op":', '{"op":1}', '"op"', ":", "1", "}", "{", "[", "]", ",", '"', "\\", "[1,", '"path":2', "[{"),
    *("```json\n", "```\n", "```", "``", "`", "json", "```py\n", "\n", "\n\n", " ", "a", "prose ", " \n"),
    *('[{"op":1}]', '{"a":1}', '{"question"', "“", "~~~"),
]
limited: dict[str, st.SearchStrategy[Any]] = {
    "max_candidate": st.sampled_from([512, 0, 1, 5, 9, 20]),
    "max_restore": st.sampled_from([1024, 0, 1, 8]),
}
scrubbers = st.builds(StateOpScrubber, **limited)


@given(scrubbers, colliding(OPS), further(OPS), ends)
def test_state_operations(t: StateOpScrubber, text: str, letters: list[str], end: End) -> None:
    keeps_the_laws(t, text, letters, end)


# -- ScaffoldScrubber ---------------------------------------------------------------------

SCAFFOLDS = [
    *(
        "=== 世界设定 ===\n",
        "=== 世界设定",
        "===",
        "==",
        "=",
        " ===\n",
        "世界设定",
        "Lore",
        "\n",
        "\n\n",
        " ",
    ),
    *(
        "a",
        "她说\n",
        "好，开始输出。",
        "好，",
        "开始",
        "输出",
        "正文",
        "。",
        "\r\n",
        "\t",
        "=== x ===\n",
        "!",
        "　",
    ),
]
scaffolds = st.builds(
    ScaffoldScrubber,
    extra_headers=st.sampled_from([(), ("Lore",), ("a", "=")]),
    max_line=st.sampled_from([200, 0, 5, 12, 20]),
    max_restore=st.sampled_from([1024, 0, 1, 12]),
)


@given(scaffolds, colliding(SCAFFOLDS), further(SCAFFOLDS), ends)
def test_scaffolds(t: ScaffoldScrubber, text: str, letters: list[str], end: End) -> None:
    keeps_the_laws(t, text, letters, end)


HEADER = "=== Lore ==="
SCAFFOLD_ENDINGS = [
    *(
        f"{start}{HEADER}\n\nz"
        for start in ("", "\n", "出\n", "文\n", "输出\n", "始输出\n", "开始输出\n", "正文\n", "。\n")
    ),
    *("= Lore =\n\nz", "== Lore =\n\nz", "Lore =\n\nz", "\n\nz", "开始输出\nz", "输出\nz", "z", "\nz"),
    *(HEADER[at:] + "\n\nz" for at in range(len(HEADER))),
]


@settings(max_examples=max(10, settings.default.max_examples // 2))
@given(colliding(SCAFFOLDS, 5))
def test_scaffolds_hold_nothing_that_all_continuations_agree_on(text: str) -> None:
    t = ScaffoldScrubber(extra_headers=("Lore",))
    check_minimal(t, text, SCAFFOLDS, depth=1, continuations=SCAFFOLD_ENDINGS)
