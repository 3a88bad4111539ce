"""Guard of a body that is one JSON value: the answer of a provider that was not streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from streamguard_anthropic import guard_response as guard_message
from streamguard_google import guard_response as guard_content
from streamguard_openai.shapes import is_dict, is_list
from streamguard_openai.whole import guard_whole

from streamguard import End, Transformer
from streamguard.adapting import JsonLane, ReasoningPolicy, Settings, ToolArgsPolicy
from streamguard.adapting.sse import EventTooLargeError
from streamguard.session import FindingHandler
from streamguard_asgi.body import BytesGuard
from streamguard_asgi.closing import Ending, error_body
from streamguard_asgi.plain import PlainAdapter
from streamguard_asgi.protocols import Events, Family, Parsed, family_of
from streamguard_asgi.reading import dumped, loaded

__all__ = ["MAX_BODY", "JSONGuard"]

MAX_BODY = 64 * 1024 * 1024
"""Bytes of a body of JSON, by default."""


class JSONGuard(BytesGuard):
    """Guards a body that is one JSON value. Nothing comes out before its end.

    A response of a known provider is guarded as its stream would be, an array of Gemini's chunks
    chunk by chunk, all else string by string. A body in which nothing changes keeps its bytes.

    *Delay*: all of the body. *Memory*: all of the body, at most `max_body`.
    """

    __slots__ = ("_max", "_pieces", "_settings", "_size")

    def __init__(
        self,
        guard: Transformer,
        /,
        *,
        tool_args: ToolArgsPolicy = "guard",
        reasoning: ReasoningPolicy = "guard",
        tool_guard: Transformer | None = None,
        json_content: bool = False,
        on_finding: FindingHandler | None = None,
        max_body: int | None = MAX_BODY,
    ) -> None:
        """Begin a body.

        Args:
            guard: what every text goes through.
            tool_args: what happens to the arguments of tools.
            reasoning: what happens to reasoning.
            tool_guard: what arguments go through, if not `guard`.
            json_content: the content of the response is JSON; only its strings are guarded.
            on_finding: called with each finding.
            max_body: bytes at most; of a larger body nothing comes but an error.

        Raises:
            ValueError: a policy is unknown.
            TypeError: the guard is no `Transformer`.
        """
        super().__init__()
        self._settings = Settings(guard, tool_args, reasoning, tool_guard, json_content, on_finding)
        self._max = max_body
        self._pieces: list[bytes] = []
        self._size = 0

    def _fed(self, data: bytes) -> Iterator[bytes]:
        self._size += len(data)
        if self._max is not None and self._size > self._max:
            self._pieces.clear()
            raise EventTooLargeError(self._max)
        self._pieces.append(data)
        yield b""

    def _ended(self, end: End) -> Iterator[bytes]:
        body = b"".join(self._pieces)
        self._pieces.clear()
        if end is End.ERROR:
            yield self._closing("broken")
            return
        text = body.decode(json.detect_encoding(body), "replace")
        try:
            value, faithful = loaded(text.removeprefix("\ufeff"))
        except json.JSONDecodeError:
            lane = JsonLane(self._settings.guard)
            safe = lane.scrub(text, end=End.TRUNCATED, on_finding=self._settings.on_finding)
            yield body if safe == text else safe.encode("utf-8", "replace")
            return
        shown = self._guarded(value)
        same = shown is value and faithful
        yield body if same else dumped(shown, text).encode("utf-8", "replace")

    def _closing(self, ending: Ending) -> bytes:
        return json.dumps(error_body(ending)).encode()

    def _guarded(self, value: Any) -> Any:
        chosen = self._settings
        family = family_of_whole(value) if is_dict(value) else None
        if family == "openai":
            return guard_whole(value, chosen)
        if family is not None:
            guard: Any = guard_message if family == "anthropic" else guard_content
            return guard(
                value,
                chosen.guard,
                **chosen.options,
            )
        if is_list(value) and (chunks := _chunks(value)):
            return self._array(value, chunks)
        ((_, shown),) = PlainAdapter(chosen, frozenset()).event(value)
        return shown

    def _array(self, value: list[Any], chunks: list[dict[str, Any]]) -> list[Any]:
        """Guard the chunks of a stream that came as one array."""
        events = Events(self._settings, "auto")
        shown = [item for chunk in chunks for _, item in events.event(Parsed(chunk, chunk))]
        shown += [item for _, item in events.end(End.COMPLETE)]
        plain = [item.source if isinstance(item, Parsed) else item for item in shown]
        same = len(plain) == len(value) and all(new is old for new, old in zip(plain, value, strict=True))
        return value if same else plain


def family_of_whole(response: dict[str, Any]) -> Family | None:
    """Tell whose response this is that was not streamed."""
    if isinstance(response.get("output"), list) or response.get("object") == "response":
        return "openai"
    if response.get("type") == "message" and isinstance(response.get("content"), list):
        return "anthropic"
    return family_of(response)


def _chunks(value: list[Any]) -> list[dict[str, Any]]:
    """The items, if they are chunks of a provider."""
    return value if all(is_dict(item) and family_of(item) is not None for item in value) else []
