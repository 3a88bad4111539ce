"""ASGI middleware: guards the bodies an application streams, and touches nothing else.

What the application sends is guarded message by message, and each gives exactly one message to
the server. So the server's back-pressure and its news of a disconnect reach the application as
if nothing stood between.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any, Literal, Unpack

from anyio.lowlevel import checkpoint

from streamguard import End, Pipeline, Transformer
from streamguard.session import StreamGuardError
from streamguard_asgi.body import BytesGuard
from streamguard_asgi.choosing import STREAM_TYPES, BodyKind, GuardOptions, guard_for
from streamguard_asgi.json_guard import JSONGuard

__all__ = ["GuardChoice", "StreamGuardMiddleware"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

GuardChoice = Callable[[Scope], Transformer | None]
"""Chooses the guard of a request by its scope; `None` leaves the response alone."""

_STALE = frozenset(
    {
        b"accept-ranges",
        b"content-digest",
        b"content-length",
        b"content-md5",
        b"digest",
        b"etag",
        b"repr-digest",
    }
)  # headers that are about the very bytes of a body
_BYPASS = frozenset({"http.response.pathsend", "http.response.zerocopysend"})
_BODYLESS = frozenset({204, 205, 304})
_log = logging.getLogger("streamguard_asgi")


class StreamGuardMiddleware:
    """Guards the responses of an ASGI application.

        app.add_middleware(StreamGuardMiddleware, guard=guard)

    Guarded are bodies whose content type is in `types`. All else passes untouched: web sockets,
    lifespan, HEAD, other types. A guarded response loses the headers that are about its very
    bytes (`content-length`, `etag`, digests).

    If a rule blocks, or the guard fails, the body ends in the form its protocol has for it, and the
    application's next `send` raises `OSError`, as for a client that has gone. If the application
    raises, what may still be shown is sent, then an error in that form, then the exception goes on.

    *Delay*: that of the guards. *Memory*: that of the guards for each response.
    """

    def __init__(
        self,
        app: ASGIApp,
        guard: Transformer | GuardChoice,
        *,
        types: Mapping[str, BodyKind] = STREAM_TYPES,
        on_encoded: Literal["error", "pass"] = "error",
        **options: Unpack[GuardOptions],
    ) -> None:
        """Wrap an application.

        Args:
            app: the application.
            guard: what texts go through, or a function that chooses it by the request's scope.
            types: which media types are guarded, and as what: `STREAM_TYPES`, or `JSON_TYPES`.
            on_encoded: what becomes of a body of these types that cannot be read, as it is
                compressed or part of another (206): `"error"` sends a status 500 in its place.
                A middleware that compresses belongs outside of this one.
            **options: see the guards.

        Raises:
            ValueError: a policy is unknown.
            TypeError: an option is unknown, or the guard is no `Transformer` and no function.
        """
        if not isinstance(guard, Transformer) and not callable(guard):
            raise TypeError(f"a guard must be a Transformer or a function, not {type(guard).__name__}")
        if on_encoded not in ("error", "pass"):
            raise ValueError("on_encoded is one of error, pass")
        self.app = app
        self._guard = guard
        self._types = types
        self._on_encoded: Literal["error", "pass"] = on_encoded
        self._options = options
        # An error in the options shows here, not with the first request.
        guard_for("text/event-stream", guard if isinstance(guard, Transformer) else Pipeline(), **options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        guard: Transformer | None = None
        if scope["type"] == "http" and scope.get("method") != "HEAD":
            guard = self._guard if isinstance(self._guard, Transformer) else self._guard(scope)
        if guard is None:
            await self.app(scope, receive, send)
            return
        response = _Response(self._make(guard), self._on_encoded, send)
        try:
            await self.app(_without_bypass(scope), receive, response.send)
        except Exception:
            if response.stopped:
                return
            await response.break_off()
            raise

    def _make(self, guard: Transformer) -> Callable[[str], BytesGuard | None]:
        return lambda content_type: guard_for(content_type, guard, types=self._types, **self._options)


def _without_bypass(scope: Scope) -> Scope:
    """Take away the ways to send a body that is not seen here."""
    extensions = scope.get("extensions")
    if not extensions or _BYPASS.isdisjoint(extensions):
        return scope
    return {
        **scope,
        "extensions": {name: value for name, value in extensions.items() if name not in _BYPASS},
    }


class _Response:
    """What the application sends for one request.

    Attributes:
        stopped: the body has been ended; the application is to send no more.
    """

    def __init__(
        self,
        make: Callable[[str], BytesGuard | None],
        on_encoded: Literal["error", "pass"],
        send: Send,
    ) -> None:
        self._make = make
        self._on_encoded = on_encoded
        self._send = send
        self._body: BytesGuard | None = None
        self._waiting: Message | None = None  # the start of a response that comes whole
        self.stopped = False

    async def send(self, message: Message) -> None:
        if self.stopped:
            raise OSError("the response has been ended by its guard")
        if message["type"] == "http.response.start":
            await self._start(message)
        elif message["type"] == "http.response.body" and self._body is not None:
            await self._piece(self._body, message)
        else:
            await self._send(message)

    async def break_off(self) -> None:
        """Send what may still be shown of a body that the application has not ended."""
        body, self._body = self._body, None
        if body is not None and self._waiting is None:
            rest = body.flush(End.ERROR)
            with suppress(OSError):  # the client has gone, which is not what went wrong
                await self._send({"type": "http.response.body", "body": rest, "more_body": True})

    async def _start(self, message: Message) -> None:
        headers: list[tuple[bytes, bytes]] = [
            (name.lower(), value) for name, value in message.get("headers", ())
        ]
        status: int = message["status"]
        if status < 200 or status in _BODYLESS or _joined(headers, b"content-length").strip() == "0":
            await self._send(message)
            return
        try:
            self._body = self._make(_joined(headers, b"content-type"))
        except LookupError:
            await self._refuse("a charset that is unknown")
            return
        if self._body is None:
            await self._send(message)
            return
        encoded = _joined(headers, b"content-encoding").strip().lower() not in ("", "identity")
        if encoded or status == 206:
            if self._on_encoded == "error":
                await self._refuse("a content encoding" if encoded else "a part of a body")
            self._body = None
            await self._send(message)
            return
        kept = [(name, value) for name, value in headers if name not in _STALE]
        message = {**message, "headers": kept}
        if isinstance(self._body, JSONGuard):
            self._waiting = message
            return
        await self._send(message)

    async def _piece(self, body: BytesGuard, message: Message) -> None:
        more: bool = message.get("more_body", False)
        shown = body.feed(message.get("body", b""))
        if not more and body.failure is None:
            shown += body.flush()
        if body.failure is not None:
            _log.error("a response was ended by its guard: %s", _told(body.failure))
        more = more and body.failure is None
        if self._waiting is not None:
            if more:
                await checkpoint()
                return
            await self._send(_sized(self._waiting, shown, failed=body.failure is not None))
            self._waiting = None
        await self._send({**message, "body": shown, "more_body": more})
        if not more:
            self._body = None
        if body.failure is not None:
            await self._stop()

    async def _refuse(self, what: str) -> None:
        """Send an error in place of a response that cannot be guarded."""
        _log.error("a response was refused: it has %s, and cannot be guarded", what)
        text = b"The response cannot be guarded."
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(text))]
        await self._send({"type": "http.response.start", "status": 500, "headers": headers})
        await self._send({"type": "http.response.body", "body": text})
        await self._stop()

    async def _stop(self) -> None:
        self._body = None
        self.stopped = True
        raise OSError("the response has been ended by its guard")


def _told(failure: Exception) -> str:
    """Say what has happened. Only what was raised here is known not to quote a text."""
    return str(failure) if isinstance(failure, StreamGuardError) else type(failure).__name__


def _joined(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    return ", ".join(value.decode("latin-1") for key, value in headers if key == name)


def _sized(start: Message, body: bytes, *, failed: bool) -> Message:
    headers = [*start["headers"], (b"content-length", b"%d" % len(body))]
    return {**start, "status": 500 if failed else start["status"], "headers": headers}
