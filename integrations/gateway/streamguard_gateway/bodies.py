"""Which guard a body gets: by its route, its type and its status.

A stream of events is guarded only where its protocol is known: elsewhere nothing tells which
strings are pieces of one text, and a secret cut in two would pass. What comes whole is guarded
anywhere. What is neither JSON nor text, or text in another charset than UTF-8, is not guarded.
Nor is a successful answer of a guarded route that is neither JSON nor events: it may be either
under a wrong name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from streamguard_asgi import BytesGuard, JSONGuard, NDJSONGuard, SSEGuard, TextGuard

from streamguard.session import FindingHandler
from streamguard_gateway.headers import charset_of, media_type
from streamguard_gateway.holding import Holding
from streamguard_gateway.routes import Route
from streamguard_gateway.settings import Settings

__all__ = ["GuardedBody", "guard_of", "is_json"]

_LINES = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines")


@dataclass(frozen=True, slots=True)
class GuardedBody:
    """The guard of one body.

    Attributes:
        guard: bytes in, bytes out.
        holding: what it holds back.
        streams: it is a stream of events, else it is sent when it is whole.
        json: what is not JSON is not the answer that was asked for.
    """

    guard: BytesGuard
    holding: Holding
    streams: bool = False
    json: bool = False


def guard_of(
    settings: Settings,
    route: Route,
    status: int,
    content_type: bytes,
    *,
    json_content: bool,
    on_finding: FindingHandler,
) -> GuardedBody | None:
    """Choose the guard of a body; `None` if there is none for it.

    Args:
        settings: of the gateway.
        route: what was asked.
        status: of the answer.
        content_type: of the answer.
        json_content: a structured output was asked for.
        on_finding: called with each finding.
    """
    kind = media_type(content_type)
    if charset_of(content_type) not in ("", "utf-8", "utf8", "us-ascii", "ascii"):
        return None
    holding = Holding(settings.guard)
    if route.protocol is not None and kind == "text/event-stream":
        events = SSEGuard(
            holding,
            protocol=route.protocol,
            tool_args=settings.tool_args,
            reasoning=settings.reasoning,
            json_content=json_content,
            on_finding=on_finding,
            max_event=settings.limits.event,
        )
        return GuardedBody(events, holding, streams=True)
    if route.protocol is not None and kind in _LINES:
        lines = NDJSONGuard(
            holding,
            tool_args=settings.tool_args,
            reasoning=settings.reasoning,
            json_content=json_content,
            on_finding=on_finding,
            max_event=settings.limits.event,
        )
        return GuardedBody(lines, holding, streams=True)
    if kind == "application/json" or kind.endswith("+json"):
        whole = JSONGuard(
            holding,
            tool_args=settings.tool_args,
            reasoning=settings.reasoning,
            json_content=json_content,
            on_finding=on_finding,
            max_body=None,  # the gateway counts
        )
        return GuardedBody(whole, holding, json=route.protocol is not None and status < 400)
    if kind.startswith("text/") and kind != "text/event-stream" and (route.protocol is None or status >= 400):
        return GuardedBody(TextGuard(holding, on_finding=on_finding), holding)
    return None


def is_json(body: bytes, /) -> bool:
    """Tell whether a body is one value of JSON."""
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
