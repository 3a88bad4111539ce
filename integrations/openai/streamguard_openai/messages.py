"""A message of a chat completion that came whole."""

from __future__ import annotations

from typing import Any

from streamguard import End
from streamguard.adapting import Path
from streamguard_openai.shapes import DROPPED, fields, has_fields, is_list, with_fields
from streamguard_openai.signed import SIGNED, without_signature
from streamguard_openai.texts import KEPT, Role, Texts, role_of, walk

__all__ = ["guard_message"]

_PARSED: dict[str, Role] = {"parsed": "content", "parsed_arguments": "json"}


def guard_message(texts: Texts, index: int, message: Any, end: End) -> Any:
    """Guard every text of a message, as a stream of it would be.

    Args:
        texts: the texts of the response.
        index: the choice.
        message: an object or a dictionary; it is not changed.
        end: why the choice ended.
    """

    def leaf(key: Path, path: Path, text: str, role: Role) -> str:
        return texts.scrub(key, text, role, end)

    changes: dict[str, Any] = {}
    for name, value in fields(message).items():
        if value is None or name in KEPT:
            continue
        role = role_of(name)
        if name in _PARSED:
            new = texts.parsed(value, _PARSED[name])
        elif role == "reasoning" and texts.policy(role) == "drop":
            new = DROPPED
        elif name == "tool_calls":
            new = _calls(texts, walk(value, (index, name), (name,), role, leaf, shape=texts.shaped))
        elif not isinstance(value, str) and name not in SIGNED and (name == "content" or role == "reasoning"):
            new = _parts(texts, value, (index, name), role, end)
        elif isinstance(value, str) or name in ("audio", "function_call") or role == "reasoning":
            new = walk(value, (index, name), (name,), role, leaf, shape=texts.shaped)
            if name in SIGNED:
                new = without_signature(value, new)
        else:
            new = texts.leaves(name, value)
        if new is not value:
            changes[name] = new
    return with_fields(message, changes) if changes else message


def _parts(texts: Texts, value: Any, key: Path, role: Role, end: End) -> Any:
    """Guard a list of parts: those of one lane are one text, as they are where they are streamed."""
    lanes: dict[tuple[Path, Role], list[tuple[Path, str]]] = {}
    shown: dict[Path, str] = {}

    def note(key: Path, path: Path, text: str, role: Role) -> str:
        lanes.setdefault((key, role), []).append((path, text))
        return text

    def leaf(_key: Path, path: Path, _text: str, _role: Role) -> str:
        return shown[path]

    path = (str(key[-1]),)
    walk(value, key, path, role, note, shape=lambda value, _: value)
    for (lane, kind), parts in lanes.items():
        if kind in ("content", "text", "reasoning") and texts.policy(kind) == "guard":
            shown.update(texts.spread(lane, kind).scrub(parts, end))
        else:
            shown.update((place, texts.scrub(lane, text, kind, end)) for place, text in parts)
    return walk(value, key, path, role, leaf, shape=texts.shaped)


def _calls(texts: Texts, calls: Any) -> Any:
    """Guard what the SDK has made of the arguments (`parsed_arguments`)."""
    if not is_list(calls):
        return calls
    news = [_call(texts, call) for call in calls]
    return calls if all(new is call for new, call in zip(news, calls, strict=True)) else news


def _call(texts: Texts, call: Any) -> Any:
    function = fields(call).get("function") if has_fields(call) else None
    parsed = fields(function).get("parsed_arguments") if has_fields(function) else None
    if parsed is None:
        return call
    new = texts.parsed(parsed, "json")
    if new is parsed:
        return call
    return with_fields(call, {"function": with_fields(function, {"parsed_arguments": new})})
