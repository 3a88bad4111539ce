"""Guards for the OpenAI SDK: chat completions, completions and Responses, streamed or whole.

    client = wrap(OpenAI(), guard)

The SDK is not imported: objects are known by their shape, and the parsed events of a raw
stream, dictionaries, are guarded by the same adapters.
"""

from streamguard_openai.chat import ChatAdapter, CompletionAdapter
from streamguard_openai.client import UnguardedAccessError, wrap
from streamguard_openai.responses import ResponsesAdapter
from streamguard_openai.streams import AsyncGuardedStream, GuardedStream, guard_stream
from streamguard_openai.whole import guard_response

__all__ = [
    "AsyncGuardedStream",
    "ChatAdapter",
    "CompletionAdapter",
    "GuardedStream",
    "ResponsesAdapter",
    "UnguardedAccessError",
    "guard_response",
    "guard_stream",
    "wrap",
]
