"""An agent with a tool: tokens, states and tool results guarded by one middleware. Needs no key.

    python examples/langchain_agent.py

The tool gets the arguments as the model wrote them. The model does not get to see the key that the
tool's result contains, and the user sees neither that key nor the model's thoughts.
"""

from collections.abc import Iterator
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from streamguard_langchain import StreamGuardMiddleware, check_middleware

from streamguard import FenceScrubber, Redactor

KEY = "AKIA" + "Q3EGRIYHZ7K2LM5N"  # made up


def read_config(name: str) -> str:
    """Read a configuration file."""
    return f"[{name}]\nregion = eu-west-1\naccess_key = {KEY}\n"


class FakeModel(BaseChatModel):
    """Calls the tool, then says what it was told."""

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(**kwargs)

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        parts = [chunk.message for chunk in self._stream(messages)]
        whole: Any = sum(parts[1:], parts[0])
        message = AIMessage(content=whole.content, tool_calls=whole.tool_calls)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        if isinstance(messages[-1], ToolMessage):
            text = f"<think>Careful.</think>It says: {messages[-1].text}"
            for at in range(0, len(text), 4):
                yield ChatGenerationChunk(message=AIMessageChunk(content=text[at : at + 4]))
        else:
            call = {"name": "read_config", "args": '{"name": "production"}', "id": "call-1", "index": 0}
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[call]))


def main() -> None:
    guard = FenceScrubber("think") | Redactor()
    agent = create_agent(
        FakeModel(),
        [read_config],
        middleware=check_middleware([StreamGuardMiddleware(guard, input_guard=Redactor())]),
    )
    question = {"messages": [("human", "What is in the configuration?")]}
    for chunk, metadata in agent.stream(question, stream_mode="messages"):
        if metadata["langgraph_node"] == "model":
            print(chunk.text, end="", flush=True)
    print()


if __name__ == "__main__":
    main()
