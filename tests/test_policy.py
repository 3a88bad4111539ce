from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from streamguard import (
    HARMONY,
    MEMORY,
    REASONING,
    SECRETS,
    Fence,
    FenceScrubber,
    Pipeline,
    PreambleTrimmer,
    Redactor,
    ScaffoldScrubber,
    StateOpScrubber,
    StreamGuardError,
    Transformer,
)
from streamguard.policy import PolicyError, load_policy, parse_policy
from streamguard.presets import roleplay
from streamguard.redact.rules import ASSIGNMENTS, LLM, PRIVATE_KEYS


def parse(toml: str, **environ: str) -> Pipeline:
    return parse_policy(tomllib.loads(toml), environ=environ)


def refused(toml: str, **environ: str) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        parse(toml, **environ)
    assert str(caught.value).splitlines() == [f"policy: {problem}" for problem in caught.value.problems]
    return [str(problem) for problem in caught.value.problems]


def test_stages_in_the_order_of_the_file() -> None:
    assert parse(
        """
        [[stage]]
        type = "fence"
        fences = ["memory-context", "think"]
        where = "line_start"

        [[stage]]
        type = "preamble"

        [[stage]]
        type = "redactor"
        """
    ) == Pipeline(
        FenceScrubber("memory-context", "think", where="line_start"), PreambleTrimmer(), Redactor(SECRETS)
    )


def test_every_option_of_a_fence_stage_is_handed_on() -> None:
    assert parse(
        """
        [[stage]]
        type = "fence"
        presets = ["harmony"]
        fences = [
          "plan",
          {open = "<<", close = [">>", "!!"], name = "arrows", nests = false, private = true},
        ]
        where = "anywhere"
        attributes = false
        nested = false
        orphan_close = "keep"
        unclosed = "keep"
        start_inside = "plan"
        code = true
        escaped = false
        max_block = 5000
        on_limit = "raise"
        trim = "lines"
        """
    ) == Pipeline(
        FenceScrubber(
            *HARMONY,
            "plan",
            Fence("<<", (">>", "!!"), name="arrows", nests=False, private=True),
            attributes=False,
            nested=False,
            orphan_close="keep",
            unclosed="keep",
            start_inside="plan",
            code=True,
            max_block=5000,
            on_limit="raise",
            trim="lines",
        )
    )


@pytest.mark.parametrize(
    ("stage", "wanted"),
    [
        ('type = "fence"\npresets = ["memory", "reasoning"]', FenceScrubber(MEMORY, REASONING)),
        (
            'type = "preamble"\nwhen = "tool_call"\nlanguages = ["en"]\nopening = true',
            PreambleTrimmer(when="tool_call", languages=("en",), opening=True),
        ),
        ('type = "state_ops"', StateOpScrubber()),
        (
            'type = "state_ops"\nmarkers = ["verb"]\nfences = [""]\nmax_candidate = 99\nmax_restore = 0',
            StateOpScrubber(markers=("verb",), fences=("",), max_candidate=99, max_restore=0),
        ),
        ('type = "scaffold"', ScaffoldScrubber()),
        (
            'type = "scaffold"\nheaders = ["a"]\ntransitions = ["b"]\nmax_line = 90\nmax_restore = 0',
            ScaffoldScrubber(headers=("a",), transitions=("b",), max_line=90, max_restore=0),
        ),
        (
            'type = "preamble"\nphrases = ["I shall"]\nmax_sentence = 200\nmax_held = 300',
            PreambleTrimmer(phrases=("I shall",), max_sentence=200, max_held=300),
        ),
        (
            'type = "scaffold"\nextra_headers = ["world state"]',
            ScaffoldScrubber(extra_headers=("world state",)),
        ),
        ('type = "roleplay"', roleplay()),
        ('type = "redactor"\nlimit = 1000', Redactor(SECRETS, limit=1000)),
        ('type = "redactor"\nallow = ["abc"]\nobfuscated = true', Redactor(allow=["abc"], obfuscated=True)),
        ('type = "redactor"\nallow_patterns = ["a+"]', Redactor(allow=[re.compile("a+")])),
        (
            'type = "redactor"\nactions = {llm = "flag", jwt = "block"}',
            Redactor(actions={"llm": "flag", "jwt": "block"}),
        ),
        ('type = "redactor"\nrules = ["pii-payment"]', Redactor(only=["pii-payment"])),
        (f'type = "redactor"\nrules = ["{SECRETS[0].id}"]', Redactor(SECRETS[:1])),
        ('type = "redactor"\nrules = ["llm", "private-keys"]', Redactor((*LLM, *PRIVATE_KEYS))),
        (
            'type = "redactor"\nwithout = ["assignments"]',
            Redactor([rule for rule in SECRETS if rule not in ASSIGNMENTS]),
        ),
        (f'type = "redactor"\nwithout = ["{SECRETS[0].id}"]', Redactor(SECRETS[1:])),
    ],
)
def test_each_kind_of_stage(stage: str, wanted: Transformer) -> None:
    assert parse(f"[[stage]]\n{stage}") == Pipeline(wanted)


def test_own_rules_join_the_secrets_or_stand_alone() -> None:
    rule = '[[rule]]\nid = "ticket"\nvalue = "TCK-[0-9]{6}"\ncontext = "ticket "\nhashed = false\n'
    both = parse(f'{rule}[[stage]]\ntype = "redactor"')
    assert both.scrub("ticket TCK-123456") == "ticket [REDACTED:ticket]"
    (alone,) = parse(f'{rule}[[stage]]\ntype = "redactor"\nrules = ["ticket"]').stages
    assert isinstance(alone, Redactor)
    assert [made.id for made in alone.rules] == ["ticket"]


def test_the_key_comes_from_the_environment() -> None:
    def key(stage: str, **environ: str) -> bytes | None:
        (redactor,) = parse(f'[[stage]]\ntype = "redactor"\n{stage}', **environ).stages
        assert isinstance(redactor, Redactor)
        return redactor.key

    assert key("") is None
    assert key("", STREAMGUARD_KEY="") is None
    assert key("", STREAMGUARD_KEY="pepper") == b"pepper"
    assert key('key_env = "OTHER"', OTHER="salt", STREAMGUARD_KEY="pepper") == b"salt"


@pytest.mark.parametrize("environ", [{}, {"OTHER": ""}])
def test_a_named_key_that_is_not_set_is_refused(environ: dict[str, str]) -> None:
    assert refused('[[stage]]\ntype = "redactor"\nkey_env = "OTHER"', **environ) == [
        "stage[0].key_env: the environment variable it names is not set"
    ]


@pytest.mark.parametrize("toml", ["", "stage = []", '[[rule]]\nid = "a"\nvalue = "b"'])
def test_a_policy_without_stages_is_refused(toml: str) -> None:
    assert refused(toml) == [
        'stage: a policy needs at least one [[stage]], such as one with type = "redactor"'
    ]


@pytest.mark.parametrize(
    ("toml", "wanted"),
    [
        (
            '[[stage]]\ntype = "fense"',
            'stage[0].type: given "fense"; did you mean fence?; allowed: "fence", ',
        ),
        ("[[stage]]\ntype = 3", "stage[0].type: given 3; allowed: "),
        ('[[stage]]\nfences = ["a"]', "stage[0].type: is missing; allowed: "),
        ('[stage]\ntype = "fence"', "stage: given a table; allowed: [[stage]], in double brackets"),
        ('stage = ["fence"]', "stage[0]"),
        (
            '[[stage]]\ntype = "fence"\nfences = ["a"]\nwere = 1',
            "stage[0].were: unknown key; did you mean where?; allowed: type, fences, presets, where, ",
        ),
        (
            '[[stage]]\ntype = "fence"\nfences = ["a"]\nwhere = "start"',
            'stage[0].where: given "start"; allowed: "anywhere" or "line_start"',
        ),
        (
            '[[stage]]\ntype = "fence"\nfences = "a"',
            'stage[0].fences: given "a"; allowed: a list',
        ),
        (
            '[[stage]]\ntype = "fence"\nfences = [""]',
            'stage[0].fences[0]: given ""; allowed: text that is not empty',
        ),
        (
            '[[stage]]\ntype = "fence"\nfences = [3]',
            "stage[0].fences[0]: given 3; allowed: text",
        ),
        (
            '[[stage]]\ntype = "fence"\nfences = [{open = "a", clse = "b"}]',
            "stage[0].fences[0].close: is missing",
        ),
        (
            '[[stage]]\ntype = "fence"\nfences = [{open = 1, close = "b"}]',
            "stage[0].fences[0].open: given 1; allowed: text or a list of texts",
        ),
        (
            '[[stage]]\ntype = "fence"\npresets = ["memories"]',
            'stage[0].presets[0]: given "memories"; allowed: "memory", "reasoning", ',
        ),
        (
            '[[stage]]\ntype = "fence"\nfences = ["a"]\ncode = "yes"',
            'stage[0].code: given "yes"; allowed: true or false',
        ),
        (
            '[[stage]]\ntype = "fence"\nfences = ["a"]\nmax_block = -1',
            "stage[0].max_block: given -1; allowed: a whole number from 0",
        ),
        (
            '[[stage]]\ntype = "fence"\nfences = ["a"]\nmax_block = 1.5',
            "stage[0].max_block: given 1.5; allowed: a whole number",
        ),
        ('[[stage]]\ntype = "fence"', 'stage[0]: names no fence; give "fences", "presets" or both'),
        ('[[stage]]\ntype = "fence"\nfences = ["<a>"]', "stage[0]: a tag is given by its name alone"),
        (
            '[[stage]]\ntype = "redactor"\nallow_patterns = ["(a"]',
            "stage[0].allow_patterns[0]: given a value that is not shown; allowed: a regular expression",
        ),
        (
            '[[stage]]\ntype = "redactor"\nactions = {jvt = "flag"}',
            "stage[0]: no rule or group 'jvt' here",
        ),
        (
            '[[stage]]\ntype = "redactor"\nlimit = 3',
            "stage[0].limit: given 3; allowed: a whole number from 16",
        ),
        (
            '[[stage]]\ntype = "redactor"\nrules = ["secrts"]',
            'stage[0].rules[0]: no rule or set "secrts"; did you mean secrets?',
        ),
        (
            '[[stage]]\ntype = "redactor"\nwithout = ["nope-nope"]',
            'stage[0].without[0]: no rule or set "nope-nope" here',
        ),
        (
            '[[stage]]\ntype = "redactor"\n[[rule]]\nid = "A"\nvalue = "x"',
            'rule[0].id: given "A"; allowed: a lower-case letter, then up to 63 of a-z, 0-9 and -',
        ),
        (
            '[[stage]]\ntype = "state_ops"\n[[rule]]\nid = "mine"\nvalue = "xyz"',
            'rule[0]: no redactor stage uses "mine"',
        ),
        (
            f'[[stage]]\ntype = "redactor"\n[[rule]]\nid = "{SECRETS[0].id}"\nvalue = "x"',
            f'rule[0].id: "{SECRETS[0].id}" is the name of another rule or set',
        ),
        (
            'stages = 1\n[[stage]]\ntype = "scaffold"',
            "stages: unknown key; did you mean stage?; allowed: stage, rule",
        ),
        ('"odd\\nkey" = 1\n[[stage]]\ntype = "scaffold"', '"odd\\nkey": unknown key; allowed: stage, rule'),
    ],
)
def test_what_is_wrong_is_named_with_what_is_allowed(toml: str, wanted: str) -> None:
    assert any(line.startswith(wanted) for line in refused(toml)), refused(toml)
    assert all("\n" not in line for line in refused(toml))


def test_every_problem_is_reported() -> None:
    lines = refused(
        '[[stage]]\ntype = "fence"\nwere = 1\ncode = 2\n[[stage]]\ntype = "redactor"\nrule = ["secrets"]'
    )
    assert [line.split(":")[0] for line in lines] == ["stage[0].code", "stage[0].were", "stage[1].rule"]


@pytest.mark.parametrize(
    "toml",
    [
        '[[stage]]\ntype = "redactor"\nkey = "hunter2"',
        '[[stage]]\ntype = "redactor"\nkey_env = "hunter2!"',
        '[[stage]]\ntype = "redactor"\nkey_env = "hunter2"',
        '[[stage]]\ntype = "redactor"\napi_token = "hunter2"',
        '[[stage]]\ntype = "redactor"\n[[rule]]\nid = "mine"\nvalue = "(hunter2"',
        '[[stage]]\ntype = "redactor"\n[[rule]]\nid = "mine"\nvalue = "(?>hunter2)"',
        '[[stage]]\ntype = "redactor"\n[[rule]]\nid = "mine"\nvalue = "x"\ncontext = "hunter2*?"',
        '[[stage]]\ntype = "redactor"\n[[rule]]\nid = "mine"\nvalue = ["hunter2"]',
        '[[stage]]\ntype = "redactor"\n[[rule]]\nid = "mine"\nvalue = "x"\nanchors = ["hunter2"]',
    ],
)
def test_a_secret_in_a_policy_is_never_repeated(toml: str) -> None:
    lines = refused(toml)
    assert lines
    assert "hunter2" not in "".join(lines)


def test_a_key_written_down_is_pointed_to_the_environment() -> None:
    (line,) = refused('[[stage]]\ntype = "redactor"\nkey = "hunter2"')
    assert line.startswith(
        "stage[0].key: unknown key; a key stands in the environment, see key_env; allowed: "
    )


@pytest.mark.parametrize("mapping", [{1: 2, "stage": [{"type": "scaffold"}]}, {"stage": None}, [], None, "x"])
def test_mappings_of_any_shape_are_refused_in_words(mapping: Mapping[str, object]) -> None:
    with pytest.raises(PolicyError):
        parse_policy(mapping)


def test_the_error_is_of_the_library_and_carries_its_parts() -> None:
    with pytest.raises(StreamGuardError) as caught:
        parse_policy({"stage": [{"type": "fence", "fences": [3]}]}, source="config.yaml")
    assert isinstance(caught.value, PolicyError)
    assert caught.value.source == "config.yaml"
    assert [problem.key for problem in caught.value.problems] == ["stage[0].fences[0]"]


def test_a_policy_file(tmp_path: Path) -> None:
    path = tmp_path / "streamguard.toml"
    path.write_text('[[stage]]\ntype = "fence"\nfences = ["計画"]\n', encoding="utf-8")
    assert load_policy(path) == Pipeline(FenceScrubber("計画"))
    assert load_policy(str(path)) == load_policy(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file or directory"),
        (b"\xff", "is not UTF-8 text"),
        (b'key = "hunter2', "is not valid TOML (at end of document)"),
        (b"[[stage]]\nhunter2\n", "is not valid TOML (at line 2, column 8)"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "streamguard.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(PolicyError) as caught:
        load_policy(path)
    assert str(caught.value) == f"{path}: {message}"


def test_policies_in_json_mean_the_same() -> None:
    toml = '[[stage]]\ntype = "fence"\nfences = ["a", {open = "x", close = "y"}]'
    assert parse_policy(json.loads(json.dumps(tomllib.loads(toml)))) == parse(toml)


DOCS = (Path(__file__).parents[1] / "docs" / "policy.md").read_text("utf-8")
POLICIES = re.findall(r"```toml\n(.*?)```", DOCS, re.DOTALL)


@pytest.mark.parametrize("toml", POLICIES)
def test_the_policies_of_the_docs(toml: str) -> None:
    assert parse(toml, ACME_KEY="pepper").stages


def test_the_code_of_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "streamguard.toml").write_text(POLICIES[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)
    exec(compile(code, "policy.md", "exec"), {})  # noqa: S102 - our own example
