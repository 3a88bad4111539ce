"""Compaction in LangChain's agents: real agents, on fake models."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel, FakeMessagesListChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.tools import tool
from streamguard_langchain.compaction import CompactionMiddleware, counter_from, summarizer_from

from streamguard.context import SUMMARY_PREFIX, Compaction, ContextCompressor, ContextEngine, Message

KEY = "sk-proj-" + "Fake0Key1" * 6


class Model(FakeMessagesListChatModel):
    """Answers in order and notes what it was asked."""

    asked: list[list[Any]]

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: Any, *args: Any, **options: Any) -> Any:
        self.asked.append(list(messages))
        return super()._generate(messages, *args, **options)


def model(*answers: AIMessage) -> Model:
    return Model(responses=list(answers), asked=[])


def summarizer(text: str = "## Done\nAll.") -> Model:
    return model(*[AIMessage(text)] * 20)


def engine(of: BaseChatModel, window: int = 4_000, **options: Any) -> ContextCompressor:
    return ContextCompressor(summarizer_from(of), budget=window, **options)


def history(turns: int = 20) -> list[AnyMessage]:
    messages: list[AnyMessage] = []
    for at in range(turns):
        calls: list[Any] = [
            {"name": "look", "args": {"at": at, "password": "hunter2hunter"}, "id": "call_0"},
            {"name": "look", "args": {"at": at}, "id": "call_1"},
        ]
        messages += [
            HumanMessage(f"Question {at} " + "word " * 50, id=f"h{at}"),
            AIMessage("I look.", tool_calls=calls, id=f"c{at}"),
            ToolMessage("found " * 20, tool_call_id="call_1", id=f"t{at}1", artifact={"kept": at}),
            ToolMessage(f"found {KEY} " + "x " * 200, tool_call_id="call_0", id=f"t{at}0"),
            AIMessage(f"Answer {at} " + "word " * 50, id=f"a{at}"),
        ]
    return messages


def paired(messages: Sequence[Any]) -> bool:
    waiting: set[str | None] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            if message.tool_call_id not in waiting:
                return False
            waiting.discard(message.tool_call_id)
        elif waiting:
            return False
        elif isinstance(message, AIMessage):
            waiting = {call["id"] for call in message.tool_calls}
    return not waiting


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_agent_goes_on_with_a_summary(asynchronous: bool) -> None:
    answering, summarizing = model(AIMessage("Fine.")), summarizer()
    agent: Any = create_agent(answering, middleware=[CompactionMiddleware(engine(summarizing))])
    given = {"messages": [*history(), HumanMessage("And now?", id="last")]}
    result = asyncio.run(agent.ainvoke(given)) if asynchronous else agent.invoke(given)

    (sent,) = answering.asked
    assert paired(sent)
    assert sum(str(message.content).startswith(SUMMARY_PREFIX) for message in sent) == 1
    assert count_tokens_approximately(sent) < 2_000
    assert [message.id for message in sent[:1]] == ["h0"]
    assert [message.id for message in sent[-2:]] == ["a19", "last"]
    (answer,) = [message for message in result["messages"] if message.content == "Fine."]
    assert [*sent, answer] == result["messages"]
    (prompt,) = summarizing.asked
    assert KEY not in str(prompt)
    assert "hunter2" not in str(prompt)


def test_messages_that_are_kept_keep_what_langchain_stores_in_them() -> None:
    answering = model(AIMessage("Fine."))
    agent: Any = create_agent(answering, middleware=[CompactionMiddleware(engine(summarizer()))])
    given = [*history(), HumanMessage("And now?", id="last")]
    sent = agent.invoke({"messages": given})["messages"]
    known = {message.id: message for message in given}
    kept = [message for message in sent if message.id in known]
    assert len(kept) >= 5
    assert all(message == known[message.id] for message in kept)
    assert any(isinstance(message, ToolMessage) and message.artifact == {"kept": 19} for message in kept)
    (summary,) = [message for message in sent if SUMMARY_PREFIX in str(message.content)]
    assert summary.additional_kwargs["lc_source"] == "summarization"


def test_a_short_conversation_is_left_alone() -> None:
    answering, summarizing = model(AIMessage("Fine.")), summarizer()
    agent: Any = create_agent(answering, middleware=[CompactionMiddleware(engine(summarizing, 20_000))])
    given = history()
    assert agent.invoke({"messages": given})["messages"][:-1] == given
    assert summarizing.asked == []
    with_overhead = CompactionMiddleware(engine(summarizing, 20_000), overhead=9_000)
    agent = create_agent(model(AIMessage("Fine.")), middleware=[with_overhead])
    assert agent.invoke({"messages": given})["messages"][:-1] != given


def test_a_summary_is_no_part_of_the_stream() -> None:
    class Streaming(GenericFakeChatModel):
        pass

    async def shown(compacting: bool) -> str:
        of = Streaming(messages=iter([AIMessage("summary canary words")]))
        middleware = [CompactionMiddleware(engine(of))] if compacting else []
        answering = Streaming(messages=iter([AIMessage("The answer itself")]))
        agent: Any = create_agent(answering, middleware=middleware)
        given = {"messages": [*history(), HumanMessage("And now?")]}
        parts = [piece async for piece, _ in agent.astream(given, stream_mode="messages")]
        return "".join(str(part.content) for part in parts if part.type == "AIMessageChunk")

    assert asyncio.run(shown(compacting=True)) == asyncio.run(shown(compacting=False)) == "The answer itself"


def test_an_agent_that_works_for_long_on_one_request_stays_within_its_window() -> None:
    @tool
    def look(at: int) -> str:
        """Look."""
        return f"found {at} " + "x " * 150

    calls = [
        AIMessage("", tool_calls=[{"name": "look", "args": {"at": at}, "id": f"c{at}"}]) for at in range(60)
    ]
    answering, summarizing = model(*calls, AIMessage("Done.")), summarizer("## Done\nLooked.")
    agent: Any = create_agent(
        answering, [look], middleware=[CompactionMiddleware(engine(summarizing, protect_first=0))]
    )
    result = agent.invoke({"messages": [HumanMessage("Look 60 times")]}, {"recursion_limit": 500})
    assert result["messages"][-1].content == "Done."
    assert len(answering.asked) == 61
    assert all(paired(sent) and count_tokens_approximately(sent) < 2_600 for sent in answering.asked)
    assert all("Look 60 times" in str(sent) for sent in answering.asked)
    assert 1 <= len(summarizing.asked) < 15


def test_calls_that_could_not_be_read_get_a_result_as_well() -> None:
    broken = AIMessage(
        "",
        invalid_tool_calls=[
            {"name": "look", "args": "{", "id": "bad", "error": "no JSON", "type": "invalid_tool_call"}
        ],
    )
    answering = model(AIMessage("Fine."))
    agent: Any = create_agent(answering, middleware=[CompactionMiddleware(engine(summarizer()))])
    agent.invoke({"messages": [*history(), HumanMessage("Go"), broken, HumanMessage("And now?")]})
    results = [message for message in answering.asked[0] if getattr(message, "tool_call_id", "") == "bad"]
    assert len(results) == 1


class Counting(Model):
    """Has a token for each word, and refuses whatever does not make sense alone."""

    def get_num_tokens_from_messages(self, messages: Any, tools: Any = None) -> int:
        (message,) = messages
        if not (isinstance(message, HumanMessage) and isinstance(message.content, str) and message.content):
            raise ValueError("not counted")
        return len(message.content.split())


def test_a_model_counts_tokens() -> None:
    counting = counter_from(Counting(responses=[], asked=[]))

    def count(message: Message) -> Any:
        counted: Any = counting(message)
        return asyncio.run(counted)

    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    use = {"type": "tool_use", "id": "c", "name": "look", "input": {"text": "x " * 400}}
    image = {"type": "image_url", "image_url": {"url": "https://example.invalid/x.png"}}
    assert count({"role": "user", "content": "one two three"}) == 3
    assert count({"role": "tool", "tool_call_id": "c", "content": "one two"}) == 2
    assert count({"role": "assistant", "content": "one", "tool_calls": [call]}) > 3
    assert count({"role": "assistant", "content": [use], "tool_calls": [call]}) < 20
    assert count({"role": "assistant", "content": [use]}) > 200
    assert count({"role": "user", "content": [{"type": "text", "text": "one two"}, "three", image]}) > 1_600
    assert 0 < count({"role": "assistant", "content": ""}) < 10
    assert 0 < count({"role": "assistant", "content": None}) < 10


def test_an_agent_compacts_by_the_tokens_of_its_model() -> None:
    answering, summarizing = model(AIMessage("Fine.")), summarizer()
    counter = counter_from(Counting(responses=[], asked=[]))
    middleware = CompactionMiddleware(engine(summarizing, counter=counter))
    agent: Any = create_agent(answering, middleware=[middleware])
    agent.invoke({"messages": [*history(), HumanMessage("And now?")]})
    (sent,) = answering.asked
    assert paired(sent)
    assert any(SUMMARY_PREFIX in str(message.content) for message in sent)
    assert sum(len(str(message.content).split()) for message in sent) < 2_000


def test_any_engine_will_do() -> None:
    class Rewriting(ContextEngine):
        async def count(self, messages: Sequence[Message], /) -> int:
            return len(messages)

        def due(self, tokens: int, /) -> bool:
            return tokens > 3

        async def compact(
            self, messages: Sequence[Message], /, *, focus: str = "", overhead: int = 0
        ) -> Compaction:
            call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
            made: list[Message] = [
                {"role": "system", "content": "Be good"},
                {"role": "user", "content": "Short"},
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c", "content": "1"},
            ]
            return Compaction([*made, messages[-1]], "summarized", 0, 0, fits=True)

    answering = model(AIMessage("Fine."))
    agent: Any = create_agent(answering, middleware=[CompactionMiddleware(Rewriting())])
    agent.invoke({"messages": history()})
    (sent,) = answering.asked
    assert [type(message) for message in sent] == [
        SystemMessage,
        HumanMessage,
        AIMessage,
        ToolMessage,
        AIMessage,
    ]
    assert sent[2].tool_calls[0]["args"] == {"at": 1}
    assert paired(sent)
