"""Guards Anthropic's messages: streams, whole responses, and the client itself.

No SDK is imported: objects of the SDK and plain dictionaries are taken by their shape.
"""

from streamguard_anthropic.adapter import MessagesAdapter
from streamguard_anthropic.client import wrap
from streamguard_anthropic.response import guard_response
from streamguard_anthropic.stream import guard_stream

__all__ = ["MessagesAdapter", "guard_response", "guard_stream", "wrap"]
