"""The texts of one message: found by a walk over its parts, each guarded in a lane of its own.

The same walk serves chunks and whole messages. A lane is named by the way to its text, with the
`index` of a block where it has one, since that is how LangChain merges chunks: strings that
stand at the same place are joined. Of a whole message every text ends; of a chunk only those
whose end can be told from it.

Blocks of content that are one text share a lane: `Blocks` says which. None is closed before the
response ends: providers may take turns between blocks, and a text that is closed too early has been cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamguard import End, StreamGuardError
from streamguard.adapting import JsonLane, Unchanged, guard_object
from streamguard_langchain.blocks import is_main, kind_of
from streamguard_langchain.free import FreeData
from streamguard_langchain.kinds import comes_whole, is_kept_in, is_opaque, is_repeated
from streamguard_langchain.lanes import PlacedLanes
from streamguard_langchain.places import Key, Place, appended, grafted
from streamguard_langchain.settings import (
    Role,
    Settings,
    block_role,
    is_sealed,
    role_of,
)
from streamguard_langchain.shapes import index_of, is_dict, is_list

__all__ = ["Texts", "is_signed", "unsigned"]

_SIGNATURES = frozenset({"signature", "thought_signature"})
_LANGCHAINS = frozenset({"model_provider", "output_version"})  # metadata that no provider writes
_DROPPED: Any = object()
_PIECE = "*"  # names the items of a list that have no index, but a text: these come in pieces


class Texts:
    """The texts of one response. *Memory*: that of their lanes."""

    __slots__ = ("_answering", "_count", "_guards", "_settings", "_unchanged", "_whole", "lanes", "plain")

    def __init__(self, settings: Settings, *, json_content: bool = False, apart: bool = False) -> None:
        """Begin a response.

        Args:
            settings: what the user has chosen.
            json_content: the answer is JSON (a structured output): only its strings are guarded.
            apart: each block of content is a text of its own.
        """
        guard = settings.guard
        self._settings = settings
        self.lanes = PlacedLanes(guard, settings.on_finding, apart=apart)
        self.plain: Key | None = None  # the lane of content that is one string, while nothing else comes
        self._guards: dict[Role, Any] = {
            "text": JsonLane(guard) if json_content else guard,
            "reasoning": guard,
            "json": JsonLane(settings.for_tools),
            "tool": settings.for_tools,
            "answer": JsonLane(settings.for_tools),
        }
        self._answering: set[Key] = set()  # the calls whose arguments are a structured output
        self._unchanged: dict[Key, Unchanged] = {}
        self._whole: set[Key] = set()  # the texts of content that have come whole
        self._count = 0

    def content(self, content: Any, end: End | None, *, whole: bool = False) -> Any:
        """Guard the content of a message; `end` is `None` while the stream goes on."""
        if isinstance(content, str):
            return self._string(content, end) if content else content
        self.plain = None
        news: list[Any] = []
        for position, block in enumerate(content):
            kind = kind_of(block)
            name = position if whole else index_of(block)
            name = self.lanes.blocks.begin(self._next() if name is None and comes_whole(kind) else name, kind)
            new = self._block(("content", name), block, (content, (position,)))
            for place, text in self.lanes.before():
                news = appended(news, place[1], text) if whole else [*news, *grafted(place, text)]
            news.append(new)
        if end is not None:
            for lane in [lane for lane in self.lanes.places if lane[0] == "content"]:
                for (_, path), text in self.lanes.close(lane, end):
                    news = appended(news, path, text)
        shown = [new for new in news if new is not _DROPPED]
        return content if shown == content else shown

    def _string(self, content: str, end: End | None) -> str:
        key: Key = ("content", self.lanes.blocks.begin(None, "text"))
        shown = self.text(key, (content, ()), content, "text", end)
        self.plain = self.lanes.blocks.lane(key, content)
        before = "".join(text for _, text in self.lanes.before())
        return before + shown if before else shown

    def fields(self, values: Mapping[str, Any], key: Key, end: End | None, *, whole: bool) -> dict[str, Any]:
        """Guard `additional_kwargs`; return the fields that change."""
        changes: dict[str, Any] = {}
        for name, value in values.items():
            if value is None or (is_sealed(name) and is_opaque(value)):
                continue
            if name.startswith("logprobs"):  # they repeat the text
                changes[name] = _DROPPED
                continue
            if is_repeated(name) and isinstance(value, str):
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
            news.append(self._explained(call if new is args else {**call, "args": new}, call, role))
        return calls if all(new is call for new, call in zip(news, calls, strict=True)) else news

    def metadata(self, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
        """Guard metadata, leaf by leaf. Log probabilities repeat the text: they are dropped."""
        if metadata.keys() <= _LANGCHAINS:
            return metadata
        result: dict[str, Any] = {}
        for name, value in metadata.items():
            if name.startswith("logprobs") and value is not None:
                continue
            kept = name in _LANGCHAINS or (is_sealed(name) and is_opaque(value))
            result[name] = value if kept else self.leaves(name, value)
        same = len(result) == len(metadata) and all(result[name] is metadata[name] for name in result)
        return metadata if same else result

    def extras(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Guard fields that LangChain does not know."""
        return {name: self.leaves(name, value) for name, value in values.items()}

    @staticmethod
    def dropped(value: object) -> bool:
        """Tell whether a field has been dropped."""
        return value is _DROPPED

    def leaves(self, name: str, value: Any) -> Any:
        """Guard what came whole, string by string."""
        return FreeData(self._settings.guard, on_finding=self._settings.on_finding).guarded(value, name)

    def _next(self) -> int:
        self._count -= 1
        return self._count

    def _block(self, key: Key, block: Any, place: Place) -> Any:
        """Guard a block of content, or a bare string among the blocks."""
        if isinstance(block, str):
            return self.text(key, place, block, "text", None)
        if not is_dict(block):
            return block
        kind = block.get("type")
        role = block_role(kind)
        if role == "reasoning" and self._settings.reasoning != "guard":
            return block if self._settings.reasoning == "keep" else _DROPPED
        whole = kind != "text" and comes_whole(kind)
        return self._walk(block, key, place, role, End.COMPLETE if whole else None)

    def _signed(self, block: dict[str, Any], key: Key, place: Place) -> Any:
        """A signature closes the reasoning it stands for, and is valid for that alone."""
        full = block
        for text in self._unchanged:  # what is held of a text that goes on in the signed block without a word
            way = text[len(key) :]
            if text[: len(key)] == key and self.lanes.pending(self.lanes.lane(text)):
                full = _with_text(full, way)
        new = self._dict(full, key, place, "reasoning", End.COMPLETE)
        if key[0] == "content":
            self.lanes.blocks.sign()
        same = all(same for text, same in self._unchanged.items() if text[: len(key)] == key)
        return (block if new == block else new) if same else unsigned(new)

    def _walk(
        self,
        value: Any,
        key: Key,
        place: Place,
        role: Role,
        end: End | None,
        *,
        whole: bool = False,
    ) -> Any:
        """Guard the texts inside a part; the part itself comes back if nothing in it changed."""
        if isinstance(value, str):
            if value.startswith("data:") and key[-1] in ("url", "image_url"):
                return value
            return self.text(key, place, value, role, end)
        if is_list(value):
            return self._items(value, key, place, role, end, whole=whole)
        if not is_dict(value):
            return value
        if role in ("json", "tool", "answer") and key[-1] in ("args", "input", "arguments"):
            return self._arguments(value, role)
        role = self._call_role(key, value, role)
        if role == "reasoning" and is_signed(value):
            return self._signed(value, key, place)
        return self._dict(value, key, place, role, end, whole=whole)

    def _dict(
        self,
        value: dict[str, Any],
        key: Key,
        place: Place,
        role: Role,
        end: End | None,
        *,
        whole: bool = False,
    ) -> Any:
        root, path = place
        invalid = value.get("type") == "invalid_tool_call"
        changes: dict[str, Any] = {}
        for name, item in value.items():
            if item is None or is_kept_in(value, name, key) or (invalid and name == "error"):
                continue
            if name.startswith("logprobs"):
                changes[name] = _DROPPED
                continue
            if is_repeated(name) and isinstance(item, str):
                new = self.leaves(name, item)
                if new is not item:
                    changes[name] = new
                continue
            lane, ends = (*key, name), end
            if key[-1] == _PIECE and not (name == "summary" or is_main((name,))):
                lane, ends = (*key, self._next(), name), End.COMPLETE
            new = self._walk(item, lane, (root, (*path, name)), role_of(name, role), ends, whole=whole)
            if new is not item:
                changes[name] = new
        made = value
        if changes:
            made = {name: item for name, item in {**value, **changes}.items() if item is not _DROPPED}
        return self._explained(made, value, role_of("args", role)) if invalid else made

    def _items(
        self, items: list[Any], key: Key, place: Place, role: Role, end: End | None, *, whole: bool
    ) -> Any:
        root, path = place
        news: list[Any] = []
        for position, item in enumerate(items):
            index = None if is_dict(item) and comes_whole(item.get("type")) else index_of(item)
            part: str | int = self._next() if index is None else index
            ends = end if index is not None or whole else End.COMPLETE
            if index is None and ends is not end and key[0] != "content" and _is_piece(item):
                part, ends = _PIECE, end
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
            return {} if value and policy == "drop" else value
        return guard_object(value, self._settings.for_tools, on_finding=self._settings.on_finding)

    def _explained(self, made: dict[str, Any], call: dict[str, Any], role: Role) -> dict[str, Any]:
        """Guard what is said of arguments that could not be read: it quotes them."""
        error, policy = call.get("error"), self._settings.policy(role)
        if not isinstance(error, str) or policy == "keep":
            return made
        if policy == "drop":
            return {**made, "error": None}
        args = call.get("args")
        safe = error.replace(args, made["args"]) if args and isinstance(args, str) else error
        safe = guard_object({"error": safe}, self._settings.for_tools, on_finding=self._settings.on_finding)[
            "error"
        ]
        return made if safe == error else {**made, "error": safe}

    def text(self, key: Key, place: Place, text: str, role: Role, end: End | None) -> str:
        """Guard the next text at a place.

        Args:
            key: the way to it.
            place: where it stands.
            text: the text.
            role: what guard and what policy it is for.
            end: how its lane ends with this text, even an empty one; `None` if it goes on.

        Raises:
            StreamGuardError: two blocks that are one text take turns, or a text that had come whole goes on.
        """
        policy = self._settings.policy(role)
        if policy != "guard":
            return text if policy == "keep" else ""
        if end is not None and text and key[0] == "content" and role != "reasoning":
            if key in self._whole:
                raise StreamGuardError("a block that comes whole goes on; guard the models it is from")
            self._whole.add(key)
        shown = self.lanes.say(key, place, text, self._guards[role], end)
        if role == "reasoning":
            same = self._unchanged.get(key)
            if same is None:
                self._unchanged[key] = same = Unchanged()
            same.passed(text, shown)
        return text if shown == text else shown


def is_signed(block: Mapping[str, Any]) -> bool:
    """Tell whether a block of reasoning has a signature, itself or in a part of it."""
    for name, part in block.items():
        if part and (name in _SIGNATURES or (is_dict(part) and is_signed(part))):
            return True
    return False


def unsigned(block: Mapping[str, Any]) -> dict[str, Any]:
    """Copy a block of reasoning without its signature."""
    return {
        name: unsigned(part) if is_dict(part) else part
        for name, part in block.items()
        if name not in _SIGNATURES
    }


def _is_piece(item: object) -> bool:
    """Tell whether an item without an index may be a piece of a text, which LangChain joins to no other."""
    if not is_dict(item) or comes_whole(item.get("type")):
        return False
    return any(name == "summary" or is_main((name,)) for name in item)


def _with_text(block: dict[str, Any], way: Key) -> dict[str, Any]:
    """Copy a block that has a text at the end of a way, if but an empty one."""
    name, *rest = way
    part = block.get(str(name))
    if isinstance(name, int) or is_list(part):
        return block
    if rest:
        return {**block, name: _with_text(part if is_dict(part) else {}, tuple(rest))}
    return block if part is not None else {**block, name: ""}
