"""JSON events of no known provider: Ollama's lines, an application's own.

A string under a name that streams text (`content`, `delta`, `token`, ...) is a piece of a lane,
which goes on in the next event that has it at the same place. Every other string is whole and
guarded by itself. An event that says that something has ended (`"done": true`, a finish reason,
a `type` such as `text-end`) closes the lanes: what they hold comes out before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, cast

from streamguard_openai.chat import end_of
from streamguard_openai.shapes import is_dict, is_list, text_of
from streamguard_openai.texts import is_kept

from streamguard import End
from streamguard.adapting import JsonLane, Lanes, LeafPolicy, Path, Settings, guard_object

__all__ = ["TEXT_FIELDS", "PlainAdapter", "closed_by"]

TEXT_FIELDS = frozenset(
    {
        "answer",
        "arguments",
        "chunk",
        "completion",
        "content",
        "delta",
        "inputTextDelta",
        "output_text",
        "partial_json",
        "reasoning",
        "reasoning_content",
        "response",
        "text",
        "thinking",
        "token",
    }
)
"""Names of strings that are pieces of a text; strings anywhere below `delta` are too."""

_JSON = frozenset({"arguments", "inputTextDelta", "partial_json"})
_WHOLE = frozenset({"args", "arguments", "input", "output", "parameters"})  # objects that come at once
_REASONING = frozenset({"reasoning", "reasoning_content", "thinking"})
_CLOSING = re.compile(
    r"(?:^|[-_. ])(?:end(?:ed)?|done|finish(?:ed)?|stop(?:ped)?|completed?|closed?|error|abort(?:ed)?)$",
    re.IGNORECASE,
)
_FLAGS = ("done", "is_finished", "stop")  # of Ollama, Cohere, llama.cpp
_REASONS = ("done_reason", "finish_reason", "finishReason", "stop_reason")
_IDENTS = ("id", "toolCallId", "messageId")

Key = tuple[str, str, str, Path]
"""The lane of a text: the name of its event, its type, what it is a part of, its place."""


def closed_by(name: str) -> End | None:
    """Tell from a name, or a type, whether such an event ends a text, and how."""
    if _CLOSING.search(name) is None:
        return None
    return End.ERROR if name.lower().endswith(("error", "abort", "aborted")) else End.COMPLETE


class PlainAdapter:
    """Guards JSON events whose shape is not known.

    *Delay*: that of the guard; no event waits. *Memory*: a session and an event for each lane.
    """

    __slots__ = ("_every", "_fields", "_json", "_lanes", "_settings", "_templates")

    def __init__(
        self, settings: Settings, text_fields: frozenset[str] | None = None, *, every: bool = False
    ) -> None:
        """Begin a stream.

        Args:
            settings: the guard and its policies.
            text_fields: names of strings that are pieces of a text, if not `TEXT_FIELDS`.
            every: every string is a piece of a text, but for ids, types and the like.
        """
        self._every = every
        self._settings = settings
        self._fields = TEXT_FIELDS if text_fields is None else text_fields
        self._json = JsonLane(settings.tool_guard or settings.guard)
        self._lanes = Lanes(settings.guard, on_finding=settings.on_finding)
        self._templates: dict[Key, Any] = {}

    def event(self, event: Any, name: str = "") -> list[tuple[str, Any]]:
        """Take the next event and return what may be shown now, each with its name."""
        if _is_message(event):
            return [(name, self._whole(event, self._policy))]
        safe = self._whole(event, self._select)
        kind, ident, end = _about(event, name)
        before: list[tuple[str, Any]] = []
        if end is not None:
            own = {(name, kind, ident, path) for path in self._places(event)}
            for key in self._open(ident):
                before += self._release(key, end) if key not in own else ()

        def piece(path: Path, text: str) -> str:
            key = (name, kind, ident, path)
            lane = self._json if path[-1] in _JSON else None
            shown = self._lanes.feed(key, text, guard=lane)
            if end is not None:
                return shown + self._lanes.flush(key, end)
            self._templates[key] = safe
            return shown

        shown = self._pieces(safe, (), piece)
        return [*before, (name, self._whole(shown, self._policy) if self._every else shown)]

    def has_pieces(self, event: Any) -> bool:
        """Tell whether an event has strings that may be pieces of texts."""
        return bool(self._places(event))

    def end(self, end: End, /) -> list[tuple[str, Any]]:
        """Return what was held and may be shown."""
        keys = cast("list[Key]", list(self._lanes.open))
        return [shown for key in keys for shown in self._release(key, end)]

    def _open(self, ident: str) -> list[Key]:
        keys = cast("Iterable[Key]", self._lanes.open)
        return [key for key in keys if not ident or key[2] in ("", ident)]

    def _places(self, event: Any) -> list[Path]:
        """Return where an event has pieces of texts."""
        places: list[Path] = []

        def note(path: Path, text: str) -> str:
            places.append(path)
            return text

        self._pieces(event, (), note)
        return places

    def _release(self, key: Key, end: End) -> list[tuple[str, Any]]:
        text = self._lanes.flush(key, end)
        template = self._templates.pop(key, None)
        if not text:
            return []
        return [(key[0], self._pieces(template, (), lambda path, _: text if path == key[3] else ""))]

    def _pieces(self, value: Any, path: Path, piece: Callable[[Path, str], str]) -> Any:
        """Replace the pieces of texts in an event; the same object where none differs."""
        if isinstance(value, str):
            if not self._is_piece(path) or self._policy(path) == "keep":
                return value
            shown = piece(path, value)
            return value if shown == value else shown
        items: Iterable[tuple[Any, Any]]
        if is_dict(value):
            items = value.items()
        elif is_list(value):
            items = enumerate(value)
        else:
            return value
        changes = {
            part: new for part, item in items if (new := self._pieces(item, (*path, part), piece)) is not item
        }
        if not changes:
            return value
        result: Any = dict(value) if is_dict(value) else list(value)
        for part, new in changes.items():
            result[part] = new
        return result

    def _whole(self, event: Any, select: Callable[[Path], LeafPolicy | bool]) -> Any:
        return guard_object(event, self._settings.guard, select=select, on_finding=self._settings.on_finding)

    def _select(self, path: Path) -> LeafPolicy | bool:
        policy = self._policy(path)
        if policy == "guard" and self._is_piece(path):
            return "keep"
        return policy

    def _policy(self, path: Path) -> LeafPolicy:
        if any(part in _REASONING for part in path):
            return self._settings.reasoning
        if any(part in _JSON for part in path):
            return self._settings.tool_args
        return "guard"

    def _is_piece(self, path: Path) -> bool:
        names = [part for part in path if isinstance(part, str)]
        if self._every:
            return bool(names) and not is_kept(path) and "usage" not in names
        if not names or not _WHOLE.isdisjoint(names[:-1]):
            return False
        return names[-1] in self._fields or (
            "delta" in self._fields and "delta" in names and not is_kept(path)
        )


def _about(event: Any, name: str) -> tuple[str, str, End | None]:
    """Tell the type of an event, what it is a part of, and whether and how it ends texts."""
    end = closed_by(name)
    if not is_dict(event):
        return "", "", end
    kind = text_of(event, "type") or text_of(event, "event")
    end = end or closed_by(kind)
    ident = text_of(event, "run_id")
    if not ident and (end is not None or kind.lower().endswith(("delta", "content"))):
        ident = next((event[part] for part in _IDENTS if isinstance(event.get(part), str)), "")
    reason = next((event[part] for part in _REASONS if isinstance(event.get(part), str)), "")
    if reason:
        end = end_of(reason)
    elif end is None and event.get("error"):
        end = End.ERROR
    elif end is None and (any(event.get(flag) is True for flag in _FLAGS) or _repeats(event)):
        end = End.COMPLETE
    return kind, ident, end


def _repeats(event: dict[str, Any]) -> bool:
    """Tell whether an event repeats the whole text: the last of text generation inference."""
    return text_of(event, "generated_text") != ""


def _is_message(event: Any) -> bool:
    """Tell whether an event is a message of JSON-RPC, and no piece of an artifact (A2A)."""
    if not is_dict(event) or "jsonrpc" not in event:
        return False
    result = event.get("result")
    return not (is_dict(result) and "artifact" in result)
