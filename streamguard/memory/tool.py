"""The memory as a tool of a model: its schema, and what runs when it is called.

What a model is told back is JSON. It sees entries as the snapshot shows them, so a poisoned
one comes as `[BLOCKED: ...]`, by which it can be removed. An operation that fails is told
as a result as well: the model is the one who can repeat it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from streamguard.memory.entries import AmbiguousEntryError, MemoryStoreError, Operation, Target, Usage, cut
from streamguard.memory.guard import MemoryRejected
from streamguard.memory.store import MemoryStore

__all__ = ["MemoryTool", "WriteHandler", "memory_tool"]

WriteHandler = Callable[[Target, Operation], None]
"""Receives each change that was made, without secrets."""

_log = logging.getLogger("streamguard.memory")
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
_NO_MATCH = "the arguments do not match the schema of the tool"
_EXCERPT = 300
"""Characters of an entry that help to tell it from others."""
_CANDIDATES = 20
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
        action: Literal["add", "replace", "remove", "read", "batch"] | None = None,
        target: Target = "memory",
        content: str = "",
        old_text: str = "",
        operations: Sequence[Mapping[str, str]] = (),
        **unknown: object,
    ) -> str:
        """Do what a model has asked for. Whatever it has asked for: models do not keep to a schema.

        Returns:
            JSON for the model: `success`, then `usage` and, of `read`, `entries`; or `error`, and
            where several entries were meant, `candidates`.

        Raises:
            ModuleNotFoundError: the extra `memory` is not installed.
            OSError: the disk fails. Everything else is told to the model, and an error of
                `on_write` to the log: the change was made.
        """
        try:
            if unknown or target not in get_args(Target) or action not in (*_ACTIONS, "read", "batch"):
                return _failed(_NO_MATCH)
            if action == "read":
                return _told(self.store.usage(target), entries=self.store.fitting(target))
            single: dict[str, object] = {"action": action, "content": content, "old_text": old_text}
            changes = _changes(operations if action == "batch" else [single])
            usage = self.store.apply(target, changes)
        except AmbiguousEntryError as error:
            shown = self.store.shown(target)
            candidates = [shown[number - 1] for number in error.candidates if number <= len(shown)]
            return _failed(str(error), candidates=[cut(one, _EXCERPT) for one in candidates[:_CANDIDATES]])
        except (MemoryRejected, MemoryStoreError) as error:
            return _failed(str(error))
        except TypeError:  # of an argument that is no text, or no list of operations
            return _failed(_NO_MATCH)
        self._tell(target, changes)
        return _told(usage)

    def _tell(self, target: Target, changes: Sequence[Operation]) -> None:
        if self.on_write is None:
            return
        clean = self.store.guard.clean
        for one in changes:
            try:
                self.on_write(target, Operation(one.action, clean(one.content), clean(one.old)))
            except Exception as error:
                # Only the kind of error: its message may quote what is remembered.
                _log.warning("a change of the memory was made, and on_write failed: %s", type(error).__name__)

    def run(self, arguments: str | Mapping[str, object], /) -> str:
        """Do what a tool call says.

        Args:
            arguments: its arguments, as JSON or decoded.
        """
        try:
            decoded: object = json.loads(arguments) if isinstance(arguments, str) else dict(arguments)
        except (ValueError, TypeError, RecursionError):
            return _failed(_NO_MATCH)
        if not isinstance(decoded, dict) or not all(isinstance(name, str) for name in cast("Any", decoded)):
            return _failed(_NO_MATCH)
        given = cast("dict[str, Any]", decoded)
        if "self" in given:
            return _failed(_NO_MATCH)
        return self(**{name: value for name, value in given.items() if value is not None})


def _changes(operations: object) -> list[Operation]:
    """What is to be done, from what a model has sent.

    Raises:
        TypeError: it is something else.
    """
    if isinstance(operations, str) or not isinstance(operations, Sequence):
        raise TypeError
    changes: list[Operation] = []
    for one in cast("Sequence[object]", operations):
        if not isinstance(one, Mapping):
            raise TypeError
        given = {
            name: value for name, value in cast("Mapping[object, object]", one).items() if value is not None
        }
        action, content, old = (given.pop(name, "") for name in ("action", "content", "old_text"))
        if given or action not in _ACTIONS or not isinstance(content, str) or not isinstance(old, str):
            raise TypeError
        changes.append(Operation(cast("Any", action), content, old))
    if not changes:
        raise TypeError
    return changes


def memory_tool(store: MemoryStore, /, *, on_write: WriteHandler | None = None) -> MemoryTool:
    """Make a tool for models.

    Args:
        store: what it works on.
        on_write: called with each change that was made.
    """
    return MemoryTool(store, on_write)


def _told(usage: Usage, **more: object) -> str:
    return json.dumps({"success": True, "usage": str(usage), **more}, ensure_ascii=False)


def _failed(error: str, **more: object) -> str:
    return json.dumps({"success": False, "error": error, **more}, ensure_ascii=False)
