"""Guarded streams of generated content."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from streamguard import Transformer
from streamguard.adapting import ReasoningPolicy, Settings, ToolArgsPolicy, guard_events, guard_events_sync
from streamguard.session import FindingHandler
from streamguard_google.adapter import GenerateContentAdapter

__all__ = ["guard_any", "guard_stream"]

S = TypeVar("S")


def guard_stream(
    stream: S,
    guard: Transformer,
    *,
    tool_args: ToolArgsPolicy = "guard",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    json_content: bool = False,
    on_finding: FindingHandler | None = None,
) -> S:
    """Guard a stream of generated content, synchronous or asynchronous.

    Args:
        stream: what `generate_content_stream` gives (of an asynchronous client, what awaiting
            it gives), or any iterable of chunks, dictionaries included.
        guard: what every text goes through. The text parts of a candidate are one text.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to thoughts.
        tool_guard: what arguments go through; by default `guard`. A `PreambleTrimmer` has no
            place there.
        json_content: the answer is JSON (a structured output); only its strings are guarded.
        on_finding: called with each finding, a `LaneFinding` for what streams.

    Returns:
        A generator of as many chunks, each with the text that may be shown by then. Closing it
        closes the stream.

    Raises:
        ValueError: a policy is unknown.
        TypeError: this is no stream.
    """
    settings = Settings(guard, tool_args, reasoning, tool_guard, json_content, on_finding)
    return cast("S", guard_any(stream, settings))


def guard_any(stream: Any, settings: Settings) -> Any:
    """Guard a stream by the given settings."""
    adapter: GenerateContentAdapter[Any] = GenerateContentAdapter(settings.guard, **settings.options)
    if hasattr(stream, "__aiter__"):
        return guard_events(stream, adapter, on_error=settings.for_errors)
    if hasattr(stream, "__iter__"):
        return guard_events_sync(stream, adapter, on_error=settings.for_errors)
    raise TypeError(f"guard_stream() needs a stream, not {type(stream).__name__}")
