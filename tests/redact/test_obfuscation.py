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
        TOKEN[:26] + "\n" + TOKEN[26:],
        TOKEN[:6] + "\n" + TOKEN[6:12] + "\n" + TOKEN[12:26] + "\n" + TOKEN[26:],
        TOKEN[:10] + "=\r\n" + TOKEN[10:26] + "=\r\n" + TOKEN[26:],  # quoted-printable
        TOKEN[:26] + "  \n" + TOKEN[26:],  # a hard break of Markdown
        TOKEN[:10] + "\r" + TOKEN[10:26] + "\u2028" + TOKEN[26:],
        TOKEN.replace("_", "\\_"),
        TOKEN[:20] + "\u17b4\u17b5\u180b\U000e0041" + TOKEN[20:],
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


ITEMS = (
    "2. and another",
    "2) tok_short",
    "- 2nd item",
    "DB2_HOST=localhost",
    "DB2_HOST=",
    "db2_primary_replica_host: x",
    "port2=5432",
    "K8S_CLUSTER_NAME_2 = blue",
    "2024-01-02 12:00:01 INFO started",
    "2024-01-02T12:00:01Z started",
    "20240102 started",
    "1717171717 started",
    "12:30 lunch",
    "host01 sshd[12]: accepted",
    "I0102 12:00:01.000 1 main.go:12] started",
    "127.0.0.1 - - [02/Jan/2024]",
    "web2.example.com/a",
    "v2",
    "a1b2c3d Mend the build",
    "2nd line of prose",
    "step-2-of-the-installation",
    "api_v2_of_the_service",
    "section2(argument)",
    "--flag2",
    "/home/user2/notes",
    "42",
    "",
    "plain",
)


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "  \n", "\n> ", "\n\n"])
@pytest.mark.parametrize("char", ["[A-Za-z0-9]", "[A-Za-z0-9_-]"])
def test_another_item_on_the_next_line_stays(line_break: str, char: str) -> None:
    guard = Redactor([Rule("token", rf"(?<![a-z])tok_{char}{{20,}}")], obfuscated=True)
    for item in ITEMS:
        text = f"API_KEY={TOKEN}{line_break}{item}\n"
        assert guard.scrub(text) == text.replace(TOKEN, MARK)
        cut = text.replace(TOKEN, TOKEN[:12])  # too short to be one
        assert guard.scrub(cut) == cut


def test_tokens_in_a_list_are_each_found() -> None:
    guard = Redactor([Rule("token", r"(?<![a-z])tok-[A-Za-z0-9_-]{20,}")], obfuscated=True)
    token = "tok-" + "Canary12" * 4
    mark = f"[REDACTED:token:{digest(token)}]"
    for form in ("{0}\n{0}\n", "1. {0}\n2. {0}\n", "A_1={0}\nB_2={0}\n", "- {0}\n- {0}", "tok-c1\n{0}"):
        assert guard.scrub(form.format(token)) == form.format(mark)


def test_what_is_below_a_token_is_soon_decided() -> None:
    session = GUARD.session()
    session.feed(f"{TOKEN}\nTok")
    assert session.feed(" ") == f"{MARK}\nTok "
    session = GUARD.session()
    assert session.feed(f"{TOKEN}\n{'Canary12' * 5}") == ""
    assert session.pending == 0


def test_parts_with_dots_between_may_all_be_broken() -> None:
    guard = Redactor(only=["jwt"], obfuscated=True)
    parts = ["eyJ" + "hbGciOiJIUzI1NiJ9", "eyJ" + "zdWIiOiJDYW5hcnkxMjM0NTY3ODkwIn0", "Canary12" * 5]
    token = ".".join(parts)
    mark = f"[REDACTED:jwt:{digest(token)}]"
    for at in (40, len(token) - 20):
        assert guard.scrub(f"a {token[:at]}\n{token[at:]} b") == f"a {mark} b"


def test_a_checked_value_of_fixed_length_may_be_broken() -> None:
    guard = Redactor(only=["aws-access-key-id"], obfuscated=True)
    key = "AKIA" + "CANARY12" * 2
    assert guard.scrub(f"a {key[:9]}\n{key[9:]}.") == f"a [REDACTED:aws-access-key-id:{digest(key)}]."


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
    assert [fold(char) for char in "aＡ\u3000\u200b\x00\n\té\U0001d552①ﬁ\u2028\u17b4"] == [
        "a", "A", " ", "", "", "\n", "\t", "é", "a", "1", "ﬁ", "\n", "",
    ]  # fmt: skip
