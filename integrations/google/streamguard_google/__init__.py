"""Guards google-genai: streams of generated content, whole responses, and the client itself.

No SDK is imported: objects of the SDK and plain dictionaries are taken by their shape.
"""

from streamguard_google.adapter import GenerateContentAdapter
from streamguard_google.client import wrap
from streamguard_google.response import guard_response
from streamguard_google.stream import guard_stream

__all__ = ["GenerateContentAdapter", "guard_response", "guard_stream", "wrap"]
