"""A LangGraph app in `stream_mode="messages"`: one wrapped model guards stream, state and store.

    python examples/langchain_graph.py

Needs no key. The second part leaves the model as it is, for tools that need its very words, and
guards only what the graph sends out.
"""

import warnings

from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState, StateGraph
from streamguard_langchain import guard_model, guard_transformer

from streamguard import FenceScrubber, Redactor

ANSWER = "<memory-context>Ada owes us 40.</memory-context>Dear Ada, the password: hunter2-blue is yours."
GUARD = FenceScrubber("memory-context") | Redactor()


def fake() -> BaseChatModel:
    return GenericFakeChatModel(messages=iter([AIMessage(ANSWER)]))


def builder(model: BaseChatModel) -> StateGraph[MessagesState]:
    def answer(state: MessagesState) -> dict[str, list[AIMessage]]:
        return {"messages": [model.invoke(state["messages"])]}

    return StateGraph(MessagesState).add_node("answer", answer).set_entry_point("answer")


def main() -> None:
    question = MessagesState(messages=[HumanMessage("Write to Ada.")])

    app = builder(guard_model(fake(), GUARD)).compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    for chunk, _ in app.stream(question, thread, stream_mode="messages"):
        print(chunk.text, end="", flush=True)
    print()
    print("In the store:", app.get_state(thread).values["messages"][-1].text)

    wire = builder(fake()).compile(transformers=[guard_transformer(GUARD)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the third version of the protocol is in beta
        run = wire.stream_events(question, version="v3")
        for message in run.messages:
            for text in message.text:
                print(text, end="", flush=True)
        print()


if __name__ == "__main__":
    main()
