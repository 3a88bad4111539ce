"""Recorded streams of real providers, through LangChain's own models: what is clean is not changed."""

from __future__ import annotations

import json
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from streamguard_langchain import guard_model

from streamguard import FenceScrubber, LiteralRedactor, PreambleTrimmer, Redactor

from .sources import anthropic_model, openai_model

RECORDINGS = Path(__file__).parents[4] / "shared" / "data" / "recordings"
THINKING = {"type": "enabled", "budget_tokens": 1024}


def recorded() -> list[tuple[str, str]]:
    index = RECORDINGS / "index.jsonl"
    if not index.exists():
        return []
    found = [json.loads(line) for line in index.read_text().splitlines()]
    return [(each["protocol"], each["file"]) for each in found if each["protocol"] != "google"]


def model(protocol: str, body: bytes) -> BaseChatModel:
    if protocol == "anthropic":
        return anthropic_model(lambda _: body, thinking=THINKING)
    return openai_model(lambda _: body, use_responses_api=protocol == "openai-responses")


def whole(chat: BaseChatModel) -> Any:
    return reduce(add, list(chat.stream("x")))


@pytest.mark.skipif(not RECORDINGS.exists(), reason="needs the data beside the checkout")
def test_clean_recordings_come_through_unchanged_and_a_planted_word_does_not() -> None:
    seen = 0
    planted = 0
    for protocol, name in recorded():
        body = (RECORDINGS / name).read_bytes()
        try:
            raw = whole(model(protocol, body))
        except Exception:  # noqa: S112 - LangChain's models do not read every recording
            continue
        seen += 1
        guard = FenceScrubber("memory-context", "think") | Redactor()
        safe = whole(guard_model(model(protocol, body), guard, tool_args="guard"))
        assert (safe.content, safe.tool_calls) == (raw.content, raw.tool_calls), name
        assert safe.additional_kwargs == raw.additional_kwargs, name
        assert safe.usage_metadata == raw.usage_metadata, name
        raw.response_metadata.pop("logprobs", None)  # they are dropped
        assert safe.response_metadata == raw.response_metadata, name
        words = [word for word in raw.text.split() if word.isalpha() and len(word) > 6]
        if words:
            planted += 1
            literal = PreambleTrimmer(when="tool_call") | LiteralRedactor({"word": words[0]})
            assert words[0] not in whole(guard_model(model(protocol, body), literal)).text, name
    assert seen >= 40
    assert planted >= 15
