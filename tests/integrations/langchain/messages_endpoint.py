"""The same endpoint in Anthropic's dialect."""

from __future__ import annotations

import json
from typing import Any

from . import endpoint
from .sources import pieces, sse

USAGE = {"input_tokens": 30, "output_tokens": 7}


def asked(request: dict[str, Any]) -> dict[str, Any]:
    """The request in the other dialect."""
    last = request["messages"][-1]["content"]
    results = isinstance(last, list) and any(block["type"] == "tool_result" for block in last)
    made: dict[str, Any] = {"model": request["model"], "messages": [{"role": "tool" if results else "user"}]}
    made["tools"] = [
        {"function": {"name": tool["name"], "parameters": tool["input_schema"]}}
        for tool in request.get("tools", ())
    ]
    choice = request.get("tool_choice") or {}
    if choice.get("type") == "tool":
        made["tool_choice"] = {"function": {"name": choice["name"]}}
    if form := (request.get("output_config") or {}).get("format"):
        made["response_format"] = {"type": "json_schema", "json_schema": {"schema": form["schema"]}}
    return made


def answer(request: dict[str, Any]) -> Any:
    """Answer a request, streamed if it asks for that."""
    said = endpoint.answer(asked(request))["choices"][0]["message"]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": said["content"]}] if said["content"] else []
    for call in said.get("tool_calls", ()):
        function = call["function"]
        blocks.append(
            {
                "type": "tool_use",
                "id": call["id"],
                "name": function["name"],
                "input": json.loads(function["arguments"]),
            }
        )
    reason = "tool_use" if said.get("tool_calls") else "end_turn"
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": blocks,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": USAGE,
    }
    return sse(events(message)) if request.get("stream") else message


def events(message: dict[str, Any]) -> list[tuple[str | None, dict[str, Any]]]:
    """What streams of a message."""
    start = {**message, "content": [], "stop_reason": None, "usage": {**USAGE, "output_tokens": 1}}
    made: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            opening = {**block, "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
        else:
            opening = {**block, "input": {}}
            arguments = json.dumps(block["input"], ensure_ascii=False)
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(arguments)]
        made.append({"type": "content_block_start", "index": index, "content_block": opening})
        made += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        made.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    made.append({"type": "message_delta", "delta": delta, "usage": USAGE})
    made.append({"type": "message_stop"})
    return [(event["type"], event) for event in made]
