from __future__ import annotations

import json
from typing import Any

import pytest
from streamguard_gateway.prompts import guard_prompt, wants_json
from streamguard_gateway.refusals import Refusal

from streamguard import Finding, Redactor
from streamguard.redact import Rule

from .support import CANARY, GUARD

SHOWN = "[REDACTED:canary:e6b0d319]"


def guarded(request: Any) -> Any:
    return json.loads(guard_prompt(json.dumps(request).encode(), [], GUARD, lambda _: None))


@pytest.mark.parametrize(
    "request_of",
    [
        lambda text: {"messages": [{"role": "user", "content": text}]},
        lambda text: {"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]},
        lambda text: {
            "messages": [{"content": [{"type": "tool_result", "tool_use_id": "t", "content": text}]}]
        },
        lambda text: {"messages": [{"content": [{"type": "tool_use", "id": "t", "input": {"a": text}}]}]},
        lambda text: {"system": text},
        lambda text: {"system": [{"type": "text", "text": text}]},
        lambda text: {"prompt": [text, text]},
        lambda text: {"input": text, "instructions": text},
        lambda text: {"input": [{"type": "message", "content": [{"type": "input_text", "text": text}]}]},
        lambda text: {"input": [{"type": "function_call_output", "call_id": "c", "output": text}]},
    ],
)
def test_texts_of_every_protocol_are_guarded(request_of: Any) -> None:
    assert guarded(request_of(f"a {CANARY}")) == request_of(f"a {SHOWN}")


@pytest.mark.parametrize(
    "request_",
    [
        {"messages": [{"content": [{"type": "thinking", "thinking": CANARY, "signature": CANARY}]}]},
        {"messages": [{"content": [{"type": "image", "source": {"type": "base64", "data": CANARY}}]}]},
        {"messages": [{"content": [{"type": "tool_result", "content": [{"source": {"data": CANARY}}]}]}]},
        {"messages": [{"content": [{"type": "image_url", "image_url": {"url": CANARY}}]}]},
        {"messages": [{"role": "tool", "tool_call_id": CANARY, "content": "x"}]},
        {"input": [{"type": "reasoning", "id": CANARY, "encrypted_content": CANARY}]},
        {"model": CANARY, "metadata": {"user_id": CANARY}, "tools": [{"name": CANARY}]},
    ],
)
def test_what_the_provider_compares_or_decodes_passes(request_: Any) -> None:
    assert guarded(request_) == request_


def test_findings_are_reported() -> None:
    found: list[Finding] = []
    guard_prompt(json.dumps({"prompt": CANARY}).encode(), [], GUARD, found.append)
    assert [finding.rule for finding in found] == ["canary"]


def test_a_rule_that_blocks_refuses_the_request() -> None:
    guard = Redactor((Rule("canary", r"ZQCANARY(?:x7){8}"),), actions={"canary": "block"})
    with pytest.raises(Refusal) as refused:
        guard_prompt(json.dumps({"prompt": CANARY}).encode(), [], guard, lambda _: None)
    assert (refused.value.status, refused.value.code) == (403, "blocked")
    assert CANARY not in str(refused.value)


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ({"response_format": {"type": "json_object"}}, True),
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, True),
        ({"text": {"format": {"type": "json_schema"}}}, True),
        ({"output_format": {"type": "json_schema"}}, True),
        ({"output_config": {"format": {"type": "json_schema"}}}, True),
        ({"generationConfig": {"responseMimeType": "application/json"}}, True),
        ({"generation_config": {"response_mime_type": "application/json"}}, True),
        ({"generationConfig": {"responseMimeType": "text/x.enum"}}, False),
        ({"response_format": {"type": "text"}}, False),
        ({"response_format": None, "text": "format"}, False),
        ({"messages": [{"content": 'the "format": {"type": "json_object"}'}]}, False),
        (["format"], False),
        ({}, False),
    ],
)
def test_structured_output_is_known_by_the_request(request_: Any, wanted: bool) -> None:
    assert wants_json(json.dumps(request_).encode()) is wanted


def test_what_is_no_request_asks_for_nothing() -> None:
    assert wants_json(b'{"response_format"') is False
    assert wants_json(b"") is False
