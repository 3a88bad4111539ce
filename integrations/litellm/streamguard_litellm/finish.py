"""Whether a provider has said why its answer ends.

Where it has not, LiteLLM makes up a `stop`. Its streams of chat tell: they have received no
reason, and the chunk with the made-up one is not among those they keep. A `Router`'s knows no
reason of its own, but shares the chunks.
"""

from __future__ import annotations

from typing import Any

__all__ = ["finishes", "is_made_up", "source_of"]


def source_of(stream: Any) -> Any:
    """Return the stream itself if it is one of chat that tells how it ends, else `None`."""
    return stream if isinstance(getattr(stream, "chunks", None), list) else None


def finishes(item: Any) -> bool:
    """Tell whether an item is a chunk with a finish reason."""
    choices: Any = getattr(item, "choices", None)
    return bool(choices and getattr(choices[0], "finish_reason", None))


def is_made_up(source: Any) -> bool:
    """Tell whether the finish reason that a source has just shown is not its provider's."""
    for name in ("received_finish_reason", "intermittent_finish_reason"):
        if getattr(source, name, None):
            return False
    chunks: list[Any] = source.chunks
    return bool(chunks) and not any(map(finishes, reversed(chunks)))
