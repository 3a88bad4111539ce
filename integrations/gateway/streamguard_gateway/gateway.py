"""The gateway, an ASGI application: its own two pages, and everything else for the upstream."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import httpx
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from streamguard import Transformer
from streamguard.adapting import ReasoningPolicy, ToolArgsPolicy
from streamguard_gateway.client import Client
from streamguard_gateway.exchange import Exchange
from streamguard_gateway.metrics import CONTENT_TYPE, Metrics
from streamguard_gateway.refusals import Refusal
from streamguard_gateway.settings import Limits, Settings
from streamguard_gateway.upstream import Upstream

__all__ = ["Gateway"]


class Gateway:
    """A reverse proxy that guards what language models answer. An ASGI application.

    `/healthz` and `/metrics` are its own; everything else goes to the upstream.

    *Delay*: that of the guard. *Memory*: a request's body, and its sessions or, for an answer
    that does not stream, its body; all within `limits`.

    Attributes:
        upstream: the URL of the server behind it.
        metrics: what it has counted.
    """

    def __init__(
        self,
        upstream: str,
        guard: Transformer,
        *,
        tool_args: ToolArgsPolicy = "guard",
        reasoning: ReasoningPolicy = "guard",
        request_guard: Transformer | None = None,
        pass_unguarded: Iterable[str] = (),
        limits: Limits | None = None,
        transport: Callable[[], httpx.AsyncBaseTransport] | None = None,
    ) -> None:
        """Make a gateway to one upstream.

        Args:
            upstream: its URL, with a prefix if it has one: `https://api.example.com/openai`.
            guard: what every text of an answer goes through.
            tool_args: what happens to the arguments of tools.
            reasoning: what happens to reasoning.
            request_guard: what the texts of requests go through; nothing by default.
            pass_unguarded: shell patterns of paths, such as `/v1/audio/*`. Their answers pass
                as they are. The four guarded routes stay guarded all the same: on them only
                types of content that cannot be guarded pass.
            limits: how long to wait, how much to take.
            transport: makes a way to the upstream, for proxies and certificates. It is called for
                as many as there are requests at a time.

        Raises:
            ValueError: the URL is none of a server, or a policy is unknown.
        """
        limits = limits or Limits()
        self._settings = Settings(guard, tool_args, reasoning, request_guard, tuple(pass_unguarded), limits)
        self._upstream = Upstream(upstream, limits, transport)
        self._active = 0
        self.upstream = upstream
        self.metrics = Metrics()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; the entry point of ASGI."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": "cannot be guarded"})
        elif scope["path"] == "/healthz":
            await JSONResponse({"status": "ok"})(scope, receive, send)
        elif scope["path"] == "/metrics":
            headers = {"content-type": CONTENT_TYPE}
            await Response(self.metrics.exposition(), headers=headers)(scope, receive, send)
        else:
            await self._proxy(scope, receive, send)

    async def _proxy(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = Client(receive, send, self._settings.limits)
        exchange = Exchange(self._settings, self._upstream, self.metrics, scope, client)
        if self._active >= self._settings.limits.streams:
            await exchange.refuse(Refusal(503, "busy", "too many requests at a time", retry=True))
            return
        self._active += 1
        self.metrics.active.set(self._active)
        try:
            await exchange.run()
        finally:
            self._active -= 1
            self.metrics.active.set(self._active)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        self._settings.guard.scrub("Ready.")  # what is built at the first text need not delay a client's
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._upstream.aclose()
        await send({"type": "lifespan.shutdown.complete"})
