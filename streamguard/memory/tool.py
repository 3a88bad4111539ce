"""The memory as a tool of a model: its schema, and what runs when it is called.

What a model is told back is JSON. It sees entries as the snapshot shows them, so a poisoned
one comes as `[BLOCKED: ...]`, by which it can be removed. An operation that fails is told
as a result as well: the model is the one who can repeat it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from streamguard.memory.entries import AmbiguousEntryError, MemoryStoreError, Operation, Target, Usage
from streamguard.memory.guard import MemoryRejected
from streamguard.memory.store import MemoryStore

__all__ = ["MemoryTool", "WriteHandler", "memory_tool"]

WriteHandler = Callable[[Target, Operation], None]
"""Receives each change that was made, without secrets."""

_NAME = "memory"
_DESCRIPTION = (
    "Keep what should be known in later conversations, in short entries. "
    "The target 'user' is for what your user is like and wants, 'memory' for everything else: "
    "the environment, conventions, what was learned. Save what will matter again, such as preferences, "
    "corrections and facts about the surroundings; not progress of a task, nor what is easily looked up. "
    "Both files are small: replace or remove entries to make room. "
    "Entries are named by a piece of their text that no other entry has. "
    "'batch' makes several changes of one target, all or none. "
    "What is saved is part of the prompt from the next session on."
)
_ACTIONS = ("add", "replace", "remove")
_CONTENT = {"type": "string", "description": "The entry, for add and replace."}
_OLD = {"type": "string", "description": "Text that only the entry meant has, for replace and remove."}
_PARAMETERS: dict[str, object] = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": [*_ACTIONS, "read", "batch"]},
        "target": {"type": "string", "enum": list(get_args(Target))},
        "content": _CONTENT,
        "old_text": _OLD,
        "operations": {
            "type": "array",
            "description": "The changes, for batch.",
            "items": {
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": list(_ACTIONS)},
                    "content": _CONTENT,
                    "old_text": _OLD,
                },
                "required": ["action"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["action", "target"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class MemoryTool:
    """A tool that works on a store; call it with the arguments of a tool call.

    Attributes:
        store: what it works on.
        on_write: called with each change, after all of a call were made.
        name: the name models call it by.
        description: what models are told of it.
    """

    store: MemoryStore
    on_write: WriteHandler | None = None
    name: str = _NAME
    description: str = _DESCRIPTION

    @property
    def parameters(self) -> dict[str, object]:
        """The JSON Schema of the arguments."""
        copy: dict[str, object] = json.loads(json.dumps(_PARAMETERS))
        return copy

    def openai(self) -> dict[str, object]:
        """The tool as chat completions take it, and everything that imitates them."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}

    def anthropic(self) -> dict[str, object]:
        """The tool as Anthropic's messages take it."""
        return {"name": self.name, "description": self.description, "input_schema": self.parameters}

    def __call__(
        self,
        action: Literal["add", "replace", "remove", "read", "batch"],
        target: Target = "memory",
        content: str = "",
        old_text: str = "",
        operations: Sequence[Mapping[str, str]] = (),
    ) -> str:
        """Do what a model has asked for.

        Returns:
            JSON for the model: `success`, then `usage` and, of `read`, `entries`; or `error`, and
            where several entries were meant, `candidates`.

        Raises:
            OSError: the disk fails. Everything else is told to the model.
        """
        try:
            if action == "read":
                return _told(self.store.usage(target), entries=self.store.shown(target))
            changes = [
                Operation(
                    one.get("action", ""),  # type: ignore[arg-type]  # the store refuses others
                    str(one.get("content") or ""),
                    str(one.get("old_text") or ""),
                )
                for one in (
                    operations
                    if action == "batch"
                    else ({"action": action, "content": content, "old_text": old_text},)
                )
            ]
            usage = self.store.apply(target, changes)
        except AmbiguousEntryError as error:
            shown = self.store.shown(target)
            candidates = [shown[number - 1] for number in error.candidates if number <= len(shown)]
            return json.dumps(
                {"success": False, "error": str(error), "candidates": candidates}, ensure_ascii=False
            )
        except (MemoryRejected, MemoryStoreError) as error:
            return json.dumps({"success": False, "error": str(error)}, ensure_ascii=False)
        if self.on_write is not None:
            clean = self.store.guard.clean
            for one in changes:
                self.on_write(target, Operation(one.action, clean(one.content), clean(one.old)))
        return _told(usage)

    def run(self, arguments: str | Mapping[str, object], /) -> str:
        """Do what a tool call says.

        Args:
            arguments: its arguments, as JSON or decoded.
        """
        try:
            decoded: object = json.loads(arguments) if isinstance(arguments, str) else dict(arguments)
            if not isinstance(decoded, dict):
                raise TypeError
            given = cast("dict[str, Any]", {"target": "memory", **decoded})
            return self(**{name: value for name, value in given.items() if value is not None})
        except (ValueError, TypeError, AttributeError):
            return json.dumps(
                {"success": False, "error": "the arguments do not match the schema of the tool"}
            )


def memory_tool(store: MemoryStore, /, *, on_write: WriteHandler | None = None) -> MemoryTool:
    """Make a tool for models.

    Args:
        store: what it works on.
        on_write: called with each change that was made.
    """
    return MemoryTool(store, on_write)


def _told(usage: Usage, **more: object) -> str:
    return json.dumps({"success": True, "usage": str(usage), **more}, ensure_ascii=False)
