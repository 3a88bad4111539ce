"""What loggers get of an answer that LiteLLM has put together from a stream."""

from __future__ import annotations

import asyncio
from typing import Any

import litellm
import pytest
from litellm import Router
from litellm.integrations.custom_logger import CustomLogger
from streamguard_litellm import StreamGuardLogger, guard_stream
from streamguard_litellm.assembled import answers_of, choices_asked_for
from streamguard_litellm.options import Answers, Options

from streamguard.adapting import Settings

from .support import ASK, GUARD, Canary, content, strings
from .upstream import Script, Upstream

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("ignore"),  # LiteLLM and what it imports warn of a hundred things
]
OPTIONS = Options(Settings(GUARD))
GEMINI = {"model": "gemini/gemini-2.0-flash", "api_key": "k"}


class Told(CustomLogger):
    """Keeps what it is told at the end of a call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[dict[str, Any], Any]] = []

    def log_success_event(self, kwargs: Any, response_obj: Any, *args: Any, **more: Any) -> None:
        self.calls.append((kwargs, response_obj))

    async def async_log_success_event(self, kwargs: Any, response_obj: Any, *args: Any, **more: Any) -> None:
        self.calls.append((kwargs, response_obj))

    async def wait(self) -> tuple[dict[str, Any], Any]:
        for _ in range(500):
            if self.calls:
                return self.calls[-1]
            await asyncio.sleep(0.02)
        raise AssertionError("nothing was logged")

    async def texts(self) -> list[str]:
        kwargs, answer = await self.wait()
        wholes = [answer, kwargs["standard_logging_object"]["response"]]
        wholes += [kwargs[name] for name in kwargs if name.endswith("complete_streaming_response")]
        assert len(wholes) > 2
        return [self.text(whole) for whole in wholes]

    def text(self, whole: Any) -> str:
        choice = (whole if isinstance(whole, dict) else whole.model_dump())["choices"][0]
        text = choice["text"] if "text" in choice else choice["message"]["content"]
        return text or ""


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    names = ("callbacks", "input_callback", "success_callback", "failure_callback")
    for name in (*names, "_async_success_callback", "_async_failure_callback", "_async_input_callback"):
        monkeypatch.setattr(litellm, name, [])
    logger = Told()
    litellm.callbacks = [StreamGuardLogger(GUARD), logger]
    return logger


async def take(upstream: Upstream, script: Script, *, way: str = "async", **more: Any) -> list[Any]:
    """Ask for a stream and return its items, guarded."""
    prompt: Any = [{"role": "user", "content": upstream.say(script)}]
    stream: Any
    base = upstream.url if more.get("model") == GEMINI["model"] else f"{upstream.url}/v1"
    asked: dict[str, Any] = {**ASK, "api_base": base, **more}
    if way == "sync":
        return list(guard_stream(litellm.completion(**asked, messages=prompt, stream=True), GUARD))
    if way == "router":
        router: Any = Router(model_list=[{"model_name": "m", "litellm_params": asked}], num_retries=0)
        stream = await router.acompletion(model="m", messages=prompt, stream=True)
    else:
        stream = await litellm.acompletion(**asked, messages=prompt, stream=True)
    return [item async for item in guard_stream(stream, GUARD)]


@pytest.mark.parametrize("way", ["async", "sync", "router"])
async def test_of_several_choices_no_text_is_left(upstream: Upstream, told: Told, way: str) -> None:
    """They are joined in one text: neither a scrub nor the text itself is what anybody got."""
    canary = Canary(("several", way))
    shown = await take(upstream, Script(content=canary.text), way=way, n=2)
    assert content(shown, 0) == content(shown, 1) == GUARD.scrub(canary.text)
    assert set(await told.texts()) == {""}
    kwargs, _ = await told.wait()
    assert not canary.seen_in([text for _, text in strings(kwargs["standard_logging_object"])])
    assert kwargs["standard_logging_object"]["model"].endswith("gpt-4o")


async def test_of_several_prompts_no_text_is_left(upstream: Upstream, told: Told) -> None:
    canary = Canary("prompts")
    token = upstream.say(Script(content=canary.text))
    asked = {"model": "text-completion-openai/gpt-3.5-turbo-instruct", "api_key": "k"}
    stream: Any = await litellm.atext_completion(
        **asked, api_base=f"{upstream.url}/v1", prompt=[token, "and"], stream=True, n=2
    )
    _ = [item async for item in stream]
    assert set(await told.texts()) == {""}


@pytest.mark.parametrize("way", ["async", "sync", "router"])
@pytest.mark.parametrize("model", [ASK["model"], GEMINI["model"]])
async def test_half_a_secret_behind_a_made_up_reason_is_shown_to_nobody(
    upstream: Upstream, told: Told, model: str, way: str
) -> None:
    canary = Canary(("half", model, way))
    script = Script(content="Said, " + canary.key[:14], end="no_reason")
    shown = await take(upstream, script, way=way, model=model)
    assert content(shown) == "Said, "
    assert shown[-1].choices[0].finish_reason == "stop"
    assert set(await told.texts()) == {"Said, "}


@pytest.mark.parametrize("way", ["async", "sync", "router"])
@pytest.mark.parametrize("model", [ASK["model"], GEMINI["model"]])
async def test_prose_is_whole_whatever_the_reason(
    upstream: Upstream, told: Told, model: str, way: str
) -> None:
    canary = Canary(("whole", model, way))
    shown = await take(upstream, Script(content=canary.text), way=way, model=model)
    assert content(shown) == GUARD.scrub(canary.text)
    assert set(await told.texts()) == {GUARD.scrub(canary.text)}
    _, answer = await told.wait()
    assert answer.choices[0].finish_reason == "stop"


@pytest.mark.parametrize("way", ["async", "sync", "router"])
async def test_chunks_that_came_out_are_put_together_in_their_order(
    upstream: Upstream, told: Told, way: str
) -> None:
    """LiteLLM sorts them by date; what is held comes in a chunk like an older one."""
    for text in ("Hello there, keep it s", "Hello, my tok", "a <thi"):
        shown = await take(upstream, Script(content=text), way=way)
        assert content(shown) == text
        built: Any = litellm.stream_chunk_builder(shown)
        assert built.choices[0].message.content == text


@pytest.mark.parametrize("name", ["standard_logging_object", "response_cost_failure_debug_information"])
async def test_why_a_cost_is_unknown_is_told_without_the_text(name: str) -> None:
    """LiteLLM puts the traceback of the provider's error there."""
    canary = Canary("cost")
    info = {"error_str": canary.text, "traceback_str": f"APIError: {canary.text}", "model": "m"}
    value = info if name != "standard_logging_object" else {"response_cost_failure_debug_info": info}
    for inputs in (True, False):
        kwargs = {name: value}
        StreamGuardLogger(GUARD, inputs=inputs).log_failure_event(kwargs, None, None, None)
        texts = [text for _, text in strings(kwargs)]
        assert not canary.seen_in(texts)
        assert "m" in texts


@pytest.mark.parametrize("way", ["async", "sync"])
async def test_a_logger_gets_no_stream(upstream: Upstream, told: Told, way: str) -> None:
    await take(upstream, Script(content=Canary("live").text), way=way)
    kwargs, _ = await told.wait()
    assert isinstance(kwargs.get("original_response"), str | None)


@pytest.mark.parametrize(
    ("details", "answers"),
    [
        ({"stream": False, "n": 2}, Answers.WHOLE),
        ({"stream": True}, Answers.JOINED),
        ({"stream": True, "optional_params": {"n": 1}}, Answers.JOINED),
        ({"stream": True, "optional_params": {"n": 2}}, Answers.MIXED),
        ({"stream": True, "optional_params": {"extra_body": {"n": 3}}}, Answers.MIXED),
        ({"stream": True, "optional_params": {"candidate_count": 2}}, Answers.MIXED),
        ({"stream": True, "additional_args": {"complete_input_dict": {"prompt": ["a", "b"]}}}, Answers.MIXED),
    ],
)
async def test_how_an_answer_came(details: dict[str, Any], answers: Answers) -> None:
    assert answers_of(details, OPTIONS).answers is answers


async def test_how_many_choices_are_asked_for() -> None:
    assert choices_asked_for({"n": 2, "prompt": ["a", "b", "c"]}) == 6
    assert choices_asked_for({"n": None, "prompt": [1, 2]}) == 1


async def test_arguments_that_were_cut_off_show_no_half_of_a_secret() -> None:
    canary = Canary("arguments")
    call = {"type": "function", "function": {"name": "f", "arguments": f'{{"note": "{canary.key[:14]}'}}
    message = {"role": "assistant", "content": "So.", "tool_calls": [call]}
    whole = {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}
    kwargs = {"stream": True, "complete_streaming_response": whole}
    safe, _ = StreamGuardLogger(GUARD).logging_hook(kwargs, None, "acompletion")
    (choice,) = safe["complete_streaming_response"]["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert not canary.seen_in([text for _, text in strings(choice)])
    assert choice["message"]["content"] == "So."
