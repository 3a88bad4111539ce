"""Responses that were not streamed."""

from __future__ import annotations

from typing import Any, TypeVar

from streamguard import End, Transformer
from streamguard.adapting import ReasoningPolicy, Settings, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_openai.chat import end_of
from streamguard_openai.items import Snapshots, end_of_response
from streamguard_openai.logprobs import says
from streamguard_openai.messages import guard_message
from streamguard_openai.shapes import fields, has_fields, is_list, with_fields
from streamguard_openai.texts import KEPT, Texts

__all__ = ["guard_response", "guard_whole"]

T = TypeVar("T")


def guard_response(
    response: T,
    guard: Transformer,
    /,
    *,
    tool_args: ToolArgsPolicy = "guard",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    json_content: bool = False,
    on_finding: FindingHandler | None = None,
) -> T:
    """Guard a response that came whole: a chat completion, a completion or a Response.

    Args:
        response: an object of the SDK or a dictionary. It is never changed.
        guard: what every text goes through.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to reasoning.
        tool_guard: what arguments go through, if not `guard`.
        json_content: the content is JSON (a structured output); only its strings are guarded.
        on_finding: called with each finding.

    Returns:
        The object itself if nothing changed, else a copy.

    Raises:
        TypeError: the guard is no `Transformer`.
        ValueError: a policy is unknown.
    """
    settings = Settings(guard, tool_args, reasoning, tool_guard, json_content, on_finding)
    result: T = guard_whole(response, settings)
    return result


def guard_whole(response: Any, settings: Settings) -> Any:
    """Guard a response; what is no object is guarded as a text, or has none."""
    texts = Texts(settings)
    if not has_fields(response):
        return texts.leaves("response", response)
    own = fields(response)
    if is_list(own.get("output")):
        return Snapshots(texts).response(response, end_of_response(response))
    changes: dict[str, Any] = {}
    for name, value in own.items():
        if value is None or name in KEPT:
            continue
        if name == "choices" and is_list(value):
            news = [_choice(texts, choice, place) for place, choice in enumerate(value)]
            new: Any = value if all(new is old for new, old in zip(news, value, strict=True)) else news
        else:
            new = texts.leaves(name, value)
        if new is not value:
            changes[name] = new
    return with_fields(response, changes) if changes else response


def _choice(texts: Texts, choice: Any, place: int) -> Any:
    if not has_fields(choice):
        return texts.leaves("choice", choice)
    own = fields(choice)
    index = own["index"] if isinstance(own.get("index"), int) else place
    reason = own.get("finish_reason") or None
    end = End.TRUNCATED if reason is None else end_of(reason)
    changes: dict[str, Any] = {}
    for name, value in own.items():
        if value is None or name in KEPT or name == "logprobs":
            continue
        if name in ("message", "delta") and has_fields(value):
            new = guard_message(texts, index, value, end)
        elif name == "text" and isinstance(value, str):
            new = texts.scrub((index, "text"), value, "content", end)
        else:
            new = texts.leaves(name, value)
        if new is not value and new != value:
            changes[name] = new
    logprobs = own.get("logprobs")
    if logprobs is not None and (changes or not says(logprobs, own)):
        changes["logprobs"] = None
    return with_fields(choice, changes) if changes else choice
