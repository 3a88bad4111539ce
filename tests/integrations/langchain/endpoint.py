"""A chat completions endpoint in this process that does what it is told: calls tools, fills schemas."""

from __future__ import annotations

import json
from typing import Any

from .sources import pieces, sse

USAGE = {
    "prompt_tokens": 30,
    "completion_tokens": 7,
    "total_tokens": 37,
    "prompt_tokens_details": {"cached_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0},
}
SAYS = "Hello there, 1 2 3 and so on. "


def filled(schema: dict[str, Any]) -> Any:
    """Make something that fits a JSON schema."""
    if "anyOf" in schema:
        return filled(schema["anyOf"][0])
    match schema.get("type"):
        case "object":
            return {name: filled(part) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [filled(schema.get("items", {}))]
        case "integer" | "number":
            return 3
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return schema.get("enum", ["你好啊集团 株式会社"])[0]


def answer(request: dict[str, Any]) -> Any:
    """Answer a request, streamed if it asks for that."""
    message: dict[str, Any] = {"role": "assistant", "content": SAYS}
    reason = "stop"
    form = request.get("response_format") or {}
    if form.get("type") == "json_schema":
        message["content"] = json.dumps(filled(form["json_schema"]["schema"]))
    elif form.get("type") == "json_object":
        message["content"] = json.dumps({"setup": "Why?", "punchline": "So."})
    elif request.get("tools") and request["messages"][-1]["role"] != "tool":
        function = wanted(request)
        arguments = json.dumps(filled(function.get("parameters", {})), ensure_ascii=False)
        call = {
            "id": "call_1",
            "type": "function",
            "function": {"name": function["name"], "arguments": arguments},
        }
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        reason = "tool_calls"
    head = {"id": "chatcmpl-1", "created": 1, "model": request["model"]}
    if not request.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return {**head, "object": "chat.completion", "choices": [choice], "usage": USAGE}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in pieces(message["content"] or "")]
    for call in message.get("tool_calls", ()):
        opening = {**call, "index": 0, "function": {**call["function"], "arguments": ""}}
        deltas.append({"tool_calls": [opening]})
        for piece in pieces(call["function"]["arguments"]):
            deltas.append({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": reason})
    kind = "chat.completion.chunk"
    events: list[dict[str, Any]] = [{**head, "object": kind, "choices": [choice]} for choice in choices]
    events.append({**head, "object": kind, "choices": [], "usage": USAGE})
    return sse([(None, event) for event in events], done=True)


def wanted(request: dict[str, Any]) -> dict[str, Any]:
    """The tool that is asked for, else the first."""
    choice = request.get("tool_choice")
    functions = [tool["function"] for tool in request["tools"]]
    name = choice["function"]["name"] if isinstance(choice, dict) else None
    function: dict[str, Any] = next((each for each in functions if each["name"] == name), functions[0])
    return function
