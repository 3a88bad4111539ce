"""`create_agent` with the middleware: no stream, no state and no store of the agent has raw text."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    LLMToolSelectorMiddleware,
    ModelFallbackMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
    hook_config,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel
from streamguard_langchain import (
    StreamGuardMiddleware,
    UnguardedModelWarning,
    check_middleware,
    guard_model,
    guard_transformer,
)

from streamguard import FenceScrubber, PreambleTrimmer, Redactor

from .paths import Listener, Tracer, config, gathered, leaks
from .sources import (
    ARGUMENTS,
    GUARD,
    SOURCES,
    TEXT,
    Fake,
    chat_completion,
    openai_model,
    pieces,
    text_fake,
)

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
FULL = FenceScrubber("think") | PreambleTrimmer() | Redactor()
TOLD: list[str] = []


@tool
def note(note: str, password: str, n: list[float]) -> str:
    """Keep a note."""
    TOLD.append(password)
    return f"kept, password: {password}"


class Acting(Fake):
    """Calls a tool, then answers."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=[each.name for each in tools])

    def _chunks(self, messages: Any) -> list[AIMessageChunk]:
        if isinstance(messages[-1], ToolMessage):
            TOLD.append(str(messages[-1].content))
            return [AIMessageChunk(content=piece) for piece in pieces(TEXT)]
        chunks = [AIMessageChunk(content=piece) for piece in pieces(TEXT)]
        for at, piece in enumerate(pieces(ARGUMENTS)):
            name, call = ("note", "c1") if not at else (None, None)
            part = {"index": 0, "id": call, "name": name, "args": piece}
            chunks.append(AIMessageChunk(content="", tool_call_chunks=[part]))
        return chunks

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        whole: Any = None
        for chunk in self._chunks(messages):
            whole = chunk if whole is None else whole + chunk
        calls = whole.tool_calls
        return Fake(message=AIMessage(content=whole.content, tool_calls=calls))._generate(messages)

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        return Fake(chunks=self._chunks(messages))._stream(messages, run_manager=run_manager)


STATE = {"messages": [("human", "Tell me.")]}


def store(agent: Any) -> Any:
    place = config()
    agent.invoke(STATE, place)
    saver = agent.checkpointer
    return [saver.storage, saver.blobs, saver.writes, list(agent.get_state_history(place))]


def listened(agent: Any, make: Callable[[], Any]) -> Any:
    listener = make()
    list(agent.stream(STATE, {**config(), "callbacks": [listener]}, stream_mode="messages"))
    return listener.seen


def streamed(agent: Any, mode: str) -> list[Any]:
    return list(agent.stream(STATE, config(), stream_mode=mode))


MODES = ("messages", "updates", "values", "debug", "tasks", "checkpoints")
WAYS: dict[str, Callable[[Any], Any]] = {
    **{
        mode: lambda agent, mode=mode: list(agent.stream(STATE, config(), stream_mode=mode)) for mode in MODES
    },
    "invoke": lambda agent: agent.invoke(STATE, config()),
    "async messages": lambda agent: asyncio.run(
        gathered(agent.astream(STATE, config(), stream_mode=["messages", "values"]))
    ),
    "events v2": lambda agent: asyncio.run(gathered(agent.astream_events(STATE, config(), version="v2"))),
    "events v3": lambda agent: list(agent.stream_events(STATE, config(), version="v3")),
    "store": store,
    "callbacks": lambda agent: listened(agent, Listener),
    "tracer": lambda agent: listened(agent, Tracer),
}
EACH_WAY = pytest.mark.parametrize("way", WAYS)


@EACH_WAY
def test_an_agent_leaks_on_no_path(way: str) -> None:
    middleware = check_middleware([StreamGuardMiddleware(GUARD, tool_args="guard")])
    agent = create_agent(Acting(), [note], middleware=middleware, checkpointer=InMemorySaver())
    assert leaks(WAYS[way](agent)) == set()


@EACH_WAY
def test_the_same_agent_without_a_guard_leaks_on_every_path(way: str) -> None:
    agent = create_agent(Acting(), [note], checkpointer=InMemorySaver())
    assert "canarysecret" in leaks(WAYS[way](agent))


@EACH_WAY
def test_the_middleware_of_langchain_for_personal_data_does_not_do(way: str) -> None:
    def detector(text: str) -> Any:
        word = "canarysecret77"
        at = text.find(word)
        return [] if at < 0 else [{"type": "key", "value": word, "start": at, "end": at + len(word)}]

    theirs: Any = PIIMiddleware("key", detector=detector, apply_to_output=True)
    agent = create_agent(Acting(), [note], middleware=[theirs], checkpointer=InMemorySaver())
    found = "canarysecret" in leaks(WAYS[way](agent))
    assert found == (way not in ("invoke", "events v3"))


def test_tools_get_what_the_model_has_written_and_the_wire_does_not() -> None:
    TOLD.clear()
    agent = create_agent(
        Acting(),
        [note],
        middleware=[StreamGuardMiddleware(GUARD, input_guard=Redactor())],
        transformers=[guard_transformer(GUARD)],
    )
    events = list(agent.stream_events(STATE, version="v3"))
    assert leaks(events) == set()
    assert TOLD[0] == "canarykeyed77", "the tool was called with the raw argument"
    assert TOLD[1].startswith("kept, password: [REDACTED:"), "the model was told its result guarded"


def test_middleware_guards_a_guarded_model_as_well() -> None:
    asked: list[Any] = []

    class Echo(Fake):
        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
            asked.append(messages)
            return super()._generate(messages)

        def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
            asked.append(messages)
            return super()._stream(messages)

    plain = text_fake()
    model = guard_model(Echo(chunks=plain.chunks, message=plain.message), FenceScrubber("think"))
    middleware = [StreamGuardMiddleware(Redactor(), input_guard=Redactor())]
    agent = create_agent(model, middleware=middleware)
    said = {"messages": [("human", "password: canarysecret77")]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = [message.text for message, _ in agent.stream(said, stream_mode="messages")]
        shown.append(agent.invoke(said)["messages"][-1].text)
    assert leaks(shown) == set()
    assert leaks(asked) == set()


def test_middleware_that_replaces_the_model_is_warned_of_and_the_state_is_guarded() -> None:
    class Replacing(AgentMiddleware[Any, Any, Any]):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(request.override(model=text_fake()))

    order: list[Any] = [StreamGuardMiddleware(GUARD), Replacing()]
    with pytest.warns(UnguardedModelWarning, match="Replacing stands behind StreamGuardMiddleware"):
        check_middleware(order)
    agent = create_agent(text_fake(), middleware=order)
    with pytest.warns(UnguardedModelWarning, match="came to StreamGuardMiddleware unguarded"):
        state = agent.invoke(STATE)
    assert leaks(state) == set()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent = create_agent(text_fake(), middleware=check_middleware(order[::-1]))
        assert leaks(list(agent.stream(STATE, stream_mode="messages"))) == set()


@pytest.mark.parametrize(
    "middleware",
    [
        lambda model: SummarizationMiddleware(model, trigger=("messages", 5)),
        lambda model: LLMToolSelectorMiddleware(model=model),
        ModelFallbackMiddleware,
    ],
)
def test_middleware_with_a_model_of_its_own_is_warned_of(middleware: Callable[[Any], Any]) -> None:
    with pytest.warns(UnguardedModelWarning, match="has an unguarded model of its own"):
        check_middleware([middleware(text_fake()), StreamGuardMiddleware(GUARD)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_middleware([middleware(guard_model(text_fake(), GUARD)), StreamGuardMiddleware(GUARD)])


def test_middleware_that_calls_the_model_of_the_agent_is_warned_of() -> None:
    with pytest.warns(UnguardedModelWarning, match="has no model of its own and calls the agent's"):
        check_middleware([LLMToolSelectorMiddleware(), StreamGuardMiddleware(GUARD)])


def test_a_model_in_an_attribute_of_an_attribute_is_warned_of() -> None:
    class Choices:
        def __init__(self, model: Any) -> None:
            self.model = model

    class Nested(AgentMiddleware[Any, Any, Any]):
        def __init__(self, model: Any) -> None:
            super().__init__()
            self.choices = Choices(model)

    with pytest.warns(UnguardedModelWarning, match="has an unguarded model of its own"):
        check_middleware([Nested(text_fake()), StreamGuardMiddleware(GUARD)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_middleware([Nested(guard_model(text_fake(), GUARD)), StreamGuardMiddleware(GUARD)])


def test_a_missing_guard_is_warned_of() -> None:
    with pytest.warns(UnguardedModelWarning, match="there is no StreamGuardMiddleware"):
        check_middleware([])


def test_a_structured_response_comes_through() -> None:
    class Said(BaseModel):
        note: str

    class Structured(Acting):
        def _chunks(self, messages: Any) -> list[AIMessageChunk]:
            part = {
                "index": 0,
                "id": "c",
                "name": "Said",
                "args": json.dumps({"note": "a <think>canaryargs</think>b"}),
            }
            return [AIMessageChunk(content="", tool_call_chunks=[part])]

    middleware = [StreamGuardMiddleware(GUARD, tool_args="guard")]
    state = create_agent(Structured(), middleware=middleware, response_format=Said).invoke(STATE)
    assert state["structured_response"] == Said(note="a b")


class Answering(Acting):
    """Gives its answer as arguments of a tool, in pieces."""

    def _chunks(self, messages: Any) -> list[AIMessageChunk]:
        said = json.dumps({"note": "a <think>canaryargs</think>b"})
        return [
            AIMessageChunk(
                content="",
                tool_call_chunks=[
                    {"index": 0, "id": None if at else "c", "name": None if at else "Said", "args": piece}
                ],
            )
            for at, piece in enumerate(pieces(said))
        ]


class Said(BaseModel):
    """What is said."""

    note: str


@pytest.mark.parametrize("tools", [[], [note]])
@pytest.mark.parametrize("by", ["middleware", "model"])
def test_a_structured_response_is_guarded_where_arguments_are_kept(tools: list[Any], by: str) -> None:
    middleware = [StreamGuardMiddleware(GUARD)] if by == "middleware" else []
    model: Any = Answering() if by == "middleware" else guard_model(Answering(), GUARD)
    agent = create_agent(model, tools, middleware=middleware, response_format=ToolStrategy(Said))
    seen = list(agent.stream(STATE, stream_mode=["messages", "values"]))
    assert seen[-1][1]["structured_response"] == Said(note="a b")
    assert leaks(seen) == set()
    state = agent.invoke(STATE)
    assert state["structured_response"] == Said(note="a b")
    assert leaks(state) == set()


# Where blocks are LangChain's own, it puts the state of a call into its block, behind the guard: an
# answer whose arguments are dropped is changed once more then.
CASES = [
    *((source, options) for source in (*SOURCES, "plain") for options in ({}, {"tool_args": "guard"})),
    *((source, {"tool_args": "drop", "reasoning": "drop"}) for source in SOURCES if source != "openai-v1"),
]


@pytest.mark.parametrize(("source", "options"), CASES)
def test_an_answer_that_was_guarded_is_not_taken_for_a_raw_one(source: str, options: Any) -> None:
    made: dict[str, Callable[[], Any]] = {
        **SOURCES,
        "plain": lambda: openai_model(plain_completion),
    }
    agent = create_agent(made[source](), middleware=[StreamGuardMiddleware(GUARD, **options), Once()])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnguardedModelWarning)
        agent.invoke(STATE)
        list(agent.stream(STATE, stream_mode="messages"))


class Once(AgentMiddleware[Any, Any, Any]):
    """Ends a run behind its first answer, whatever that calls."""

    @hook_config(can_jump_to=["end"])
    def after_model(self, state: Any, runtime: Any) -> Any:
        return {"jump_to": "end"}


def plain_completion(request: dict[str, Any]) -> Any:
    answer = chat_completion(request)
    if request.get("stream"):
        return answer
    message = {"role": "assistant", "content": "Hello."}
    return {
        **answer,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
    }


@pytest.mark.parametrize("reason", ["length", "stop"])
def test_an_answer_that_was_cut_off_is_not_taken_for_a_raw_one(reason: str) -> None:
    metadata = {"finish_reason": reason}
    text = "One. Let me check. password: canarysecret77 key AKIA" + "IOSF"
    message = AIMessage(text, response_metadata=metadata)
    agent = create_agent(Fake(message=message), middleware=[StreamGuardMiddleware(FULL)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state = agent.invoke(STATE)
    assert leaks(state) == set()
