"""LiteLLM's functions with a `guard`: one changed import.

    from streamguard_litellm import acompletion

LiteLLM is imported by the first call.
"""

from __future__ import annotations

from typing import Any

from streamguard_openai.client import for_call

from streamguard import Transformer
from streamguard.adapting import ReasoningPolicy, Settings, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_litellm.errors import CallErrors
from streamguard_litellm.streams import guarded

__all__ = ["acompletion", "aresponses", "completion", "responses"]


def completion(
    *args: Any,
    guard: Transformer,
    tool_args: ToolArgsPolicy = "guard",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    on_finding: FindingHandler | None = None,
    **kwargs: Any,
) -> Any:
    """Call `litellm.completion` and guard what it returns, streamed or not.

    Content that is asked for as JSON (`response_format`) is guarded as JSON, so it stays valid.

    Args:
        *args: those of LiteLLM's function.
        guard: what every text goes through.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to reasoning.
        tool_guard: what arguments go through, if not `guard`.
        on_finding: called with each finding.
        **kwargs: those of LiteLLM's function.

    Raises:
        TypeError: the guard is no `Transformer`.
        ValueError: a policy is unknown.
        StreamBlocked: a rule that blocks has matched; of a stream, while it is read.
        Exception: whatever LiteLLM raises, its texts guarded.
    """
    settings = for_call(Settings(guard, tool_args, reasoning, tool_guard, on_finding=on_finding), kwargs)
    return _call("completion", settings, args, kwargs)


async def acompletion(
    *args: Any,
    guard: Transformer,
    tool_args: ToolArgsPolicy = "guard",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    on_finding: FindingHandler | None = None,
    **kwargs: Any,
) -> Any:
    """Call `litellm.acompletion` and guard what it returns; see `completion`."""
    settings = for_call(Settings(guard, tool_args, reasoning, tool_guard, on_finding=on_finding), kwargs)
    return await _acall("acompletion", settings, args, kwargs)


def responses(
    *args: Any,
    guard: Transformer,
    tool_args: ToolArgsPolicy = "guard",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    on_finding: FindingHandler | None = None,
    **kwargs: Any,
) -> Any:
    """Call `litellm.responses` and guard what it returns; see `completion`."""
    settings = for_call(Settings(guard, tool_args, reasoning, tool_guard, on_finding=on_finding), kwargs)
    return _call("responses", settings, args, kwargs)


async def aresponses(
    *args: Any,
    guard: Transformer,
    tool_args: ToolArgsPolicy = "guard",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    on_finding: FindingHandler | None = None,
    **kwargs: Any,
) -> Any:
    """Call `litellm.aresponses` and guard what it returns; see `completion`."""
    settings = for_call(Settings(guard, tool_args, reasoning, tool_guard, on_finding=on_finding), kwargs)
    return await _acall("aresponses", settings, args, kwargs)


def _call(name: str, settings: Settings, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with CallErrors(settings):
        return guarded(_function(name)(*args, **kwargs), settings)


async def _acall(name: str, settings: Settings, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with CallErrors(settings):
        return guarded(await _function(name)(*args, **kwargs), settings)


def _function(name: str) -> Any:
    import litellm

    return getattr(litellm, name)
