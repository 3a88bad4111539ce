"""Which guard a body needs, by its content type."""

from __future__ import annotations

from collections.abc import Mapping
from email.message import Message
from types import MappingProxyType
from typing import Any, Literal, TypedDict, Unpack

from streamguard import Transformer
from streamguard.adapting import ReasoningPolicy, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_asgi.body import BytesGuard
from streamguard_asgi.json_guard import JSONGuard
from streamguard_asgi.lines_guard import NDJSONGuard
from streamguard_asgi.protocols import StreamProtocol
from streamguard_asgi.sse_guard import SSEGuard
from streamguard_asgi.text_guard import TextGuard

__all__ = ["JSON_TYPES", "STREAM_TYPES", "BodyKind", "GuardOptions", "guard_for"]

BodyKind = Literal["sse", "lines", "text", "json"]

STREAM_TYPES: Mapping[str, BodyKind] = MappingProxyType(
    {
        "": "text",  # no type: whoever reads it will take it for text
        "text/event-stream": "sse",
        "text/plain": "text",
        "text/markdown": "text",
        "application/x-ndjson": "lines",
        "application/ndjson": "lines",
        "application/jsonl": "lines",
        "application/x-jsonl": "lines",
        "application/jsonlines": "lines",
        "application/x-jsonlines": "lines",
        "application/json-lines": "lines",
        "application/stream+json": "lines",
    }
)
"""The content types of streams, and what they are."""

JSON_TYPES: Mapping[str, BodyKind] = MappingProxyType({**STREAM_TYPES, "application/json": "json"})
"""Those of streams, and bodies of JSON as well."""

_POLICIES = frozenset({"tool_args", "reasoning", "tool_guard", "json_content", "on_finding"})
_TAKEN: Mapping[BodyKind, frozenset[str]] = {
    "sse": _POLICIES | {"protocol", "text_fields", "max_event"},
    "lines": _POLICIES | {"text_fields", "max_event"},
    "json": _POLICIES | {"max_body"},
    "text": frozenset({"on_finding"}),
}


class GuardOptions(TypedDict, total=False):
    """What the guards take besides what they guard with; each takes what concerns it."""

    protocol: StreamProtocol
    tool_args: ToolArgsPolicy
    reasoning: ReasoningPolicy
    tool_guard: Transformer | None
    json_content: bool
    text_fields: frozenset[str] | None
    on_finding: FindingHandler | None
    max_event: int | None
    max_body: int | None


def guard_for(
    content_type: str,
    guard: Transformer,
    /,
    *,
    types: Mapping[str, BodyKind] = STREAM_TYPES,
    **options: Unpack[GuardOptions],
) -> BytesGuard | None:
    """Make the guard of a body.

    Args:
        content_type: the value of the header; empty if there is none.
        guard: what the texts go through.
        types: what the body is, by its media type in lower case.
        **options: see the guards.

    Returns:
        The state of one body, or `None` if such bodies are not guarded.

    Raises:
        LookupError: a text has a charset that is unknown.
        ValueError: a policy is unknown.
        TypeError: the guard is no `Transformer`, or an option is unknown.
    """
    if unknown := options.keys() - GuardOptions.__annotations__.keys():
        raise TypeError(f"guard_for() got an unexpected option {sorted(unknown)[0]!r}")
    header = Message()
    header["content-type"] = content_type
    kind = types.get(header.get_content_type() if content_type.strip() else "")
    if kind is None:
        return None
    chosen: Any = {name: value for name, value in options.items() if name in _TAKEN[kind]}
    match kind:
        case "sse":
            return SSEGuard(guard, **chosen)
        case "lines":
            return NDJSONGuard(guard, **chosen)
        case "json":
            return JSONGuard(guard, **chosen)
        case "text":
            return TextGuard(guard, charset=header.get_content_charset("utf-8"), **chosen)
