"""The logger and the guardrail within this process: what loggers get, and the hooks of the proxy."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import litellm
import pytest
from litellm.integrations.custom_logger import CustomLogger
from litellm.litellm_core_utils.litellm_logging import Logging
from litellm.proxy.utils import ProxyLogging
from streamguard_litellm import (
    GuardrailConfigError,
    StreamGuardGuardrail,
    StreamGuardLogger,
    acompletion,
    guard_stream,
)
from streamguard_litellm.options import read_options

from streamguard import Redactor, Rule
from streamguard.policy import PolicyError

from .recorder import Recorder
from .support import ASK, GUARD, POLICY, Canary, content, frames, plain, strings
from .upstream import Script, Upstream

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("ignore"),  # LiteLLM and what it imports warn of a hundred things
]
BLOCK = Redactor(rules=[Rule("word", "forbidden")], actions={"word": "block"})
FIELDS = ("content", "reasoning", "arguments", "annotation", "extra")


class Recorded:
    """What the recorder has written down."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self, token: str) -> list[dict[str, Any]]:
        text = self.path.read_text() if self.path.exists() else ""
        whole = text[: text.rfind("\n") + 1]  # the last line may still be written
        return [json.loads(line) for line in whole.splitlines() if token in line]

    async def wait(self, token: str, *events: str) -> list[dict[str, Any]]:
        for _ in range(500):
            lines = self.lines(token)
            if {line["event"] for line in lines}.issuperset(events):
                return lines
            await asyncio.sleep(0.02)
        raise AssertionError(f"not all of {events} were logged")


def seen(canary: Canary, lines: list[dict[str, Any]]) -> set[Any]:
    return {path for path, text in strings(lines) if canary.seen_in([text])}


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    path = tmp_path / "recorded.jsonl"
    monkeypatch.setenv("RECORDED", str(path))
    names = ("callbacks", "input_callback", "success_callback", "failure_callback")
    for name in (*names, "_async_success_callback", "_async_failure_callback", "_async_input_callback"):
        monkeypatch.setattr(litellm, name, [])
    return Recorded(path)


CALLS = {
    "chat": (litellm.acompletion, {}),
    "text": (litellm.atext_completion, {"model": "text-completion-openai/gpt-3.5-turbo-instruct"}),
    "responses": (litellm.aresponses, {}),
    "messages": (
        litellm.anthropic_messages,
        {"model": "anthropic/claude-sonnet-4-20250514", "max_tokens": 9},
    ),
}


async def call(
    upstream: Upstream, name: str, script: Script, *, stream: bool, said: str = "", **more: Any
) -> str:
    function, own = CALLS[name]
    token = upstream.say(script)
    base = upstream.url if name == "messages" else f"{upstream.url}/v1"
    asked: dict[str, Any] = {**ASK, "api_base": base, "stream": stream, **own, **more}
    prompt = f"{token} {said}"
    if name == "text":
        asked["prompt"] = prompt
    elif name == "responses":
        asked["input"] = prompt
    else:
        asked["messages"] = [{"role": "user", "content": prompt}]
    answer = await function(**asked)
    if stream:
        _ = [item async for item in answer]
    return token


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("name", list(CALLS))
async def test_loggers_receive_guarded_copies(
    upstream: Upstream, recorded: Recorded, name: str, stream: bool
) -> None:
    canary = Canary((name, stream))
    fields = FIELDS[:3] if name == "messages" else FIELDS
    litellm.callbacks = [Recorder()]
    token = await call(upstream, name, Script(**canary.script(*fields)), stream=stream)
    assert seen(canary, await recorded.wait(token, "async_success")), "nothing to guard"
    litellm.callbacks.insert(0, StreamGuardLogger(GUARD))
    litellm.input_callback.clear()  # the order of callbacks is the order in which they first came
    token = await call(upstream, name, Script(**canary.script(*fields)), stream=stream)
    assert not seen(canary, await recorded.wait(token, "async_success"))


async def test_loggers_receive_what_the_guard_lets_through(upstream: Upstream, recorded: Recorded) -> None:
    canary = Canary("same")
    litellm.callbacks = [Recorder(), StreamGuardLogger(GUARD)]
    token = await call(upstream, "chat", Script(content=canary.text), stream=True)
    (line,) = [x for x in await recorded.wait(token, "async_success") if x["event"] == "async_success"]
    standard = line["kwargs"]["standard_logging_object"]
    assert line["answer"]["choices"][0]["message"]["content"] == GUARD.scrub(canary.text)
    assert standard["response"]["choices"][0]["message"]["content"] == GUARD.scrub(canary.text)
    assert standard["model"] == "gpt-4o"


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}


def requested(name: str, text: str) -> dict[str, Any]:
    """What a request says besides its prompt."""
    return {
        "chat": {"tools": [{**TOOL, "function": {**TOOL["function"], "description": text}}]},
        "text": {"suffix": text},
        "responses": {"instructions": text},
        "messages": {"system": text},
    }[name]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("name", list(CALLS))
async def test_the_request_is_guarded_too_unless_told_otherwise(
    upstream: Upstream, recorded: Recorded, monkeypatch: pytest.MonkeyPatch, name: str, stream: bool
) -> None:
    monkeypatch.setattr(litellm, "log_raw_request_response", True)
    for inputs in (False, True):
        canary = Canary(("inputs", name, stream, inputs))
        litellm.callbacks = [StreamGuardLogger(GUARD, inputs=inputs), Recorder()]
        litellm.input_callback.clear()
        more = requested(name, canary.text)
        token = await call(upstream, name, Script(content="Yes."), stream=stream, said=canary.text, **more)
        lines = await recorded.wait(token, "pre_api_call", "async_success")
        assert bool(seen(canary, lines)) is not inputs, seen(canary, lines)


async def test_loggers_of_synchronous_calls(upstream: Upstream, recorded: Recorded) -> None:
    canary = Canary("sync")
    litellm.callbacks = [StreamGuardLogger(GUARD), Recorder()]
    token = upstream.say(Script(content=canary.text, cut=20))
    asked: dict[str, Any] = {**ASK, "api_base": f"{upstream.url}/v1", "stream": True}
    for _ in litellm.completion(**asked, messages=[{"role": "user", "content": token}]):
        pass
    lines = await recorded.wait(token, "success", "async_stream")  # the latter for each piece
    (line,) = [x for x in lines if x["event"] == "success"]
    assert line["answer"]["choices"][0]["message"]["content"] == GUARD.scrub(canary.text)
    assert not seen(canary, lines)


@pytest.mark.parametrize("guarded", [True, False])
async def test_a_logger_of_pieces_never_gets_the_whole_as_it_came(
    upstream: Upstream, recorded: Recorded, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """One thread writes the answer into the details that another is just handing to a logger."""
    written, looked = threading.Event(), threading.Event()
    wholes: set[int] = set()
    build, listed = Logging._build_standard_logging_payload, Logging.get_combined_callback_list

    def building(self: Logging, answer: Any, *args: Any, **more: Any) -> Any:
        if isinstance(answer, litellm.ModelResponse):
            wholes.add(threading.get_ident())
        return build(self, answer, *args, **more)

    def listing(self: Logging, *args: Any, **more: Any) -> Any:
        if threading.get_ident() in wholes:  # it has written all it writes, and calls the hooks next
            written.set()
            looked.wait(10)
        return listed(self, *args, **more)

    class Slow(Recorder):
        async def async_log_stream_event(self, *args: Any, **more: Any) -> None:
            written.wait(10)
            await super().async_log_stream_event(*args, **more)
            looked.set()

    monkeypatch.setattr(Logging, "_build_standard_logging_payload", building)
    monkeypatch.setattr(Logging, "get_combined_callback_list", listing)
    canary = Canary("pieces")
    litellm.callbacks = [StreamGuardLogger(GUARD), Slow()] if guarded else [Slow()]
    token = upstream.say(Script(content=canary.text, cut=20))
    asked: dict[str, Any] = {**ASK, "api_base": f"{upstream.url}/v1", "stream": True}
    for _ in litellm.completion(**asked, messages=[{"role": "user", "content": token}]):
        pass
    lines = await recorded.wait(token, "success", "async_stream")
    assert bool(seen(canary, [line for line in lines if line["event"] == "async_stream"])) is not guarded
    assert not (guarded and seen(canary, lines))


async def test_loggers_of_a_call_that_failed(upstream: Upstream, recorded: Recorded) -> None:
    canary = Canary("fails")
    litellm.callbacks = [StreamGuardLogger(GUARD), Recorder()]
    token = upstream.say(Script(content=canary.text, end="die"))
    asked: dict[str, Any] = {**ASK, "api_base": f"{upstream.url}/v1", "stream": True, "num_retries": 0}
    stream = await acompletion(**asked, messages=[{"role": "user", "content": token}], guard=GUARD)
    with pytest.raises(litellm.exceptions.MidStreamFallbackError):
        await take(stream)
    assert not seen(canary, await recorded.wait(token, "async_failure"))


async def test_a_blocked_answer_leaves_no_text_in_logs(upstream: Upstream, recorded: Recorded) -> None:
    litellm.callbacks = [StreamGuardLogger(BLOCK), Recorder()]
    for stream in (True, False):
        token = await call(upstream, "chat", Script(content="This is forbidden."), stream=stream)
        lines = await recorded.wait(token, "async_success")
        assert "forbidden" not in json.dumps(lines)
        assert lines[-1]["answer"]["object"] == "chat.completion"


def guardrail(**more: Any) -> StreamGuardGuardrail:
    given = {"event_hook": "post_call", "default_on": True, "streamguard": {"policy": POLICY}, **more}
    return StreamGuardGuardrail(guardrail_name="streamguard", **given)


async def through(callback: Any, source: Any, **request: Any) -> list[Any]:
    hook = callback.async_post_call_streaming_iterator_hook
    return [item async for item in hook(user_api_key_dict=None, response=source, request_data=request)]


async def test_the_proxy_finds_the_hooks_of_every_class(recorded: Recorded) -> None:
    class Own(StreamGuardGuardrail):
        pass

    own = Own(guardrail_name="own", event_hook="post_call", streamguard={"policy": POLICY})
    for callback in (own, guardrail(), StreamGuardLogger(GUARD)):
        litellm.callbacks = [callback]
        (found,) = ProxyLogging.callback_capabilities().iterator_overrides
        assert found == (callback, "override")


async def test_a_guardrail_guards_logs_too_unless_told_otherwise(recorded: Recorded) -> None:
    assert guardrail().event_hook == ["post_call", "logging_only"]
    options = {"policy": POLICY, "logs": False}
    own = StreamGuardGuardrail(guardrail_name="own", event_hook=["post_call"], streamguard=options)
    assert own.event_hook == ["post_call"]
    with pytest.raises(GuardrailConfigError, match="pre_call"):
        StreamGuardGuardrail(guardrail_name="own", event_hook="pre_call", streamguard=options)


async def test_a_wrong_guardrail_is_no_value_error() -> None:
    """LiteLLM leaves out a guardrail that raises `ValueError` or `TypeError`, and starts without it."""
    with pytest.raises(GuardrailConfigError, match="redactr") as caught:
        guardrail(streamguard={"policy": {"stage": [{"type": "redactr"}]}})
    assert not isinstance(caught.value, ValueError | TypeError)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "needs the options"),
        ({}, "streamguard.policy"),
        ({"policy": POLICY, "polcy": 1}, "polcy: unknown option"),
        ({"policy": POLICY, "logs": "no"}, "streamguard.logs"),
        ({"policy": POLICY, "reasoning": "hide"}, "reasoning is one of"),
    ],
)
async def test_options_that_cannot_be_read(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_options(given)


async def test_a_policy_is_inline_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "streamguard.toml"
    path.write_text('[[stage]]\ntype = "fence"\nfences = ["think"]\n[[stage]]\ntype = "redactor"\n')
    canary = Canary("policy")
    for policy in (POLICY, str(path)):
        options = read_options({"policy": policy})
        assert options.settings.guard.scrub(canary.text) == GUARD.scrub(canary.text)
    with pytest.raises(PolicyError):
        read_options({"policy": str(tmp_path / "none.toml")})
    with pytest.raises(PolicyError):
        read_options({"policy": {"stage": []}})


async def test_50_streams_at_once_do_not_mix(upstream: Upstream, recorded: Recorded) -> None:
    one = guardrail()

    async def run(number: int) -> None:
        canary = Canary(number)
        prompt = [
            {"role": "user", "content": upstream.say(Script(content=f"{number}: {canary.text}", cut=7))}
        ]
        stream = await litellm.acompletion(**ASK, api_base=f"{upstream.url}/v1", messages=prompt, stream=True)
        chunks = await through(one, stream, model="m")
        assert content(chunks) == GUARD.scrub(f"{number}: {canary.text}")

    await asyncio.gather(*map(run, range(50)))


async def blocked(upstream: Upstream, name: str, callback: Any, **more: Any) -> tuple[list[Any], str]:
    function, extra = CALLS[name]
    token = upstream.say(Script(content="This is forbidden here.", reasoning="Hm.", cut=4))
    base = upstream.url if name == "messages" else f"{upstream.url}/v1"
    asked: dict[str, Any] = {**ASK, "api_base": base, "stream": True, **extra, **more}
    asked["input" if name == "responses" else "prompt" if name == "text" else "messages"] = (
        [{"role": "user", "content": token}] if name in ("chat", "messages") else token
    )
    items = await through(callback, await function(**asked), **more)
    text = "".join(item.decode() if isinstance(item, bytes) else item.model_dump_json() for item in items)
    assert "forbid" not in text
    return items, text


async def test_a_rule_that_blocks_ends_a_chat(upstream: Upstream) -> None:
    items, _ = await blocked(upstream, "chat", StreamGuardLogger(BLOCK), n=3)
    assert content(items) == "This is "
    assert [choice.finish_reason for choice in items[-1].choices] == ["content_filter"] * 3
    assert [choice.index for choice in items[-1].choices] == [0, 1, 2]
    assert litellm.stream_chunk_builder(items).choices[0].finish_reason == "content_filter"


async def test_a_rule_that_blocks_ends_a_completion(upstream: Upstream) -> None:
    items, _ = await blocked(upstream, "text", StreamGuardLogger(BLOCK))
    assert content(items, name="text") == "This is "
    assert items[-1].choices[0].finish_reason == "content_filter"


@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        ({"n": 3}, True),
        ({"prompt": ["a", "b"]}, True),
        ({"prompt": ["a"]}, False),
        ({"prompt": [1, 2]}, False),
    ],
)
async def test_a_streamed_completion_of_several_choices_is_refused(
    upstream: Upstream, asked: dict[str, Any], refused: bool
) -> None:
    """LiteLLM gives all of them the index 0: pieces of a secret would stand between those of others."""
    function, own = CALLS["text"]
    token = upstream.say(Script(content="Yes."))
    base = {**ASK, "api_base": f"{upstream.url}/v1", "prompt": token, "stream": True}
    stream = await function(**{**base, **own})
    shown = through(guardrail(), stream, **asked)
    if refused:
        with pytest.raises(litellm.BadRequestError, match="several choices"):
            await shown
    else:
        assert content(await shown, name="text") == "Yes."


async def test_a_rule_that_blocks_ends_a_response(upstream: Upstream) -> None:
    items, _ = await blocked(upstream, "responses", StreamGuardLogger(BLOCK))
    last = items[-1]
    assert last.type == "response.incomplete"
    assert last.response.status == "incomplete"
    assert plain(last)["response"]["incomplete_details"]["reason"] == "content_filter"
    assert last.sequence_number == items[-2].sequence_number + 1
    assert json.loads(last.model_dump_json(exclude_none=True))["type"] == "response.incomplete"


async def test_a_rule_that_blocks_ends_a_message(upstream: Upstream) -> None:
    _, text = await blocked(upstream, "messages", StreamGuardLogger(BLOCK))
    events = frames(text)
    assert [event["type"] for event in events[-3:]] == ["content_block_stop", "message_delta", "message_stop"]
    assert events[-2]["delta"]["stop_reason"] == "refusal"
    begun = [event["index"] for event in events if event["type"] == "content_block_start"]
    ended = [event["index"] for event in events if event["type"] == "content_block_stop"]
    assert begun == ended == [0, 1]


async def test_a_rule_that_blocks_empties_a_whole_answer(upstream: Upstream) -> None:
    prompt = [{"role": "user", "content": upstream.say(Script(content="This is forbidden here."))}]
    answer = await litellm.acompletion(**ASK, api_base=f"{upstream.url}/v1", messages=prompt)
    hook = StreamGuardLogger(BLOCK).async_post_call_success_hook
    shown = await hook(data={}, user_api_key_dict=None, response=answer)
    assert shown.choices[0].finish_reason == "content_filter"
    assert not shown.choices[0].message.content
    assert shown.usage.total_tokens == answer.usage.total_tokens


async def test_an_error_goes_on_behind_what_was_decided(upstream: Upstream) -> None:
    canary = Canary("error")

    async def dies() -> AsyncIterator[Any]:
        prompt = [
            {"role": "user", "content": upstream.say(Script(content="Said. " + canary.key[:20], cut=5))}
        ]
        source = await litellm.acompletion(**ASK, api_base=f"{upstream.url}/v1", messages=prompt, stream=True)
        async for item in source:
            if item.choices[0].finish_reason:
                raise ConnectionError(f"broken at {canary.text}")
            yield item

    items: list[Any] = []
    with pytest.raises(ConnectionError) as caught:
        await take(guard_stream(dies(), GUARD), items)
    assert content(items) == "Said. "
    assert canary.key not in str(caught.value)
    shown: list[Any] = []
    hook = StreamGuardLogger(GUARD).async_post_call_streaming_iterator_hook
    with pytest.raises(ConnectionError) as caught:
        await take(hook(user_api_key_dict=None, response=dies(), request_data={}), shown)
    assert content(shown) == "Said. "
    assert canary.key not in str(caught.value)


async def test_a_client_that_leaves_closes_the_source() -> None:
    closed: list[bool] = []

    async def source() -> AsyncIterator[Any]:
        try:
            yield {"choices": [{"index": 0, "delta": {"content": "word "}}]}
            yield {"choices": [{"index": 0, "delta": {"content": "word "}}]}
        finally:
            closed.append(True)

    hook = StreamGuardLogger(GUARD).async_post_call_streaming_iterator_hook
    stream = hook(user_api_key_dict=None, response=source(), request_data={})
    await anext(stream)
    await stream.aclose()
    assert closed == [True]


async def take(stream: Any, into: list[Any] | None = None) -> None:
    async for item in stream:
        if into is not None:
            into.append(item)


def test_a_callback_is_one_of_litellms() -> None:
    assert isinstance(StreamGuardLogger(GUARD), CustomLogger)


@pytest.mark.parametrize("name", ["name", "id", "status"])
def test_what_a_user_has_named_is_guarded_in_logs_whatever_its_name(name: str) -> None:
    canary = Canary("named")
    kwargs = {"messages": [{"role": "user", "content": "x", "metadata": {name: canary.text}}]}
    safe, _ = StreamGuardLogger(GUARD).logging_hook(kwargs, None, "completion")
    assert not canary.seen_in([json.dumps(safe)])
