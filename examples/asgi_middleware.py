"""One line guards every stream of a Starlette or FastAPI application. The model is a fake."""

import json
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from streamguard_asgi import StreamGuardMiddleware

from streamguard import FenceScrubber, Redactor

KEY = "sk-proj-" + "Fake0Key1" * 6
TOKENS = ["<thi", "nk>The user wants", " the key.</th", "ink>The key is ", KEY[:9], KEY[9:], ". Bye"]


async def model() -> AsyncIterator[str]:
    """Send the events of a chat completion, cut as it pleases."""
    for token in TOKENS:
        chunk = {"choices": [{"index": 0, "delta": {"content": token}, "finish_reason": None}]}
        yield f"data: {json.dumps(chunk)}\n\n"
    yield f"data: {json.dumps({'choices': [{'index': 0, 'delta': {}, 'finish_reason': 'stop'}]})}\n\n"
    yield "data: [DONE]\n\n"


async def chat(request: Request) -> StreamingResponse:
    return StreamingResponse(model(), media_type="text/event-stream")


app = Starlette(routes=[Route("/chat", chat)])
app.add_middleware(StreamGuardMiddleware, guard=FenceScrubber("think") | Redactor())

if __name__ == "__main__":
    print(TestClient(app).get("/chat").text)
