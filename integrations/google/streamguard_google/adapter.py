"""The chunks of one stream of generated content, guarded candidate by candidate.

What a candidate holds at its end leaves in the chunk that has the finish reason. Some models
have put a finish reason on every chunk, so a chunk with one waits, if a text is open, until the
next chunk shows whether the candidate goes on; the last chunk waits for nothing else.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from streamguard import End, Transformer
from streamguard.adapting import Lanes, ReasoningPolicy, Settings, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_google.candidates import Candidate, guard_rest, speaks
from streamguard_google.parts import Parts
from streamguard_google.shape import fields, get, listed, put

__all__ = ["GenerateContentAdapter"]

E = TypeVar("E")


class GenerateContentAdapter(Generic[E]):
    """Guards the chunks of one response: objects of the SDK, or dictionaries.

    *Delay*: that of the guard; every chunk comes out at once, with the text that may be shown,
    but one with a finish reason while a text is open. *Memory*: that of the guard, a part for
    each text, and one chunk.
    """

    def __init__(
        self,
        guard: Transformer,
        *,
        tool_args: ToolArgsPolicy = "guard",
        reasoning: ReasoningPolicy = "guard",
        tool_guard: Transformer | None = None,
        json_content: bool = False,
        on_finding: FindingHandler | None = None,
    ) -> None:
        """Make the state of one response; the arguments are those of `guard_stream`.

        Raises:
            ValueError: a policy is unknown.
        """
        self._settings = Settings(guard, tool_args, reasoning, tool_guard, json_content, on_finding)
        self._lanes = Lanes(guard, on_finding=on_finding)
        self._parts: dict[object, Parts] = {}
        self._contents: dict[object, Any] = {}
        self._finished: dict[object, End] = {}
        self._waiting: tuple[Any, list[Candidate]] | None = None
        self._last: tuple[Any, list[Candidate]] | None = None

    def event(self, event: E, /) -> list[E]:
        """Take the next chunk and return what may be shown now."""
        shown: list[E] = []
        if self._waiting is not None:
            shown.append(self._released(*self._waiting, event))
        candidates = [self._candidate(*found) for found in enumerate(listed(event, "candidates"))]
        if candidates:
            self._last = (event, candidates)
        if any(candidate.end is not None and candidate.parts.open for candidate in candidates):
            self._waiting = (event, candidates)
            return shown
        shown.append(self._made(event, candidates))
        return shown

    def end(self, end: End, /) -> list[E]:
        """Return what is still held; without a finish reason the response has broken off."""
        shown: list[E] = []
        if self._waiting is not None:
            shown.append(self._released(*self._waiting, None))
        if end is End.COMPLETE:
            end = End.TRUNCATED
        if self._last is None:
            return shown
        event, candidates = self._last
        rest: list[Any] = []
        for key, parts in self._parts.items():
            held: list[Any] = []
            parts.close(self._finished.get(key, end), held)
            if held:
                (like,) = [one for one in candidates if one.key == key] or candidates[:1]
                rest.append(like.bare(put(self._contents[key], parts=held)))
        if rest:
            shown.append(put(event, candidates=rest, **dict.fromkeys(_extras(event))))
        return shown

    def whole(self, response: E, /) -> E:
        """Guard a response that was not streamed."""
        candidates = [self._candidate(*found) for found in enumerate(listed(response, "candidates"))]
        for candidate in candidates:
            candidate.close(candidate.end or End.COMPLETE)
        safe: E = self._made(response, candidates)
        return safe

    def _candidate(self, position: int, candidate: Any) -> Candidate:
        index = get(candidate, "index")
        key = position if index is None else index
        parts = self._parts.get(key)
        if parts is None:
            self._parts[key] = parts = Parts(key, self._settings, self._lanes)
        content = get(candidate, "content")
        if content is not None:
            self._contents[key] = content
        result = Candidate(key, candidate, parts)
        if result.end is not None:
            self._finished[key] = result.end
        elif result.speaks:
            self._finished.pop(key, None)
        return result

    def _released(self, chunk: Any, candidates: list[Candidate], following: Any) -> Any:
        """Let the waiting chunk out: with what is held, where its candidates do not go on."""
        self._waiting = None
        going: set[object] = set()
        if following is not None and get(following, "response_id") == get(chunk, "response_id"):
            for position, candidate in enumerate(listed(following, "candidates")):
                index = get(candidate, "index")
                if speaks(candidate):
                    going.add(position if index is None else index)
        for candidate in candidates:
            if candidate.end is not None and candidate.key not in going:
                candidate.close(candidate.end)
        return self._made(chunk, candidates)

    def _made(self, chunk: Any, candidates: list[Candidate]) -> Any:
        changes = guard_rest(chunk, self._settings)
        came = listed(chunk, "candidates")
        shown = [one.shown(self._contents.get(one.key), self._settings) for one in candidates]
        if any(new is not old for new, old in zip(shown, came, strict=True)):
            changes["candidates"] = shown
        return put(chunk, **changes) if changes else chunk


def _extras(chunk: Any) -> list[str]:
    return [
        name
        for name in fields(chunk)
        if name not in ("candidates", "model_version", "response_id", "create_time", "sdk_http_response")
    ]
