"""The texts of one response, whatever the protocol: which guard each goes through.

A text has a *role*: `content`, `text`, `reasoning`, `json` (arguments of a tool) or `tool`
(what goes to a tool and is no JSON). The role says which guard and which policy. It is known
from the name of the field, or from where the field stands.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Literal

from streamguard import End, Transformer
from streamguard.adapting import (
    JsonLane,
    LaneFinding,
    Lanes,
    LeafPolicy,
    Path,
    Settings,
    Spread,
    guard_object,
)
from streamguard.session import Finding
from streamguard_openai.shapes import DROPPED, fields, has_fields, is_sequence, with_fields

__all__ = ["KEPT", "SHAPED", "Blocks", "Leaf", "Role", "Shape", "Texts", "role_of", "walk"]

Role = Literal["content", "text", "reasoning", "json", "tool"]

_ROLES: dict[str, Role] = {
    "content": "content",
    "reasoning": "reasoning",
    "reasoning_content": "reasoning",
    "reasoning_details": "reasoning",
    "reasoning_items": "reasoning",
    "reasoning_text": "reasoning",
    "thinking": "reasoning",
    "thinking_blocks": "reasoning",
    "arguments": "json",
    "input": "tool",
}

KEPT = frozenset(
    {
        "b64_json",
        "call_id",
        "channel",
        "container_id",
        "created",
        "created_by",
        "encrypted_content",
        "event_id",
        "fingerprint",
        "file_id",
        "finish_reason",
        "format",
        "id",
        "image_url",
        "index",
        "item_id",
        "model",
        "name",
        "namespace",
        "native_finish_reason",
        "object",
        "obfuscation",
        "partial_image_b64",
        "phase",
        "previous_response_id",
        "provider",
        "response_id",
        "role",
        "server_label",
        "service_tier",
        "signature",
        "status",
        "stop_reason",
        "system_fingerprint",
        "thought_signature",
        "tool_call_id",
        "type",
        "usage",
    }
)
"""Names of what a model does not write freely, or nobody can read: never changed."""

SHAPED = frozenset({"args", "arguments", "attributes", "env", "input", "metadata"})
"""Names of objects a model, a tool or a user has shaped: nothing below is known to be harmless."""

_OPAQUE = frozenset({"data", "parsed", "parsed_arguments"})  # encoded; made by the SDK of other texts


def is_kept(path: Path) -> bool:
    """Tell whether what stands there is never changed: a name of `KEPT`, below nothing of `SHAPED`."""
    names = [part for part in path if isinstance(part, str)]
    return bool(names) and names[-1] in KEPT and SHAPED.isdisjoint(names[:-1])


def role_of(name: str, outer: Role | None = None) -> Role:
    """Tell the role of a field from its name, else from where it stands."""
    return _ROLES.get(name, outer or "text")


class Texts:
    """The lanes of one response, and what is said of it as a whole."""

    __slots__ = ("_guards", "_policies", "_settings", "_whole", "lanes")

    def __init__(self, settings: Settings) -> None:
        guard = settings.guard
        self._settings = settings
        self.lanes = Lanes(guard, on_finding=settings.on_finding)
        self._whole = Lanes(guard, on_finding=settings.on_finding)
        self._guards: dict[Role, Transformer] = {
            "content": settings.for_content,
            "text": guard,
            "reasoning": guard,
            "json": JsonLane(settings.for_tools),
            "tool": settings.for_tools,
        }
        self._policies: dict[Role, str] = {
            "content": "guard",
            "text": "guard",
            "reasoning": settings.reasoning,
            "json": settings.tool_args,
            "tool": settings.tool_args,
        }

    def policy(self, role: Role) -> str:
        """Return what is to be done with texts of a role."""
        return self._policies[role]

    def feed(self, key: Hashable, text: str, role: Role) -> str:
        """Take the next text of a lane; what is dropped is empty."""
        policy = self._policies[role]
        if policy == "guard":
            return self.lanes.feed(key, text, guard=self._guards[role])
        return text if policy == "keep" else ""

    def feeder(self, key: Hashable, role: Role) -> Callable[[str], str] | None:
        """Return what feeds a lane until it is closed; `None` for one that is not guarded."""
        if self._policies[role] != "guard":
            return None
        return self.lanes.feeder(key, guard=self._guards[role])

    def scrub(self, key: Hashable, text: str, role: Role, end: End, *, report: bool = True) -> str:
        """Guard a whole text, as its lane would."""
        policy = self._policies[role]
        if policy != "guard":
            return text if policy == "keep" else ""
        if not report:
            return self._guards[role].scrub(text, end=end)
        shown = self._whole.feed(key, text, guard=self._guards[role])
        return shown + self._whole.flush(key, end)

    def spread(self, lane: Path, role: Role, *, report: bool = True) -> Blocks:
        """Begin a text over several blocks of a response.

        Args:
            lane: findings are told to be in it.
            role: of the text; its policy is not looked at.
            report: findings are told.
        """
        on_finding = self._settings.on_finding if report else None
        if on_finding is None:
            return Blocks(self._guards[role])

        def found(one: Finding) -> None:
            on_finding(LaneFinding(one.stage, one.rule, one.action, one.offset, one.length, lane))

        return Blocks(self._guards[role], on_finding=found)

    def leaves(self, name: str, value: Any) -> Any:
        """Guard an object that came whole, string by string; kept names stay as they are."""
        select: Callable[[Path], LeafPolicy] = self._leaf
        result = guard_object(
            {name: value}, self._settings.guard, select=select, on_finding=self._settings.on_finding
        )
        return result.get(name, DROPPED)

    def parsed(self, value: Any, role: Role) -> Any:
        """Guard what an SDK has made of a JSON text: every string of it."""
        if self._policies[role] == "drop":
            return None
        return self.shaped(value, role, report=False)  # the text it was made of has been reported

    def shaped(self, value: Any, role: Role, *, report: bool = True) -> Any:
        """Guard an object that a model or a user has shaped: every string, whatever its name."""
        policy = self._policies[role]
        if policy != "guard":
            return value if policy == "keep" else [] if is_sequence(value) else {}
        guard = self._guards["tool" if role == "json" else "text" if role == "content" else role]
        return guard_object(value, guard, on_finding=self._settings.on_finding if report else None)

    def _leaf(self, path: Path) -> LeafPolicy:
        if is_kept(path):
            return "keep"
        names = [part for part in path if isinstance(part, str)]
        shaped = next((name for name in names[:-1] if name in SHAPED), None)
        if shaped == "arguments":
            return self._settings.tool_args
        if names and names[-1] == "arguments" and shaped is None:
            return "json" if self._settings.tool_args == "guard" else self._settings.tool_args
        if any(_ROLES.get(name) == "reasoning" for name in names):
            return self._settings.reasoning
        return "guard"


class Blocks(Spread[Path]):
    """One text over several blocks of a response, each named by where it stands."""

    __slots__ = ()

    def feeder(self) -> Callable[[str], str] | None:
        """Return what feeds the last block until another is fed; `None` while earlier ones get text."""
        return None if self._owed else self._session.feed

    def scrub(self, blocks: Iterable[tuple[Path, str]], end: End) -> dict[Path, str]:
        """Take a text that came whole, and return what is shown of each of its blocks."""
        shown: dict[Path, str] = {}
        for block, text in blocks:
            shown[block] = ""
            for one, piece in self.feed(block, text):
                shown[one] += piece
        for one, piece in self.flush(end):
            shown[one] += piece
        return shown


Leaf = Callable[[Path, Path, str, Role], str]
"""Takes the key of a text, the path to it, the text and its role; returns what is shown."""


Shape = Callable[[Any, Role], Any]
"""Takes an object that has names of its own, and its role; returns what is shown."""


def walk(
    value: Any, key: Path, path: Path, role: Role, leaf: Leaf, *, shape: Shape, every: bool = False
) -> Any:
    """Guard the texts inside a part of an object.

    Args:
        value: the part: a text, or what has texts inside.
        key: names the part among those of the response; items of a list by their `index`.
        path: leads to the part in this object.
        role: the role of the part.
        leaf: is given each text.
        shape: is given each object of those in `SHAPED`, unless `every`.
        every: what is encoded elsewhere (`data`) is a text too.

    Returns:
        The value itself if nothing in it changed, else a copy.
    """
    if isinstance(value, str):
        shown = leaf(key, path, value, role)
        return value if shown == value else shown
    if is_sequence(value):
        items = [
            walk(item, (*key, _index(item)), (*path, position), role, leaf, shape=shape, every=every)
            for position, item in enumerate(value)
        ]
        same = all(new is item for new, item in zip(items, value, strict=True))
        return value if same else items
    if not has_fields(value):
        return value
    changes: dict[str, Any] = {}
    for name, item in fields(value).items():
        if item is None or name in KEPT or (name in _OPAQUE and not every):
            continue
        inner = role_of(name, role)
        if name in SHAPED and not (every or isinstance(item, str)):
            new = shape(item, inner)
        else:
            new = walk(item, (*key, name), (*path, name), inner, leaf, shape=shape, every=every)
        if new is not item:
            changes[name] = new
    return with_fields(value, changes) if changes else value


def _index(item: Any) -> str | int:
    index = fields(item).get("index") if has_fields(item) else None
    return index if isinstance(index, int) else "*"
