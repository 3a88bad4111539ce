"""Memory files on a disk: written whole or not at all, and known by what the store wrote last.

A new content is written beside the file, forced to the disk and moved over it. Before that
its digest is noted beside the old one's, so that after a crash at any point the file is
known to be the old or the new one, and any other content was written by somebody else.
All of this happens under one lock for the directory.
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

    def read_own(self, name: str) -> str:
        """The text of a file that is about to be changed; to be called under the lock.

        Raises:
            MemoryChangedError: somebody else has changed it. It is copied, and known from now on.
            MemoryFileError: it is not UTF-8.
        """
        data = self._bytes(name)
        text = self._decoded(name, data)
        notes = self._notes()
        digest = _digest(data)
        if digest not in notes.get(name, [_digest(b"")]):
            backup = self.directory / f"{name}.{digest[:12]}.bak"
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(self.directory / name, backup)
            self._note(name, [digest])
            raise MemoryChangedError(self.directory / name, backup)
        return text

    def write(self, name: str, text: str) -> None:
        """Replace a file; to be called under the lock.

        Raises:
            OSError: it cannot be written; the file is as it was.
        """
        data = text.encode()
        self._note(name, [_digest(self._bytes(name)), _digest(data)])
        self._replace(name, data)
        self._note(name, [_digest(data)])

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
        self._replace(_NOTES, json.dumps({**self._notes(), name: digests}).encode())

    def _replace(self, name: str, data: bytes) -> None:
        target = (self.directory / name).resolve()
        descriptor, fresh = tempfile.mkstemp(dir=target.parent, prefix=f".{name}.", suffix=_LEFT_OVER)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, fresh)
            Path(fresh).replace(target)
        except BaseException:
            Path(fresh).unlink(missing_ok=True)
            raise
        with contextlib.suppress(OSError):  # not every system can force a renaming to the disk
            directory = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
