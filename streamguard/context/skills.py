"""What skills there are: an index for the prompt of all `SKILL.md` files below some directories.

Files are read again only if they have changed. A *manifest*, the path, time of change and
size of every file, says whether they have: it is the key of a cache in the process, and
stands in a snapshot on disk, which spares the next process the reading. So neither is ever
stale, but for a change that keeps time and size. The snapshot holds what the files say,
not what may be shown: that is decided anew from it, so changing it gains nothing.

Whoever can put a directory there chooses its name and what stands in the file. All that is
shown of it is guarded: names and categories as well as descriptions (see `listing`).
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import cast

from streamguard.context.front_matter import read_values, split_front_matter
from streamguard.context.listing import safe_line, safe_list, safe_name

__all__ = ["Skill", "SkillsIndex"]

_FILE = "SKILL.md"
_VERSION = 1
_NAME = 64  # characters, as the format of skills has it
_DESCRIPTION = 300
_INDEX = 20_000  # characters of the whole index
_READ = 1 << 16  # bytes of a file in which its front matter ends
_HEAD = "# Skills\n\nThese are instructions for tasks. If one fits what you are asked, read its file first."

_Manifest = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill, as it may be shown.

    Attributes:
        name: one word or a few; `blocked-` and eight digits if no name of it may be shown.
        description: one line; empty if there is none.
        category: the directories between the root of skills and the skill's own.
        path: of its file, to open it; it has not been looked through.
    """

    name: str
    description: str
    category: str
    path: str


@dataclass(frozen=True, slots=True, init=False)
class SkillsIndex:
    """The skills below some directories.

    Attributes:
        directories: roots of skills. Of two skills with one name the first counts.
        snapshot: a file to remember the index in, for the next process; `None` is nowhere.

    Relative paths are of the working directory at the time of a call.
    """

    directories: tuple[Path, ...]
    snapshot: Path | None

    def __init__(self, *directories: str | Path, snapshot: str | Path | None = None) -> None:
        object.__setattr__(self, "directories", tuple(Path(directory) for directory in directories))
        object.__setattr__(self, "snapshot", None if snapshot is None else Path(snapshot))

    def skills(self) -> tuple[Skill, ...]:
        """The skills, by category and name. Files that cannot be read are not among them."""
        # Under one relative path there are other files when the working directory is another.
        directories = tuple(Path(os.path.realpath(directory)) for directory in self.directories)
        snapshot = None if self.snapshot is None else self.snapshot.absolute()
        return _skills(directories, snapshot, tuple(_manifest(directories)))

    def text(self) -> str:
        """The index for a prompt; empty if there is no skill. The same files give the same bytes."""
        skills = self.skills()
        return _text(skills) if skills else ""


@lru_cache(maxsize=8)
def _text(skills: tuple[Skill, ...]) -> str:
    lines: list[str] = []
    category = None
    length = len(_HEAD)
    for number, skill in enumerate(skills):
        line = f"- {skill.name}: {skill.description}" if skill.description else f"- {skill.name}"
        heading: list[str] = []
        if skill.category != category:
            category = skill.category
            heading = ["", f"## {category or 'general'}", ""]
        length += sum(map(len, [*heading, line])) + len(heading) + 1
        if length > _INDEX:
            lines += ["", f"({len(skills) - number} more are not listed.)"]
            break
        lines += [*heading, line]
    return safe_list(_HEAD, lines)


def _manifest(directories: tuple[Path, ...]) -> Iterator[tuple[str, int, int]]:
    for directory in directories:
        for place, below, files in os.walk(directory):
            below[:] = sorted(name for name in below if not name.startswith("."))
            if _FILE in files:
                path = Path(place, _FILE)
                with contextlib.suppress(OSError):
                    status = path.stat()
                    if stat.S_ISREG(status.st_mode):
                        yield str(path), status.st_mtime_ns, status.st_size


@lru_cache(maxsize=8)
def _skills(directories: tuple[Path, ...], snapshot: Path | None, manifest: _Manifest) -> tuple[Skill, ...]:
    raw = _load(snapshot, manifest)
    if raw is None:
        raw = {path: _front_matter(path) for path, _, _ in manifest}
        _save(snapshot, manifest, raw)
    found: dict[str, Skill] = {}
    for path, values in raw.items():
        skill = _skill(path, values, directories)
        found.setdefault(skill.name, skill)
    return tuple(sorted(found.values(), key=lambda skill: (skill.category, skill.name)))


def _front_matter(path: str) -> dict[str, str]:
    try:
        with Path(path).open("rb") as file:
            text = file.read(_READ).decode("utf-8-sig", "replace").replace("\r\n", "\n")
    except OSError:
        return {}
    values = read_values(split_front_matter(text)[0])
    return {key: values[key] for key in ("name", "description") if key in values}


def _skill(path: str, values: dict[str, str], directories: tuple[Path, ...]) -> Skill:
    own = Path(path).parent
    root = next(directory for directory in directories if own.is_relative_to(directory))
    within = own.relative_to(root).parts
    name = safe_name(values.get("name", ""), _NAME) or safe_name(own.name, _NAME)
    if not name:
        name = f"blocked-{sha256('/'.join(within).encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    category = "/".join(safe_name(part, _NAME) or "blocked" for part in within[:-1])
    if not safe_name(category.replace("/", "-"), len(category)) and category:
        category = "blocked"
    description = safe_line(values.get("description", ""), _DESCRIPTION, behind=name)
    return Skill(name, description, category, path)


def _load(snapshot: Path | None, manifest: _Manifest) -> dict[str, dict[str, str]] | None:
    """What a snapshot holds, if it is of the files as they are now."""
    if snapshot is None:
        return None
    try:
        held: object = json.loads(snapshot.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(held, dict):
        return None
    found = cast("dict[str, object]", held)
    if found.get("version") != _VERSION or found.get("manifest") != [list(file) for file in manifest]:
        return None
    skills = found.get("skills")
    if not isinstance(skills, dict):
        return None
    known = cast("dict[str, object]", skills)
    values: dict[str, dict[str, str]] = {}
    for path, _, _ in manifest:
        entry = known.get(path)
        if not isinstance(entry, dict):
            return None
        pairs = cast("dict[object, object]", entry).items()
        values[path] = {str(key): value for key, value in pairs if isinstance(value, str)}
    return values


def _save(snapshot: Path | None, manifest: _Manifest, skills: dict[str, dict[str, str]]) -> None:
    """Write a snapshot, whole or not at all; one that cannot be written is done without."""
    if snapshot is None:
        return
    held = {"version": _VERSION, "manifest": manifest, "skills": skills}
    with contextlib.suppress(OSError):
        snapshot.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=snapshot.parent, prefix=f".{snapshot.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(held, file, ensure_ascii=True)
            Path(name).replace(snapshot)
        except OSError:
            Path(name).unlink(missing_ok=True)
