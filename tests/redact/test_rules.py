"""Every rule that ships: its examples, what comes near it, what it holds back."""

from __future__ import annotations

import pydoc_data.topics
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given

from streamguard.redact import Redactor, Rule, digest, placeholder, rules
from streamguard.redact.compiled import compiled as _compile
from streamguard.redact.rules import PII, SECRETS
from streamguard.redact.rules.boundary import LEFT, STRICT_LEFT, UNMASKED, spellings
from streamguard.session import End, Finding
from streamguard.testing import cuts_of, texts

from .catalogue import PAGE, page

CANARIES = re.compile("canary|Q2FuYXJ5|Y2FuYXJ5|DYW5hcnk|ca0123ca", re.IGNORECASE)
"""Every secret of an example contains this word, some of them in base64 or its letters in hexadecimal."""
PLACEHOLDER = re.compile(r"\[REDACTED:[a-z0-9-]+:[0-9a-f]{8}\]")
pytestmark = pytest.mark.exhaustive
ALL = Redactor(SECRETS)
EXAMPLES = [pytest.param(rule, text, id=rule.id) for rule in SECRETS for text in rule.examples]
NEAR_MISSES = [pytest.param(rule, text, id=rule.id) for rule in SECRETS for text in rule.near_misses]
GROUPS = [name for name in rules.__all__ if name not in ("SECRETS", "PII")]


def stream(redactor: Redactor, *chunks: str, end: End = End.COMPLETE) -> str:
    session = redactor.session()
    return "".join([*map(session.feed, chunks), session.flush(end)])


def replaced(text: str, findings: list[Finding]) -> str:
    """The text with each finding's value replaced, and nothing else."""
    edges = [0, *(edge for one in findings for edge in (one.offset, one.offset + one.length)), len(text)]
    parts = [text[start:stop] for start, stop in pairwise(edges)]
    for number, one in enumerate(findings):
        parts[2 * number + 1] = placeholder(one.rule, digest(parts[2 * number + 1]))
    return "".join(parts)


# -- the catalogue ------------------------------------------------------------------


def lacking(rule: Rule) -> set[str]:
    """What a rule does not tell of itself, and should.

    Where a rule begins with a run of certain characters, or has only digits and signs to look
    for, its anchors would be its pattern once more: such rules of personal data need none.
    """
    told = ("description", "source", "examples", "near_misses")
    found = {name for name in told if not getattr(rule, name)}
    prefilter = _compile((rule,), 256).prefilter
    (derived, *_) = prefilter.derived
    words = derived is not None and any(map(re.compile(r"[^\W\d_]{2}").search, derived.strings))
    if not rule.anchors and (rule.hashed or (words and not prefilter._clusters)):
        found.add("anchors")
    return found


@pytest.mark.parametrize("rule", [*SECRETS, *PII], ids=lambda rule: rule.id)
def test_a_rule_says_what_it_is_and_shows_it(rule: Rule) -> None:
    assert not lacking(rule)
    assert not rule.description.endswith(".")
    assert rule.hashed is (rule in SECRETS)


@pytest.mark.parametrize("group", [SECRETS, PII])
@pytest.mark.parametrize("name", ["description", "source", "examples", "near_misses", "anchors"])
def test_a_rule_that_does_not_is_noticed(group: tuple[Rule, ...], name: str) -> None:
    rule = max(group, key=lambda rule: len(rule.anchors))
    assert lacking(replace(rule, **{name: type(getattr(rule, name))()})) == {name}


def test_the_groups_are_the_whole_and_ids_are_unique() -> None:
    grouped = [rule for name in GROUPS for rule in getattr(rules, name)]
    assert sorted(grouped, key=lambda rule: rule.id) == sorted((*SECRETS, *PII), key=lambda rule: rule.id)
    assert len({rule.id for rule in grouped}) == len(grouped)


@pytest.mark.source_tree
def test_the_documentation_lists_every_rule() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("rule", SECRETS, ids=lambda rule: rule.id)
def test_a_rule_is_found_by_literals_near_its_beginning(rule: Rule) -> None:
    derived, *_ = _compile((rule,), 256).prefilter.derived
    assert derived is not None
    assert rule.anchors
    assert min(map(len, derived.strings)) >= 3
    assert derived.lead <= 8


@pytest.mark.parametrize("rule", [rule for rule in SECRETS if not rule.checks], ids=lambda rule: rule.id)
def test_a_rule_without_checks_is_certain_early(rule: Rule) -> None:
    longest = max(rule.examples, key=len)
    session = Redactor((rule,)).session()
    held = []
    for character in longest + "Canary12" * 100:
        session.feed(character)
        held.append(session.pending)
    assert max(held) <= 130
    assert max(held) <= 50 or rule.id in {"private-key", "jwt", "aws-signature"}


# -- examples -----------------------------------------------------------------------


@pytest.mark.parametrize(("rule", "text"), EXAMPLES)
def test_an_example_is_redacted_by_its_rule(rule: Rule, text: str) -> None:
    findings: list[Finding] = []
    shown = Redactor((rule,)).scrub(text, on_finding=findings.append)
    assert CANARIES.search(text)
    assert not CANARIES.search(PLACEHOLDER.sub("", shown))
    assert shown == replaced(text, findings)
    assert {one.rule for one in findings} == {rule.id}


@pytest.mark.parametrize(("rule", "text"), EXAMPLES)
def test_an_example_is_redacted_by_all_rules_at_every_cut(rule: Rule, text: str) -> None:
    findings: list[Finding] = []
    shown = ALL.scrub(text, on_finding=findings.append)
    assert not CANARIES.search(PLACEHOLDER.sub("", shown))
    assert shown == replaced(text, findings)
    assert stream(ALL, *text) == shown
    for at in range(len(text) + 1):
        assert stream(ALL, text[:at], text[at:]) == shown, at


@pytest.mark.parametrize(("rule", "text"), EXAMPLES)
def test_no_part_of_a_secret_is_ever_shown(rule: Rule, text: str) -> None:
    session = ALL.session()
    expected = ALL.scrub(text)
    shown = ""
    for character in text:
        shown += session.feed(character)
        assert expected.startswith(shown)


@pytest.mark.parametrize(
    "text",
    [
        "Access key ID,Secret access key\n{},{}\n",
        "bob,,{},{},https://example.com/console",
        "{}:{}",
        'new BasicAWSCredentials("{}","{}")',
        "Credentials('{}', '{}')",
        "| {} | {} |",
        "{}\n{}\n",
    ],
)
def test_the_secret_of_a_key_is_found_beside_its_redacted_id(text: str) -> None:
    written = text.format("AKIA" + "QZ7XK2PLM3VB9TWD", "Canary+/0123456789abcdefghijkl" + "MNOPQRSTUV")
    shown = ALL.scrub(written)
    assert shown.count("[REDACTED:aws-") == 2
    assert not CANARIES.search(PLACEHOLDER.sub("", shown))
    assert stream(ALL, *written) == shown
    for at in range(len(written)):
        assert stream(ALL, written[:at], written[at:]) == shown


@pytest.mark.parametrize(("rule", "text"), NEAR_MISSES)
def test_a_near_miss_comes_through(rule: Rule, text: str) -> None:
    for redactor in (Redactor((rule,)), ALL):
        assert redactor.scrub(text) == text
        assert stream(redactor, *text) == text


@pytest.mark.parametrize("glue", ["", " ", "\n", '", "'])
def test_redacting_twice_is_redacting_once(glue: str) -> None:
    texts = [text for rule in SECRETS for text in (*rule.examples, *rule.near_misses)]
    once = ALL.scrub(glue.join(texts))
    assert ALL.scrub(once) == once
    for text in texts:
        once = ALL.scrub(text)
        assert ALL.scrub(once) == once


WORDS = """sk- sk-proj- ghp_ eyJ AKIA :// : @ = " ' ` \\" \\n %3D password token key api_key = , . ( ) { <
Authorization: Bearer Basic --password <secret> </ x [REDACTED:jwt:01234567] [REDACTED: ] hunter2 abcdefgh
Abc123Def456Ghi789Jkl012 user:pass@host postgres://u: ${X} -----BEGIN~PRIVATE~KEY----- -----END"""
FRAGMENTS = [" ", "\n", *(word.replace("~", " ") for word in WORDS.split())]


@given(texts(FRAGMENTS).flatmap(cuts_of))
def test_the_cut_makes_no_difference(chunks: list[str]) -> None:
    once = ALL.scrub("".join(chunks))
    assert stream(ALL, *chunks) == once
    assert ALL.scrub(once) == once


# -- pieces -------------------------------------------------------------------------


@pytest.mark.parametrize("boundary", [LEFT, STRICT_LEFT])
@pytest.mark.parametrize(
    "before",
    ["", " ", '"', "=", "密钥", r"\n", r"\t", "%3D", r"\u003d", r"\x3d", "\x1b[32m", r"\u001b[1;31m"],
)
def test_a_token_may_begin_after_an_escape(boundary: str, before: str) -> None:
    redactor = Redactor([Rule("token", rf"{boundary}tok_[0-9]{{4}}")])
    assert stream(redactor, *before, "tok_1234") == before + placeholder("token", digest("tok_1234"))


@pytest.mark.parametrize(
    ("boundary", "before"),
    [(LEFT, before) for before in ("_", " _", "(_", "__", "**__", "\n_")]
    + [(STRICT_LEFT, before) for before in ("+", "-", "x\n+", "x\n-", r"x\n+", r"x\n-")],
)
def test_a_token_may_begin_after_a_mark_of_markdown_or_of_a_patch(boundary: str, before: str) -> None:
    redactor = Redactor([Rule("token", rf"{boundary}tok_[0-9]{{4}}")])
    assert stream(redactor, *before, "tok_1234") == before + placeholder("token", digest("tok_1234"))


@pytest.mark.parametrize(
    ("boundary", "before"),
    [(LEFT, before) for before in ("a", "a_", "a__", "___", "9", "n", "[m")]
    + [(STRICT_LEFT, before) for before in ("a-", "--", ".", "/", "a+", "_")],
)
def test_a_token_does_not_begin_inside_a_word(boundary: str, before: str) -> None:
    redactor = Redactor([Rule("token", rf"{boundary}tok_[0-9]{{4}}")])
    assert stream(redactor, *before, "tok_1234") == before + "tok_1234"


def test_a_masked_token_is_told_by_its_first_three_characters() -> None:
    redactor = Redactor([Rule("token", rf"tok_{UNMASKED}[A-Za-z0-9]{{4,}}")])
    assert redactor.scrub("tok_xxxx tok_XXXX1") == "tok_xxxx tok_XXXX1"
    assert PLACEHOLDER.sub("", redactor.scrub("tok_xxab12 tok_Xabc1 tok_abcd")) == "  "


@pytest.mark.parametrize(
    "name", ["api_key", "api-key", "apikey", "apiKey", "ApiKey", "API_KEY", "API-KEY", "Api-Key", "API key"]
)
def test_a_name_is_known_in_its_usual_spellings(name: str) -> None:
    assert re.fullmatch(spellings("api", "key"), name)


def test_a_truncated_key_takes_no_prose_with_it() -> None:
    key = next(rule for rule in SECRETS if rule.id == "private-key").examples[0]
    cut = key[: key.index("-----END") - 20]
    prose = "\n\nThat was the key. Note: it is yours.\n"
    assert PLACEHOLDER.sub("", ALL.scrub(cut + prose)) == prose


@pytest.mark.parametrize("end", [End.TRUNCATED, End.ERROR])
@pytest.mark.parametrize("text", ["sk-proj-abc", "password: hunt", "x AKIA1234", "Authorization: Bearer ab"])
def test_a_half_received_secret_is_dropped(text: str, end: End) -> None:
    shown = stream(ALL, *text, end=end)
    assert text.startswith(shown)
    assert not re.search("abc|hunt|1234|ab$", shown)


# -- what it costs ------------------------------------------------------------------


def test_prose_is_hardly_ever_held() -> None:
    prose = "".join(pydoc_data.topics.topics.values())[:100_000]
    session = ALL.session()
    held = []
    for character in prose:
        session.feed(character)
        held.append(session.pending)
    # A letter at the beginning of a word: nearly every letter begins the prefix of some token.
    assert sum(map(bool, held)) < 0.2 * len(held)
    assert sum(held) < 0.25 * len(held)
    assert max(held) < 64


def test_prose_and_code_without_secrets_come_through() -> None:
    for text in (*pydoc_data.topics.topics.values(), re.__doc__ or "", LEFT):
        assert ALL.scrub(text) == text
