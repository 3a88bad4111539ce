"""One handler, one chain, one stream of a graph: what can be guarded without wrapping the model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import GenerationChunk
from langchain_core.runnables import RunnableLambda
from langgraph.graph import MessagesState, StateGraph
from streamguard_langchain import GuardedCallbackHandler, guard_runnable, guard_transformer

from .paths import AsyncListener, Listener, gathered, leaks
from .sources import EVERY_SOURCE, GUARD, SOURCES, TEXT, Fake, text_fake

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
SAFE = GUARD.scrub(TEXT)


def tokens(seen: list[Any]) -> str:
    return "".join(args[0] for name, args, _ in seen if name == "on_llm_new_token")


# a callback handler


@EVERY_SOURCE
@pytest.mark.parametrize("way", ["invoke", "stream", "astream", "v3"])
def test_a_guarded_handler_is_told_nothing_raw(source: str, way: str) -> None:
    model = SOURCES[source]()
    seen: list[set[str]] = []
    for guarded in (False, True):
        for make in (Listener, AsyncListener):
            inner: Any = make()
            handler = GuardedCallbackHandler(inner, GUARD) if guarded else inner
            options: Any = {"callbacks": [handler]}
            match way:
                case "invoke":
                    asyncio.run(model.ainvoke("x", options))
                case "stream" if make is Listener:
                    list(model.stream("x", options))
                case "v3" if make is Listener:
                    list(model.stream_events("x", options, version="v3"))
                case _:
                    asyncio.run(gathered(model.astream("x", options)))
            seen.append(leaks(inner.seen))
    assert all("canarysecret" in found for found in seen[:2])
    assert seen[2:] == [set(), set()]


def test_a_handler_is_told_the_guarded_text_and_the_tail_before_the_end() -> None:
    listener = Listener()
    list(text_fake().stream("x", {"callbacks": [GuardedCallbackHandler(listener, GUARD)]}))
    assert tokens(listener.seen) == SAFE
    names = [name for name, _, _ in listener.seen if name.startswith(("on_llm", "on_chat"))]
    assert names[0] == "on_chat_model_start"
    assert names[-1] == "on_llm_end"
    result = listener.seen[-1][1][0]
    assert result.generations[0][0].text == result.generations[0][0].message.text == SAFE


def test_runs_of_one_handler_do_not_influence_each_other() -> None:
    listener = AsyncListener()
    handler = GuardedCallbackHandler(listener, GUARD)
    model = text_fake()

    async def many() -> None:
        await asyncio.gather(*(gathered(model.astream("x", {"callbacks": [handler]})) for _ in range(10)))

    asyncio.run(many())
    runs: dict[Any, str] = {}
    for name, args, kwargs in listener.seen:
        if name == "on_llm_new_token":
            runs[kwargs["run_id"]] = runs.get(kwargs["run_id"], "") + args[0]
    assert list(runs.values()) == [SAFE] * 10
    assert handler._runs == {}


def test_a_handler_is_told_of_an_error_and_of_nothing_held() -> None:
    listener = Listener()
    model = Fake(chunks=[AIMessageChunk(content="a <think>canaryhidden")], fails=True)
    with pytest.raises(ValueError, match="canaryhidden"):
        list(model.stream("x", {"callbacks": [GuardedCallbackHandler(listener, GUARD)]}))
    assert leaks(listener.seen) == set()
    assert listener.seen[-1][0] == "on_llm_error"


def test_a_token_without_a_chunk_is_guarded_as_text() -> None:
    listener = Listener()
    handler: Any = GuardedCallbackHandler(listener, GUARD)
    for piece in ("a <thi", "nk>canaryhidden</think>b", " <", " "):
        handler.on_llm_new_token(piece, run_id=1)
    handler.on_llm_new_token("c. ", chunk=GenerationChunk(text="c. "), run_id=1, logprobs={"token": "c"})
    assert tokens(listener.seen) == "a b < c. "
    handler.on_llm_error(ValueError("x"), run_id=1)
    assert all(kwargs.get("chunk") is None for _, _, kwargs in listener.seen)


def test_chains_and_tools_are_told_guarded_and_a_failing_guard_tells_nothing() -> None:
    class Deaf(BaseCallbackHandler):
        raise_error = True
        run_inline = True

        @property
        def ignore_retriever(self) -> bool:
            return True

    listener = Listener()
    handler: Any = GuardedCallbackHandler(listener, GUARD)
    raw = {"messages": [AIMessage(TEXT), ToolMessage(TEXT, tool_call_id="c")], "text": TEXT}
    handler.on_chain_end(raw, run_id=1)
    handler.on_tool_start({"name": "t"}, TEXT, run_id=2, inputs={"note": TEXT})
    handler.on_tool_end(ToolMessage(TEXT, tool_call_id="c"), run_id=2)
    assert leaks(listener.seen) == set()
    assert listener.seen[0][1][0]["messages"][0].content == SAFE
    other = GuardedCallbackHandler(Deaf(), GUARD)
    assert (other.raise_error, other.run_inline, other.ignore_retriever, other.ignore_llm) == (
        True,
        True,
        True,
        False,
    )
    assert not isinstance(other, AsyncCallbackHandler)
    assert isinstance(GuardedCallbackHandler(AsyncListener(), GUARD), AsyncCallbackHandler)


# a chain


def test_a_runnable_guards_the_text_of_a_chain() -> None:
    chain = text_fake() | StrOutputParser() | guard_runnable(GUARD)
    assert chain.invoke("x") == SAFE
    assert "".join(chain.stream("x")) == SAFE
    assert asyncio.run(chain.ainvoke("x")) == SAFE
    assert "".join(asyncio.run(gathered(chain.astream("x")))) == SAFE
    assert len(list(chain.stream("x"))) > 3
    assert chain.batch(["x", "y"]) == [SAFE, SAFE]


def test_a_runnable_says_something_where_nothing_may_be_shown() -> None:
    chain = RunnableLambda(lambda text: text) | guard_runnable(GUARD)
    assert chain.invoke("<think>all of it") == ""
    assert list(chain.stream("<think>all of it")) == [""]


def test_a_runnable_reports_findings_and_closes_its_source() -> None:
    found: list[Any] = []
    closed: list[bool] = []

    def source(_: Any) -> Any:
        try:
            yield "a <think>b</think>"
            yield "c"
        finally:
            closed.append(True)

    from langchain_core.runnables import RunnableGenerator

    chain = RunnableGenerator(source) | guard_runnable(GUARD, on_finding=found.append)
    stream: Any = chain.stream("x")
    assert next(stream) == "a "
    stream.close()
    assert closed == [True]
    assert "".join(chain.stream("x")) == "a c"
    assert [finding.action for finding in found][-1] == "hidden"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_error_of_a_chain_comes_through_a_runnable_guarded(asynchronous: bool) -> None:
    chain = text_fake(fails=True) | StrOutputParser() | guard_runnable(GUARD)
    shown: list[str] = []

    async def consume() -> None:
        async for text in chain.astream("x"):
            shown.append(text)

    with pytest.raises(ValueError, match="cannot read") as caught:
        asyncio.run(consume()) if asynchronous else shown.extend(iter(chain.stream("x")))
    assert leaks([caught.value, shown]) == set()
    error = ConnectionError("gone")

    def fails(_: str) -> str:
        raise error

    with pytest.raises(ConnectionError) as same:
        (RunnableLambda(fails) | guard_runnable(GUARD)).invoke("x")
    assert same.value is error


# a graph


def graph(model: Any, *, streams: bool = True) -> Any:
    def answer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    inner = StateGraph(MessagesState).add_node("answer", answer).set_entry_point("answer").compile()
    outer = StateGraph(MessagesState).add_node("inner", inner).set_entry_point("inner")
    return outer.compile(transformers=[guard_transformer(GUARD)])


STATE = {"messages": [HumanMessage("Tell me.")]}


@EVERY_SOURCE
def test_a_transformer_guards_what_a_graph_and_its_subgraphs_stream(source: str) -> None:
    compiled = graph(SOURCES[source]())
    run = compiled.stream_events(STATE, version="v3")
    assert leaks(list(run)) == set()
    assert "canarysecret" in leaks(run.output), "that is the state"

    async def asynchronous() -> list[Any]:
        return [event async for event in await compiled.astream_events(STATE, version="v3")]

    assert leaks(asyncio.run(asynchronous())) == set()


@pytest.mark.parametrize("source", ["fake", "fake-native", "openai", "anthropic"])
def test_the_deltas_of_a_graph_are_the_guarded_text(source: str) -> None:
    run = graph(SOURCES[source]()).stream_events(STATE, version="v3")
    deltas: dict[str, str] = {}
    finished: list[str] = []
    for event in run:
        payload = event["params"]["data"]
        if event["method"] != "messages" or not isinstance(payload[0], dict):
            continue
        if payload[0]["event"] == "content-block-delta":
            kind = payload[0]["delta"]["type"]
            deltas[kind] = deltas.get(kind, "") + payload[0]["delta"].get("text", "")
        if payload[0]["event"] == "content-block-finish" and payload[0]["content"]["type"] == "text":
            finished.append(payload[0]["content"]["text"])
    assert deltas["text-delta"] == SAFE
    assert finished == [SAFE]
    assert [event["seq"] for event in graph(SOURCES[source]()).stream_events(STATE, version="v3")] == sorted(
        event["seq"] for event in graph(SOURCES[source]()).stream_events(STATE, version="v3")
    )
