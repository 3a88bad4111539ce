"""Stands in for a provider: says the same few sentences, three characters at a time."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

KEY = "-".join(("sk", "proj", "ThisIsNoKeyOfAnybodys" * 3))
TEXT = f"<memory-context>The user is Ada.</memory-context>Hello! Your key is {KEY}, keep it safe."


async def frames() -> AsyncIterator[str]:
    def frame(delta: dict[str, str], reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "demo"}
        return f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n"

    for at in range(0, len(TEXT), 3):
        yield frame({"content": TEXT[at : at + 3]})
    yield frame({}, "stop")
    yield "data: [DONE]\n\n"


async def chat(request: Request) -> StreamingResponse:
    return StreamingResponse(frames(), media_type="text/event-stream")


app = Starlette(routes=[Route("/chat/completions", chat, methods=["POST"])])

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["UPSTREAM_PORT"]), log_level="warning")
