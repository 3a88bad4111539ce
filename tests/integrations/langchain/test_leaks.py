"""No path gives out what the guard takes out. The same paths without a guard do, all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamguard_langchain import guard_model

from .paths import EVERY_PATH, PATHS, leaks
from .sources import EVERY_SOURCE, GUARD, SOURCES

pytestmark = [
    pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning"),
    pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainPendingDeprecationWarning"),
]
EACH_PATH = pytest.mark.parametrize("path", EVERY_PATH)


@EVERY_SOURCE
@EACH_PATH
def test_a_guarded_model_leaks_on_no_path(source: str, path: str) -> None:
    assert leaks(PATHS[path](guard_model(SOURCES[source](), GUARD, tool_args="guard"))) == set()


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(source, marks=() if source in ("fake-native", "anthropic") else pytest.mark.exhaustive)
        for source in SOURCES
    ],
)
@EACH_PATH
def test_the_same_model_without_a_guard_leaks_on_every_path(source: str, path: str) -> None:
    assert "canarysecret" in leaks(PATHS[path](SOURCES[source]()))


PLACES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "the text": ("fake", lambda message: message.text),
    "a list of blocks": ("fake-blocks", lambda message: message.content),
    "reasoning": ("anthropic", lambda message: message.content[0]),
    "reasoning in additional_kwargs": ("fake-kwargs", lambda m: m.additional_kwargs["reasoning_content"]),
    "a refusal in additional_kwargs": ("openai", lambda message: message.additional_kwargs["refusal"]),
    "calls in additional_kwargs": ("fake-kwargs", lambda m: m.additional_kwargs["tool_calls"]),
    "parsed in additional_kwargs": ("fake-kwargs", lambda message: message.additional_kwargs["parsed"]),
    "arguments of tools": ("openai", lambda message: message.tool_calls),
    "arguments that are no JSON": ("fake-kwargs", lambda message: message.invalid_tool_calls),
    "log probabilities": ("openai", lambda message: message.response_metadata.get("logprobs")),
    "citations": ("fake-blocks", lambda message: message.content[1]["annotations"]),
    "results of a provider's tools": ("fake-blocks", lambda message: message.content[5]["output"]),
    "blocks that LangChain does not know": ("fake-blocks", lambda message: message.content[6]["value"]),
}


@pytest.mark.parametrize("place", PLACES)
def test_there_is_a_canary_in_each_place_of_an_answer_and_the_guard_takes_it_out(place: str) -> None:
    source, part = PLACES[place]
    assert leaks(part(SOURCES[source]().invoke("x")))
    assert leaks(part(guard_model(SOURCES[source](), GUARD, tool_args="guard").invoke("x"))) == set()
