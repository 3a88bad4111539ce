"""Guards LangChain's chat models: nothing unguarded on any path their text can take.

What needs more than `langchain-core` is loaded when it is first asked for: the middleware needs
`langchain`, the stream transformer `langgraph`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamguard_langchain.callbacks import GuardedCallbackHandler
from streamguard_langchain.errors import GuardedModelError
from streamguard_langchain.model import GuardedChatModel
from streamguard_langchain.runnable import guard_runnable
from streamguard_langchain.wrapping import guard_model

if TYPE_CHECKING:
    from streamguard_langchain.middleware import (
        StreamGuardMiddleware,
        UnguardedModelWarning,
        check_middleware,
    )
    from streamguard_langchain.transformer import guard_transformer

__all__ = [
    "GuardedCallbackHandler",
    "GuardedChatModel",
    "GuardedModelError",
    "StreamGuardMiddleware",
    "UnguardedModelWarning",
    "check_middleware",
    "guard_model",
    "guard_runnable",
    "guard_transformer",
]

_LATER = {
    "StreamGuardMiddleware": "middleware",
    "UnguardedModelWarning": "middleware",
    "check_middleware": "middleware",
    "guard_transformer": "transformer",
}


def __getattr__(name: str) -> Any:
    """Load what needs `langchain` or `langgraph`."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
