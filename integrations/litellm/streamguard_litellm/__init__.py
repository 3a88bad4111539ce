"""Guards for LiteLLM: streams and responses of its SDK, what its loggers receive, its proxy.

    from streamguard_litellm import acompletion

    stream = await acompletion(model="...", messages=[...], stream=True, guard=guard)

LiteLLM itself is imported where it is needed first: by a call, or by the two classes for its
callbacks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamguard_litellm.calls import acompletion, aresponses, completion, responses
from streamguard_litellm.options import GuardrailConfigError
from streamguard_litellm.streams import GuardedStream, guard_stream
from streamguard_litellm.whole import guard_response

if TYPE_CHECKING:
    from streamguard_litellm.callbacks import StreamGuardGuardrail, StreamGuardLogger

__all__ = [
    "GuardedStream",
    "GuardrailConfigError",
    "StreamGuardGuardrail",
    "StreamGuardLogger",
    "acompletion",
    "aresponses",
    "completion",
    "guard_response",
    "guard_stream",
    "responses",
]


def __getattr__(name: str) -> Any:
    if name in ("StreamGuardGuardrail", "StreamGuardLogger"):
        from streamguard_litellm import callbacks

        return getattr(callbacks, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
