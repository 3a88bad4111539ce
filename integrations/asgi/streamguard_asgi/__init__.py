"""Guards for bodies of HTTP responses, and for ASGI applications.

    app.add_middleware(StreamGuardMiddleware, guard=guard)

`SSEDecoder` and the guards do no I/O: bytes cut anywhere go in, what may be sent comes out.
"""

from streamguard.adapting.sse import EventTooLargeError, ServerSentEvent, SSEDecoder, encode_event
from streamguard_asgi.body import BytesGuard
from streamguard_asgi.choosing import JSON_TYPES, STREAM_TYPES, BodyKind, GuardOptions, guard_for
from streamguard_asgi.json_guard import JSONGuard
from streamguard_asgi.lines_guard import NDJSONGuard
from streamguard_asgi.middleware import GuardChoice, StreamGuardMiddleware
from streamguard_asgi.plain import TEXT_FIELDS
from streamguard_asgi.protocols import StreamProtocol
from streamguard_asgi.sse_guard import SSEGuard
from streamguard_asgi.text_guard import TextGuard

__all__ = [
    "JSON_TYPES",
    "STREAM_TYPES",
    "TEXT_FIELDS",
    "BodyKind",
    "BytesGuard",
    "EventTooLargeError",
    "GuardChoice",
    "GuardOptions",
    "JSONGuard",
    "NDJSONGuard",
    "SSEDecoder",
    "SSEGuard",
    "ServerSentEvent",
    "StreamGuardMiddleware",
    "StreamProtocol",
    "TextGuard",
    "encode_event",
    "guard_for",
]
