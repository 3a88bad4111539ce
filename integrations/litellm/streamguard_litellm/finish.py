"""Whether a provider has said why its answer ends.

Where it has not, LiteLLM makes up a `stop`. Its streams of chat tell: they have received no
reason, and the chunk with the made-up one is not among those they keep. A `Router`'s knows no
reason of its own, but shares the chunks.

Of Gemini's chats LiteLLM says `stop` in every chunk, and of none that it has received it. So
there a `stop` says nothing, and counts as made up: of prose nothing is lost by that.
"""

from __future__ import annotations

from typing import Any

__all__ = ["is_made_up", "may_end", "source_of"]

_RELAYS = "_async_generator"  # what a stream of a `Router` has
_MUTE = frozenset({"gemini", "vertex_ai", "vertex_ai_beta"})
_NOTHING: dict[str, Any] = {}


def source_of(stream: Any) -> Any:
    """Return the stream itself if it is one of chat that tells how it ends, else `None`."""
    tells = hasattr(stream, "sent_last_chunk") and isinstance(getattr(stream, "chunks", None), list)
    return stream if tells else None


def may_end(source: Any, item: Any) -> bool:
    """Tell whether a source has come to its end, or shows a finish reason in this item."""
    return source.sent_last_chunk or (hasattr(source, _RELAYS) and bool(_finish_of(item)))


def _finish_of(item: Any) -> Any:
    choices: Any = getattr(item, "choices", None)
    if not choices:
        return None
    # To ask LiteLLM's objects for an attribute they lack takes half of what a chunk takes to guard.
    held = getattr(choices[0], "__pydantic_extra__", None) or _NOTHING
    own = getattr(choices[0], "__dict__", _NOTHING)
    return held.get("finish_reason") or own.get("finish_reason")


def is_made_up(source: Any) -> bool:
    """Tell whether the finish reason that a source has just shown is not its provider's."""
    if getattr(source, "received_finish_reason", None):
        return False
    chunks: list[Any] = source.chunks
    if not chunks:
        return False
    said = next((reason for chunk in reversed(chunks) if (reason := _finish_of(chunk))), None)
    return said is None or (said == "stop" and _says_stop_always(source, chunks[-1]))


def _says_stop_always(source: Any, chunk: Any) -> bool:
    if not hasattr(source, _RELAYS):
        return True  # it knows what it has received
    return getattr(chunk, "_hidden_params", _NOTHING).get("custom_llm_provider") in _MUTE
