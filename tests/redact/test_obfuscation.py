"""Values in disguise: what shows nothing, other forms of letters, tokens broken over lines."""

from __future__ import annotations

import pytest

from streamguard import Finding, Redactor, Rule
from streamguard.automaton.folding import fold, fold_text
from streamguard.redact import digest
from streamguard.redact.rules import ASSIGNMENTS, LLM
from streamguard.testing import check_linear, check_transformer

TOKEN = "tok_" + "Canary12" * 4
RULES = (
    Rule("token", r"(?<![a-z])tok_[A-Za-z0-9]{20,}"),
    Rule("password", r"[^\s;]{4,}(?=;)", context="password: ", checks=(lambda value: value.isascii(),)),
    Rule("fixed", r"id-[0-9]{12}(?![0-9])"),
)
GUARD = Redactor(RULES, obfuscated=True)
MARK = f"[REDACTED:token:{digest(TOKEN)}]"


def wide(text: str) -> str:
    """In full-width forms."""
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


@pytest.mark.parametrize(
    "disguised",
    [
        "\u200b".join(TOKEN),
        TOKEN[:2] + "\u2060\ufeff" + TOKEN[2:9] + "\x00\x07" + TOKEN[9:],
        "\u00ad".join([TOKEN[:10], TOKEN[10:]]),
        wide(TOKEN),
        wide(TOKEN[:4]) + TOKEN[4:],
        "".join(char + "\ufe0f" for char in TOKEN),
        "\U0001d42d" + TOKEN[1:],  # a mathematical t
        TOKEN[:10] + "\n" + TOKEN[10:],
        TOKEN[:10] + "\r\n    " + TOKEN[10:],
        TOKEN[:10] + "\\\n" + TOKEN[10:],
        TOKEN[:10] + "\n> " + TOKEN[10:],
        TOKEN[:30] + "\n" + TOKEN[30:],
        TOKEN[:6] + "\n" + TOKEN[6:12] + "\n" + TOKEN[12:30] + "\n" + TOKEN[30:],
    ],
)
def test_a_token_in_disguise_is_found_and_known_again(disguised: str) -> None:
    findings: list[Finding] = []
    text = f"It is {disguised}, he said. {'And so on. ' * 40}"
    shown = GUARD.scrub(text, on_finding=findings.append)
    assert shown == f"It is {MARK}, he said. {'And so on. ' * 40}"
    assert [(one.offset, one.length) for one in findings] == [(6, len(disguised))]
    assert "".join(GUARD.transform_sync(text)) == shown
    assert Redactor(RULES).scrub(text) != shown


def test_text_that_is_no_value_comes_through_as_it_was() -> None:
    for text in (
        "na\u200bïve \u200d: \U0001f468\u200d\U0001f469\u200d\U0001f467, \ufeffwide: ＡＢＣ, tok_\nword",
        "tok_short\n> quoted\nid-12345\n67",
        "\x1b[31mred\x1b[0m id-1234567890123",
    ):
        assert GUARD.scrub(text) == text
        assert "".join(GUARD.transform_sync(text)) == text


@pytest.mark.parametrize("disguised", ["\u200b".join(TOKEN), wide(TOKEN), TOKEN[:9] + "\n> " + TOKEN[9:]])
def test_disguises_obey_the_laws(disguised: str) -> None:
    check_transformer(GUARD, f"a {disguised}, b")


def test_a_word_on_the_next_line_stays() -> None:
    assert GUARD.scrub(f"{TOKEN}\nThe next line has 12 words.") == f"{MARK}\nThe next line has 12 words."
    assert GUARD.scrub(f"{TOKEN}\n\nnone") == f"{MARK}\n\nnone"


def test_checks_and_digests_see_the_value_without_its_disguise() -> None:
    plain = GUARD.scrub("password: hunter2;")
    assert plain == f"password: [REDACTED:password:{digest('hunter2')}];"
    assert GUARD.scrub("password: hun\u200bter2;") == plain
    assert GUARD.scrub(f"password: {wide('hunter2')};") == plain
    assert GUARD.scrub("pass\u200bword: hunter2;") == plain.replace("password: ", "pass\u200bword: ")


def test_a_value_of_fixed_length_may_be_broken_too() -> None:
    assert GUARD.scrub("id-123456\n789012.") == f"[REDACTED:fixed:{digest('id-123456789012')}]."


def test_allowed_values_are_known_in_disguise() -> None:
    guard = Redactor(RULES, obfuscated=True, allow=[TOKEN])
    text = f"x {wide(TOKEN)} y {TOKEN[:10]}\n{TOKEN[10:]} z {TOKEN}a"
    assert guard.scrub(text) == text.replace(TOKEN + "a", f"[REDACTED:token:{digest(TOKEN + 'a')}]")


def test_the_catalogue_takes_disguises() -> None:
    guard = Redactor((*LLM, *ASSIGNMENTS), obfuscated=True)
    key = "sk-ant-" + "api03-" + "Canary12" * 6
    for text in (key, f'{{"api_key": "{key}"}}', f"OPENAI_API_KEY={key}\n"):
        for disguised in ("\u200b".join(key), wide(key), key[:20] + "\n" + key[20:]):
            assert "anary" not in fold_text(guard.scrub(text.replace(key, disguised)))


def test_a_text_full_of_what_shows_nothing_is_read_in_linear_time() -> None:
    check_linear(GUARD, lambda size: ("tok_" + "\u200b" * 50) * (size // 54))
    check_linear(GUARD, lambda size: (TOKEN[:23] + "\n") * (size // 24))


def test_folding_goes_by_what_is_seen() -> None:
    assert [fold(char) for char in "aＡ\u3000\u200b\x00\n\té\U0001d552①ﬁ"] == [
        "a", "A", " ", "", "", "\n", "\t", "é", "a", "1", "ﬁ",
    ]  # fmt: skip
