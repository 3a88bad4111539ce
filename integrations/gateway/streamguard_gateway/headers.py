"""Which headers pass, in either direction.

Headers of one hop stay on it (RFC 9110, 7.6.1). Those that describe the upstream's bytes go
when the bytes may change. All others pass as they came, repeated ones included.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from streamguard_gateway.refusals import Refusal

__all__ = ["Headers", "at_home", "charset_of", "media_type", "request_headers", "response_headers", "value"]

Headers = list[tuple[bytes, bytes]]

_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
_OURS = frozenset({b"host", b"content-length", b"expect"})
_PARTS = frozenset({b"range", b"if-range", b"accept-encoding", b"if-match", b"if-none-match"})
_BYTES = frozenset(
    {
        b"content-encoding",
        b"content-md5",
        b"content-digest",
        b"repr-digest",
        b"digest",
        b"etag",
        b"accept-ranges",
        b"content-range",
    }
)


def request_headers(headers: Iterable[tuple[bytes, bytes]], /, *, guarded: bool) -> Headers:
    """Make the headers for the upstream.

    Args:
        headers: those of the client, names in lower case.
        guarded: the answer will be read. Then it is asked for whole and not compressed: a part
            of it could begin inside a secret.
    """
    headers = list(headers)
    dropped = _HOP | _OURS | _named(headers)
    if guarded:
        dropped = dropped | _PARTS
    kept = [(name, value) for name, value in headers if name not in dropped]
    return [*kept, (b"accept-encoding", b"identity")] if guarded else kept


def response_headers(headers: Iterable[tuple[bytes, bytes]], /, *, guarded: bool) -> Headers:
    """Make the headers for the client, names in lower case.

    Args:
        headers: those of the upstream.
        guarded: the body may change. Then what describes its bytes is left out, its length too.
    """
    headers = [(name.lower(), value) for name, value in headers]
    dropped = _HOP | {b"alt-svc"} | _named(headers)
    if guarded:
        dropped = dropped | _BYTES | {b"content-length"}
    return [(name, value) for name, value in headers if name not in dropped]


def at_home(headers: Headers, origin: str, prefix: str, /) -> Headers:
    """Let redirections lead back to the gateway, not past it.

    Args:
        headers: those of the answer.
        origin: scheme and host of the upstream.
        prefix: the path of the upstream that the client does not know of.

    Raises:
        Refusal: a redirection leads to another server.
    """
    places = [place.decode("latin-1") for name, place in headers if name == b"location"]
    if not places:
        return headers
    try:
        parts = urlsplit(places[0])
    except ValueError:
        parts = urlsplit("none:")
    away = parts.scheme or parts.netloc or "\\" in places[0]
    if len(places) > 1 or (away and f"{parts.scheme}://{parts.netloc.lower()}" != origin):
        raise Refusal(502, "redirect", "the upstream redirects to another server, which is not guarded")
    home = parts._replace(scheme="", netloc="").geturl()
    if prefix and home.startswith(prefix + "/"):
        home = home.removeprefix(prefix)
    return [(name, home.encode("latin-1") if name == b"location" else given) for name, given in headers]


def value(headers: Iterable[tuple[bytes, bytes]], name: bytes, /) -> bytes:
    """Return all values of a header, joined by commas; empty if it is not there."""
    return b", ".join(value for key, value in headers if key.lower() == name)


def media_type(content_type: bytes, /) -> str:
    """Return the type of a `Content-Type` without its parameters, in lower case."""
    return content_type.partition(b";")[0].strip().lower().decode("latin-1")


def charset_of(content_type: bytes, /) -> str:
    """Return the charset of a `Content-Type` in lower case; empty if none is named."""
    for parameter in content_type.split(b";")[1:]:
        name, _, given = parameter.partition(b"=")
        if name.strip().lower() == b"charset":
            return given.strip().strip(b'"').lower().decode("latin-1")
    return ""


def _named(headers: Headers) -> frozenset[bytes]:
    """The headers that `Connection` says are of this hop."""
    names = value(headers, b"connection").split(b",")
    return frozenset(name.strip().lower() for name in names)
