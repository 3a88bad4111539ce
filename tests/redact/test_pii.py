"""The rules of personal data: their examples, what comes near them, their checks."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given

from streamguard import End
from streamguard.redact import Redactor, Rule
from streamguard.redact.compiled import compiled as _compile
from streamguard.redact.rules import pii
from streamguard.redact.rules.pii import PII, PII_IDENTITY, checks
from streamguard.redact.rules.pii.edges import NUMBER, WORD, announced, digits
from streamguard.session import Finding
from streamguard.testing import cuts_of, texts

pytest.importorskip("stdnum", reason="the extra pii is not installed")
pytest.importorskip("phonenumbers", reason="the extra pii is not installed")

ALL = Redactor(PII)
EXAMPLES = [pytest.param(rule, text, id=rule.id) for rule in PII for text in rule.examples]
NEAR_MISSES = [pytest.param(rule, text, id=rule.id) for rule in PII for text in rule.near_misses]
GROUPS = [name for name in pii.__all__ if name != "PII"]


def stream(redactor: Redactor, *chunks: str) -> str:
    session = redactor.session()
    return "".join([*map(session.feed, chunks), session.flush()])


# -- the catalogue ------------------------------------------------------------------


@pytest.mark.parametrize("rule", PII, ids=lambda rule: rule.id)
def test_a_rule_shows_itself_twice(rule: Rule) -> None:
    assert len(rule.examples) >= 2


def test_the_groups_are_the_whole_and_ids_are_unique() -> None:
    grouped = [rule for name in GROUPS for rule in getattr(pii, name)]
    assert sorted(grouped, key=lambda rule: rule.id) == sorted(PII, key=lambda rule: rule.id)
    assert len({rule.id for rule in PII}) == len(PII)


@pytest.mark.parametrize("rule", PII, ids=lambda rule: rule.id)
def test_a_rule_requires_a_literal(rule: Rule) -> None:
    derived, *_ = _compile((rule,), 256).prefilter.derived
    assert derived is not None
    assert derived.lead <= 64


@pytest.mark.parametrize("rule", PII_IDENTITY, ids=lambda rule: rule.id)
def test_a_number_is_bounded(rule: Rule) -> None:
    (bound,) = Redactor((rule,)).bounds()
    assert not bound.policy
    assert bound.characters < 128  # of which a placeholder in the text takes about a hundred


def test_without_the_extra_the_rules_that_need_none_do_their_work() -> None:
    program = (
        "import sys; sys.modules['stdnum'] = sys.modules['phonenumbers'] = None\n"
        "from streamguard import PII, Redactor\n"
        "light = Redactor(rule for rule in PII if not rule.needs)\n"
        "shown = light.scrub('to bob@example.com: 4532015112830366')\n"
        "assert shown == 'to [REDACTED:email]: [REDACTED:payment-card]'\n"
        "try:\n    Redactor(PII)\nexcept ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    assert "pip install 'streamguard-llm[pii]'" in done.stdout


# -- examples -----------------------------------------------------------------------


@pytest.mark.parametrize(("rule", "text"), EXAMPLES)
def test_an_example_is_redacted_by_its_rule(rule: Rule, text: str) -> None:
    findings: list[Finding] = []
    shown = Redactor((rule,)).scrub(text, on_finding=findings.append)
    assert findings
    assert {one.rule for one in findings} == {rule.id}
    expected, shown_to = "", 0
    for one in findings:
        expected += f"{text[shown_to : one.offset]}[REDACTED:{rule.id}]"
        shown_to = one.offset + one.length
        assert text[one.offset : shown_to] not in shown
    assert shown == expected + text[shown_to:]


@pytest.mark.parametrize(("rule", "text"), EXAMPLES)
def test_an_example_is_redacted_by_all_rules_at_every_cut(rule: Rule, text: str) -> None:
    findings: list[Finding] = []
    alone = Redactor((rule,))
    alone.scrub(text, on_finding=findings.append)
    shown = ALL.scrub(text)
    for one in findings:
        assert text[one.offset : one.offset + one.length] not in shown
    for redactor in (alone, ALL):
        expected = redactor.scrub(text)
        assert stream(redactor, *text) == expected
        for at in range(len(text) + 1):
            assert stream(redactor, text[:at], text[at:]) == expected, at


@pytest.mark.parametrize(("rule", "text"), EXAMPLES)
def test_no_part_of_a_value_is_ever_shown(rule: Rule, text: str) -> None:
    for redactor in (Redactor((rule,)), ALL):
        session = redactor.session()
        expected = redactor.scrub(text)
        shown = ""
        for character in text:
            shown += session.feed(character)
            assert expected.startswith(shown)


@pytest.mark.parametrize(("rule", "text"), NEAR_MISSES)
def test_a_near_miss_comes_through(rule: Rule, text: str) -> None:
    for redactor in (Redactor((rule,)), ALL):
        assert redactor.scrub(text) == text
        assert stream(redactor, *text) == text


@pytest.mark.parametrize("glue", ["", " ", "\n", '", "'])
def test_redacting_twice_is_redacting_once(glue: str) -> None:
    parts = [text for rule in PII for text in (*rule.examples, *rule.near_misses)]
    once = ALL.scrub(glue.join(parts))
    assert ALL.scrub(once) == once


def test_a_key_makes_a_digest() -> None:
    keyed = Redactor(PII, key=b"sixteen bytes of")
    assert re.fullmatch(r"\[REDACTED:email:[0-9a-f]{8}\]", keyed.scrub("bob@example.com"))


WORDS = """bob@example.com @ . + - ( ) : 1 0 49 4532 0151 1283 0366 030 90 18 20 415 555 2671 078-05-1123 ::
2001:db8: fe80:: 10.0.0.1 DE44 5001 SSN NHS тел. 手机 0x bc1 A1 \\n %40 %3D https://
user:pass@host [REDACTED:email]"""


@given(texts([" ", "\n", *WORDS.split()]).flatmap(cuts_of))
def test_the_cut_makes_no_difference(chunks: list[str]) -> None:
    once = ALL.scrub("".join(chunks))
    assert stream(ALL, *chunks) == once
    assert ALL.scrub(once) == once


# -- what they are for --------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r'{"a":"x\nbob@example.com\n"}', r'{"a":"x\n[REDACTED:email]\n"}'),
        ("'bob@example.com', f(o'neil@example.com)", "'[REDACTED:email]', f([REDACTED:email])"),
        ("联系bob@example.com。", "联系[REDACTED:email]。"),
        ("<a href=mailto:bob@example.com>", "<a href=mailto:[REDACTED:email]>"),
        ("?a=1&mail=bob%40example.com&b=2", "?a=1&mail=[REDACTED:email]&b=2"),
        ("https://u:p4ssw0rd@10.0.0.1/", "https://[REDACTED:url-credentials]@[REDACTED:ipv4]/"),
        (r"CORP\alice@example.com CORP\user@example.com", r"CORP\[REDACTED:email] CORP\u[REDACTED:email]"),
        (r'"x\u003dbob@example.com"', r'"x\u003d[REDACTED:email]"'),
        ("...bob@example.com-", "...[REDACTED:email]-"),
        ("MAC:00:1A:2B:3C:4D:5E", "MAC:[REDACTED:mac-address]"),
        ("10.0.0.1-10.0.0.20.", "[REDACTED:ipv4]-[REDACTED:ipv4]."),
        ("postgres://u:pa@ss/x@host/db", "postgres://[REDACTED:database-credentials]@host/db"),
        ("https://u:pa@ss@host/db", "https://[REDACTED:url-credentials]@host/db"),
        ("5425 2334 3010 9903 123", "[REDACTED:payment-card] 123"),
        ("5425233430109903,12/27,123", "[REDACTED:payment-card],12/27,123"),
        ("NO93 8601 1117 947 DNB", "[REDACTED:iban] DNB"),
        ("+1 415 555 2671, ext. 5", "[REDACTED:phone-international], ext. 5"),
        ("| NHS no. | 943 476 5870 |", "| NHS no. | [REDACTED:gb-nhs] |"),
    ],
)
def test_the_value_and_nothing_else_is_replaced(text: str, expected: str) -> None:
    assert ALL.scrub(text) == expected
    assert stream(ALL, *text) == expected


@pytest.mark.parametrize("run", ["abcdef0123", "Zm9vYmFy", "0123456789", "ab.", "a@", "12:", "1 ", "+1"])
def test_a_long_run_is_no_value(run: str) -> None:
    text = f"x {run * 200} y"
    assert ALL.scrub(text) == text


def test_prose_is_held_for_a_word() -> None:
    prose = "It was a bright cold day in April, and the clocks were striking thirteen. " * 20
    session = ALL.session()
    longest = 0
    for character in prose:
        session.feed(character)
        longest = max(longest, session.pending)
    assert longest <= max(map(len, prose.split()))


# -- pieces -------------------------------------------------------------------------


@pytest.mark.parametrize("boundary", [f"{WORD}[0-9n]{{4}}", f"{NUMBER}[0-9]{{4}}"])
@pytest.mark.parametrize("before", ["", " ", '"', "=", "号", r"\n", r"\t", "%3D", r"\u003d", r"\x3d"])
def test_a_value_may_begin_after_an_escape(boundary: str, before: str) -> None:
    redactor = Redactor([Rule("number", boundary, hashed=False)])
    assert stream(redactor, *before, "1234") == before + "[REDACTED:number]"


@pytest.mark.parametrize(("boundary", "before"), [(WORD, "a"), (WORD, "_"), (NUMBER, "1."), (NUMBER, "a-")])
def test_a_value_does_not_begin_inside_another(boundary: str, before: str) -> None:
    redactor = Redactor([Rule("number", rf"{boundary}[0-9n]{{4}}", hashed=False)])
    assert redactor.scrub(before + "1234") == before + "1234"


@pytest.mark.parametrize(
    ("words", "text", "found"),
    [
        (("sin",), "SIN 1234", True),
        (("sin",), "userSin: 1234", False),
        (("sin",), "sinNumber=1234", True),
        (("sin",), "since 1234", False),
        (("sin",), "SINGLE 1234", False),
        (("инн",), "Финн 1234", False),
        (("tax id",), "tax_id: 1234", True),
        (("tax id",), "Tax Id 1234", True),
        (("Thai ID",), "Thai ID 1234", True),
        (("手机",), "我的手机号码1234", True),
        (("phone",), "phones\n1234", False),
        (("phone",), "phone 1 and 1234", False),
    ],
)
def test_a_word_announces_a_number(words: tuple[str, ...], text: str, found: bool) -> None:
    redactor = Redactor([Rule("number", rf"{NUMBER}{digits(4)}", announced(*words), hashed=False)])
    assert ("[REDACTED:number]" in redactor.scrub(text)) is found


# -- checks -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "yes"),
    [
        ("a@b.co", True),
        ("a" * 64 + "@b.co", True),
        ("a" * 65 + "@b.co", False),
        ("a@" + "b" * 63 + ".co", True),
        ("a@" + "b" * 64 + ".co", False),
        ("a@" + "b.c" * 90 + ".co", False),
        ("a..b@c.de", False),
        ("a.@c.de", False),
        ("a@-b.de", False),
        ("a%40b.de", True),
    ],
)
def test_an_address_is_as_long_as_mail_servers_take(value: str, yes: bool) -> None:
    assert checks.email(value) is yes


@pytest.mark.parametrize(
    "number",
    [
        "4111111111111111", "4222222222222", "5555555555554444", "2223003122003222", "378282246310005",
        "30569309025904", "3530111333300000", "6011111111111117", "6205500000000000004", "6304000000000000",
        "2200123456789019", "122000000000003",
    ],
)  # fmt: skip
def test_the_networks_test_cards_are_cards(number: str) -> None:
    assert checks.card(number)
    wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
    assert not checks.card(wrong)


@pytest.mark.parametrize(
    "number", ["0000000000000000", "7000000000000005", "1234567812345670", "411111111111"]
)
def test_a_number_of_no_network_is_no_card(number: str) -> None:
    assert not checks.card(number)


def test_an_address_with_a_wrong_checksum_is_none() -> None:
    assert checks.bech32_address("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq")
    assert not checks.bech32_address("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdp")
    assert not checks.bech32_address("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdQ")
    assert checks.base58_address("1111111111111111111114oLvT2")
    assert not checks.base58_address("111111111111111111114oLvT2")


@pytest.mark.parametrize(
    ("value", "yes"),
    [
        ("8.8.8.8", True),
        ("127.0.0.1", False),
        ("255.255.0.0", False),
        ("2001:db8::1", True),
        ("fe80::1%eth0", True),
        ("::ffff:1.2.3.4", True),
        ("::1", False),
        ("::2", False),
        ("a::b", False),
        ("1::2::3", False),
    ],
)
def test_an_address_is_one_of_a_machine(value: str, yes: bool) -> None:
    assert checks.ip_address(value) is yes


def test_a_number_is_looked_up_without_its_separators_and_with_them() -> None:
    assert checks.registered("gb.nhs")("943 476-5870")
    assert checks.registered("fi.hetu")("131052-308T")
    assert not checks.registered("br.cpf")("111.111.111-11")
    assert checks.registered("gb.nhs") is checks.registered("gb.nhs")


def test_a_phone_number_may_be_followed_by_another_number() -> None:
    assert checks.international_phone("+1 415 555 2671 100")
    assert not checks.international_phone("+1 2")
    assert checks.national_phone("0049 30 901820")
    assert not checks.national_phone("0000000")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Hello everybody", "Hello everybody"),
        ("in 2024", "in 2024"),
        ("write to canary@exam", "write to "),
        ("call +49 170 1234", "call "),
    ],
)
def test_a_stream_that_was_cut_short_loses_no_word_that_tells_nothing(text: str, shown: str) -> None:
    session = ALL.session()
    assert session.feed(text) + session.flush(End.TRUNCATED) == shown
