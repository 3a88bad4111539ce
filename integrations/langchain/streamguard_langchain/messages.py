"""Whole messages and results, and how messages are made again with guarded parts.

A message is copied and its parts are replaced, so that its class, its id and fields LangChain does
not know survive. What LangChain derives from the parts (`tool_calls` of a chunk, `text` of a
generation) is derived anew: a copy would keep it raw.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, cast

from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult, Generation, LLMResult

from streamguard import End
from streamguard_langchain.inputs import is_asked
from streamguard_langchain.settings import Settings, end_of, reason_of
from streamguard_langchain.texts import Texts

__all__ = [
    "EXTRAS",
    "FIELDS",
    "changed_parts",
    "declared",
    "guard_generation",
    "guard_llm_result",
    "guard_message",
    "guard_result",
    "with_message",
    "with_parts",
]

EXTRAS = "__pydantic_extra__"
"""Among the changes of a message: the fields that LangChain does not know."""
FIELDS = "fields"
"""Begins the lanes of the fields that a message's own class declares."""

M = TypeVar("M", bound=BaseMessage)
G = TypeVar("G", bound=ChatGeneration)


def guard_message(
    message: M,
    settings: Settings,
    /,
    *,
    metadata: Mapping[str, Any] | None = None,
    json_content: bool = False,
    end: End | None = None,
) -> M:
    """Guard a message that came whole.

    Args:
        message: any message; it is not changed.
        settings: what the user has chosen.
        metadata: what else is known of the response, such as why it ended.
        json_content: the content is JSON.
        end: how its texts end, if that is not to be read off the metadata.

    Returns:
        The message itself if nothing in it changed, else a copy.

    Raises:
        LimitExceededError: a stage was told to raise on a limit.
        StreamBlocked: a stage was told to end the stream on what it has found.
    """
    if end is None:
        reason = reason_of({**(metadata or {}), **message.response_metadata})
        end = end_of(reason, calls_tools=bool(getattr(message, "tool_calls", None)))
    texts = Texts(settings, json_content=json_content, apart=is_asked(message))
    return with_parts(message, changed_parts(message, texts, end, whole=True))


def guard_result(result: ChatResult, settings: Settings, /, *, json_content: bool = False) -> ChatResult:
    """Guard what `_generate` returns."""
    output = result.llm_output or {}
    generations = [
        guard_generation(generation, settings, metadata=output, json_content=json_content)
        for generation in result.generations
    ]
    safe = Texts(settings).metadata(output) if result.llm_output else result.llm_output
    return ChatResult(generations=generations, llm_output=cast("dict[str, Any] | None", safe))


def guard_generation(
    generation: G,
    settings: Settings,
    /,
    *,
    metadata: Mapping[str, Any] | None = None,
    json_content: bool = False,
    end: End | None = None,
) -> G:
    """Guard a generation of a chat model that came whole."""
    info = generation.generation_info
    known = {**(metadata or {}), **(info or {})}
    message = guard_message(generation.message, settings, metadata=known, json_content=json_content, end=end)
    safe = Texts(settings).metadata(info) if info else info
    if message is generation.message and safe is info:
        return generation
    return with_message(generation, message, safe)


def guard_llm_result(result: LLMResult, settings: Settings, /, *, end: End | None = None) -> LLMResult:
    """Guard what callbacks receive at the end of a run; `end` is how it ended, if that is known."""
    output = Texts(settings).metadata(result.llm_output) if result.llm_output else result.llm_output
    generations = [[_any_generation(item, settings, end) for item in items] for items in result.generations]
    return result.model_copy(update={"generations": generations, "llm_output": output})


def _any_generation(generation: Any, settings: Settings, end: End | None) -> Any:
    if isinstance(generation, ChatGeneration):
        return guard_generation(generation, settings, end=end)
    texts = Texts(settings)
    info = generation.generation_info
    ends = end_of(reason_of(info or {}), calls_tools=False) if end is None else end
    text = texts.content(generation.text, ends)
    return Generation(text=text, generation_info=dict(texts.metadata(info)) if info else info)


def changed_parts(message: BaseMessage, texts: Texts, end: End | None, *, whole: bool) -> dict[str, Any]:
    """Guard the parts of a message; return those that change.

    Args:
        message: a message or a chunk.
        texts: the lanes of the response.
        end: how its texts end; `None` while the stream goes on.
        whole: whether the message is all there is.
    """
    changes: dict[str, Any] = {}
    kwargs = message.additional_kwargs
    if kwargs:
        fields = texts.fields(kwargs, ("additional_kwargs",), end, whole=whole)
        if fields:
            changes["additional_kwargs"] = _merged(kwargs, fields)
    content: Any = message.content
    _note(changes, "content", content, texts.content(content, end, whole=whole))
    chunks = getattr(message, "tool_call_chunks", None)
    if chunks:
        _note(changes, "tool_call_chunks", chunks, texts.calls(chunks, "tool_call_chunks", end, whole=whole))
    else:
        for name in ("tool_calls", "invalid_tool_calls"):
            calls = getattr(message, name, None)
            if calls:
                _note(changes, name, calls, texts.calls(calls, name, end or End.COMPLETE, whole=True))
    if message.response_metadata:
        _note(
            changes, "response_metadata", message.response_metadata, texts.metadata(message.response_metadata)
        )
    names = declared(type(message))
    if names:
        own = {name: vars(message)[name] for name in names if name in vars(message)}
        fields = texts.fields(own, (FIELDS,), end, whole=whole)
        changes.update({name: None if Texts.dropped(new) else new for name, new in fields.items()})
    extras = message.__pydantic_extra__
    if extras:
        _note(changes, EXTRAS, extras, texts.extras(extras))
    return changes


def with_parts(message: M, changes: Mapping[str, Any], /) -> M:
    """Copy a message with some of its parts changed; without changes it is the message itself."""
    if not changes:
        return message
    made = copy.copy(message)
    vars(made).update({name: value for name, value in changes.items() if name != EXTRAS})
    if EXTRAS in changes:
        object.__setattr__(made, EXTRAS, changes[EXTRAS])
    if "tool_call_chunks" in changes:
        derived = AIMessageChunk(content="", tool_call_chunks=changes["tool_call_chunks"])
        vars(made).update(tool_calls=derived.tool_calls, invalid_tool_calls=derived.invalid_tool_calls)
    return made


def with_message(generation: G, message: BaseMessage, info: Mapping[str, Any] | None, /) -> G:
    """Copy a generation with another message."""
    made = copy.copy(generation)
    vars(made).update(
        message=message,
        generation_info=info,
        text=message.content if isinstance(message.content, str) else ChatGeneration(message=message).text,
    )
    return made


@cache
def declared(kind: type[BaseMessage]) -> frozenset[str]:
    """The fields that a class of messages has beyond those of the one of LangChain it is made of."""
    known = next(base for base in kind.__mro__ if base.__module__.startswith("langchain_core."))
    return frozenset(kind.model_fields) - frozenset(cast("type[BaseMessage]", known).model_fields)


def _note(changes: dict[str, Any], name: str, old: object, new: object) -> None:
    if new is not old:
        changes[name] = new


def _merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: changes.get(name, value)
        for name, value in values.items()
        if not Texts.dropped(changes.get(name, value))
    }
