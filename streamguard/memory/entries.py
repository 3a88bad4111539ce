"""A memory file: entries of text with a `§` on a line of its own between them.

What may go wrong with entries is said here too. Errors name entries by their number and
never quote them: whoever is to see the text asks the store.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from streamguard.session import StreamGuardError

__all__ = [
    "AmbiguousEntryError",
    "EntryError",
    "EntryNotFoundError",
    "MemoryChangedError",
    "MemoryFileError",
    "MemoryFullError",
    "MemoryStoreError",
    "Operation",
    "Target",
    "Usage",
    "cut",
    "find",
    "join",
    "split",
]

SEPARATOR = "\n§\n"
_LINE_BREAK = re.compile(r"\r+\n?")
_AROUND = "".join(char for char in map(chr, range(0x3001)) if char.isspace()) + "\ufeff"
"""White space, and the mark that a file may begin with."""
_LAST_WORD = re.compile(r"\s+\S*+\Z")
_LONGEST_WORD = 256
_SEPARATING = re.compile(r"(?<![^\n])[^\S\n]*§[^\S\n]*(?![^\n])")

Target = Literal["memory", "user"]
"""Notes of the agent's own (`MEMORY.md`), or what it knows of its user (`USER.md`)."""


class MemoryStoreError(StreamGuardError):
    """A memory file cannot be read or changed as asked; it is as it was."""


class EntryError(MemoryStoreError, ValueError):
    """A text cannot be an entry, or an operation is not one."""


class EntryNotFoundError(MemoryStoreError, LookupError):
    """No entry has the text that was given."""


class AmbiguousEntryError(MemoryStoreError, LookupError):
    """Several entries have the text that was given.

    Attributes:
        candidates: their numbers; the first entry is 1.
    """

    def __init__(self, candidates: Sequence[int]) -> None:
        numbers = ", ".join(map(str, candidates))
        super().__init__(f"the text is in several entries ({numbers}): give more of the one that is meant")
        self.candidates = tuple(candidates)


class MemoryFullError(MemoryStoreError):
    """What was asked for would make a file longer than it may be.

    Attributes:
        needed: characters the file would have.
        limit: characters it may have.
    """

    def __init__(self, needed: int, limit: int) -> None:
        super().__init__(
            f"the file would have {needed:,} characters and may have {limit:,}: "
            "shorten or remove entries first"
        )
        self.needed = needed
        self.limit = limit


class MemoryChangedError(MemoryStoreError):
    """A file was changed by somebody else since the store wrote it. It was left as it is, and copied.

    From now on the store works with the changed file: read it, then ask again.

    Attributes:
        path: the file.
        backup: the copy; `None` if the file was deleted.
    """

    def __init__(self, path: Path, backup: Path | None) -> None:
        what = "deleted" if backup is None else "changed"
        copied = f", and a copy of it is in {backup.name}" if backup is not None else ""
        super().__init__(
            f"{path.name} was {what} outside of the store; nothing was written{copied}: "
            "read the entries again, then repeat what is still wanted"
        )
        self.path = path
        self.backup = backup


class MemoryFileError(MemoryStoreError):
    """A file cannot be read as text.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path.name} is not UTF-8 text: repair it or move it away")
        self.path = path


@dataclass(frozen=True, slots=True)
class Operation:
    """One change of a memory file.

    Attributes:
        action: what is done.
        content: the new entry, of `add` and `replace`.
        old: text that only the entry meant has, of `replace` and `remove`.
    """

    action: Literal["add", "replace", "remove"]
    content: str = ""
    old: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """How full a memory file is.

    Attributes:
        entries: how many entries it has.
        used: its length in characters.
        limit: the length it may have.
    """

    entries: int
    used: int
    limit: int

    def __str__(self) -> str:
        percent = min(100, self.used * 100 // self.limit)
        return f"{percent}%, {self.used:,} of {self.limit:,} characters"


def split(text: str, /) -> list[str]:
    """The entries in the text of a file."""
    parts = (_tidy(part) for part in _SEPARATING.split(_tidy(text)))
    return [part for part in parts if part]


def _tidy(text: str) -> str:
    """A text as it comes back from a file: with line feeds alone, and nothing blank around it."""
    lines = _LINE_BREAK.sub("\n", text)
    return lines.strip(_AROUND)


def join(entries: Sequence[str], /) -> str:
    """The text of a file with these entries; without a line break at its end."""
    return SEPARATOR.join(entries)


def as_entry(content: str, /) -> str:
    """Return a text as an entry has it.

    Raises:
        EntryError: it has a line that separates entries, or half a character.
    """
    entry = _tidy(content)
    if _SEPARATING.search(entry):
        raise EntryError("an entry cannot have a line with nothing but the sign that separates entries")
    try:
        entry.encode()
    except UnicodeEncodeError:
        raise EntryError("an entry cannot have half of a surrogate pair") from None
    return entry


def cut(text: str, most: int, /) -> str:
    """The beginning of a text, with no more characters than are allowed and no word that is cut."""
    if len(text) <= most:
        return text
    words = _LAST_WORD.search(text, max(0, most - _LONGEST_WORD), most + 1)
    return text[: words.start() if words else most].rstrip()


def find(entries: Sequence[str], shown: Sequence[str], old: str, /) -> int:
    """Find the one entry that has a text, as it is or as it is shown.

    Returns:
        Its index. Of entries that are the same it is the first.

    Raises:
        EntryError: the text is blank.
        EntryNotFoundError: no entry has it.
        AmbiguousEntryError: several do.
    """
    if not _tidy(old):
        raise EntryError("say which entry is meant, by text that only this one has")
    old = _tidy(old)
    found = [n for n, entry in enumerate(entries) if old in entry or old in shown[n]]
    if not found:
        raise EntryNotFoundError("no entry has this text")
    if len({entries[n] for n in found}) > 1:
        exact = [n for n in found if old == entries[n]]
        if len(exact) != 1:
            raise AmbiguousEntryError([n + 1 for n in found])
        found = exact
    return found[0]
