"""Memory that lasts: entries in two files, and a snapshot of them for the prompt.

`MEMORY.md` holds the agent's notes, `USER.md` what it knows of its user. Files are small on
purpose: they are part of every prompt. The snapshot is taken once and stays what it is to the
byte, whatever is written meanwhile, so that the beginning of a prompt can be cached; the
live state is read from the files under a lock before each change.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from streamguard.memory.entries import (
    SEPARATOR,
    EntryError,
    MemoryFullError,
    Operation,
    Target,
    Usage,
    as_entry,
    cut,
    find,
    join,
    split,
)
from streamguard.memory.files import MemoryFiles
from streamguard.memory.guard import MemoryGuard
from streamguard.memory.injection import blocked

__all__ = ["MEMORY_LIMIT", "USER_LIMIT", "MemoryStore"]

MEMORY_LIMIT = 2200
USER_LIMIT = 1375
_FILES: dict[Target, str] = {"memory": "MEMORY.md", "user": "USER.md"}
_TITLES: dict[Target, str] = {"memory": "MEMORY (your notes)", "user": "USER (what you know of your user)"}


class MemoryStore:
    """The two memory files of one directory.

    Any number of stores, in any number of processes, may work on one directory. Reading
    needs no lock: a file is replaced whole.

    Args:
        directory: where the files are; made when something is first written.
        guard: what entries pass before they are stored; `MemoryGuard()` by default.
        memory_limit: characters `MEMORY.md` may have.
        user_limit: characters `USER.md` may have.
        timeout: seconds to wait for somebody else who is writing.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        guard: MemoryGuard | None = None,
        memory_limit: int = MEMORY_LIMIT,
        user_limit: int = USER_LIMIT,
        timeout: float = 10.0,
    ) -> None:
        if memory_limit < 1 or user_limit < 1:
            raise ValueError("a limit is a number of characters, 1 or more")
        self.directory = Path(directory)
        self._files = MemoryFiles(self.directory, timeout=timeout)
        self.guard = MemoryGuard() if guard is None else guard
        self._limits: dict[Target, int] = {"memory": memory_limit, "user": user_limit}
        self._snapshot: str | None = None

    # -- reading ----------------------------------------------------------------

    def read(self, target: Target, /) -> tuple[str, ...]:
        """The entries of a file now, as they are stored.

        Raises:
            MemoryFileError: the file is not UTF-8.
        """
        return tuple(split(self._files.read(_name(target))))

    def shown(self, target: Target, /) -> tuple[str, ...]:
        """The entries of a file now, as a model may see them: secrets redacted, poison `[BLOCKED: ...]`."""
        return self._all_shown(self.read(target))

    def fitting(self, target: Target, /) -> tuple[str, ...]:
        """What `shown` returns, as far as the limit has room; a line at the end says if that is not all.

        The store writes no file that is too long, but people do.
        """
        entries = self.read(target)
        room = self._limits[target]
        fitting: list[str] = []
        for number, entry in enumerate(entries, 1):
            shown = self._shown(f"entry {number}", entry)
            fitting.append(cut(shown, room))
            if fitting[-1] != shown:
                usage = self._usage(target, entries)
                left_out = f"[{_name(target)} is too long ({usage}): this and what follows is left out.]"
                return (*filter(None, fitting), left_out)
            room = max(0, room - len(shown) - len(SEPARATOR))
        return tuple(fitting)

    def usage(self, target: Target, /) -> Usage:
        """How full a file is now."""
        return self._usage(target, self.read(target))

    def poisoned(self, target: Target, /) -> dict[int, tuple[str, ...]]:
        """The numbers of entries that are shown as `[BLOCKED: ...]`, and the names of what was found."""
        found = {number: self.guard.threats(entry) for number, entry in enumerate(self.read(target), 1)}
        return {number: names for number, names in found.items() if names}

    def snapshot(self) -> str:
        """Both files for a prompt, each under a header that says how full it is; empty if both are.

        It is taken when it is first asked for, and does not change after that.
        """
        if self._snapshot is None:
            self.refresh()
        return self._snapshot or ""

    def refresh(self) -> None:
        """Take a new snapshot: a new session begins."""
        parts: list[str] = []
        for target in get_args(Target):
            entries = self.fitting(target)
            if entries:
                parts.append(f"{_TITLES[target]} [{self.usage(target)}]\n{join(entries)}")
        self._snapshot = "\n\n".join(parts)

    # -- writing ----------------------------------------------------------------

    def add(self, target: Target, content: str, /) -> Usage:
        """Store another entry. One that is there already is not stored twice.

        Raises:
            MemoryRejected: the guard refuses it.
            MemoryStoreError: see `apply`.
        """
        return self.apply(target, [Operation("add", content=content)])

    def replace(self, target: Target, old: str, content: str, /) -> Usage:
        """Put another entry in the place of the one that has the text `old`.

        Raises:
            MemoryRejected: the guard refuses it.
            MemoryStoreError: see `apply`.
        """
        return self.apply(target, [Operation("replace", content=content, old=old)])

    def remove(self, target: Target, old: str, /) -> Usage:
        """Remove the entry that has the text `old`, as it is stored or as it is shown.

        Raises:
            MemoryStoreError: see `apply`.
        """
        return self.apply(target, [Operation("remove", old=old)])

    def apply(self, target: Target, operations: Sequence[Operation], /) -> Usage:
        """Make several changes of one file, one after the other: all of them, or none.

        The limit holds for the result: what is removed makes room for what is added before it.

        Returns:
            How full the file is now.

        Raises:
            MemoryRejected: the guard refuses an entry.
            EntryError: a text cannot be an entry, or an operation is not one.
            EntryNotFoundError: no entry has the text that was given.
            AmbiguousEntryError: several have.
            MemoryFullError: the result would be too long.
            MemoryChangedError: somebody has changed the file by hand. Ask again.
            MemoryFileError: the file is not UTF-8.
            MemoryStoreError: somebody else has been writing for too long.
            ModuleNotFoundError: the extra `memory` is not installed.
            OSError: the file cannot be written; it is as it was.
        """
        name = _name(target)
        guarded = [self._guarded(operation) for operation in operations]
        with self._files.locked():
            text, digest = self._files.read_own(name)
            before = split(text)
            entries = list(before)
            for operation in guarded:
                self._change(entries, operation)
            usage = self._usage(target, entries)
            if entries != before:
                if usage.used > usage.limit and usage.used >= len(join(before)):
                    raise MemoryFullError(usage.used, usage.limit)
                self._files.write(name, join(entries) + "\n" if entries else "", digest)
            return usage

    def _guarded(self, operation: Operation) -> Operation:
        if operation.action not in ("add", "replace", "remove"):
            raise EntryError("an operation is add, replace or remove")
        if operation.action == "remove":
            return operation
        content = as_entry(self.guard.check_text(as_entry(operation.content)))
        return Operation(operation.action, content, operation.old)

    def _change(self, entries: list[str], operation: Operation) -> None:
        if operation.action != "add":
            at = find(entries, self._all_shown(entries), operation.old)
            if operation.action == "replace" and operation.content not in entries:
                entries[at] = operation.content
            elif operation.action == "remove" or operation.content != entries[at]:
                del entries[at]
        elif operation.content not in entries:
            entries.append(operation.content)

    def _all_shown(self, entries: Sequence[str]) -> tuple[str, ...]:
        return tuple(self._shown(f"entry {number}", entry) for number, entry in enumerate(entries, 1))

    def _shown(self, name: str, entry: str) -> str:
        names = self.guard.threats(entry)
        return blocked(name, names) if names else self.guard.clean(entry)

    def _usage(self, target: Target, entries: Sequence[str]) -> Usage:
        return Usage(len(entries), len(join(entries)), self._limits[target])


def _name(target: Target) -> str:
    if target not in _FILES:
        raise EntryError(f"a target is {' or '.join(map(repr, _FILES))}")
    return _FILES[target]
