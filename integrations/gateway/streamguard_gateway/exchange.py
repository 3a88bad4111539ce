"""One request and its answer.

The body of the request is taken whole, within limits. From then on a task beside the answer
watches for the client to go away; when it does everything is cancelled, and what is cancelled
closes the upstream. A stream of events begins at once, any other guarded body with its end:
until then a failure can still be told by the status. A stream that has begun ends with an event
that tells the failure; a body that passes unguarded is broken off, as the upstream's was.
"""

from __future__ import annotations

import logging
from contextlib import aclosing
from time import perf_counter

import anyio
import anyio.to_thread
from starlette.types import Scope

from streamguard import End
from streamguard.session import StreamBlocked, StreamGuardError
from streamguard_gateway.bodies import GuardedBody, guard_of, is_json
from streamguard_gateway.client import Client, ClientGone
from streamguard_gateway.headers import Headers, at_home, request_headers, response_headers, value
from streamguard_gateway.metrics import Metrics
from streamguard_gateway.prompts import guard_prompt, wants_json
from streamguard_gateway.refusals import Refusal
from streamguard_gateway.routes import OTHER, Route, matches, plain_path, route_of
from streamguard_gateway.settings import Settings
from streamguard_gateway.upstream import Answer, Upstream, UpstreamCut

__all__ = ["Exchange"]

log = logging.getLogger("streamguard.gateway")

_BIG = 1 << 18
"""Bytes from which on a body that came whole is guarded beside the event loop."""


class Exchange:
    """The state of one request, used once."""

    def __init__(
        self, settings: Settings, upstream: Upstream, metrics: Metrics, scope: Scope, client: Client
    ) -> None:
        self._settings = settings
        self._upstream = upstream
        self._metrics = metrics
        self._scope = scope
        self._client = client
        self._method: str = scope["method"]
        self._headers: Headers = list(scope["headers"])
        self._route: Route = OTHER
        self._passes = False  # by the user's will, unless it can be guarded by its protocol
        self._outcome = "shutdown"  # unless told otherwise: cancelled from outside

    async def run(self) -> None:
        """Answer the request; every failure is told to the client, none is raised."""
        begin = perf_counter()
        try:
            await self._answer()
        except ClientGone:
            self._outcome = "disconnected"
        except Exception as error:
            # Only the type: the message of an unforeseen error can quote what was being read.
            self._outcome = "error"
            log.error("internal error (%s)", type(error).__name__)  # noqa: TRY400
        finally:
            self._metrics.streams.labels(self._route.name, self._outcome).inc()
            seconds = perf_counter() - begin
            log.info("%s: %s, %.3f s", self._route.name, self._outcome, seconds)

    async def _answer(self) -> None:
        try:
            target = self._target()
            body = await self._client.body(self._headers)
            if self._settings.request_guard is not None and self._route.protocol is not None:
                body = guard_prompt(body, self._headers, self._settings.request_guard, self._metrics.found)
        except Refusal as refusal:
            await self.refuse(refusal)
            return
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, group.cancel_scope)
            try:
                await self._exchange(target, body)
            except ClientGone:
                self._outcome = "disconnected"
            group.cancel_scope.cancel()

    async def _watch(self, answer: anyio.CancelScope) -> None:
        await self._client.gone()
        if not self._client.ended:
            self._outcome = "disconnected"
            answer.cancel()

    def _target(self) -> str:
        """Choose the route, and return what is asked of the upstream.

        Raises:
            Refusal: nothing can be.
        """
        raw: bytes = self._scope.get("raw_path") or self._scope["path"].encode()
        own = plain_path(raw.decode("latin-1"))
        if own is None:
            raise Refusal(400, "bad_request", "the path is ambiguous")
        self._route = route_of(self._upstream.prefix + own)
        self._passes = matches(own, self._settings.pass_unguarded)
        if b"websocket" in value(self._headers, b"upgrade").lower():
            raise Refusal(501, "websocket", "web sockets cannot be guarded and are refused")
        if self._method == "CONNECT":
            raise Refusal(501, "connect", "this is no forward proxy")
        query: bytes = self._scope["query_string"]
        return (raw + b"?" + query if query else raw).decode("latin-1")

    async def _exchange(self, target: str, body: bytes) -> None:
        guarded = not self._passes or self._route.protocol is not None
        headers = request_headers(self._headers, guarded=guarded)
        try:
            async with self._upstream.answer(self._method, target, headers, body) as answer:
                await self._relay(answer, json_content=guarded and wants_json(body))
        except Refusal as refusal:
            await self.refuse(refusal)

    async def _relay(self, answer: Answer, *, json_content: bool) -> None:
        """Send what becomes of the answer.

        Raises:
            Refusal: nothing does.
        """
        unread = self._passes and self._route.protocol is None
        head = response_headers(answer.headers, guarded=not unread)
        if not self._passes:
            head = at_home(head, self._upstream.origin, self._upstream.prefix)
        if unread or self._method == "HEAD" or answer.status in (204, 304):
            await self._pass(answer, head)
            return
        kind = value(answer.headers, b"content-type")
        guarded = guard_of(
            self._settings,
            self._route,
            answer.status,
            kind,
            json_content=json_content,
            on_finding=self._metrics.found,
        )
        if guarded is not None:
            await (self._stream if guarded.streams else self._whole)(answer, head, guarded)
        elif self._passes:
            await self._pass(answer, response_headers(answer.headers, guarded=False))
        else:
            await self._nothing(answer, head)

    # --- the ways of a body

    async def _pass(self, answer: Answer, head: Headers) -> None:
        await self._client.start(answer.status, head)
        async with aclosing(answer.body()) as pieces:
            try:
                async for piece in pieces:
                    await self._client.send(piece)
            except UpstreamCut:
                raise _cut() from None
        await self._end()

    async def _nothing(self, answer: Answer, head: Headers) -> None:
        """Let a body of a type without a guard pass if it is empty."""
        async with aclosing(answer.body()) as pieces:
            try:
                async for piece in pieces:
                    if piece:
                        status = answer.status if answer.status >= 400 else 502
                        raise Refusal(
                            status, "unguardable", "the upstream's answer is of a type without a guard"
                        )
            except UpstreamCut:
                raise _cut() from None
        await self._client.start(answer.status, [*head, (b"content-length", b"0")])
        await self._end()

    async def _stream(self, answer: Answer, head: Headers, body: GuardedBody) -> None:
        guard, end = body.guard, End.COMPLETE
        decoded = answer.decoded()
        await self._client.start(answer.status, head)
        async with aclosing(decoded) as pieces:
            try:
                async for piece in pieces:
                    begin = perf_counter()
                    shown = guard.feed(piece)
                    self._metrics.added.observe(perf_counter() - begin)
                    self._metrics.held.observe(body.holding.held)
                    await self._client.send(shown)
                    if guard.failure is not None:
                        break
            except UpstreamCut:
                end = End.ERROR
        await self._client.send(guard.flush(end))
        outcome = "cut" if guard.cut else "complete"
        await self._end(outcome if guard.failure is None else _failed(guard.failure).code)

    async def _whole(self, answer: Answer, head: Headers, body: GuardedBody) -> None:
        limit = self._settings.limits.body
        taken = bytearray()
        async with aclosing(answer.decoded()) as pieces:
            try:
                async for piece in pieces:
                    taken += piece
                    if len(taken) > limit:
                        raise Refusal(502, "too_large", f"a whole answer has at most {limit} bytes")
            except UpstreamCut:
                raise _cut() from None
        begin = perf_counter()
        if len(taken) > _BIG:
            shown = await anyio.to_thread.run_sync(_guarded, body, bytes(taken))
        else:
            shown = _guarded(body, bytes(taken))
        self._metrics.added.observe(perf_counter() - begin)
        await self._client.start(answer.status, [*head, (b"content-length", str(len(shown)).encode())])
        await self._client.send(shown)
        await self._end()

    async def _end(self, outcome: str = "complete") -> None:
        self._outcome = outcome
        await self._client.send(b"", last=True)

    async def refuse(self, refusal: Refusal) -> None:
        """Answer with a refusal; what has begun is left without an end."""
        self._outcome = refusal.code
        protocol = self._route.protocol
        if not self._client.started:
            body = refusal.body(protocol)
            headers = [*refusal.headers(), (b"content-length", str(len(body)).encode())]
            if not self._client.asked:
                headers.append((b"connection", b"close"))
            await self._client.start(refusal.status, headers)
            await self._client.send(b"" if self._method == "HEAD" else body, last=True)


def _guarded(body: GuardedBody, taken: bytes) -> bytes:
    """Guard a body that has come whole.

    Raises:
        Refusal: the policy blocks it, or it cannot be guarded.
    """
    if not taken:
        return b""
    if body.json and not is_json(taken):
        raise Refusal(502, "not_json", "the upstream's answer is not what its type says")
    shown = body.guard.feed(taken) + body.guard.flush(End.COMPLETE)
    if body.guard.failure is not None:
        raise _failed(body.guard.failure)
    return shown


def _failed(failure: Exception) -> Refusal:
    if isinstance(failure, StreamBlocked):
        return Refusal(403, "blocked", "the answer is blocked by the policy")
    # Only the type: the message of an unforeseen error can quote what was being read.
    log.warning("an answer could not be guarded (%s)", type(failure).__name__)
    if isinstance(failure, StreamGuardError):
        return Refusal(502, "limit", "the answer exceeds a limit")
    return Refusal(502, "unguardable", "the answer could not be guarded")


def _cut() -> Refusal:
    return Refusal(502, "cut", "the upstream broke off; the answer is not complete", retry=True)
