"""Of arguments that are no JSON LangChain tells an error that quotes them: it is guarded as they are."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import invalid_tool_call
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import BaseModel
from streamguard_langchain import guard_model, guard_transformer

from .paths import leaks
from .sources import GUARD, Fake, FakeNative, chat_completion, openai_model

ARGUMENTS = '{"note": "password: canarykeyed77", '


class Answer(BaseModel):
    """An answer."""

    note: str


def calling(request: dict[str, Any]) -> Any:
    """An endpoint that calls `Answer` with arguments that end in the middle."""
    answer = chat_completion({})
    function = {"name": "Answer", "arguments": ARGUMENTS}
    answer["choices"][0]["message"]["tool_calls"] = [{"id": "c1", "type": "function", "function": function}]
    return answer


def told(message: Any) -> Any:
    (call,) = message.invalid_tool_calls
    return call


def test_the_error_is_guarded_where_arguments_are() -> None:
    raw = told(openai_model(calling).invoke("x"))
    assert ARGUMENTS in raw["error"]
    call = told(guard_model(openai_model(calling), GUARD, tool_args="guard").invoke("x"))
    assert leaks(call) == set()
    assert call["error"] == raw["error"].replace(ARGUMENTS, call["args"]), "the rest of it stays"
    assert told(guard_model(openai_model(calling), GUARD).invoke("x"))["error"] == raw["error"]


def test_the_error_is_dropped_where_arguments_are() -> None:
    call = told(guard_model(openai_model(calling), GUARD, tool_args="drop").invoke("x"))
    assert (call["args"], call["error"]) == ("", None)


def test_the_error_of_a_structured_output_is_guarded_where_arguments_are_kept() -> None:
    model = guard_model(openai_model(calling), GUARD)
    shown: Any = model.with_structured_output(Answer, method="function_calling", include_raw=True).invoke("x")
    assert leaks(told(shown["raw"])) == set()


@pytest.mark.parametrize("policy", ["guard", "drop"])
def test_the_error_is_guarded_in_a_block_of_content_too(policy: Any) -> None:
    block = invalid_tool_call(name="note", args=ARGUMENTS, id="c1", error=f"cannot read {ARGUMENTS}")
    message = AIMessage([dict(block)])
    model = guard_model(Fake(message=message), GUARD, tool_args=policy)
    shown = model.invoke("x")
    assert leaks(shown) == set()
    (safe,) = shown.content
    assert safe["error"] == (f"cannot read {safe['args']}" if policy == "guard" else None)


@pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
def test_the_error_is_guarded_in_events() -> None:
    class Calling(FakeNative):
        def _stream_chat_model_events(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
        ) -> Any:
            chunk = {"type": "tool_call_chunk", "id": "c1", "name": "note", "args": ""}
            block = invalid_tool_call(name="note", args=ARGUMENTS, id="c1", error=f"cannot read {ARGUMENTS}")
            yield {"event": "message-start", "role": "ai", "id": "native"}
            yield {"event": "content-block-start", "index": 0, "content": chunk}
            yield {"event": "content-block-finish", "index": 0, "content": block}
            yield {"event": "message-finish", "metadata": {"finish_reason": "stop"}}

    def seen(**options: Any) -> Any:
        def node(state: MessagesState) -> Any:
            return {"messages": [Calling().invoke(state["messages"])]}

        graph: Any = StateGraph(MessagesState).add_node("node", node).add_edge(START, "node")
        agent = graph.add_edge("node", END).compile(**options)
        return list(agent.stream_events({"messages": [("human", "x")]}, version="v3"))

    assert "canarykeyed" in leaks(seen())
    assert leaks(seen(transformers=[guard_transformer(GUARD)])) == set()
