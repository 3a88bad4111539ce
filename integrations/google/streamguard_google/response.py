"""Responses that come whole."""

from __future__ import annotations

from typing import TypeVar

from streamguard import Transformer
from streamguard.adapting import ReasoningPolicy, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_google.adapter import GenerateContentAdapter

__all__ = ["guard_response"]

R = TypeVar("R")


def guard_response(
    response: R,
    guard: Transformer,
    *,
    tool_args: ToolArgsPolicy = "guard",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    json_content: bool = False,
    on_finding: FindingHandler | None = None,
) -> R:
    """Guard a response that was not streamed.

    Args:
        response: the SDK's response or a dictionary; it is not changed.
        guard: what every text goes through. The text parts of a candidate are one text.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to thoughts.
        tool_guard: what arguments of tools go through; by default `guard`.
        json_content: the answer is JSON (a structured output); only its strings are guarded.
        on_finding: called with each finding.

    Returns:
        The response itself if nothing changed, else a copy. The body of its HTTP response is
        taken out; log probabilities and segments of grounding where the answer changed.

    Raises:
        ValueError: a policy is unknown.
        LimitExceededError: a stage was told to raise on a limit.
    """
    adapter: GenerateContentAdapter[R] = GenerateContentAdapter(
        guard,
        tool_args=tool_args,
        reasoning=reasoning,
        tool_guard=tool_guard,
        json_content=json_content,
        on_finding=on_finding,
    )
    return adapter.whole(response)
