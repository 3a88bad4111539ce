"""Where text leaves besides the items: sealed fields, errors, failure callbacks, raw attributes, frames."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import AsyncIterator
from typing import Any

import litellm
import openai
import pytest
from litellm import google_genai
from litellm.integrations.custom_logger import CustomLogger
from streamguard_litellm import (
    StreamGuardGuardrail,
    StreamGuardLogger,
    acompletion,
    aresponses,
    guard_response,
    guard_stream,
)
from streamguard_litellm.errors import guard_error

from streamguard import Redactor, Rule, StreamBlocked
from streamguard.adapting import Settings

from .support import ASK, GUARD, POLICY, Canary, frames, joined, plain
from .upstream import Script, Upstream

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("ignore"),  # LiteLLM and what it imports warn of a hundred things
]
BLOCK = Redactor(rules=[Rule("word", "forbidden")], actions={"word": "block"})
CLAUDE = "anthropic/claude-sonnet-4-20250514"


@pytest.fixture(autouse=True)
def _callbacks(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("callbacks", "input_callback", "success_callback", "failure_callback")
    for name in (*names, "_async_success_callback", "_async_failure_callback", "_async_input_callback"):
        monkeypatch.setattr(litellm, name, [])


def sealed_in(events: list[Any]) -> list[Any]:
    """What stands in the sealed fields, where there is anything."""
    found: list[Any] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            found.extend(item for name, item in value.items() if name == "encrypted_content" and item)
            value = list(value.values())
        if isinstance(value, list):
            for item in value:
                walk(item)

    walk([plain(event) for event in events])
    return found


async def ask_claude(upstream: Upstream, thought: str, *, stream: bool, **more: Any) -> list[Any]:
    token = upstream.say(Script(content="Yes.", reasoning=thought, cut=5))
    asked = {"model": CLAUDE, "api_key": "k", "api_base": upstream.url, "input": token, "stream": stream}
    answer = await aresponses(**{**asked, **more})
    return [event async for event in answer] if stream else [answer]


@pytest.mark.parametrize("stream", [True, False])
async def test_thinking_in_a_sealed_field_is_guarded(upstream: Upstream, stream: bool) -> None:
    canary = Canary(("sealed", stream))
    events = await ask_claude(upstream, canary.text, stream=stream, guard=GUARD)
    assert not canary.seen_in(joined(map(plain, events)).values())
    assert not sealed_in(events)  # its signature would not hold
    events = await ask_claude(upstream, "It is plain.", stream=stream, guard=GUARD)
    assert any("It is plain." in text for text in sealed_in(events)), "nothing to guard"
    events = await ask_claude(upstream, "It is plain.", stream=stream, guard=GUARD, reasoning="drop")
    assert "It is plain." not in str([plain(event) for event in events])


async def test_thinking_in_a_sealed_field_can_block(upstream: Upstream) -> None:
    for stream in (True, False):
        with pytest.raises(StreamBlocked):
            await ask_claude(upstream, "A forbidden plan.", stream=stream, guard=BLOCK)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("gAAAAABo_x-1/2+3==", True),
        ("litellm_enc:bW9kZWw=;gAAAAABo_x-1/2+3==", True),
        ('litellm_enc:bW9kZWw=;[{"thinking":"a <think>b</think>"}]', False),
        ("plain <think>b</think>", False),
    ],
)
async def test_what_a_provider_has_encrypted_stays(text: str, kept: bool) -> None:
    item = {"type": "reasoning", "summary": [], "encrypted_content": text}
    answer = guard_response({"object": "response", "output": [item]}, GUARD)
    assert ("encrypted_content" in answer["output"][0]) is kept


async def test_what_is_still_to_be_awaited_is_refused(upstream: Upstream) -> None:
    async def answer() -> None:
        pass

    for function in (guard_stream, guard_response):
        with pytest.raises(TypeError, match="await"):
            function(answer(), GUARD)
    with pytest.raises(TypeError, match="guard_stream"):
        guard_response(events_of([]), GUARD)


async def events_of(items: list[Any]) -> AsyncIterator[Any]:
    for item in items:
        yield item


def told_by(error: BaseException) -> str:
    """All that an error says, and those it comes from."""
    parts: list[str] = []
    todo: list[Any] = [error]
    while todo:
        link = todo.pop()
        if isinstance(link, BaseException):
            parts += [str(link), repr(link.args), repr(vars(link))]
            response = getattr(link, "response", None)
            parts.append(getattr(response, "text", ""))
            todo += (link.__cause__, link.__context__, getattr(link, "original_exception", None))
    return "".join(parts)


@pytest.mark.parametrize("status", [400, 429, 500])
async def test_errors_of_the_provider_say_nothing_raw(upstream: Upstream, status: int) -> None:
    canary = Canary(("error", status))
    asked = failing(upstream, canary, status)
    with pytest.raises(openai.APIError) as bare:
        await litellm.acompletion(**asked)
    assert canary.key in told_by(bare.value), "nothing to guard"
    with pytest.raises(type(bare.value)) as caught:
        await acompletion(**asked, guard=GUARD)
    assert not canary.seen_in([told_by(caught.value), "".join(traceback.format_exception(caught.value))])
    assert caught.value.status_code == bare.value.status_code


def failing(upstream: Upstream, canary: Canary, status: int) -> dict[str, Any]:
    token = upstream.say(Script(content=canary.text, status=status))
    asked = {**ASK, "api_base": f"{upstream.url}/v1", "num_retries": 0, "max_retries": 0}
    return {**asked, "messages": [{"role": "user", "content": token}]}


async def test_an_answer_that_fits_no_schema_is_not_quoted(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(litellm, "enable_json_schema_validation", True)
    canary = Canary("schema")
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    token = upstream.say(Script(content=json.dumps({"a": canary.key})))
    with pytest.raises(litellm.JSONSchemaValidationError) as caught:
        await acompletion(
            **ASK,
            api_base=f"{upstream.url}/v1",
            messages=[{"role": "user", "content": token}],
            response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
            guard=GUARD,
        )
    assert not canary.seen_in([told_by(caught.value), "".join(traceback.format_exception(caught.value))])


async def test_an_event_that_cannot_be_read_is_not_quoted() -> None:
    canary = Canary("unreadable")

    async def items() -> AsyncIterator[Any]:
        try:
            json.loads(f'{{"said": "{canary.key}')
        except ValueError:
            raise litellm.APIConnectionError("unreadable", "openai", "m")  # noqa: B904 - as LiteLLM does
        yield

    with pytest.raises(litellm.APIConnectionError, match="unreadable") as caught:
        _ = [item async for item in guard_stream(items(), GUARD)]
    links = [caught.value, caught.value.__context__, caught.value.__cause__]
    assert not canary.seen_in([repr(vars(link)) for link in links if link is not None])


async def test_an_error_behind_another_is_guarded() -> None:
    canary = Canary("behind")
    error = RuntimeError("It failed.")
    error.original_exception = inner = ValueError("no")  # type: ignore[attr-defined]
    inner.body = {"said": canary.key}  # type: ignore[attr-defined]
    assert not canary.seen_in([told_by(guard_error(error, Settings(GUARD)))])


@pytest.mark.parametrize("kind", ["logger", "guardrail"])
async def test_callbacks_of_failures_get_nothing_raw(upstream: Upstream, kind: str) -> None:
    canary = Canary(("failures", kind))
    said: list[str] = []

    def function(kwargs: Any, response: Any, start: Any, end: Any) -> None:
        said.append(told_by(kwargs["exception"]) + str(kwargs))

    class Other(CustomLogger):
        async def async_log_failure_event(self, kwargs: Any, *args: Any, **more: Any) -> None:
            function(kwargs, None, None, None)

    litellm.failure_callback = [function]
    with pytest.raises(litellm.BadRequestError):
        await litellm.acompletion(**failing(upstream, canary, 400))
    await until(said, 1)
    assert canary.key in said[0], "nothing to guard"
    said.clear()
    options = {"event_hook": "post_call", "default_on": True, "streamguard": {"policy": POLICY}}
    own: Any = (
        StreamGuardLogger(GUARD)
        if kind == "logger"
        else StreamGuardGuardrail(guardrail_name="streamguard", **options)
    )
    litellm.callbacks = [own, Other()]
    with pytest.raises(litellm.BadRequestError):
        await litellm.acompletion(**failing(upstream, canary, 400))
    await until(said, 2)
    assert not canary.seen_in(said)


async def until(said: list[str], count: int) -> None:
    for _ in range(250):
        if len(said) >= count:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{len(said)} of {count}")


async def test_clients_of_the_proxy_get_no_raw_errors_whether_logs_are_guarded_or_not() -> None:
    canary = Canary("clients")
    options = {"policy": POLICY, "logs": False}
    for own in (
        StreamGuardLogger(GUARD),
        StreamGuardGuardrail(
            guardrail_name="own", event_hook="post_call", default_on=True, streamguard=options
        ),
    ):
        error = litellm.BadRequestError(f"bad {canary.key}", "m", "openai")
        error.body = {"said": canary.key}
        await own.async_post_call_failure_hook({}, error, None)
        assert not canary.seen_in([told_by(error)])
        assert error.status_code == 400


async def test_raw_attributes_of_streams(upstream: Upstream) -> None:
    canary = Canary("attributes")
    asked = {
        "model": "gemini/gemini-2.0-flash",
        "api_base": upstream.url,
        "api_key": "k",
        "contents": [{"role": "user", "parts": [{"text": upstream.say(Script(content=canary.text))}]}],
    }
    stream = guard_stream(await google_genai.agenerate_content_stream(**asked), GUARD)
    items = [item async for item in stream]
    assert stream.collected_chunks == items
    asked = {**ASK, "api_base": f"{upstream.url}/v1", "input": upstream.say(Script(content=canary.text))}
    raw = await litellm.aresponses(**asked, stream=True)
    stream = guard_stream(raw, GUARD)
    _ = [event async for event in stream]
    assert canary.key in raw._generated_content
    assert not canary.seen_in([stream._generated_content])
    for name in ("stream_iterator", "response", "partial_response_on_disconnect"):
        assert not hasattr(stream, name)


@pytest.mark.parametrize("way", ["async", "sync"])
@pytest.mark.parametrize("provider", ["text-completion-openai", "openai"])
async def test_notes_of_a_whole_completion_do_not_repeat_it(
    upstream: Upstream, provider: str, way: str
) -> None:
    canary = Canary(("notes", provider, way))
    prompt = upstream.say(Script(content=canary.text))
    asked = {"model": f"{provider}/gpt-3.5-turbo-instruct", "api_key": "k", "api_base": f"{upstream.url}/v1"}
    if way == "sync":
        raw = litellm.text_completion(**asked, prompt=prompt)
    else:
        raw = await litellm.atext_completion(**asked, prompt=prompt)
    safe = guard_stream(raw, GUARD)
    assert safe.choices[0].text == GUARD.scrub(canary.text)
    assert not canary.seen_in([repr(safe), repr(vars(safe)), repr(safe._hidden_params)])
    assert safe._hidden_params is not None


def frame(data: str, *lines: str) -> bytes:
    return "".join(f"{line}\n" for line in (*lines, f"data: {data}", "")).encode()


def said(text: str) -> str:
    return json.dumps(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    )


async def test_frames_that_only_look_unchanged() -> None:
    canary = Canary("frames")
    twice = said("fine").replace('"text":', f'"text": "{canary.key}", "text":')
    name = "event: content_block_delta"
    given = [frame(twice, name), frame(said("fine"), f"event: {canary.key}"), frame(said("so"), name)]
    shown = [item async for item in guard_stream(events_of(given), GUARD)]
    assert not canary.seen_in([b"".join(shown).decode()])
    assert "".join(event["delta"]["text"] for event in frames(b"".join(shown))) == "finefineso"
    assert shown[-1] == given[-1]


async def test_a_character_that_is_cut_in_two_stays_whole() -> None:
    name = "event: content_block_delta"
    texts = ['"<think>a</think>Hi \\ud83d"', '"\\ude00 there"']
    given = [frame(said("@").replace('"@"', text), name) for text in texts]
    shown = b"".join([item async for item in guard_stream(events_of(given), GUARD)])
    text = "".join(event["delta"]["text"] for event in frames(shown))
    assert text.encode("utf-16", "surrogatepass").decode("utf-16") == "Hi \N{GRINNING FACE} there"
