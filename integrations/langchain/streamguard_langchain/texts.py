"""The texts of one message: found by a walk over its parts, each guarded in a lane of its own.

The same walk serves chunks and whole messages. A lane is named by the way to its text, with the
`index` of a block where it has one, since that is how LangChain merges chunks: strings that
stand at the same place are joined. Of a whole message every text ends; of a chunk only those
whose end can be told from it.

A block of content that has one of a tool behind it ends as before a tool call, and the last the way
the response does, like all texts that are in no block. None is closed before the response ends:
providers may take turns between blocks, and a text that is closed too early has been cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamguard import End
from streamguard.adapting import JsonLane, Lanes, Unchanged, guard_object
from streamguard_langchain.free import FreeData
from streamguard_langchain.kinds import is_identifier, is_kept_in
from streamguard_langchain.places import Key, Place
from streamguard_langchain.settings import (
    Role,
    Settings,
    block_role,
    is_kept,
    is_sealed,
    is_tool_block,
    role_of,
)
from streamguard_langchain.shapes import index_of, is_dict, is_list

__all__ = ["Texts"]

_SIGNATURES = ("signature", "thought_signature")
_DROPPED: Any = object()


class Texts:
    """The lanes of one response.

    *Memory*: the sessions, and for each open lane the field of the chunk it was last seen in.
    """

    __slots__ = ("_answering", "_calls", "_count", "_guards", "_settings", "_unchanged", "lanes", "places")

    def __init__(self, settings: Settings, *, json_content: bool = False) -> None:
        """Begin a response.

        Args:
            settings: what the user has chosen.
            json_content: the answer is JSON (a structured output): only its strings are guarded.
        """
        guard = settings.guard
        self._settings = settings
        self.lanes = Lanes(guard, on_finding=settings.on_finding)
        self.places: dict[Key, Place] = {}
        self._guards: dict[Role, Any] = {
            "text": JsonLane(guard) if json_content else guard,
            "reasoning": guard,
            "json": JsonLane(settings.for_tools),
            "tool": settings.for_tools,
            "answer": JsonLane(settings.for_tools),
        }
        self._answering: set[Key] = set()  # the calls whose arguments are a structured output
        self._unchanged: dict[Key, Unchanged] = {}
        self._calls: dict[str | int, bool] = {}  # the blocks of content, and whether they call a tool
        self._count = 0

    def content(self, content: Any, end: End | None, *, whole: bool = False) -> Any:
        """Guard the content of a message; `end` is `None` while the stream goes on."""
        if isinstance(content, str):
            return self.text(("content",), (content, ()), content, "text", end)
        keys = [_block_key(block, position, whole=whole) for position, block in enumerate(content)]
        for key, block in zip(keys, content, strict=True):
            self._calls.setdefault(key, is_dict(block) and is_tool_block(block.get("type")))
        shown: list[Any] = []
        for position, (key, block) in enumerate(zip(keys, content, strict=True)):
            ends = None if end is None else self.block_end(key, end)
            new = self._block(("content", key), block, (content, (position,)), ends)
            if new is not _DROPPED:
                shown.append(new)
        same = len(shown) == len(content) and all(new is old for new, old in zip(shown, content, strict=True))
        return content if same else shown

    def block_end(self, key: str | int, end: End) -> End:
        """Tell how a block of content ends, in a response that ends like this."""
        order = list(self._calls)
        following = order[order.index(key) + 1 :]
        if not following or _goes_on(key):
            return end
        return End.TOOL_CALL if self._calls[following[0]] else End.COMPLETE

    def fields(self, values: Mapping[str, Any], key: Key, end: End | None, *, whole: bool) -> dict[str, Any]:
        """Guard `additional_kwargs`; return the fields that change."""
        changes: dict[str, Any] = {}
        for name, value in values.items():
            if value is None or is_sealed(name):
                continue
            if name.startswith("logprobs"):  # they repeat the text
                changes[name] = _DROPPED
                continue
            if is_identifier(name) and isinstance(value, str):
                new = self.leaves(name, value)
                if new is not value:
                    changes[name] = new
                continue
            role = role_of(name, "text")
            if name == "parsed":
                new = guard_object(value, self._settings.guard)
            elif role == "reasoning" and self._settings.reasoning == "drop":
                new = _DROPPED
            else:
                new = self._walk(value, (*key, name), (values, (name,)), role, end, whole=whole)
            if new is not value:
                changes[name] = new
        return changes

    def calls(self, calls: list[Any], field: str, end: End | None, *, whole: bool = False) -> list[Any]:
        """Guard a list of calls of tools: `tool_call_chunks`, `tool_calls`, `invalid_tool_calls`."""
        if not calls or (self._settings.tool_args == "keep" and not self._settings.answers):
            return calls
        news: list[Any] = []
        for position, call in enumerate(calls):
            index = index_of(call)
            key = index if index is not None else position if whole else self._next()
            ends = end if whole or index is not None else End.COMPLETE
            args = call.get("args")
            role = self._call_role((field, key), call, "json")
            new = self._walk(args, (field, key, "args"), (calls, (position, "args")), role, ends)
            news.append(call if new is args else {**call, "args": new})
        return calls if all(new is call for new, call in zip(news, calls, strict=True)) else news

    def metadata(self, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
        """Guard metadata, leaf by leaf. Log probabilities repeat the text: they are dropped."""
        if all(is_kept(name) or not isinstance(value, str | dict | list) for name, value in metadata.items()):
            return metadata
        result: dict[str, Any] = {}
        for name, value in metadata.items():
            if name.startswith("logprobs"):
                continue
            result[name] = value if is_kept(name) else self.leaves(name, value)
        same = len(result) == len(metadata) and all(result[name] is metadata[name] for name in result)
        return metadata if same else result

    def extras(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Guard fields that LangChain does not know."""
        return {name: self.leaves(name, value) for name, value in values.items()}

    @staticmethod
    def dropped(value: object) -> bool:
        """Tell whether a field has been dropped."""
        return value is _DROPPED

    def flush(self, key: Key, end: End) -> tuple[Place, str]:
        """Close a lane; return where its text stood, and what it held."""
        text = self.lanes.flush(key, end)
        if text and key in self._unchanged:
            self._unchanged[key].passed("", text)
        return self.places.pop(key), text

    def leaves(self, name: str, value: Any) -> Any:
        """Guard what came whole, string by string."""
        return FreeData(self._settings.guard, on_finding=self._settings.on_finding).guarded(value, name)

    def _next(self) -> int:
        self._count -= 1
        return self._count

    def _block(self, key: Key, block: Any, place: Place, end: End | None) -> Any:
        """Guard a block of content, or a bare string among the blocks."""
        if isinstance(block, str):
            return self.text(key, place, block, "text", end)
        if not is_dict(block):
            return block
        role = block_role(block.get("type"))
        if role == "reasoning":
            if self._settings.reasoning == "drop":
                return _DROPPED
            return self._reasoning(key, block, place, end)
        return self._walk(block, key, place, role, end)

    def _reasoning(self, key: Key, block: dict[str, Any], place: Place, end: End | None) -> Any:
        """A signature closes the reasoning it stands for, and is valid for that alone."""
        if self._settings.reasoning == "keep":
            return block
        extras = block.get("extras")
        signed = any(block.get(name) or (is_dict(extras) and extras.get(name)) for name in _SIGNATURES)
        new = self._walk(block, key, place, "reasoning", End.COMPLETE if signed else end, signed=signed)
        if not signed or all(same for lane, same in self._unchanged.items() if lane[: len(key)] == key):
            return new
        new = {name: value for name, value in new.items() if name not in _SIGNATURES}
        if is_dict(extras):
            new["extras"] = {name: value for name, value in extras.items() if name not in _SIGNATURES}
        return new

    def _walk(
        self,
        value: Any,
        key: Key,
        place: Place,
        role: Role,
        end: End | None,
        *,
        whole: bool = False,
        signed: bool = False,
    ) -> Any:
        """Guard the texts inside a part; the part itself comes back if nothing in it changed."""
        if isinstance(value, str):
            if value.startswith("data:") and key[-1] in ("url", "image_url"):
                return value
            return self.text(key, place, value, role, end, signed=signed)
        if is_list(value):
            return self._items(value, key, place, role, end, whole=whole)
        if not is_dict(value):
            return value
        if role in ("json", "tool", "answer") and key[-1] in ("args", "input", "arguments"):
            return self._arguments(value, role)
        role = self._call_role(key, value, role)
        root, path = place
        changes: dict[str, Any] = {}
        for name, item in value.items():
            if item is None or is_kept_in(value, name, key):
                continue
            if name.startswith("logprobs"):
                changes[name] = _DROPPED
                continue
            if is_identifier(name) and isinstance(item, str):
                new = self.leaves(name, item)
                if new is not item:
                    changes[name] = new
                continue
            lane = (*key, name)
            new = self._walk(
                item, lane, (root, (*path, name)), role_of(name, role), end, whole=whole, signed=signed
            )
            if new is not item:
                changes[name] = new
        if not changes:
            return value
        return {name: item for name, item in {**value, **changes}.items() if item is not _DROPPED}

    def _items(
        self, items: list[Any], key: Key, place: Place, role: Role, end: End | None, *, whole: bool
    ) -> Any:
        root, path = place
        news: list[Any] = []
        for position, item in enumerate(items):
            index = index_of(item)
            part = self._next() if index is None else index  # what has no index is not merged: it is whole
            ends = end if index is not None or whole else End.COMPLETE
            news.append(self._walk(item, (*key, part), (root, (*path, position)), role, ends, whole=whole))
        return items if all(new is item for new, item in zip(news, items, strict=True)) else news

    def _call_role(self, key: Key, call: dict[str, Any], role: Role) -> Role:
        """Tell the role of the arguments of a call; only its first piece has the name."""
        answers = self._settings.answers
        if answers and role != "reasoning":
            if call.get("name") in answers:
                self._answering.add(key)
            if key in self._answering:
                return "answer"
        return role

    def _arguments(self, value: dict[str, Any], role: Role) -> Any:
        """Guard arguments that came as an object."""
        policy = self._settings.policy(role)
        if policy != "guard":
            return value if policy == "keep" else {}
        return guard_object(value, self._settings.for_tools, on_finding=self._settings.on_finding)

    def text(
        self, key: Key, place: Place, text: str, role: Role, end: End | None, *, signed: bool = False
    ) -> str:
        """Guard the next text of a lane.

        Args:
            key: the lane.
            place: where the text stands; `flush` gives it back.
            text: the text.
            role: what guard and what policy it is for.
            end: how the lane ends with this text; `None` if it goes on.
            signed: the text may be empty and nevertheless ends the lane.
        """
        policy = self._settings.policy(role)
        if policy != "guard":
            return text if policy == "keep" else ""
        shown = ""
        if text:
            shown = self.lanes.feed(key, text, guard=self._guards[role])
            self.places[key] = place
        if end is not None and (text or signed) and key in self.places:
            shown += self.lanes.flush(key, end)
            del self.places[key]
        if role == "reasoning":
            same = self._unchanged.get(key)
            if same is None:
                self._unchanged[key] = same = Unchanged()
            same.passed(text, shown)
        return text if shown == text else shown


def _block_key(block: Any, position: int, *, whole: bool) -> str | int:
    """Name a block of content: by its index, else by its kind, for then it may go on in the next chunk."""
    if whole:
        return position
    if not is_dict(block):
        return "*"
    index = index_of(block)
    return f"*{block.get('type')}" if index is None else index


def _goes_on(key: str | int) -> bool:
    """Tell whether blocks of that name are one text, whatever comes between."""
    return isinstance(key, str) and key.startswith("*")
