"""`guard_transformer`: of an event that is held, or rewritten, nobody sees the raw one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langgraph.graph import MessagesState, StateGraph
from streamguard_langchain import guard_transformer

from .paths import STATE, gathered, leaks, told_by
from .sources import EVERY_SOURCE, GUARD, SOURCES
from .test_agents import Acting, note

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")


def graph_of(source: str, *, guarded: bool = True) -> Any:
    model = SOURCES[source]()

    async def aanswer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    def answer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    from langchain_core.runnables import RunnableLambda

    made: Any = StateGraph(MessagesState).add_node("answer", RunnableLambda(answer, aanswer))
    transformers = [guard_transformer(GUARD)] if guarded else []
    return made.set_entry_point("answer").compile(transformers=transformers)


def messages(graph: Any) -> list[Any]:
    return [told_by(stream) for stream in graph.stream_events(STATE, version="v3").messages]


async def amessages(graph: Any) -> list[Any]:
    run = await graph.astream_events(STATE, version="v3")
    return [[await gathered(stream.text), await stream.output] async for stream in run.messages]


@EVERY_SOURCE
def test_run_messages_has_nothing_raw(source: str) -> None:
    assert leaks(messages(graph_of(source))) == set()
    assert leaks(asyncio.run(amessages(graph_of(source)))) == set()
    assert "canarysecret" in leaks(messages(graph_of(source, guarded=False)))


def test_run_messages_of_an_agent_has_no_raw_arguments() -> None:
    agent = create_agent(Acting(), [note], transformers=[guard_transformer(GUARD)])
    told = messages(agent)
    assert len(told) == 2
    assert leaks(told) == set()
    guarded = create_agent(Acting(), [note])
    assert "canarykeyed" in leaks(messages(guarded))


def test_subgraphs_and_other_transformers_see_guarded_events_only() -> None:
    from langgraph.stream import StreamTransformer

    seen: list[Any] = []

    class Watching(StreamTransformer):
        supports_sync = True

        def init(self) -> dict[str, Any]:
            return {}

        def process(self, event: Any) -> bool:
            seen.append(event["params"]["data"])
            return True

    inside = graph_of("fake", guarded=False)
    outer: Any = StateGraph(MessagesState).add_node("inside", inside).set_entry_point("inside")
    run = outer.compile(transformers=[guard_transformer(GUARD), Watching]).stream_events(STATE, version="v3")
    told = [messages for sub in run.subgraphs for messages in (told_by(stream) for stream in sub.messages)]
    assert told
    assert leaks([told, seen]) == set()


def test_an_event_that_finishes_a_block_comes_once() -> None:
    events = list(graph_of("fake").stream_events(STATE, version="v3").messages)
    kinds = [event["event"] for stream in events for event in stream]
    assert kinds.count("content-block-finish") == 1
