"""What the model inside can do, the guarded model can do."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
import pytest
from langchain.chat_models import init_chat_model
from langchain_core.caches import InMemoryCache
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.rate_limiters import BaseRateLimiter
from langchain_core.runnables import ConfigurableField, RunnableLambda
from pydantic import BaseModel
from streamguard_langchain import GuardedChatModel, GuardedModelError, guard_model

from streamguard import FenceScrubber, Redactor
from streamguard.adapting import LaneFinding

from . import endpoint
from .paths import AsyncListener, Listener, leaks, strings
from .sources import (
    ARGUMENTS,
    GUARD,
    REASONING,
    SOURCES,
    TEXT,
    Fake,
    anthropic_answer,
    anthropic_model,
    chat_completion,
    openai_model,
    text_fake,
)

SAFE = GUARD.scrub(TEXT)


class Answer(BaseModel):
    """An answer."""

    note: str
    password: str


def structured(request: dict[str, Any]) -> Any:
    """An endpoint that fills any schema with canaries."""
    answer = endpoint.answer({**request, "stream": False})
    message = answer["choices"][0]["message"]
    filled = json.dumps({"note": "<think>canaryargs</think>ok", "password": "canarykeyed77"})
    if message.get("tool_calls"):
        message["tool_calls"][0]["function"]["arguments"] = filled
    else:
        message["content"] = filled
    return answer


@pytest.mark.parametrize("method", ["function_calling", "json_schema", "json_mode"])
@pytest.mark.parametrize("tool_args", ["keep", "guard"])
@pytest.mark.parametrize("include_raw", [False, True])
def test_structured_output_is_guarded_and_fits_its_schema(
    method: str, tool_args: Any, include_raw: bool
) -> None:
    model = guard_model(openai_model(structured), GUARD, tool_args=tool_args)
    made = model.with_structured_output(Answer, method=method, include_raw=include_raw)
    shown: Any = made.invoke("x")
    assert leaks(shown) == set()
    answer = shown["parsed"] if include_raw else shown
    assert answer == Answer(note="ok", password=answer.password)
    assert answer.password.startswith("[REDACTED:")
    assert asyncio.run(made.ainvoke("x")) == shown or include_raw


def test_tools_are_bound_as_the_model_inside_binds_them() -> None:
    raw = openai_model(chat_completion)
    made: Any = guard_model(raw, GUARD).bind_tools([Answer], tool_choice="any")
    assert isinstance(made.bound, GuardedChatModel)
    assert made.kwargs == raw.bind_tools([Answer], tool_choice="any").kwargs  # type: ignore[attr-defined]
    shown = made.invoke("x")
    assert shown.text == SAFE
    assert shown.tool_calls[0]["args"] == json.loads(ARGUMENTS), "tools need what the model has written"


def test_arguments_can_be_dropped() -> None:
    model = guard_model(SOURCES["fake-kwargs"](), GUARD, tool_args="drop")
    message = model.invoke("x")
    assert message.tool_calls[0]["args"] == {}
    assert message.additional_kwargs["tool_calls"][0]["function"]["arguments"] == ""
    assert leaks(message) == set()


@pytest.mark.parametrize(
    "source", ["fake-kwargs", "fake-blocks", "openai-responses", "anthropic", "anthropic-v1"]
)
def test_reasoning_can_be_dropped_or_kept(source: str) -> None:
    def thoughts(message: Any) -> str:
        blocks = [block for block in message.content_blocks if block["type"] == "reasoning"]
        return "".join(block.get("reasoning", "") for block in blocks)

    for policy, wanted in (("drop", ""), ("keep", REASONING)):
        model = guard_model(SOURCES[source](), GUARD, reasoning=policy)  # type: ignore[arg-type]
        assert thoughts(model.invoke("x")) == wanted
        whole: Any = None
        for chunk in model.stream("x"):
            whole = chunk if whole is None else whole + chunk
        assert thoughts(whole) == wanted


@pytest.mark.parametrize("text", ["I think, a <", REASONING])
def test_a_signature_stays_only_with_the_reasoning_it_was_made_for(text: str) -> None:
    thinking = {"type": "enabled", "budget_tokens": 1024}
    raw = anthropic_model(lambda request: anthropic_answer(request, text), thinking=thinking)
    model = guard_model(raw, GUARD)
    whole: Any = None
    for chunk in model.stream("x"):
        whole = chunk if whole is None else whole + chunk
    for message in (model.invoke("x"), whole):
        (block,) = [block for block in message.content if block["type"] == "thinking"]
        assert ("signature" in block) == (text != REASONING)


def test_retries_and_fallbacks_are_seen_through() -> None:
    failing = text_fake(fails=True)
    model = guard_model(failing.with_fallbacks([text_fake()]).with_retry(stop_after_attempt=2), GUARD)
    assert model.invoke("x").text == SAFE
    bound: Any = guard_model(text_fake().bind(stop=["x"]).with_config(tags=["t"]), GUARD)
    assert bound.invoke("x").text == SAFE
    assert bound.kwargs == {"stop": ["x"]}
    assert bound.config["tags"] == ["t"]
    assert guard_model(text_fake(), GUARD).with_retry().invoke("x").text == SAFE
    late = guard_model(failing, GUARD).with_fallbacks([guard_model(text_fake(), GUARD)])
    assert late.invoke("x").text == SAFE


def test_fields_and_alternatives_are_configured_at_run_time() -> None:
    asked: list[Any] = []

    def answer(request: dict[str, Any]) -> Any:
        asked.append(request.get("temperature"))
        return chat_completion(request)

    field = ConfigurableField(id="heat")
    raw = openai_model(answer, temperature=0.1)
    for model in (
        guard_model(raw, GUARD).configurable_fields(temperature=field),
        guard_model(raw.configurable_fields(temperature=field), GUARD),
    ):
        asked.clear()
        assert model.invoke("x").text == SAFE
        assert model.with_config(configurable={"heat": 0.7}).invoke("x").text == SAFE
        assert asked == [0.1, 0.7]
        assert [(spec.id, spec.default) for spec in model.config_specs] == [("heat", 0.1)]
        assert leaks(model.bind_tools([Answer]).invoke("x").text) == set()  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="no field 'heat'"):
        guard_model(raw, GUARD).configurable_fields(heat=field)
    which = ConfigurableField(id="which")
    chosen = guard_model(raw.configurable_alternatives(which, other=text_fake, third=text_fake()), GUARD)
    for name in ("default", "other", "third"):
        assert chosen.with_config(configurable={"which": name}).invoke("x").text == SAFE


def test_what_cannot_be_seen_into_is_refused_with_advice() -> None:
    prompt = ChatPromptTemplate.from_messages([("human", "{x}")])
    with pytest.raises(TypeError, match="guard the model in it"):
        guard_model(prompt | text_fake(), GUARD)
    with pytest.raises(TypeError, match="guard the chat model it is made of"):
        guard_model(RunnableLambda(lambda _: AIMessage("x")), GUARD)
    with pytest.raises(TypeError, match="name a model in init_chat_model"):
        guard_model(init_chat_model(), GUARD)
    with pytest.raises(TypeError, match="guard a chat model"):
        guard_model("gpt", GUARD)  # type: ignore[type-var]
    with pytest.raises(TypeError, match="must be a Transformer"):
        guard_model(text_fake(), "guard")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="tool_args is one of"):
        guard_model(text_fake(), GUARD, tool_args="no")  # type: ignore[call-overload]


def test_a_model_that_is_guarded_in_the_same_way_is_not_guarded_again() -> None:
    model = guard_model(text_fake(), GUARD)
    assert guard_model(model, GUARD) is model
    assert guard_model(model, FenceScrubber("think") | Redactor()) is model


@pytest.mark.parametrize("source", ["fake", "openai", "openai-responses", "anthropic", "fake-blocks"])
def test_a_guarded_model_that_is_guarded_otherwise_is_guarded_by_both(source: str) -> None:
    first = guard_model(SOURCES[source](), FenceScrubber("think"), tool_args="guard")
    model: Any = guard_model(first, Redactor(), tool_args="guard")
    asked_once: Any = guard_model(SOURCES[source](), GUARD, tool_args="guard")
    tools = [model.bind_tools([Answer])] if "fake" not in source else []
    for each in (model, model.bind(stop=["x"]), model.with_config(tags=["t"]), *tools):
        shown = [each.invoke("x"), list(each.stream("x")), list(each.stream_events("x", version="v3"))]
        assert leaks(shown) == set()
    assert model.invoke("x").content == asked_once.invoke("x").content
    assert merged(model.stream("x")).content == merged(asked_once.stream("x")).content


def merged(chunks: Any) -> Any:
    whole: Any = None
    for chunk in chunks:
        whole = chunk if whole is None else whole + chunk
    return whole


def test_what_guards_the_way_in_or_arguments_or_hears_findings_is_never_left_out() -> None:
    asked: list[Any] = []
    found: list[Any] = []

    class Echo(Fake):
        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
            asked.append(messages)
            return super()._generate(messages)

    call = {"name": "note", "args": json.loads(ARGUMENTS), "id": "c"}
    model: Any = guard_model(Echo(message=AIMessage("ok", tool_calls=[call])), GUARD)
    assert leaks(guard_model(model, GUARD, tool_args="guard").invoke("x").tool_calls) == set()
    assert guard_model(model, GUARD, tool_args="drop").invoke("x").tool_calls[0]["args"] == {}
    guard_model(model, GUARD, input_guard=Redactor()).invoke([HumanMessage("password: canarysecret77")])
    assert leaks(asked[-1]) == set()
    guard_model(guard_model(text_fake(), FenceScrubber("other")), GUARD, on_finding=found.append).invoke("x")
    assert found
    with_values = guard_model(model, Redactor.literals({"A": "okokok"}))
    assert guard_model(with_values, Redactor.literals({"A": "okokok"})) is not with_values


def test_a_model_that_is_guarded_twice_can_do_what_it_could() -> None:
    field = ConfigurableField(id="heat")
    heats: list[Any] = []

    def answer(request: dict[str, Any]) -> Any:
        heats.append(request.get("temperature"))
        return structured(request) if "response_format" in request else chat_completion(request)

    raw = openai_model(answer, temperature=0.1)
    model: Any = guard_model(guard_model(raw, FenceScrubber("think")), Redactor())
    heated = model.configurable_fields(temperature=field).with_config(configurable={"heat": 0.7})
    assert heated.invoke("x").text == SAFE
    assert heats == [0.7]
    with pytest.raises(ValueError, match="ChatOpenAI has no field 'heat'"):
        model.configurable_fields(heat=field)
    shown = model.with_structured_output(Answer).invoke("x")
    assert leaks(shown) == set()
    assert shown.note == "ok"
    assert model.model_name == "gpt-test"


@pytest.mark.parametrize("method", ["function_calling", "json_schema", "json_mode"])
def test_what_is_set_on_a_guarded_model_holds_for_what_is_derived_from_it(method: str) -> None:
    asked: list[Any] = []

    def answer(request: dict[str, Any]) -> Any:
        asked.append(request)
        return structured(request)

    listener = Listener()
    once = guard_model(openai_model(answer), GUARD)
    for model in (once, guard_model(once, FenceScrubber("other"))):
        asked.clear()
        listener.seen.clear()
        model.cache = InMemoryCache()
        model.callbacks = [listener]
        model.tags = ["mine"]
        made = model.with_structured_output(Answer, method=method)
        assert made.invoke("x") == made.invoke("x")
        assert len(asked) == 1
        assert "mine" in str(listener.seen)


def test_what_a_model_changes_in_a_copy_of_itself_is_changed_in_the_guarded_copy() -> None:
    class Copying(Fake):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self.model_copy(update={"tags": ["tools"]}).bind(tools=tools)

    model = guard_model(Copying(message=AIMessage(TEXT)), GUARD)
    model.metadata = {"by": "me"}
    bound: Any = model.bind_tools([])
    assert bound.bound.tags == ["tools"]
    assert bound.bound.metadata == {"by": "me"}
    assert bound.invoke("x").text == SAFE


def test_the_fingerprint_and_the_representation_tell_nothing() -> None:
    model = guard_model(openai_model(chat_completion), Redactor(key=b"0123456789abcdef"))
    listener = Listener()
    model.invoke("x", {"callbacks": [listener]})
    told = [
        repr(model),
        json.dumps(model._serialized, default=str),
        *(text for _, text in strings(listener.seen)),
    ]
    assert not any("0123456789abcdef" in text for text in told)
    assert len(repr(model)) < 500
    assert model.fingerprint == guard_model(text_fake(), model.settings.guard).fingerprint


def test_the_models_limiter_profile_counting_and_data_are_its_own() -> None:
    class Limiter(BaseRateLimiter):
        asked = 0

        def acquire(self, *, blocking: bool = True) -> bool:
            self.asked += 1
            return True

        async def aacquire(self, *, blocking: bool = True) -> bool:
            return self.acquire(blocking=blocking)

    limiter = Limiter()
    counts = {"custom_get_token_ids": lambda text: [len(text)], "rate_limiter": limiter}
    raw = openai_model(
        chat_completion, temperature=0.5, tags=["t"], profile={"max_input_tokens": 9}, **counts
    )
    model = guard_model(raw, GUARD)
    list(model.stream("x"))
    asyncio.run(model.ainvoke("x"))
    assert limiter.asked == 2
    assert model.profile == {"max_input_tokens": 9}
    assert model.get_token_ids("four") == [4]
    assert model.tags == ["t"]
    assert (model.temperature, model.model_name, model.model) == (0.5, "gpt-test", "gpt-test")
    assert model.get_name() == "ChatOpenAI"
    assert model._llm_type == raw._llm_type
    assert model._get_ls_params(model="m") == raw._get_ls_params(model="m")
    assert not hasattr(model, "missing")
    with pytest.raises(AttributeError, match="is not guarded"):
        model.root_client  # noqa: B018
    with pytest.raises(AttributeError):
        model._stream_chat_model_events  # noqa: B018


def test_usage_comes_once_in_a_stream() -> None:
    model = guard_model(openai_model(chat_completion, stream_usage=True), GUARD)
    assert [c.usage_metadata["total_tokens"] for c in model.stream("x") if c.usage_metadata] == [7]


@pytest.mark.parametrize("disabled", [True, "tool_calling"])
def test_streaming_stays_disabled_where_the_model_inside_disables_it(disabled: Any) -> None:
    model = guard_model(text_fake(disable_streaming=disabled), GUARD)
    options = {"tools": [{}]} if disabled == "tool_calling" else {}
    assert [chunk.content for chunk in model.stream("x", **options)] == [SAFE]


def test_a_model_that_does_not_stream_is_guarded_whole() -> None:
    class Whole(Fake):
        _stream = GuardedChatModel.__mro__[1]._stream  # type: ignore[attr-defined]

    model = guard_model(Whole(message=AIMessage(TEXT)), GUARD)
    assert [chunk.content for chunk in model.stream("x")] == [SAFE]


def test_json_that_was_asked_for_stays_json() -> None:
    text = json.dumps({"note": "a <think>never closed", "password": "canarykeyed77"})
    pieces = [AIMessageChunk(content=text[:20]), AIMessageChunk(content=text[20:])]
    model = guard_model(Fake(chunks=pieces, message=AIMessage(text)), GUARD).bind(
        response_format={"type": "json_object"}
    )
    shown = "".join(chunk.text for chunk in model.stream("x"))
    assert json.loads(shown) == json.loads(model.invoke("x").text)
    assert set(json.loads(shown)) == {"note", "password"}
    assert leaks(shown) == set()


# the way in


def test_the_model_sees_guarded_tool_results_and_human_messages_only_if_asked() -> None:
    class Echo(Fake):
        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
            asked.append(messages)
            return super()._generate(messages)

    asked: list[Any] = []
    image = {"type": "image", "base64": "aGVsbG8=", "mime_type": "image/png"}
    told = [
        SystemMessage("password: canarysecret77"),
        HumanMessage("mine: password: canarysecret77"),
        HumanMessage(
            [
                {"type": "text", "text": "password: canarysecret77"},
                {"type": "image", "base64": "aGVsbG8=", "mime_type": "image/png"},
            ]
        ),
        AIMessage("password: canarysecret77"),
        ToolMessage("password: canarysecret77", tool_call_id="c"),
    ]
    before = [message.model_copy(deep=True) for message in told]
    guard_model(Echo(message=AIMessage("ok")), GUARD).invoke(told)
    guard_model(Echo(message=AIMessage("ok")), GUARD, input_guard=Redactor()).invoke(told)
    raw, guarded = asked
    assert raw == told == before
    assert [bool(leaks(message.content)) for message in guarded] == [True, False, False, True, False]
    assert guarded[2].content[1] == image


# errors


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_error_tells_nothing_of_what_was_held(stream: bool, asynchronous: bool) -> None:
    chunks = [AIMessageChunk(content=piece) for piece in ("Half a key: ", "AKIA", "IOSFODNN")]
    model = guard_model(Fake(chunks=chunks, fails=True), GUARD)
    listener: Any = AsyncListener() if asynchronous else Listener()
    shown: list[str] = []

    async def consume() -> None:
        if not stream:
            await model.ainvoke("x", {"callbacks": [listener]})
        async for chunk in model.astream("x", {"callbacks": [listener]}):
            shown.append(chunk.text)

    def consume_sync() -> None:
        if not stream:
            model.invoke("x", {"callbacks": [listener]})
        shown.extend(chunk.text for chunk in model.stream("x", {"callbacks": [listener]}))

    with pytest.raises(ValueError, match="cannot read") as caught:
        asyncio.run(consume()) if asynchronous else consume_sync()
    assert leaks(caught.value) == set()
    assert leaks(listener.seen) == set()
    assert "AKIA" not in "".join(shown)


def test_an_error_that_quotes_nothing_stays_itself() -> None:
    class Fails(Fake):
        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            raise error

    error = ConnectionError("gone")
    with pytest.raises(ConnectionError) as caught:
        guard_model(Fails(), GUARD).invoke("x")
    assert caught.value is error


def test_an_answer_that_could_not_be_parsed_is_not_told_to_callbacks() -> None:
    def cut_off(request: dict[str, Any]) -> Any:
        return {
            **chat_completion({}),
            "choices": [{**chat_completion({})["choices"][0], "finish_reason": "length"}],
        }

    seen: list[set[str]] = []
    for model in (openai_model(cut_off), guard_model(openai_model(cut_off), GUARD, tool_args="guard")):
        listener = Listener()
        with pytest.raises((openai.LengthFinishReasonError, GuardedModelError, ValueError)):
            model.with_structured_output(Answer, method="json_schema").invoke("x", {"callbacks": [listener]})
        seen.append(leaks(listener.seen))
    raw, guarded = seen
    assert "canarysecret" in raw
    assert guarded == set()


# streams


def test_the_stream_inside_is_closed_when_its_consumer_stops() -> None:
    closed: list[str] = []

    class Closing(Fake):
        def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
            try:
                yield from super()._stream(messages)
            finally:
                closed.append("sync")

        async def _astream(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
        ) -> Any:
            try:
                for chunk in super()._stream(messages):
                    yield chunk
            finally:
                closed.append("async")

    model = guard_model(Closing(chunks=text_fake().chunks), GUARD)
    stream: Any = model.stream("x")
    next(stream)
    stream.close()
    assert closed == ["sync"]

    async def stop() -> None:
        chunks: Any = model.astream("x")
        await anext(chunks)
        await chunks.aclose()

    asyncio.run(stop())
    assert closed == ["sync", "async"]


def test_findings_name_their_lane_and_carry_no_text() -> None:
    found: list[Any] = []
    model = guard_model(SOURCES["anthropic"](), GUARD, tool_args="guard", on_finding=found.append)
    list(model.stream("x"))
    assert {finding.lane for finding in found} == {
        ("content", 0, "thinking"),
        ("content", 1, "text"),
        ("content", 2, "partial_json"),
        ("tool_call_chunks", 2, "args"),
    }
    assert all(isinstance(finding, LaneFinding) for finding in found)
    assert leaks([vars_of(finding) for finding in found]) == set()


def vars_of(finding: Any) -> dict[str, Any]:
    return {name: getattr(finding, name) for name in ("stage", "rule", "action", "lane")}
