"""Servers for `test_gateway`: an upstream that talks, a proxy that only passes, and the gateway.

    python proxies.py KIND [UPSTREAM]

Prints the port. All three are served alike.
"""

from __future__ import annotations

import json
import socket
import sys

import httpx
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

EVENTS = [
    b"data: %s\n\n" % json.dumps({"choices": [{"index": 0, "delta": {"content": word}}]}).encode()
    for word in ("The ", "answer ", "is ", "forty", "-two", ". ") * 5
]


async def _upstream(scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for event in EVENTS:
        await send({"type": "http.response.body", "body": event, "more_body": True})
    await send({"type": "http.response.body"})


def _bare(url: str) -> ASGIApp:
    transport = httpx.AsyncHTTPTransport()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        request = httpx.Request(scope["method"], url + scope["path"], content=message.get("body", b""))
        response = await transport.handle_async_request(request)
        headers = [(name, value) for name, value in response.headers.raw if name.lower() == b"content-type"]
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        async for piece in response.aiter_raw():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body"})
        await response.aclose()

    return app


def _gateway(url: str) -> ASGIApp:
    from streamguard_gateway import Gateway

    from streamguard import MEMORY, REASONING, FenceScrubber, Redactor

    return Gateway(url, FenceScrubber(*MEMORY, *REASONING) | Redactor())


def _main(kind: str, *upstream: str) -> None:
    app = _upstream if kind == "upstream" else {"bare": _bare, "gateway": _gateway}[kind](*upstream)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)
        config = uvicorn.Config(app, http="h11", ws="none", lifespan="off", log_level="error")
        uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    _main(*sys.argv[1:])
