"""Memory files on a disk: written whole or not at all, and known by what the store wrote last.

A new content is written beside the file, forced to the disk and moved over it. Before that
its digest is noted beside the old one's, so that after a crash at any point the file is
known to be the old or the new one, and any other content was written by somebody else.
All of this happens under one lock for the directory.

An editor knows nothing of the lock. So a file is compared with what was read right before it
is replaced, and the old one is kept by a second name until it was compared once more.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import cast

from streamguard._disk import force_renaming
from streamguard.memory.entries import MemoryChangedError, MemoryFileError, MemoryStoreError

__all__ = ["MemoryFiles"]

_NOTES = ".memory.md.json"
_LOCK = ".memory.lock"
_LEFT_OVER = ".tmp"


class MemoryFiles:
    """The files of one directory.

    Args:
        directory: where they are; made when something is first written.
        timeout: seconds to wait for another process that is writing.
    """

    def __init__(self, directory: Path, *, timeout: float) -> None:
        self.directory = directory
        self._timeout = timeout

    @contextlib.contextmanager
    def locked(self) -> Generator[None, None, None]:
        """Keep other processes and threads from writing.

        Raises:
            MemoryStoreError: somebody else is writing for longer than the timeout.
            ModuleNotFoundError: filelock is not installed.
        """
        try:
            import filelock
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "memory files need filelock: pip install 'streamguard-llm[memory]'", name="filelock"
            ) from None
        self.directory.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(self.directory / _LOCK, timeout=self._timeout)
        try:
            lock.acquire()
        except filelock.Timeout:
            raise MemoryStoreError(
                f"the memory files were locked by somebody else for {self._timeout:g} seconds"
            ) from None
        try:
            for left in self.directory.glob(f".*.md.*{_LEFT_OVER}"):  # of a process that was killed
                left.unlink(missing_ok=True)
            yield
        finally:
            lock.release()

    def read(self, name: str) -> str:
        """The text of a file; empty if there is none.

        Raises:
            MemoryFileError: it is not UTF-8.
        """
        return self._decoded(name, self._bytes(name))

    def read_own(self, name: str) -> tuple[str, str]:
        """The text of a file that is about to be changed, and its digest; to be called under the lock.

        Raises:
            MemoryChangedError: somebody else has changed it. It is copied, and known from now on.
            MemoryFileError: it is not UTF-8.
        """
        data = self._bytes(name)
        text = self._decoded(name, data)
        digest = _digest(data)
        if digest not in self._notes().get(name, [_digest(b"")]):
            raise self._changed(name, data)
        return text, digest

    def write(self, name: str, text: str, before: str) -> None:
        """Replace a file; to be called under the lock.

        Args:
            name: the file.
            text: its new text.
            before: the digest of what it is to replace.

        Raises:
            MemoryChangedError: somebody else has changed it since. It is as they left it.
            OSError: it cannot be written; the file is as it was.
        """
        data = text.encode()
        target = (self.directory / name).resolve()
        fresh = _written(target, data)
        try:
            self._note(name, [before, _digest(data)])
            now = self._bytes(name)
            changed = now if _digest(now) != before else _swapped(fresh, target, before)
            if changed is not None:
                raise self._changed(name, changed)
        finally:
            fresh.unlink(missing_ok=True)
        force_renaming(target.parent)
        self._note(name, [_digest(data)])

    def _changed(self, name: str, data: bytes) -> MemoryChangedError:
        """Copy what somebody else has written, and know it from now on."""
        path = self.directory / name
        backup: Path | None = None
        if data or path.exists():
            backup = self.directory / f"{name}.{_digest(data)[:12]}.bak"
            _written(path, data).replace(backup)
        self._note(name, [_digest(data)])
        return MemoryChangedError(path, backup)

    def _bytes(self, name: str) -> bytes:
        try:
            return (self.directory / name).read_bytes()
        except FileNotFoundError:
            return b""

    def _decoded(self, name: str, data: bytes) -> str:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise MemoryFileError(self.directory / name) from None

    def _notes(self) -> dict[str, list[str]]:
        try:
            notes: object = json.loads(self._bytes(_NOTES) or b"{}")
        except ValueError:
            return {}
        if not isinstance(notes, dict):
            return {}
        known = cast("dict[str, object]", notes)
        return {
            name: [str(one) for one in cast("list[object]", digests)]
            for name, digests in known.items()
            if isinstance(digests, list)
        }

    def _note(self, name: str, digests: list[str]) -> None:
        notes = json.dumps({**self._notes(), name: digests}).encode()
        target = (self.directory / _NOTES).resolve()
        _written(target, notes).replace(target)
        force_renaming(target.parent)


def _written(target: Path, data: bytes) -> Path:
    """A new file beside another one, on the disk and with its mode; for nobody else where there is none."""
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=_LEFT_OVER)
    fresh = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(target, fresh)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    return fresh


def _swapped(fresh: Path, target: Path, before: str) -> bytes | None:
    """Move a new file over the old one, and back again if that was not the expected one.

    Returns:
        What the old one had in it, where it is in its place again.
    """
    kept = Path(f"{str(fresh).removesuffix(_LEFT_OVER)}.old{_LEFT_OVER}")
    try:
        os.link(target, kept)
    except FileNotFoundError:  # there is no old one, so there must not be one now
        with contextlib.suppress(OSError):
            os.link(fresh, target)
            return None
    except OSError:  # not every system has second names
        fresh.replace(target)
        return None
    try:
        if kept.exists():
            fresh.replace(target)
            data = kept.read_bytes()
            if _digest(data) == before:
                return None
            kept.replace(target)
            return data
    finally:
        kept.unlink(missing_ok=True)
    if not target.exists():
        fresh.replace(target)
        return None
    return target.read_bytes()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
