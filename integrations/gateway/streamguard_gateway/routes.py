"""Which path speaks which protocol.

The path is matched as the upstream will see it, its prefix included, so any prefix works:
`/v1/chat/completions`, `/openai/v1/chat/completions`, `/openai/deployments/d/chat/completions`.
What is no guarded route is `OTHER`: there is no protocol by which pieces of a text could be
put together, so only what comes whole can be guarded there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import unquote

from streamguard_asgi import StreamProtocol

__all__ = ["OTHER", "Route", "matches", "plain_path", "route_of"]


@dataclass(frozen=True, slots=True)
class Route:
    """A kind of path.

    Attributes:
        name: the label of its metrics.
        protocol: what its responses speak, or `None`.
    """

    name: str
    protocol: StreamProtocol | None


OTHER = Route("other", None)

_ODD = re.compile(r"[\x00-\x1f\x7f\\]")
_BEFORE = r"(?:.*/(?:v\d\w*|openai|deployments/[^/]+))?"
_ROUTES = tuple(
    (re.compile(pattern, re.IGNORECASE), route)
    for pattern, route in (
        (r".*/chat/completions(?:/[^/]+)?/?", Route("chat", "openai-chat")),
        (_BEFORE + r"/completions/?", Route("completions", "openai-completions")),
        (_BEFORE + r"/responses(?:/[^/]+(?:/cancel)?)?/?", Route("responses", "openai-responses")),
        (_BEFORE + r"/messages/?", Route("messages", "anthropic")),
        (r".*:(?:stream)?generateContent", Route("google", "google")),
        (r".*/api/(?:chat|generate)/?", Route("ollama", "auto")),
    )
)


def plain_path(raw: str, /) -> str | None:
    """Decode a path for matching; `None` if servers may disagree about where it leads.

    Doubled slashes are one, and parameters of segments (`;v=1`) are left out.

    Args:
        raw: the path as it was sent, without the query.
    """
    path = re.sub("/{2,}", "/", re.sub(";[^/]*", "", unquote(raw)))
    if not path.startswith("/") or _ODD.search(path) or {".", ".."} & set(path.split("/")):
        return None
    return path


def route_of(path: str, /) -> Route:
    """Find the route of a plain path."""
    return next((route for pattern, route in _ROUTES if pattern.fullmatch(path)), OTHER)


def matches(path: str, patterns: tuple[str, ...], /) -> bool:
    """Tell whether a path matches a shell pattern; `*` stands for any characters, `/` too."""
    return any(fnmatchcase(path, pattern) for pattern in patterns)
