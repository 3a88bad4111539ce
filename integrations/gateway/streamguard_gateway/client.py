"""The client's side of a request, over ASGI, with its limits."""

from __future__ import annotations

import anyio
from starlette.types import Message, Receive, Send

from streamguard_gateway.headers import Headers, value
from streamguard_gateway.refusals import Refusal
from streamguard_gateway.settings import Limits

__all__ = ["Client", "ClientGone"]


class ClientGone(Exception):  # noqa: N818 - what happened
    """The client has closed its connection, or does not take what it is sent."""


class Client:
    """Who sent the request.

    Attributes:
        asked: the request has come whole; else its connection cannot serve another.
        started: the answer has begun, so its status can no longer change.
        ended: the answer has been sent.
    """

    def __init__(self, receive: Receive, send: Send, limits: Limits) -> None:
        self._receive = receive
        self._asgi_send = send
        self._limits = limits
        self.asked = False
        self.started = False
        self.ended = False

    async def body(self, headers: Headers) -> bytes:
        """Take the body of the request.

        Raises:
            Refusal: it is too large or comes too slowly.
            ClientGone: it does not come.
        """
        limit = self._limits.body
        told = value(headers, b"content-length")
        pieces: list[bytes] = []
        size = int(told) if told.isdigit() else 0
        more = size <= limit  # what is too large by its own account need not be asked for
        if more:
            size = 0
        while more:
            try:
                with anyio.fail_after(self._limits.idle):
                    message = await self._receive()
            except TimeoutError:
                raise Refusal(408, "client_timeout", "the request did not come in time") from None
            if message["type"] == "http.disconnect":
                raise ClientGone
            piece: bytes = message.get("body", b"")
            pieces.append(piece)
            size += len(piece)
            more = size <= limit and message.get("more_body", False)
        if size > limit:
            raise Refusal(413, "too_large", f"a request has at most {limit} bytes")
        self.asked = True
        return b"".join(pieces)

    async def gone(self) -> None:
        """Wait until the client has closed its connection, or `ended`; after `body`."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def start(self, status: int, headers: Headers) -> None:
        """Begin the answer."""
        self.started = True
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def send(self, body: bytes, *, last: bool = False) -> None:
        """Send a piece of the body; it waits while the client does not take what was sent.

        Raises:
            ClientGone: the client takes nothing.
        """
        self.ended = last
        if body or last:
            await self._send({"type": "http.response.body", "body": body, "more_body": not last})

    async def _send(self, message: Message) -> None:
        try:
            with anyio.fail_after(self._limits.idle):
                await self._asgi_send(message)
        except (TimeoutError, OSError):
            raise ClientGone from None
