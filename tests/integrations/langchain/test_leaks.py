"""No path gives out what the guard takes out. The same paths without a guard do, all of them."""

from __future__ import annotations

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
