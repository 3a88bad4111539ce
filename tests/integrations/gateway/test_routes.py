from __future__ import annotations

import pytest
from streamguard_gateway.routes import matches, plain_path, route_of


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/chat/completions", "chat"),
        ("/chat/completions", "chat"),
        ("/openai/v1/chat/completions", "chat"),
        ("/api/paas/v4/chat/completions", "chat"),
        ("/openai/deployments/gpt/chat/completions", "chat"),
        ("/v1/chat/completions/c1", "chat"),
        ("/V1/Chat/Completions/", "chat"),
        ("/v1/completions", "completions"),
        ("/openai/deployments/gpt/completions", "completions"),
        ("/completions", "completions"),
        ("/v1/responses", "responses"),
        ("/openai/responses", "responses"),
        ("/v1/responses/r1", "responses"),
        ("/v1/responses/r1/cancel", "responses"),
        ("/v1/messages", "messages"),
        ("/anthropic/v1/messages", "messages"),
        ("/v1beta/models/m:streamGenerateContent", "google"),
        ("/api/chat", "ollama"),
        ("/v1/threads/t1/messages", "other"),
        ("/v1/messages/count_tokens", "other"),
        ("/v1/messages/batches/b/results", "other"),
        ("/v1/responses/r1/input_items", "other"),
        ("/v1/models", "other"),
        ("/", "other"),
    ],
)
def test_a_path_speaks_its_protocol_under_any_prefix(path: str, name: str) -> None:
    assert route_of(path).name == name


@pytest.mark.parametrize(
    "path",
    [
        "/v1/audio/../chat/completions",
        "/v1/%2e%2e/x",
        "/v1/./x",
        "/a%5C..%5Cb",
        "/v1/audio/%2E%2e%2fx",
        "v1",
        "*",
    ],
)
def test_a_path_that_servers_read_differently_is_none(path: str) -> None:
    assert plain_path(path) is None


@pytest.mark.parametrize(
    "path",
    [
        "/v1//chat/completions",
        "/v1/chat%2Fcompletions",
        "//v1/chat//completions",
        "/v1/chat;v=1/completions;x",
    ],
)
def test_other_spellings_of_a_guarded_path_are_guarded(path: str) -> None:
    assert route_of(plain_path(path) or "").name == "chat"


def test_patterns_match_whole_paths() -> None:
    assert matches("/v1/audio/speech", ("/v1/audio/*",))
    assert matches("/anything/at/all", ("*",))
    assert not matches("/v1/audio", ("/v1/audio/*",))
    assert not matches("/x/v1/audio/speech", ("/v1/audio/*",))
    assert not matches("/v1/models", ())
