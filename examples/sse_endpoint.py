"""A server-sent-events endpoint that streams guarded text; no SDK, any ASGI framework.

With FastAPI the endpoint is the same: its StreamingResponse is Starlette's. The client
at the bottom calls the application in this process.
"""

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from streamguard import FenceScrubber, PreambleTrimmer, Redactor

guard = FenceScrubber("memory-context", "think") | PreambleTrimmer() | Redactor()  # once, for all requests


async def model(question: str) -> AsyncIterator[str]:
    """Stand in for a model."""
    key = "sk-proj-" + "FakeKey0" * 6
    text = f"<think>{question}? easy</think>Use {key} once. Let me update the notes now."
    for start in range(0, len(text), 7):
        yield text[start : start + 7]


async def events(question: str) -> AsyncIterator[bytes]:
    async for text in guard.transform(model(question)):  # closed with the request, whatever ends it
        yield f"data: {json.dumps({'text': text})}\n\n".encode()
    yield b"data: [DONE]\n\n"


async def chat(request: Request) -> StreamingResponse:
    return StreamingResponse(events(request.query_params["q"]), media_type="text/event-stream")


app = Starlette(routes=[Route("/chat", chat)])


async def main() -> None:
    transport = httpx.ASGITransport(app=app)
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://app") as client,
        client.stream("GET", "/chat", params={"q": "how do I log in"}) as response,
    ):
        async for line in response.aiter_lines():
            if line:
                print(line)


asyncio.run(main())
