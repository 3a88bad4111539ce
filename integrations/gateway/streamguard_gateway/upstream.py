"""The way to the upstream: one request, one answer, closed on every exit.

The transport of httpx is used without its client: nothing is added to a request, no cookie is
kept from one user to the next, no redirect is followed, and bodies come as they were sent.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from urllib.parse import urlsplit

import anyio
import httpx

from streamguard_gateway.encodings import EncodingError, Inflater, can_decode
from streamguard_gateway.headers import Headers, value
from streamguard_gateway.refusals import Refusal
from streamguard_gateway.settings import Limits

__all__ = ["Answer", "Upstream", "UpstreamCut"]


_CLOSING = 5.0
"""Seconds for the farewell of an encrypted connection."""
_FREE = 100
"""Most connections that are kept while no request uses them."""
_KEPT = 30.0
"""Seconds after which a free connection is not used again."""


class UpstreamCut(Exception):  # noqa: N818 - what happened
    """The upstream broke off in the middle of its answer."""


class Answer:
    """What the upstream answers: its status and headers, then its body as it was sent."""

    def __init__(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.headers: Headers = [(name.lower(), value) for name, value in response.headers.raw]
        self._stream = response.stream

    async def body(self) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of the body as they come.

        Raises:
            UpstreamCut: the upstream broke off, or was silent for too long.
        """
        assert isinstance(self._stream, httpx.AsyncByteStream)  # noqa: S101 - httpx' own invariant
        try:
            async for piece in self._stream:
                yield piece
        except httpx.TransportError:
            raise UpstreamCut from None

    def decoded(self) -> AsyncGenerator[bytes, None]:
        """Return the body, decompressed, as `body` does.

        Raises:
            Refusal: its encoding was not asked for and is not known.
        """
        encoding = value(self.headers, b"content-encoding").strip().lower().decode("latin-1")
        if encoding in ("", "identity"):
            return self.body()
        if not can_decode(encoding):
            raise Refusal(502, "encoding", "the answer is compressed in a way that was not asked for")
        return self._inflated(Inflater(encoding))

    async def _inflated(self, inflater: Inflater) -> AsyncGenerator[bytes, None]:
        async with aclosing(self.body()) as pieces:
            try:
                async for piece in pieces:
                    for part in inflater.feed(piece):
                        yield part
                inflater.end()
            except EncodingError:
                raise UpstreamCut from None


class Upstream:
    """A server that speaks one of the protocols.

    Each request has a transport, with one connection, for itself; those that are free are used
    again, the last first. One pool for all goes through all its connections for every request.
    """

    def __init__(
        self, url: str, limits: Limits, transport: Callable[[], httpx.AsyncBaseTransport] | None
    ) -> None:
        """Check the URL; nothing is connected yet.

        Raises:
            ValueError: the URL is none of a server.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the upstream must be a URL like https://api.example.com or https://host/prefix")
        if parts.query or parts.fragment or parts.username is not None:
            raise ValueError("the upstream's URL has a scheme, a host and a path, nothing else")
        self.origin = f"{parts.scheme}://{parts.netloc.lower()}"
        self.prefix = parts.path.rstrip("/")
        self._host = parts.netloc.encode("ascii" if parts.netloc.isascii() else "idna")
        if transport is None:
            context = httpx.create_ssl_context(verify=parts.scheme == "https")
            one = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=_KEPT)
            transport = partial(httpx.AsyncHTTPTransport, verify=context, limits=one)
        self._make = transport
        self._free: list[httpx.AsyncBaseTransport] = []
        timeout = httpx.Timeout(limits.read, connect=limits.connect)
        self._extensions = {"timeout": timeout.as_dict()}

    @asynccontextmanager
    async def answer(
        self, method: str, target: str, headers: Headers, body: bytes
    ) -> AsyncGenerator[Answer, None]:
        """Send a request and wait for the head of the answer.

        Args:
            method: as the client sent it.
            target: path and query below the upstream's own path.
            headers: without `host` and `content-length`.
            body: the whole body.

        Raises:
            Refusal: there is no answer.
        """
        try:
            request = httpx.Request(
                method,
                self.origin + self.prefix + target,
                headers=[(b"host", self._host), *headers],
                content=body or None,
                extensions=self._extensions,
            )
        except (httpx.InvalidURL, ValueError):
            raise Refusal(400, "bad_request", "the path is none") from None
        transport = self._free.pop() if self._free else self._make()
        closed = True
        try:
            response = await _sent(transport, request)
            try:
                if not 200 <= response.status_code < 600:
                    raise Refusal(502, "upstream_cut", "the upstream's answer has no status of HTTP")
                yield Answer(response)
            finally:
                closed = await _in_time(response.aclose)
        finally:
            if closed and len(self._free) < _FREE:
                self._free.append(transport)
            else:
                await _in_time(transport.aclose)

    async def aclose(self) -> None:
        """Close what is connected and free."""
        while self._free:
            await _in_time(self._free.pop().aclose)


async def _in_time(close: Callable[[], Awaitable[None]]) -> bool:
    """Close, cancelled or not; tell whether it was done in time."""
    with anyio.move_on_after(_CLOSING, shield=True) as scope:
        await close()
    return not scope.cancelled_caught


async def _sent(transport: httpx.AsyncBaseTransport, request: httpx.Request) -> httpx.Response:
    try:
        return await transport.handle_async_request(request)
    except httpx.TimeoutException:
        raise Refusal(504, "upstream_timeout", "the upstream did not answer in time", retry=True) from None
    except httpx.ConnectError:
        raise Refusal(502, "upstream_unreachable", "the upstream is not reached", retry=True) from None
    except httpx.TransportError:
        raise Refusal(502, "upstream_cut", "the upstream broke off", retry=True) from None
