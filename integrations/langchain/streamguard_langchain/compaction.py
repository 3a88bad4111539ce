"""Compaction for LangChain's agents: a middleware around any `ContextEngine`.

The engine sees messages as OpenAI's API takes them. What it keeps comes back as the very
message of the agent's state, with all that LangChain stores in it; only what it writes or
clears is new.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from anyio import to_thread
from anyio.from_thread import start_blocking_portal
from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)
from langgraph.constants import TAG_NOSTREAM
from langgraph.graph.message import (  # pyright: ignore[reportMissingTypeStubs] - it has none
    REMOVE_ALL_MESSAGES,
)
from langgraph.runtime import Runtime

from streamguard.context import ContextEngine, Message, Summarizer, TokenCounter, estimate_tokens

__all__ = ["CompactionMiddleware", "counter_from", "summarizer_from"]

_PLACE = "streamguard_place"  # of the message that a dictionary was made of
_SOURCE = {"lc_source": "summarization"}  # how LangChain marks what an agent's user did not write


class CompactionMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Keeps the messages of an agent within its model's window, before each call of the model.

    *Delay*: none while the messages are within the budget; otherwise the engine's.
    """

    def __init__(self, engine: ContextEngine, *, overhead: int = 0) -> None:
        """Set up the middleware.

        Args:
            engine: what compacts; it may be shared by any number of agents.
            overhead: tokens of each request besides the messages: the agent's prompt, and the
                descriptions of its tools.
        """
        super().__init__()
        self._engine = engine
        self._overhead = overhead

    async def abefore_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Compact the messages if that is due."""
        del runtime
        return await self._compacted(state)

    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Compact the messages if that is due, on an event loop in a thread of its own."""
        del runtime
        with start_blocking_portal() as portal:
            update: dict[str, Any] | None = portal.call(self._compacted, state)
            return update

    async def _compacted(self, state: AgentState[Any]) -> dict[str, Any] | None:
        messages: list[BaseMessage] = list(state["messages"])
        given = [_read(message, place) for place, message in enumerate(messages)]
        result = await self._engine.prepare(given, overhead=self._overhead)
        if len(result.messages) == len(given) and all(map(_same, result.messages, given)):
            return None
        kept = [_written(message, messages) for message in result.messages]
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *kept]}


def summarizer_from(model: BaseChatModel, /) -> Summarizer:
    """Make a summarizer of a chat model.

    What the model writes is not part of the agent's stream. The length that is wanted is in the
    prompt; a limit of tokens is the model's own setting.

    Args:
        model: any chat model, guarded or not: the engine guards what goes in and what comes out.
    """

    async def summarize(prompt: str, /, *, max_tokens: int) -> str:
        del max_tokens
        answer = await model.ainvoke(prompt, {"tags": [TAG_NOSTREAM], "metadata": {**_SOURCE}})
        return str(answer.text)

    return summarize


def counter_from(model: BaseChatModel, /) -> TokenCounter:
    """Make a counter of tokens of a chat model, for `ContextCompressor(counter=...)`.

    All that a message says is counted by the model as a text of the user's: alone, a result or
    a call is what some models refuse to count. Images and the like are estimated, never loaded.

    *Delay*: the model's own, in a thread; of some models a request for each message.

    Args:
        model: any chat model. What it raises, such as `ImportError` for a tokenizer that is not
            installed, comes out of the compaction.
    """

    async def count(message: Message, /) -> int:
        text, rest = _text_and_rest(message)
        asked: list[BaseMessage] = [HumanMessage(text)]
        counted = await to_thread.run_sync(model.get_num_tokens_from_messages, asked) if text else 0
        return counted + (estimate_tokens({"role": "user", "content": rest}) if rest or not text else 0)

    return count


def _text_and_rest(message: Message) -> tuple[str, list[object]]:
    """The texts and calls of a message, and the blocks that are something else."""
    content, called = message.get("content"), message.get("tool_calls")
    texts: list[str] = [content] if isinstance(content, str) else []
    rest: list[object] = []
    blocks = cast("list[str | dict[str, object]]", content) if isinstance(content, list) else []
    for block in blocks:
        of = {"text": block} if isinstance(block, str) else block
        text = of.get("text")
        if isinstance(text, str):
            texts.append(text)
        elif not (called and of.get("type") == "tool_use"):  # which says the same as the call
            rest.append(block)
    if called:
        texts.append(json.dumps(called, default=str))
    return "\n".join(filter(None, texts)), rest


def _same(message: Message, given: Message) -> bool:
    return message is given


def _read(message: BaseMessage, place: int) -> Message:
    """A message as OpenAI's API takes it, with its place in the state."""
    read: dict[str, object] = {"content": cast("object", message.content), _PLACE: place}
    match message:
        case SystemMessage():
            return {"role": "system", **read}
        case ToolMessage():
            return {"role": "tool", "tool_call_id": message.tool_call_id, **read}
        case AIMessage():
            called = _calls(message)
            return {"role": "assistant", **({"tool_calls": called} if called else {}), **read}
        case ChatMessage(role="system" | "developer" | "assistant"):
            return {"role": message.role, **read}
        case _:
            return {"role": "user", **read}


def _calls(message: AIMessage) -> list[dict[str, object]]:
    """The calls in a message; those that could not be read are sent to the model as well."""
    called: list[tuple[str | None, str | None, str | None]] = [
        (call["id"], call["name"], json.dumps(call["args"])) for call in message.tool_calls
    ]
    called += [(call["id"], call["name"], call["args"]) for call in message.invalid_tool_calls]
    return [
        {"id": call or "", "type": "function", "function": {"name": name or "", "arguments": arguments or ""}}
        for call, name, arguments in called
    ]


def _written(message: Message, messages: Sequence[BaseMessage]) -> BaseMessage:
    """The message of the state that a dictionary was made of, or a new one."""
    content = cast("Any", message["content"])
    place = message.get(_PLACE)
    if isinstance(place, int):
        own = messages[place]
        return own if content is own.content else own.model_copy(update={"content": content})
    (made,) = convert_to_messages([dict(message)])
    if not isinstance(made, ToolMessage):
        made.additional_kwargs |= _SOURCE
    return made
