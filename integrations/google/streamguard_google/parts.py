"""The parts of a candidate, guarded as its texts.

A candidate has up to three texts: its answer, its thoughts and the transcript of its audio.
Their parts come one by one. Thoughts end where an answer begins. The answer goes on over
thoughts (whoever joins it skips them) and ends at a call of a tool and at any other part.
What a text holds when it ends becomes a part of its own, right before the part that ends it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable
from typing import Any

from streamguard import End
from streamguard.adapting import JsonLane, Lanes, Settings, Unchanged, guard_object
from streamguard_google.leaves import guard_leaves
from streamguard_google.shape import fields, get, listed, plain, put

__all__ = ["Parts"]

_NAME = re.compile(r"""[^][.$'"0-9][^][.$'"]*""")
"""A name in a JSON path such as `$.query['first name'][0]`."""
_TEXT = ("text", "thought")
_CALLS = ("function_call", "tool_call")
_OPAQUE = frozenset(
    {
        "text",
        "thought",
        "thought_signature",
        "inline_data",
        "file_data",
        "video_metadata",
        "media_resolution",
        "audio_transcription",
        *_CALLS,
    }
)


class Parts:
    """The texts of one candidate."""

    def __init__(self, key: Hashable, settings: Settings, lanes: Lanes) -> None:
        self._key = key
        self._settings = settings
        self._lanes = lanes
        self._templates: dict[str, Any] = {}
        self._answer = settings.for_content
        self._json = JsonLane(settings.for_tools)
        self._arguments: set[str] = set()  # paths of strings that are open
        self.unchanged = Unchanged()
        """Whether the answer so far came out as it went in."""

    @property
    def open(self) -> bool:
        """Whether a text may still have something to say.

        One that holds no characters may: the placeholder of a secret that has not ended.
        """
        return bool(self._templates)

    def guarded(self, parts: list[Any]) -> list[Any]:
        """Guard the next parts."""
        shown: list[Any] = []
        for part in parts:
            text = get(part, "text")
            if isinstance(text, str) and not _calls(part):
                self._text(part, text, shown)
            elif get(part, "audio_transcription") is not None:
                self._transcript(part, shown)
            else:
                self._other(part, shown)
        if not shown and parts:  # a chat takes a turn without parts for a failed one
            shown.append(put(plain(parts[0], ("text",)), text=""))
        return shown

    def close(self, end: End, shown: list[Any]) -> None:
        """End every text; what was held goes to the last part if that is of its kind."""
        for kind in list(self._templates):
            self._close(kind, end, shown)
        for path in self._arguments:
            self._lanes.flush((self._key, "argument", path), End.TRUNCATED)
        self._arguments.clear()

    def _text(self, part: Any, text: str, shown: list[Any]) -> None:
        thought = bool(get(part, "thought"))
        kind = "thought" if thought else "text"
        if thought and self._settings.reasoning == "keep":
            shown.append(part)
            return
        if thought and self._settings.reasoning == "drop":
            if fields(part).keys() - _TEXT:
                shown.append(self._rest(put(part, text="")))
            return
        if text and not thought:
            self._close("thought", End.COMPLETE, shown)
        safe = self._lanes.feed((self._key, kind), text, guard=None if thought else self._answer)
        if not thought:
            self.unchanged.passed(text, safe)
        self._templates[kind] = part
        shown.append(self._rest(part if safe == text else put(part, text=safe)))

    def _transcript(self, part: Any, shown: list[Any]) -> None:
        spoken = get(part, "audio_transcription")
        text = get(spoken, "text") or ""
        safe = self._lanes.feed((self._key, "transcript"), text)
        self._templates["transcript"] = part
        if get(spoken, "finished"):
            safe += self._lanes.flush((self._key, "transcript"))
        if safe != text:
            spoken = put(spoken, text=safe, words=None)
            part = put(part, audio_transcription=spoken)
        self._other(part, shown, ends=False)

    def _other(self, part: Any, shown: list[Any], *, ends: bool = True) -> None:
        calls = _calls(part)
        if ends:
            self._close("thought", End.COMPLETE, shown)
            self._close("text", End.TOOL_CALL if calls else End.COMPLETE, shown)
        changes: dict[str, object] = {}
        for name in calls:
            call = get(part, name)
            if (safe := self._call(call)) is not call:
                changes[name] = safe
        text = get(part, "text")
        if isinstance(text, str):  # beside a call: a text of its own
            changes["text"] = self._settings.guard.scrub(text)
        shown.append(self._rest(put(part, **changes) if changes else part))

    def _rest(self, part: Any) -> Any:
        """Guard what a part has besides its text or call."""
        changes: dict[str, object] = {}
        for name, value in fields(part).items():
            if name not in _OPAQUE and (safe := guard_leaves(value, self._settings)) is not value:
                changes[name] = safe
        return put(part, **changes) if changes else part

    def _call(self, call: Any) -> Any:
        settings = self._settings
        if settings.tool_args == "keep":
            return call
        changes: dict[str, object] = {}
        args, partial = get(call, "args"), listed(call, "partial_args")
        if settings.tool_args == "drop":
            changes = {"args": {}} if args else {}
            return put(call, **changes, partial_args=None) if args or partial else call
        safe = guard_object(args, settings.for_tools, on_finding=settings.on_finding) if args else args
        if safe is not args:
            changes["args"] = safe
        pieces = [self._piece(piece) for piece in partial]
        if any(new is not old for new, old in zip(pieces, partial, strict=True)):
            changes["partial_args"] = pieces
        return put(call, **changes) if changes else call

    def _piece(self, piece: Any) -> Any:
        """Guard a piece of an argument that streams; its last piece brings what was held."""
        text, path = get(piece, "string_value"), str(get(piece, "json_path"))
        if not isinstance(text, str):
            return piece
        key = (self._key, "argument", path)
        if path not in self._arguments:  # a string behind its key, as in the whole arguments
            self._arguments.add(path)
            name = json.dumps(_NAME.findall(path)[-1:] or [""])[1:-1]
            self._lanes.feed(key, f'{{{name}:"', guard=self._json)
        safe = self._lanes.feed(key, json.dumps(text, ensure_ascii=False)[1:-1])
        if not get(piece, "will_continue"):
            safe += self._lanes.feed(key, '"}').removesuffix('"}')
            self._lanes.flush(key)
            self._arguments.discard(path)
        safe = json.loads(f'"{safe}"')
        return piece if safe == text else put(piece, string_value=safe)

    def _close(self, kind: str, end: End, shown: list[Any]) -> None:
        template = self._templates.pop(kind, None)
        if template is None:
            return
        held = self._lanes.flush((self._key, kind), end)
        if kind == "text":
            self.unchanged.passed("", held)
        if not held:
            return
        if kind == "transcript":
            spoken = put(plain(get(template, "audio_transcription"), ("text",)), text=held)
            shown.append(put(plain(template, ("audio_transcription",)), audio_transcription=spoken))
            return
        last = shown[-1] if shown else None
        text = get(last, "text") if last is not None and not _calls(last) else None
        if isinstance(text, str) and bool(get(last, "thought")) == (kind == "thought"):
            shown[-1] = put(last, text=text + held)
        else:
            shown.append(put(plain(template, _TEXT), text=held))


def _calls(part: Any) -> list[str]:
    return [name for name in _CALLS if get(part, name) is not None]
