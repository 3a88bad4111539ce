"""A real proxy with the guardrail, and one without: what clients and loggers get of the same answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from streamguard import End

from .proxies import Proxy, configuration, guardrail, started, up
from .support import GUARD, POLICY, Canary, content, frames, joined, strings
from .upstream import Script, Upstream

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")
pytest.importorskip("litellm.proxy.proxy_cli", exc_type=ImportError)

pytestmark = [pytest.mark.exhaustive, pytest.mark.filterwarnings("ignore")]
BLOCKED = {
    "stage": [{"type": "redactor", "rules": ["word"], "actions": {"word": "block"}}],
    "rule": [{"id": "word", "value": "forbidden"}],
}


HANDLER = f"""
from streamguard.policy import parse_policy
from streamguard_litellm import StreamGuardLogger

handler = StreamGuardLogger(parse_policy({POLICY!r}))
"""


@dataclass
class Proxies:
    guarded: Proxy
    bare: Proxy
    logger: Proxy
    quiet: Proxy


@pytest.fixture(scope="module")
def proxies(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxies]:
    with contextlib.ExitStack() as stack:
        root = tmp_path_factory.mktemp("proxies")
        blocking = guardrail("blocking", default_on=False, streamguard={"policy": BLOCKED, "logs": False})
        settings = configuration(upstream, guardrails=[guardrail(), blocking])
        guarded = stack.enter_context(started(root / "guarded", settings))
        bare = stack.enter_context(started(root / "bare", configuration(upstream, guardrails=[])))
        settings = configuration(upstream, guardrails=[])
        settings["litellm_settings"]["callbacks"] = ["guard.handler", "recorder.recorder"]
        logger = stack.enter_context(started(root / "logger", settings, {"guard.py": HANDLER}))
        own = guardrail(streamguard={"policy": POLICY, "logs": False})
        quiet = stack.enter_context(started(root / "quiet", configuration(upstream, guardrails=[own])))
        yield Proxies(up(guarded), up(bare), up(logger), up(quiet))


PATHS = {
    "chat": "/v1/chat/completions",
    "bridged chat": "/v1/chat/completions",
    "completions": "/v1/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
    "bridged messages": "/v1/messages",
    "content": "/v1beta/models/gemini:generateContent",
}
SAID = {
    "chat": ("content", "reasoning", "refusal", "arguments", "annotation", "extra"),
    "bridged chat": ("content", "reasoning", "arguments"),
    "completions": ("content",),
    "responses": ("content", "reasoning", "arguments", "annotation"),
    "messages": ("content", "reasoning", "arguments"),
    "bridged messages": ("content", "reasoning", "arguments"),
    "content": ("content", "reasoning", "arguments"),
}
PLACES = {
    "chat": {"content", "reasoning_content", "arguments", "logprobs", "annotations", "note", "a_note"},
    "bridged chat": {"content", "reasoning_content", "thinking_blocks", "arguments"},
    "completions": {"text"},
    "responses": {"text", "summary", "arguments", "annotations"},
    "messages": {"text", "thinking"},
    "bridged messages": {"text", "thinking"},
    "content": {"text", "args"},
}
"""Where a provider's answer says it, each of which the guardrail has to guard."""
LOST = {("chat", True): {"refusal"}}  # by LiteLLM itself: it does not pass a streamed refusal on


def asked(endpoint: str, token: str, *, stream: bool, n: int) -> tuple[str, dict[str, Any]]:
    path = PATHS[endpoint]
    if endpoint == "content":
        if stream:
            path = path.replace(":generate", ":streamGenerate") + "?alt=sse"
        return path, {"contents": [{"role": "user", "parts": [{"text": token}]}]}
    body: dict[str, Any] = {"stream": stream, **({"n": n} if n > 1 else {})}
    prompt = [{"role": "user", "content": token}]
    more: dict[str, dict[str, Any]] = {
        "chat": {"model": "gpt", "messages": prompt, "logprobs": True},
        "bridged chat": {"model": "claude", "messages": prompt},  # its reasoning comes in blocks of thinking
        "completions": {"model": "instruct", "prompt": token},
        "responses": {"model": "gpt", "input": token},
        "messages": {"model": "claude", "messages": prompt, "max_tokens": 99},
        "bridged messages": {"model": "gpt", "messages": prompt, "max_tokens": 99},
    }
    return path, {**body, **more[endpoint]}


def said(endpoint: str, events: list[Any], n: int) -> list[str]:
    """The answer's text, of each choice."""
    if endpoint in ("chat", "bridged chat", "completions"):
        events = [
            {"choices": [{**c, **(c.get("message") or {})} for c in event.get("choices", [])]}
            for event in events
        ]
        return [
            content(events, index, "text" if endpoint == "completions" else "content") for index in range(n)
        ]
    if endpoint == "responses":
        whole = events[-1].get("response", events[-1])
        return [p["text"] for item in whole["output"] if item["type"] == "message" for p in item["content"]]
    if endpoint == "content":
        parts = [part for e in events for part in e["candidates"][0]["content"].get("parts") or []]
        return ["".join(part.get("text", "") for part in parts if not part.get("thought"))]
    blocks = [block for event in events for block in event.get("content") or []]
    texts = [block.get("text", "") for block in blocks] + [
        (e.get("delta") or {}).get("text", "") for e in events
    ]
    return ["".join(texts)]


CELLS = [
    pytest.param((endpoint, stream, n, cut), id=f"{endpoint}-{'stream' if stream else 'whole'}-n{n}-cut{cut}")
    for endpoint in PATHS
    for stream in (True, False)
    for n in ((1, 3) if endpoint == "chat" or (endpoint == "completions" and not stream) else (1,))
    for cut in ((1, 5) if stream else (5,))
]


@pytest.mark.parametrize("cell", CELLS)
def test_nothing_leaks(proxies: Proxies, upstream: Upstream, cell: tuple[str, bool, int, int]) -> None:
    endpoint, stream, n, cut = cell
    canaries = {name: Canary((endpoint, stream, n, cut, name)) for name in SAID[endpoint]}
    texts = {name: text for name, canary in canaries.items() for text in canary.script(name).values()}

    def run(proxy: Proxy) -> tuple[list[Any], str, list[Any]]:
        token = upstream.say(Script(**texts, logprobs=endpoint == "chat", cut=cut))
        path, body = asked(endpoint, token, stream=stream, n=n)
        answer = proxy.post(path, body)
        assert answer.status_code == 200, answer.text
        return frames(answer.content) if stream else [answer.json()], answer.text, proxy.logged(token)

    def leaks(events: list[Any], raw: str) -> set[str]:
        lanes = [raw, *joined(events).values()]
        return {name for name, canary in canaries.items() if canary.seen_in(lanes)}

    came, raw, logs = run(proxies.bare)
    expected = set(SAID[endpoint]) - LOST.get((endpoint, stream), set())
    assert leaks(came, raw) == expected, "without the guardrail every field leaks"
    leaking = {
        path: text
        for path, text in joined(came).items()
        if any(canary.seen_in([text]) for canary in canaries.values())
    }
    assert {name for path in leaking for name in path} >= PLACES[endpoint]
    assert any(canary.seen_in([text]) for canary in canaries.values() for _, text in strings(logs))

    events, raw, logs = run(proxies.guarded)
    assert leaks(events, raw) == set()
    logged = {path for path, text in strings(logs) if any(c.seen_in([text]) for c in canaries.values())}
    assert logged == set()
    assert said(endpoint, events, n) == [GUARD.scrub(canaries["content"].text)] * n
    shown = joined(events)
    for path, text in leaking.items():
        if "logprobs" in path or endpoint == "content":  # parts of contents have no index
            continue
        if path[-1] in ("arguments", "partial_json"):
            assert json.loads(shown[path])["note"] == GUARD.scrub(json.loads(text)["note"])
        else:
            assert shown[path] == GUARD.scrub(text)


def test_a_response_that_is_asked_for_later(proxies: Proxies, upstream: Upstream) -> None:
    canary = Canary("later")
    script = Script(**canary.script("content", "reasoning", "arguments"))
    for proxy, leaks in ((proxies.bare, True), (proxies.guarded, False), (proxies.logger, False)):
        path, body = asked("responses", upstream.say(script), stream=False, n=1)
        ident = proxy.post(path, body).json()["id"]
        answer = proxy.get(f"{path}/{ident}")
        assert answer.status_code == 200
        assert bool(canary.seen_in([answer.text, *joined([answer.json()]).values()])) is leaks
        assert leaks or said("responses", [answer.json()], 1) == [GUARD.scrub(canary.text)]


def test_a_proxy_with_a_wrong_policy_does_not_start(upstream: Upstream, tmp_path: Path) -> None:
    wrong = guardrail(streamguard={"policy": {"stage": [{"type": "redactr"}]}})
    with (
        started(tmp_path, configuration(upstream, guardrails=[wrong])) as proxy,
        pytest.raises(AssertionError, match="redactr"),
    ):
        up(proxy)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("endpoint", list(PATHS))
def test_the_logger_alone_guards_the_same(
    proxies: Proxies, upstream: Upstream, endpoint: str, stream: bool
) -> None:
    canary = Canary((endpoint, stream, "logger"))
    token = upstream.say(Script(**canary.script(*SAID[endpoint]), logprobs=endpoint == "chat", cut=6))
    answer = proxies.logger.post(*asked(endpoint, token, stream=stream, n=1))
    events = frames(answer.content) if stream else [answer.json()]
    assert not canary.seen_in([answer.text, *joined(events).values()])
    assert said(endpoint, events, 1) == [GUARD.scrub(canary.text)]
    assert not any(canary.seen_in([text]) for _, text in strings(proxies.logger.logged(token)))


@pytest.fixture
def client(proxies: Proxies) -> Iterator[openai.OpenAI]:
    url, key = f"{proxies.guarded.url}/v1", proxies.guarded.key
    with openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=60) as client:
        yield client


@pytest.fixture
def messenger(proxies: Proxies) -> Iterator[anthropic.Anthropic]:
    url, key = proxies.guarded.url, proxies.guarded.key
    with anthropic.Anthropic(base_url=url, api_key=key, max_retries=0, timeout=60) as messenger:
        yield messenger


def test_the_openai_sdk(client: openai.OpenAI, upstream: Upstream) -> None:
    canary = Canary("openai")
    script = canary.script("content", "reasoning", "arguments")

    def prompt() -> list[Any]:
        return [{"role": "user", "content": upstream.say(Script(**script))}]

    with client.chat.completions.stream(model="gpt", messages=prompt(), n=3) as stream:
        for _ in stream:
            pass
        final = stream.get_final_completion()
    for choice in final.choices:
        assert choice.message.content == GUARD.scrub(canary.text)
        assert json.loads(choice.message.tool_calls[0].function.arguments)["note"] == GUARD.scrub(canary.text)
    chunks = list(
        client.chat.completions.create(
            model="gpt", messages=prompt(), stream=True, stream_options={"include_usage": True}
        )
    )
    assert chunks[-1].usage.total_tokens == 3
    assert len({chunk.id for chunk in chunks}) == 1
    token = upstream.say(Script(**script))
    with client.responses.stream(model="gpt", input=token) as events:
        kinds = [event.type for event in events]
        response = events.get_final_response()
    assert kinds[-1] == "response.completed"
    assert response.output_text == GUARD.scrub(canary.text)


def test_the_anthropic_sdk(messenger: anthropic.Anthropic, upstream: Upstream) -> None:
    canary = Canary("anthropic")
    for model in ("claude", "gpt"):
        token = upstream.say(Script(**canary.script("content", "reasoning", "arguments")))
        prompt = [{"role": "user", "content": token}]
        with messenger.messages.stream(model=model, max_tokens=99, messages=prompt) as stream:
            message = stream.get_final_message()
        blocks = {block.type: block for block in message.content}
        assert blocks["text"].text == GUARD.scrub(canary.text)
        assert blocks["thinking"].thinking == GUARD.scrub(canary.text)
        assert not blocks["thinking"].signature
        assert blocks["tool_use"].input["note"] == GUARD.scrub(canary.text)
        assert message.stop_reason == "tool_use"


@pytest.mark.parametrize("endpoint", ["chat", "completions", "responses", "messages", "content"])
def test_an_upstream_that_dies(proxies: Proxies, upstream: Upstream, endpoint: str) -> None:
    canary = Canary((endpoint, "dies"))
    token = upstream.say(Script(content=f"Said, {canary.key[:24]}", end="die", cut=4, pause=0.05))
    path, body = asked(endpoint, token, stream=True, n=1)
    answer = proxies.guarded.post(path, body)
    events = frames(answer.content)
    lanes = joined(events)
    assert not canary.seen_in([answer.text, *lanes.values()])
    assert any("Said, " in text for text in lanes.values())
    assert any("error" in json.dumps(event) for event in events)
    if endpoint != "content":  # LiteLLM logs no failure of this route
        for _, text in strings(proxies.guarded.logged_as(token, "async_failure")):
            assert not canary.seen_in([text])


@pytest.mark.parametrize("status", [400, 429, 500])
@pytest.mark.parametrize("endpoint", ["chat", "completions", "responses", "messages", "content"])
def test_an_upstream_that_says_it_in_an_error(
    proxies: Proxies, upstream: Upstream, endpoint: str, status: int
) -> None:
    canary = Canary((endpoint, status))
    for stream in (False, True):
        path, body = asked(
            endpoint, upstream.say(Script(content=canary.text, status=status)), stream=stream, n=1
        )
        for proxy in (proxies.guarded, proxies.logger, proxies.quiet):
            answer = proxy.post(path, body)
            assert not canary.seen_in([answer.text])
        assert answer.status_code >= 400
    if endpoint != "content":  # LiteLLM logs no failure of this route
        for proxy in (proxies.guarded, proxies.logger):
            token = upstream.say(Script(content=canary.text, status=status))
            proxy.post(*asked(endpoint, token, stream=False, n=1))
            for _, text in strings(proxy.logged_as(token, "async_failure")):
                assert not canary.seen_in([text])


ODD = [(endpoint, end) for endpoint in PATHS for end in ("no_reason", "silent", "stray")]


def shown_by(endpoint: str, events: list[Any]) -> str:
    """The answer's text, of a stream that may not have come to its end."""
    if endpoint == "responses":
        return "".join(e["delta"] for e in events if e["type"] == "response.output_text.delta")
    return said(endpoint, events, 1)[0]


@pytest.mark.parametrize(("endpoint", "end"), [*ODD, ("chat", "usage_only"), ("chat", "length")])
def test_odd_ends(proxies: Proxies, upstream: Upstream, endpoint: str, end: str) -> None:
    canary = Canary((endpoint, end))
    # Of a completion LiteLLM does not tell that it has made up the finish reason.
    broken = end in ("stray", "length") or (end == "no_reason" and endpoint != "completions")
    text = f"{canary.text} {canary.key[:14]}" if broken else canary.text
    for proxy in (proxies.guarded, proxies.logger):
        answer = proxy.post(*asked(endpoint, upstream.say(Script(content=text, end=end)), stream=True, n=1))
        events = frames(answer.content)
        shown = shown_by(endpoint, events)
        assert not any(
            canary.seen_in([raw]) for raw in (answer.text, *joined(events).values()) if end != "stray"
        )
        assert "stray" not in answer.text
        if end == "silent":
            assert not shown
        elif end == "stray":  # for some providers it is an error of LiteLLM's, or the end of the stream
            assert shown.startswith("Sûre: ")
            parts = (text[:at] for at in range(len(text)))
            assert shown in {GUARD.scrub(text), *(GUARD.scrub(part, end=End.ERROR) for part in parts)}
        else:
            assert shown == GUARD.scrub(text, end=End.TRUNCATED if broken else End.COMPLETE)
        if endpoint in ("chat", "bridged chat", "completions") and end != "stray":
            assert answer.text.rstrip().endswith("data: [DONE]")
            assert [c["finish_reason"] for e in events for c in e["choices"] if c.get("finish_reason")]


@pytest.mark.parametrize("several", [{"n": 3}, {"prompt": 2}])
def test_a_streamed_completion_of_several_choices_is_refused(
    proxies: Proxies, upstream: Upstream, several: dict[str, Any]
) -> None:
    """LiteLLM gives all of them the index 0: pieces of a secret would stand between those of others."""
    canary = Canary(str(several))
    for proxy in (proxies.guarded, proxies.logger):
        token = upstream.say(Script(content=canary.text, cut=2))
        path, body = asked("completions", token, stream=True, n=several.get("n", 1))
        body["prompt"] = [token] * several.get("prompt", 1)
        answer = proxy.post(path, body)
        assert answer.status_code == 400
        assert "several choices" in answer.text
        assert not canary.seen_in([answer.text])


def test_a_rule_that_blocks_by_request(
    proxies: Proxies, upstream: Upstream, client: openai.OpenAI, messenger: anthropic.Anthropic
) -> None:
    more: Any = {"extra_body": {"guardrails": ["blocking"]}}

    def prompt() -> list[Any]:
        return [{"role": "user", "content": upstream.say(Script(content="This is forbidden here."))}]

    stream = client.chat.completions.create(model="gpt", messages=prompt(), stream=True, **more)
    chunks = list(stream)
    assert content(chunks) == "This is "
    assert chunks[-1].choices[0].finish_reason == "content_filter"
    whole = client.chat.completions.create(model="gpt", messages=prompt(), **more)
    assert whole.choices[0].finish_reason == "content_filter"
    assert not whole.choices[0].message.content
    with client.responses.stream(
        model="gpt", input=upstream.say(Script(content="This is forbidden here.")), **more
    ) as events:
        last = list(events)[-1]
    assert last.type == "response.incomplete"
    with messenger.messages.stream(model="claude", max_tokens=99, messages=prompt(), **more) as message:
        final = message.get_final_message()
    assert final.stop_reason == "refusal"
    assert final.content[0].text == "This is "
    path, body = asked("content", upstream.say(Script(content="This is forbidden here.")), stream=True, n=1)
    answer = frames(proxies.guarded.post(path, {**body, "guardrails": ["blocking"]}).content)
    assert answer[-1]["candidates"][0]["finishReason"] == "SAFETY"
    assert said("content", answer, 1) == ["This is "]


def test_50_streams_at_once_do_not_mix(proxies: Proxies, upstream: Upstream) -> None:
    client = openai.AsyncOpenAI(
        base_url=f"{proxies.guarded.url}/v1", api_key=proxies.guarded.key, max_retries=0, timeout=120
    )
    canaries = [Canary(("parallel", number)) for number in range(50)]

    async def run(number: int) -> str:
        script = Script(content=f"{number}: {canaries[number].text}", cut=9, pause=0.01)
        prompt = [{"role": "user", "content": upstream.say(script)}]
        stream = await client.chat.completions.create(model="gpt", messages=prompt, stream=True)
        return content([chunk async for chunk in stream])

    async def everything() -> list[str]:
        async with client:
            return await asyncio.gather(*map(run, range(50)))

    for number, text in enumerate(asyncio.run(everything())):
        assert text == GUARD.scrub(f"{number}: {canaries[number].text}")
