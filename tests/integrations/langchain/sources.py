"""Chat models whose answers carry canaries in every place an answer has.

Each canary stands where the guard takes it out: in a hidden fence, or as a password. Everything is
cut into pieces shorter than a canary, as a provider would cut it.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anthropic
import openai
import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import Field

from streamguard import FenceScrubber, Redactor

GUARD = FenceScrubber("think") | Redactor()
CANARIES = ("canaryhidden", "canarysecret", "canaryreason", "canaryargs", "canarykeyed", "canaryrefused")

TEXT = "See <think>canaryhidden</think>this: password: canarysecret77 and 1 < 2, a <"
REASONING = "I use password: canaryreason77 and think <"
ARGUMENTS = json.dumps({"note": "<think>canaryargs</think>ok", "password": "canarykeyed77", "n": [1, 2.5]})
REFUSAL = "No: password: canaryrefused77 stays."


def pieces(text: str, size: int = 9) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def logprobs(text: str) -> dict[str, Any]:
    return {"content": [{"token": text, "logprob": -0.5, "bytes": list(text.encode()), "top_logprobs": []}]}


class Fake(BaseChatModel):
    """Plays what it is given; like some providers' models it reports tokens by itself."""

    chunks: list[AIMessageChunk] = Field(default_factory=list, repr=False)
    message: AIMessage = Field(default_factory=lambda: AIMessage(content=""), repr=False)
    info: dict[str, Any] | None = Field(default=None, repr=False)
    fails: bool = False

    @property
    def _llm_type(self) -> str:
        return "fake"

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        if self.fails:
            raise ValueError(f"cannot read {TEXT!r}")
        message = self.message.model_copy(deep=True)
        return ChatResult(generations=[ChatGeneration(message=message, generation_info=self.info)])

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self.chunks:
            made = ChatGenerationChunk(message=chunk.model_copy(deep=True), generation_info=self.info)
            if run_manager is not None:
                run_manager.on_llm_new_token(made.text, chunk=made)
            yield made
        if self.fails:
            raise ValueError(f"cannot read {TEXT!r}")


class FakeNative(Fake):
    """Has events of its own, as models of the third version of the protocol may."""

    def _stream_chat_model_events(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[Any]:
        yield {"event": "message-start", "role": "ai", "id": "native"}
        yield {"event": "content-block-start", "index": 0, "content": {"type": "text", "text": ""}}
        for piece in pieces(TEXT):
            yield {"event": "content-block-delta", "index": 0, "delta": {"type": "text-delta", "text": piece}}
        yield {"event": "content-block-finish", "index": 0, "content": {"type": "text", "text": TEXT}}
        yield {"event": "message-finish", "metadata": {"finish_reason": "stop"}}

    async def _astream_chat_model_events(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        for event in self._stream_chat_model_events(messages, stop, run_manager, **kwargs):
            yield event


class FakeRouter(Fake):
    """Calls another model by its public methods."""

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=text_fake().invoke(messages))])

    async def _agenerate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=await text_fake().ainvoke(messages))])

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in text_fake().stream(messages):
            yield ChatGenerationChunk(message=chunk)

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        async for chunk in text_fake().astream(messages):
            yield ChatGenerationChunk(message=chunk)


def text_fake(**options: Any) -> Fake:
    chunks = [AIMessageChunk(content=piece, id="run-1") for piece in pieces(TEXT)]
    return Fake(chunks=chunks, message=AIMessage(content=TEXT, id="run-1"), **options)


def stopping_fake() -> Fake:
    """Gives a reason why it ends on every chunk, as some servers do."""
    stop = {"finish_reason": "stop"}
    chunks = [AIMessageChunk(content=piece, id="run-1", response_metadata=stop) for piece in pieces(TEXT)]
    return Fake(chunks=chunks, message=AIMessage(content=TEXT, id="run-1"), info=stop)


def native_fake() -> Fake:
    plain = text_fake()
    return FakeNative(chunks=plain.chunks, message=plain.message)


def kwargs_fake() -> Fake:
    """Everything in `additional_kwargs`, and log probabilities."""
    chunks = [
        AIMessageChunk(content="", additional_kwargs={"reasoning_content": p}) for p in pieces(REASONING)
    ]
    chunks += [AIMessageChunk(content=piece) for piece in pieces(TEXT)]
    chunks += [AIMessageChunk(content="", additional_kwargs={"refusal": piece}) for piece in pieces(REFUSAL)]
    chunks += [
        AIMessageChunk(
            content="",
            additional_kwargs={
                "tool_calls": [{"index": 0, "function": {"name": "n" * (not at), "arguments": p}}]
            },
            tool_call_chunks=[
                {"index": 0, "id": "c1" if not at else None, "name": "note" if not at else None, "args": p}
            ],
        )
        for at, p in enumerate(pieces(ARGUMENTS))
    ]
    call = {"id": "c1", "type": "function", "function": {"name": "note", "arguments": ARGUMENTS}}
    message = AIMessage(
        content=TEXT,
        additional_kwargs={
            "reasoning_content": REASONING,
            "refusal": REFUSAL,
            "tool_calls": [call],
            "parsed": {"answer": TEXT},
        },
        invalid_tool_calls=[{"id": "c2", "name": "note", "args": ARGUMENTS[:-4], "error": None}],
        tool_calls=[{"id": "c1", "name": "note", "args": json.loads(ARGUMENTS)}],
        response_metadata={"logprobs": logprobs(TEXT), "finish_reason": "tool_calls"},
    )
    return Fake(chunks=chunks, message=message, info={"logprobs": logprobs(TEXT)})


def blocks_fake() -> Fake:
    """Blocks of content in LangChain's standard form."""
    parts: list[dict[str, Any]] = [
        *({"type": "reasoning", "reasoning": piece, "index": 0} for piece in pieces(REASONING)),
        *({"type": "text", "text": piece, "index": 1} for piece in pieces(TEXT)),
        {"type": "image", "base64": "aGVsbG8=", "mime_type": "image/png", "index": 2},
        *({"type": "server_tool_call_chunk", "args": piece, "index": 3} for piece in pieces(ARGUMENTS)),
        {"type": "server_tool_result", "tool_call_id": "s", "output": [TEXT, {"x": REASONING}], "index": 4},
        {"type": "non_standard", "value": {"odd": TEXT}, "index": 5},
    ]
    chunks = [AIMessageChunk(content=[part], id="b1") for part in parts]
    message = AIMessage(
        content=[
            {"type": "reasoning", "reasoning": REASONING},
            {"type": "text", "text": TEXT, "annotations": [{"type": "citation", "cited_text": TEXT}]},
            "bare " + TEXT,
            {"type": "image", "base64": "aGVsbG8=", "mime_type": "image/png"},
            {"type": "server_tool_call", "id": "s", "name": "n", "args": json.loads(ARGUMENTS)},
            {"type": "server_tool_result", "tool_call_id": "s", "output": [TEXT, {"x": REASONING}]},
            {"type": "non_standard", "value": {"odd": TEXT}},
        ],
        id="b1",
    )
    return Fake(chunks=chunks, message=message)


def spans_fake() -> Fake:
    """Blocks that cut a text and its reasoning wherever they like, as citations do."""
    said: list[tuple[str, str]] = [
        *(("reasoning", part) for part in (REASONING[:15], REASONING[15:])),
        *(("text", part) for part in (TEXT[:7], TEXT[7:35], TEXT[35:52], TEXT[52:])),
    ]
    whole: list[dict[str, Any]] = [{"type": kind, kind: part} for kind, part in said]
    parts = [
        {"type": kind, kind: piece, "index": at}
        for at, (kind, part) in enumerate(said)
        for piece in pieces(part)
    ]
    return Fake(
        chunks=[AIMessageChunk(content=[part], id="s1") for part in parts],
        message=AIMessage(content=list[Any](whole), id="s1"),
    )


def sse(events: list[tuple[str | None, dict[str, Any]]], *, done: bool = False) -> bytes:
    frames = [(f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n" for name, data in events]
    return "".join([*frames, "data: [DONE]\n\n" if done else ""]).encode()


Answer = Callable[[dict[str, Any]], Any]


def clients(sdk: Any, answer: Answer) -> tuple[Any, Any]:
    """HTTP clients of an SDK that answer in this process: bytes are a stream, everything else is JSON."""
    http = importlib.import_module(sdk.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])

    def respond(request: Any) -> Any:
        body = answer(json.loads(request.content))
        if isinstance(body, bytes):
            return http.Response(200, content=body, headers={"content-type": "text/event-stream"})
        return http.Response(200, json=body)

    carrier = http.MockTransport(respond)
    return sdk.DefaultHttpxClient(transport=carrier), sdk.DefaultAsyncHttpxClient(transport=carrier)


def openai_model(answer: Answer, **options: Any) -> ChatOpenAI:
    client, async_client = clients(openai, answer)
    return ChatOpenAI(
        **{"model": "gpt-test", "api_key": "none", "base_url": "http://test/v1", "max_retries": 0, **options},
        http_client=client,
        http_async_client=async_client,
    )


def anthropic_model(answer: Answer, **options: Any) -> ChatAnthropic:
    model = ChatAnthropic(
        **{"model": "claude-test", "api_key": "none", "max_tokens": 4096, "max_retries": 0, **options}
    )
    vars(model).update(anthropic_clients(answer))
    return model


def anthropic_clients(answer: Answer) -> dict[str, Any]:
    """What a `ChatAnthropic` asks, by the names of its fields."""
    client, async_client = clients(anthropic, answer)
    options: dict[str, Any] = {"api_key": "none", "base_url": "http://test", "max_retries": 0}
    return {
        "_client": anthropic.Anthropic(**options, http_client=client),
        "_async_client": anthropic.AsyncAnthropic(**options, http_client=async_client),
    }


def chat_completion(request: dict[str, Any]) -> Any:
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    head = {"id": "chatcmpl-1", "created": 1, "model": "gpt-test"}
    if not request.get("stream"):
        call = {"id": "c1", "type": "function", "function": {"name": "note", "arguments": ARGUMENTS}}
        message = {"role": "assistant", "content": TEXT, "refusal": REFUSAL, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls", "logprobs": logprobs(TEXT)}
        return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}

    def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> tuple[None, dict[str, Any]]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, **more}
        return None, {**head, "object": "chat.completion.chunk", "choices": [choice]}

    events = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"content": piece}, logprobs=logprobs(piece)) for piece in pieces(TEXT)]
    for at, piece in enumerate(pieces(ARGUMENTS)):
        function = {"arguments": piece, **({"name": "note"} if not at else {})}
        call = {"index": 0, "function": function, **({"id": "c1", "type": "function"} if not at else {})}
        events.append(chunk({"tool_calls": [call]}))
    events.append(chunk({}, "tool_calls"))
    events.append((None, {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage}))
    return sse(events, done=True)


def responses_answer(request: dict[str, Any]) -> Any:
    usage = {
        "input_tokens": 3,
        "output_tokens": 4,
        "total_tokens": 7,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 1},
    }
    part = {"type": "output_text", "text": TEXT, "annotations": []}
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": REASONING}]}
    message = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "note",
        "arguments": ARGUMENTS,
        "status": "completed",
    }
    response = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-test",
        "status": "completed",
        "output": [reasoning, message, call],
        "usage": usage,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    if not request.get("stream"):
        return response
    events: list[dict[str, Any]] = [
        {
            "type": "response.created",
            "response": {**response, "status": "in_progress", "output": [], "usage": None},
        },
        {"type": "response.output_item.added", "output_index": 0, "item": {**reasoning, "summary": []}},
        {
            "type": "response.reasoning_summary_part.added",
            "item_id": "rs_1",
            "output_index": 0,
            "summary_index": 0,
            "part": {"type": "summary_text", "text": ""},
        },
    ]
    events += [
        {
            "type": "response.reasoning_summary_text.delta",
            "item_id": "rs_1",
            "output_index": 0,
            "summary_index": 0,
            "delta": piece,
        }
        for piece in pieces(REASONING)
    ]
    events.append(
        {"type": "response.output_item.added", "output_index": 1, "item": {**message, "content": []}}
    )
    place = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
    events += [
        {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
        for piece in pieces(TEXT)
    ]
    events.append({"type": "response.output_text.done", **place, "text": TEXT, "logprobs": []})
    events.append(
        {"type": "response.output_item.added", "output_index": 2, "item": {**call, "arguments": ""}}
    )
    events += [
        {
            "type": "response.function_call_arguments.delta",
            "item_id": "fc_1",
            "output_index": 2,
            "delta": piece,
        }
        for piece in pieces(ARGUMENTS)
    ]
    events.append({"type": "response.completed", "response": response})
    return sse([(event["type"], {**event, "sequence_number": at}) for at, event in enumerate(events)])


def anthropic_answer(request: dict[str, Any], reasoning: str = REASONING) -> Any:
    usage = {"input_tokens": 3, "output_tokens": 4}
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": reasoning, "signature": "c2lnbmVk"},
        {"type": "text", "text": TEXT},
        {"type": "tool_use", "id": "c1", "name": "note", "input": json.loads(ARGUMENTS)},
    ]
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": blocks,
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": usage,
    }
    if not request.get("stream"):
        return message
    start = {**message, "content": [], "stop_reason": None}
    deltas: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                *({"type": "thinking_delta", "thinking": piece} for piece in pieces(reasoning)),
                {"type": "signature_delta", "signature": "c2lnbmVk"},
            ],
        ),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces(TEXT)]),
        (
            {**blocks[2], "input": {}},
            [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(ARGUMENTS)],
        ),
    ]
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, (block, parts) in enumerate(deltas):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": part} for part in parts]
        events.append({"type": "content_block_stop", "index": index})
    events.append(
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": usage}
    )
    events.append({"type": "message_stop"})
    return sse([(event["type"], event) for event in events])


SOURCES: dict[str, Callable[[], BaseChatModel]] = {
    "fake": text_fake,
    "fake-native": native_fake,
    "fake-stops": stopping_fake,
    "fake-kwargs": kwargs_fake,
    "fake-blocks": blocks_fake,
    "fake-spans": spans_fake,
    "fake-router": FakeRouter,
    "openai": lambda: openai_model(chat_completion, logprobs=True, stream_usage=True),
    "openai-streaming": lambda: openai_model(chat_completion, streaming=True),
    "openai-responses": lambda: openai_model(responses_answer, use_responses_api=True),
    "openai-v1": lambda: openai_model(responses_answer, use_responses_api=True, output_version="v1"),
    "anthropic": lambda: anthropic_model(
        anthropic_answer, thinking={"type": "enabled", "budget_tokens": 1024}
    ),
    "anthropic-v1": lambda: anthropic_model(
        anthropic_answer, thinking={"type": "enabled", "budget_tokens": 1024}, output_version="v1"
    ),
}
EVERY_SOURCE = pytest.mark.parametrize("source", SOURCES)
