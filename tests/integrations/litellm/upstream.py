"""A provider on loopback that says what a test has put down for it, in five protocols.

A test registers a `Script`, and sends its token as the prompt. The answer is cut into pieces of
`cut` characters, streamed or whole as the request asks.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import re
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

_numbers = itertools.count(1)


@dataclass
class Script:
    """What the model says. Empty texts are not said at all."""

    content: str = "Hello."
    reasoning: str = ""
    refusal: str = ""
    arguments: str = ""
    annotation: str = ""
    extra: str = ""
    logprobs: bool = False
    cut: int = 3
    end: str = "stop"  # or an odd one: "die", "silent", "no_reason", "usage_only", "stray", "length"
    error: str = ""
    status: int = 200  # any other: the content is the message of an error
    token: str = field(default_factory=lambda: f"tok{next(_numbers):05d}x")
    pause: float = 0.0

    def pieces(self, text: str) -> list[str]:
        return [text[at : at + self.cut] for at in range(0, len(text), self.cut)]


class RefusedError(Exception):
    """The model says its text in an error."""


async def _refused(request: Request, refused: Exception) -> Response:
    script: Script = refused.args[0]
    error = {"message": script.content, "type": "x", "code": None, "param": None}
    return JSONResponse({"error": error}, script.status)


class Upstream:
    """The server, in a thread of its own; `url` is where it listens."""

    def __init__(self) -> None:
        self.scripts: dict[str, Script] = {}
        routes = [
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
            Route("/v1/completions", self._completions, methods=["POST"]),
            Route("/v1/responses", self._responses, methods=["POST"]),
            Route("/v1/responses/{id}", self._response, methods=["GET"]),
            Route("/v1/messages", self._messages, methods=["POST"]),
            Route("/{path:path}", self._google, methods=["POST"]),
        ]
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(
            Starlette(routes=routes, exception_handlers={RefusedError: _refused}),
            log_level="critical",
            lifespan="off",
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))

    def processor_time(self) -> float:
        """Seconds of the processor's that the server's thread has taken."""
        assert self._thread.ident is not None
        return time.clock_gettime(time.pthread_getcpuclockid(self._thread.ident))

    def say(self, script: Script) -> str:
        self.scripts[script.token] = script
        return script.token

    def __enter__(self) -> Upstream:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    async def _script(self, request: Request) -> tuple[Script, dict[str, Any]]:
        body = await request.body()
        (token, *_) = re.findall(r"tok\d{5}x", body.decode())
        script = self.scripts[token]
        if script.status != 200:
            raise RefusedError(script)
        return script, json.loads(body)

    async def _chat(self, request: Request) -> Response:
        script, body = await self._script(request)
        count = body.get("n") or 1
        if not body.get("stream"):
            return JSONResponse(chat_whole(script, count))
        events = chat_events(
            script, count, usage=bool((body.get("stream_options") or {}).get("include_usage"))
        )
        return _stream(script, (f"data: {json.dumps(event)}\n\n" for event in events), "data: [DONE]\n\n")

    async def _completions(self, request: Request) -> Response:
        script, body = await self._script(request)
        base = {"id": "cmpl-1", "created": 1, "model": "m", "object": "text_completion"}
        count = body.get("n") or 1
        if not body.get("stream"):
            choices = [
                {"index": i, "text": script.content, "finish_reason": "stop", "logprobs": None}
                for i in range(count)
            ]
            return JSONResponse({**base, "choices": choices, "usage": _USAGE})
        events = [
            {**base, "choices": [{"index": i, "text": piece, "finish_reason": None, "logprobs": None}]}
            for piece in script.pieces(script.content)
            for i in range(count)
        ]
        if script.end != "no_reason":
            events += [
                {**base, "choices": [{"index": i, "text": "", "finish_reason": "stop"}]} for i in range(count)
            ]
        return _stream(script, (f"data: {json.dumps(event)}\n\n" for event in events), "data: [DONE]\n\n")

    async def _responses(self, request: Request) -> Response:
        script, body = await self._script(request)
        if not body.get("stream"):
            return JSONResponse(response_whole(script))
        frames = (f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in response_events(script))
        return _stream(script, frames)

    async def _response(self, request: Request) -> Response:
        """The last answer, whatever its id."""
        return JSONResponse(response_whole(list(self.scripts.values())[-1]))

    async def _messages(self, request: Request) -> Response:
        script, body = await self._script(request)
        if not body.get("stream"):
            return JSONResponse(message_whole(script))
        frames = (f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in message_events(script))
        return _stream(script, frames)

    async def _google(self, request: Request) -> Response:
        script, _ = await self._script(request)
        if "stream" not in request.url.path:
            return JSONResponse(content_whole(script))
        return _stream(script, (f"data: {json.dumps(event)}\n\n" for event in content_events(script)))


def _stream(script: Script, frames: Iterator[str], last: str = "") -> StreamingResponse:
    async def body() -> AsyncIterator[bytes]:
        # Cut at places that are none of a frame, as networks do.
        waiting = b""
        for number, frame in enumerate(() if script.end == "silent" else frames):
            if script.pause:
                await asyncio.sleep(script.pause)
            if script.end == "stray" and number == 5:
                waiting += b'stray\n\n: stray\n\nevent: stray\ndata: stray "\n\n'
            waiting += frame.encode()
            size = len(waiting) * 2 // 3 if script.end != "die" else len(waiting)
            yield waiting[:size]
            waiting = waiting[size:]
        yield waiting
        if script.end == "die":
            raise ConnectionResetError
        yield last.encode()

    return StreamingResponse(body(), media_type="text/event-stream")


_USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
_CHUNK: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def _logprobs(text: str) -> dict[str, Any]:
    return {
        "content": [
            {"token": text, "logprob": -0.1, "bytes": list(text.encode()), "top_logprobs": []},
        ],
        "refusal": None,
    }


def _annotation(script: Script) -> dict[str, Any]:
    return {
        "type": "url_citation",
        "url_citation": {
            "title": script.annotation,
            "url": "https://example.com",
            "start_index": 0,
            "end_index": 1,
        },
    }


def chat_events(script: Script, count: int, *, usage: bool) -> Iterator[dict[str, Any]]:
    def chunk(index: int, delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
        return {**_CHUNK, "choices": [{"index": index, "delta": delta, "finish_reason": finish, **more}]}

    if script.end == "usage_only":
        yield {**_CHUNK, "choices": [], "usage": _USAGE}
    for i in range(count):
        yield chunk(i, {"role": "assistant", "content": ""})
    for name, text in (("reasoning_content", script.reasoning), ("refusal", script.refusal)):
        for piece in script.pieces(text):
            for i in range(count):
                yield chunk(i, {name: piece})
    for piece in script.pieces(script.content):
        for i in range(count):
            yield chunk(i, {"content": piece}, **({"logprobs": _logprobs(piece)} if script.logprobs else {}))
    for piece in script.pieces(script.extra):
        for i in range(count):
            yield chunk(i, {"content": "", "provider_specific_fields": {"note": piece}, "a_note": piece})
    if script.annotation:
        for i in range(count):
            yield chunk(i, {"content": "", "annotations": [_annotation(script)]})
    if script.arguments:
        for i in range(count):
            call = {"index": 0, "id": f"call_{i}", "type": "function"}
            yield chunk(i, {"tool_calls": [{**call, "function": {"name": "save", "arguments": ""}}]})
        for piece in script.pieces(script.arguments):
            for i in range(count):
                yield chunk(i, {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    if script.end in ("die", "no_reason"):
        return
    reason = "tool_calls" if script.arguments else script.end if script.end in ("length", "stop") else "stop"
    for i in range(count):
        yield chunk(i, {}, reason)
    if usage:
        yield {**_CHUNK, "choices": [], "usage": _USAGE}


def chat_whole(script: Script, count: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": script.content}
    if script.reasoning:
        message["reasoning_content"] = script.reasoning
    if script.refusal:
        message["refusal"] = script.refusal
    if script.annotation:
        message["annotations"] = [_annotation(script)]
    if script.extra:
        message |= {"provider_specific_fields": {"note": script.extra}, "a_note": script.extra}
    if script.arguments:
        function = {"name": "save", "arguments": script.arguments}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    choice = {"message": message, "finish_reason": "tool_calls" if script.arguments else "stop"}
    if script.logprobs:
        choice["logprobs"] = _logprobs(script.content)
    base = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "usage": _USAGE}
    return {**base, "choices": [{"index": i, **choice} for i in range(count)]}


def response_whole(script: Script, status: str = "completed") -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if script.reasoning:
        summary = [{"type": "summary_text", "text": script.reasoning}]
        output.append({"type": "reasoning", "id": "rs_1", "summary": summary})
    parts = [{"type": "output_text", "text": script.content, "annotations": [], "logprobs": []}]
    if script.annotation:
        note = {"type": "url_citation", "title": script.annotation, "url": "https://example.com"}
        parts[0]["annotations"] = [{**note, "start_index": 0, "end_index": 1}]
    output.append(
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": parts}
    )
    if script.arguments:
        call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "save"}
        output.append({**call, "arguments": script.arguments, "status": "completed"})
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "model": "m",
        "output": output if status == "completed" else [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "temperature": 1.0,
        "top_p": 1.0,
        "usage": {
            "input_tokens": 1,
            "output_tokens": 2,
            "total_tokens": 3,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def response_events(script: Script) -> Iterator[dict[str, Any]]:
    numbers = itertools.count()

    def event(kind: str, **more: Any) -> dict[str, Any]:
        return {"type": f"response.{kind}", "sequence_number": next(numbers), **more}

    whole = response_whole(script)
    yield event("created", response=response_whole(script, "in_progress"))
    for place, item in enumerate(whole["output"]):
        own = {"output_index": place, "item_id": item["id"]}
        opened = {**item, "content": []} if item["type"] == "message" else item
        if item["type"] == "reasoning":
            opened = {**item, "summary": []}
        elif item["type"] == "function_call":
            opened = {**item, "arguments": ""}
        yield event("output_item.added", output_index=place, item=opened)
        if item["type"] == "message":
            own["content_index"] = 0
            part = {**item["content"][0], "text": "", "annotations": []}
            yield event("content_part.added", **own, part=part)
            for piece in script.pieces(script.content):
                yield event("output_text.delta", **own, delta=piece, logprobs=[])
            yield event("output_text.done", **own, text=script.content, logprobs=[])
            yield event("content_part.done", **own, part=item["content"][0])
        elif item["type"] == "reasoning":
            own["summary_index"] = 0
            for piece in script.pieces(script.reasoning):
                yield event("reasoning_summary_text.delta", **own, delta=piece)
            yield event("reasoning_summary_text.done", **own, text=script.reasoning)
        else:
            for piece in script.pieces(script.arguments):
                yield event("function_call_arguments.delta", **own, delta=piece)
            yield event("function_call_arguments.done", **own, arguments=script.arguments, name="save")
        yield event("output_item.done", output_index=place, item=item)
    if script.end not in ("die", "no_reason"):
        yield event("completed", response=whole)


def message_whole(script: Script) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if script.reasoning:
        content.append({"type": "thinking", "thinking": script.reasoning, "signature": "c2lnbmF0dXJl"})
    content.append({"type": "text", "text": script.content})
    if script.arguments:
        call = {"type": "tool_use", "id": "toolu_1", "name": "save"}
        content.append({**call, "input": json.loads(script.arguments)})
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-3-5-sonnet",
        "content": content,
        "stop_reason": "tool_use" if script.arguments else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }


def message_events(script: Script) -> Iterator[dict[str, Any]]:
    whole = message_whole(script)
    begun = {**whole, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": begun}
    yield {"type": "ping"}
    for index, block in enumerate(whole["content"]):
        kind = block["type"]
        opened = {
            "thinking": {"thinking": "", "signature": ""},
            "text": {"text": ""},
            "tool_use": {"input": {}},
        }
        yield {"type": "content_block_start", "index": index, "content_block": {**block, **opened[kind]}}
        field_of = {"thinking": ("thinking_delta", "thinking"), "text": ("text_delta", "text")}
        delta, name = field_of.get(kind, ("input_json_delta", "partial_json"))
        text = script.arguments if kind == "tool_use" else block[kind]
        for piece in script.pieces(text):
            body = {"type": delta, name: piece}
            yield {"type": "content_block_delta", "index": index, "delta": body}
        if kind == "thinking":
            signed = {"type": "signature_delta", "signature": block["signature"]}
            yield {"type": "content_block_delta", "index": index, "delta": signed}
        yield {"type": "content_block_stop", "index": index}
    if script.end in ("die", "no_reason"):
        return
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
        "usage": {"output_tokens": 2},
    }
    yield {"type": "message_stop"}


_GOOGLE_USAGE = {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3}


def content_whole(script: Script) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if script.reasoning:
        parts.append({"text": script.reasoning, "thought": True})
    parts.append({"text": script.content})
    if script.arguments:
        parts.append({"functionCall": {"name": "save", "args": json.loads(script.arguments)}})
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {
        "candidates": [candidate],
        "usageMetadata": _GOOGLE_USAGE,
        "modelVersion": "m",
        "responseId": "r1",
    }


def content_events(script: Script) -> Iterator[dict[str, Any]]:
    parts = [{"text": piece, "thought": True} for piece in script.pieces(script.reasoning)]
    parts += [{"text": piece} for piece in script.pieces(script.content)]
    if script.arguments:
        parts.append({"functionCall": {"name": "save", "args": json.loads(script.arguments)}})
    for number, part in enumerate(parts):
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": [part]}, "index": 0}
        if number == len(parts) - 1 and script.end not in ("die", "no_reason"):
            candidate["finishReason"] = "STOP"
        yield {
            "candidates": [candidate],
            "usageMetadata": _GOOGLE_USAGE,
            "modelVersion": "m",
            "responseId": "r1",
        }


@contextlib.contextmanager
def running() -> Iterator[Upstream]:
    with Upstream() as upstream:
        yield upstream
