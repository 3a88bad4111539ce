"""What the gateway says on its own account, in the form the client's SDK understands.

A refusal never quotes what it refuses. Those that another try would not change carry
`x-should-retry: false`, which the SDKs of OpenAI and Anthropic obey.
"""

from __future__ import annotations

import json

from streamguard_asgi import StreamProtocol

__all__ = ["Refusal"]


class Refusal(Exception):  # noqa: N818 - an answer to the client as much as an error
    """The gateway answers by itself, or breaks off what it has begun.

    Attributes:
        status: the HTTP status, if the answer has not begun.
        code: what happened, a word for programs and metrics.
        message: what happened, for people; never text of the client or the upstream.
        retry: whether trying again may help.
    """

    def __init__(self, status: int, code: str, message: str, *, retry: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = f"streamguard: {message}"
        self.retry = retry

    def headers(self) -> list[tuple[bytes, bytes]]:
        """The headers of the answer, without its length."""
        headers = [(b"content-type", b"application/json"), (b"x-streamguard", self.code.encode())]
        return headers if self.retry else [*headers, (b"x-should-retry", b"false")]

    def body(self, protocol: StreamProtocol | None, /) -> bytes:
        """The body of the answer, as the protocol writes errors."""
        error: dict[str, object]
        if protocol == "anthropic":
            error = {"type": "error", "error": {"type": "api_error", "message": self.message}}
        else:
            error = {
                "error": {"message": self.message, "type": "streamguard", "param": None, "code": self.code}
            }
        return json.dumps(error).encode()
