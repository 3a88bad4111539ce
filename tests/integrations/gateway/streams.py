"""Answers as the providers' APIs give them, streamed and whole."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["anthropic_message", "anthropic_stream", "responses_stream", "responses_whole"]


def _pieces(text: str) -> list[str]:
    return re.findall(r"(?s).{1,5}", text)


def _named(events: list[dict[str, Any]]) -> bytes:
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def anthropic_message(text: str) -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    same = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    content = [{"type": "text", "text": text}]
    return {**same, "content": content, "stop_reason": "end_turn", "usage": usage}


def anthropic_stream(text: str) -> bytes:
    message = {**anthropic_message(""), "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    ]
    events += [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
        for piece in _pieces(text)
    ]
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    events += [
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]
    return _named(events)


def responses_whole(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    item = {"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": [part]}
    response: dict[str, Any] = {"id": "r", "object": "response", "created_at": 1, "status": "completed"}
    response |= {
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": "m",
    }
    response |= {"output": [item], "parallel_tool_calls": True, "temperature": 1, "tool_choice": "auto"}
    return {**response, "tools": [], "top_p": 1}


def responses_stream(text: str) -> bytes:
    whole = responses_whole(text)
    begun = {**whole, "status": "in_progress", "output": []}
    item = whole["output"][0]
    place = {"item_id": "i", "output_index": 0, "content_index": 0}
    empty = {**item["content"][0], "text": ""}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **place, "part": empty},
    ]
    events += [
        {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
        for piece in _pieces(text)
    ]
    events += [
        {"type": "response.output_text.done", **place, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **place, "part": item["content"][0]},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return _named([{**event, "sequence_number": number} for number, event in enumerate(events)])
