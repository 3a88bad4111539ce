"""How a stream ends that a guard has to end: in the form its protocol has for it.

The texts are the same whatever has happened: nothing is said of what was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from streamguard_openai.shapes import is_dict, is_list

from streamguard.session import StreamBlocked

__all__ = ["DONE", "Ending", "closing_events", "ending_of", "error_body", "error_line"]

Ending = Literal["blocked", "failed", "broken"]
"""A rule has blocked the stream; the guard has failed; the stream has broken off."""

DONE = "[DONE]"

_MESSAGES: dict[Ending, str] = {
    "blocked": "The response was stopped: it held what must not be shown.",
    "failed": "The response was stopped: it could not be guarded.",
    "broken": "The response broke off.",
}
_IDENTITY = ("id", "object", "created", "model", "system_fingerprint")


def ending_of(failure: Exception) -> Ending:
    """Tell how a stream ends that a guard has given up."""
    return "blocked" if isinstance(failure, StreamBlocked) else "failed"


def error_body(ending: Ending) -> dict[str, Any]:
    """Return an error in the form that OpenAI's API has, and most others read."""
    error = {
        "message": _MESSAGES[ending],
        "type": "content_filter" if ending == "blocked" else "server_error",
        "param": None,
        "code": f"stream_{ending}",
    }
    return {"error": error}


def closing_events(
    family: str, last: Any, ending: Ending, *, response: Mapping[str, Any] | None = None
) -> list[tuple[str, Any]]:
    """Return the events that end a stream, each with its name; `DONE` is one.

    Args:
        family: whose stream it is; empty if that is not known.
        last: the last event that came, if any; only its ids and its type are used.
        ending: what has happened.
        response: what is known of a response of the Responses API.
    """
    event = last if is_dict(last) else {}
    match family:
        case "anthropic":
            return [
                ("error", {"type": "error", "error": {"type": "api_error", "message": _MESSAGES[ending]}})
            ]
        case "google":
            return [("", {"error": {"code": 500, "message": _MESSAGES[ending], "status": "INTERNAL"}})]
        case "openai" if "choices" not in event and isinstance(event.get("type"), str):
            return [_failed(event, ending, response or {})]
        case "openai" if ending == "blocked":
            return [("", _filtered(event)), ("", DONE)]
        case "openai":
            return [("", error_body(ending)), ("", DONE)]
        case _:
            return [("error", error_body(ending))]


def _filtered(event: dict[str, Any]) -> dict[str, Any]:
    """A last chunk of a completion, as it comes from a provider whose filter has struck."""
    chunk: dict[str, Any] = {name: event[name] for name in _IDENTITY if name in event}
    empty: dict[str, Any] = {"text": ""} if event.get("object") == "text_completion" else {"delta": {}}
    choices: Any = event["choices"] if is_list(event.get("choices")) else ()
    indices: set[int] = {
        choice["index"] for choice in choices if is_dict(choice) and isinstance(choice.get("index"), int)
    }
    chunk["choices"] = [
        {"index": index, **empty, "logprobs": None, "finish_reason": "content_filter"}
        for index in sorted(indices or {0})
    ]
    return chunk


def _failed(event: dict[str, Any], ending: Ending, known: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    number = event.get("sequence_number")
    response: dict[str, Any] = {
        "id": known.get("id", ""),
        "object": "response",
        "created_at": known.get("created_at", 0),
        "status": "failed",
        "error": {"code": "server_error", "message": _MESSAGES[ending]},
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": known.get("model", ""),
        "output": [],
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
    }
    failed: dict[str, Any] = {"type": "response.failed", "response": response}
    if isinstance(number, int):
        failed["sequence_number"] = number + 1
    return "response.failed", failed


def error_line(ending: Ending) -> dict[str, str]:
    """Return an error as a line of a stream of JSON Lines has it."""
    return {"error": _MESSAGES[ending]}
