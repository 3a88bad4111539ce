"""Streams of chat completions, and of the older completions.

A lane is the text of one field of one choice: `(0, "content")`,
`(0, "tool_calls", 1, "function", "arguments")`. Unknown strings of a delta are lanes too.
A choice's lanes are closed by its finish reason and by nothing else: text that goes on behind
a call of a tool may still stand in a fence that was opened before it. So what is held comes
out right before the finish reason, in a chunk that has the lane's field and no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from streamguard import End, Transformer
from streamguard.adapting import Path, ReasoningPolicy, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_openai.logprobs import says
from streamguard_openai.messages import guard_message
from streamguard_openai.shapes import (
    DROPPED,
    fields,
    fields_or_none,
    graft,
    has_fields,
    is_sequence,
    only,
    with_fields,
)
from streamguard_openai.texts import KEPT, Role, Settings, Texts, role_of, walk

__all__ = ["ChatAdapter", "CompletionAdapter", "end_of"]

_IDENTITY = ("id", "object", "created", "model", "system_fingerprint", "service_tier", "provider")
_SILENT = frozenset({*_IDENTITY, "choices", "obfuscation"})
_NESTED = frozenset(
    {
        "audio",
        "content",
        "function_call",
        "provider_specific_fields",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "thinking",
        "thinking_blocks",
        "tool_calls",
    }
)  # fields of a delta that carry pieces of texts further inside; others come whole
_ENDS = {
    **dict.fromkeys(("stop", "stop_sequence", "end_turn", "eos", "eos_token", "completed"), End.COMPLETE),
    **dict.fromkeys(("tool_calls", "function_call", "tool_use"), End.TOOL_CALL),
    **dict.fromkeys(("content_filter", "error", "safety"), End.ERROR),
}


def end_of(reason: object) -> End:
    """Tell why a text ended. Of an unknown reason nothing good is assumed."""
    return _ENDS.get(str(reason).lower(), End.TRUNCATED)


class ChatAdapter:
    """Guards the chunks of one chat completion: objects of the SDK, or dictionaries.

    *Delay*: that of the guard, lane by lane; nothing else waits. *Memory*: the sessions, and
    one chunk for each lane. Chunks are never changed: what differs is a copy. A chunk of which
    nothing is left is not sent.
    """

    __slots__ = ("_ends", "_templates", "_texts")

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
        """Begin a response.

        Args:
            guard: what every text goes through.
            tool_args: what happens to the arguments of tools and functions.
            reasoning: what happens to reasoning.
            tool_guard: what arguments go through, if not `guard`.
            json_content: the content is JSON (a structured output); only its strings are guarded.
            on_finding: called with each finding.
        """
        self._texts = Texts(Settings(guard, tool_args, reasoning, tool_guard, json_content, on_finding))
        self._templates: dict[Path, tuple[Any, Any, Path]] = {}  # the last chunk of a lane
        self._ends: dict[int, End] = {}

    def event(self, chunk: Any, /) -> Iterable[Any]:
        """Take the next chunk and return what may be shown now."""
        data = fields_or_none(chunk)
        if data is None:
            return [self._texts.leaves("event", chunk)]
        choices = data.get("choices")
        listed = is_sequence(choices)
        changes: dict[str, Any] = {}
        says_more = False
        for name, value in data.items():
            if value is None or (name in _SILENT and (listed or name != "choices")):
                continue
            says_more = True
            if name not in KEPT:
                new = self._texts.leaves(name, value)
                if new is not value:
                    changes[name] = new
        before: list[Any] = []
        if data.get("error") is not None and not choices:
            before += self.end(End.ERROR)
        if listed and choices:
            news: list[Any] = []
            for choice in choices:
                new, spoke = self._choice(chunk, choice, before)
                news.append(new)
                says_more = says_more or spoke
                if new is not choice:
                    changes["choices"] = news
        if not changes:
            before.append(chunk)
        elif says_more:
            before.append(with_fields(chunk, changes))
        return before

    def end(self, end: End, /) -> Iterable[Any]:
        """Return what was held. A choice without a finish reason has broken off."""
        missed = End.TRUNCATED if end is End.COMPLETE else end
        held: list[Any] = []
        for index in dict.fromkeys(_choice_of(key) for key in self._texts.lanes.open):
            held += self._release(index, self._ends.get(index, missed) if end is End.COMPLETE else end)
        return held

    def _choice(self, chunk: Any, choice: Any, before: list[Any]) -> tuple[Any, bool]:
        """Guard a choice; tell whether it says anything."""
        own = fields_or_none(choice)
        if own is None:
            return self._texts.leaves("choice", choice), True
        index = own.get("index")
        if not isinstance(index, int):
            index = 0
        reason = own.get("finish_reason") or None
        changes: dict[str, Any] = {}
        spoke = reason is not None
        wrote = False
        for name, value in own.items():
            if value is None or name in ("index", "finish_reason", "logprobs"):
                continue
            if name == "delta" and has_fields(value):
                new, wrote = self._delta(chunk, choice, index, value)
            elif name == "text" and isinstance(value, str):
                new, wrote = self._text(chunk, choice, index, value)
            elif name == "message" and has_fields(value):
                end = End.TRUNCATED if reason is None else end_of(reason)
                new = guard_message(self._texts, index, value, end)
                spoke = True
            elif name in KEPT:
                spoke = True
                continue
            else:
                new = self._texts.leaves(name, value)
                spoke = True
            if new is not value:
                changes[name] = new
        logprobs = own.get("logprobs")
        if logprobs is not None and (changes or not says(logprobs, own)):
            changes["logprobs"] = None
        if reason is not None:
            self._ends[index] = end_of(reason)
            held = self._release(index, end_of(reason))
            if held and wrote:
                before.append(_alone(chunk, with_fields(choice, {**changes, "finish_reason": None})))
                changes.update(_emptied(own))
            before += held
        return (with_fields(choice, changes) if changes else choice), spoke or wrote

    def _delta(self, chunk: Any, choice: Any, index: int, delta: Any) -> tuple[Any, bool]:
        """Guard a delta; tell whether it says anything."""
        changes: dict[str, Any] = {}
        spoke = False
        for name, value in fields(delta).items():
            if value is None:
                continue
            if name in KEPT:
                spoke = True
                continue
            role = role_of(name)
            if role == "reasoning" and self._texts.policy(role) == "drop":
                changes[name] = DROPPED
            elif isinstance(value, str):
                key: Path = (index, name)
                shown = self._texts.feed(key, value, role)
                self._templates[key] = (chunk, choice, ("delta", name))
                spoke = spoke or shown != ""
                if shown != value:
                    changes[name] = shown
            elif name in _NESTED:
                new, wrote = self._inside(chunk, choice, (index, name), value)
                spoke = spoke or wrote
                if new is not value:
                    changes[name] = new
            else:
                spoke = True
                new = self._texts.leaves(name, value)
                if new is not value:
                    changes[name] = new
        return (with_fields(delta, changes) if changes else delta), spoke

    def _inside(self, chunk: Any, choice: Any, key: Path, value: Any) -> tuple[Any, bool]:
        """Guard what has pieces of texts further inside; tell whether it says anything."""
        name = str(key[-1])
        spoke = name in ("tool_calls", "function_call") and _names_tool(value)

        def leaf(key: Path, path: Path, text: str, role: Role) -> str:
            nonlocal spoke
            shown = self._texts.feed(key, text, role)
            self._templates[key] = (chunk, choice, path)
            spoke = spoke or shown != ""
            return shown

        return walk(value, key, ("delta", name), role_of(name), leaf), spoke

    def _text(self, chunk: Any, choice: Any, index: int, text: str) -> tuple[str, bool]:
        key: Path = (index, "text")
        shown = self._texts.feed(key, text, "content")
        self._templates[key] = (chunk, choice, ("text",))
        return (text if shown == text else shown), bool(shown)

    def _release(self, index: int, end: End) -> list[Any]:
        """Close the lanes of a choice; each that held text gives a chunk."""
        held: list[Any] = []
        for key in self._texts.lanes.open:
            if _choice_of(key) != index:
                continue
            text = self._texts.lanes.flush(key, end)
            template = self._templates.pop(cast("Path", key), None)
            if text and template is not None:
                chunk, choice, path = template
                held.append(_held(chunk, choice, path, text))
        return held


class CompletionAdapter(ChatAdapter):
    """Guards the chunks of one completion of the older kind, whose choices have a `text`."""

    __slots__ = ()


def _choice_of(key: Any) -> int:
    index: int = key[0]
    return index


def _names_tool(value: Any) -> bool:
    """Tell whether calls of tools say more than their arguments: which tool, which call."""
    calls = value if is_sequence(value) else [value]
    for call in calls:
        own = fields(call)
        if own.get("id") or own.get("name"):
            return True
        for name in ("function", "custom"):
            inner = own.get(name)
            if inner is not None and has_fields(inner) and fields(inner).get("name"):
                return True
    return False


def _emptied(choice: Mapping[str, Any]) -> dict[str, Any]:
    """Take the text off a choice that goes on with its finish reason only."""
    text = {"delta": only(choice["delta"], {})} if "delta" in choice else {"text": ""}
    return text if choice.get("logprobs") is None else {**text, "logprobs": None}


def _alone(chunk: Any, choice: Any) -> Any:
    """Make a chunk like the given one, with this choice only and nothing about the whole."""
    own = fields(chunk)
    kept = {name: own[name] for name in _IDENTITY if name in own}
    return only(chunk, {**kept, "choices": [choice]})


def _held(chunk: Any, choice: Any, path: Path, text: str) -> Any:
    own = fields(choice)
    kept = {name: None for name in ("finish_reason", "logprobs") if name in own}
    name, rest = str(path[0]), path[1:]
    kept[name] = graft(own[name], rest, text)
    if "index" in own:
        kept["index"] = own["index"]
    return _alone(chunk, only(choice, kept))
