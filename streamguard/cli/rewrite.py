"""Rewriting a file in place: whole, or not at all.

The new content is written beside the file, forced to the disk and moved over it. Whoever
reads the path sees the old file or the new one; a crash leaves the old one.
"""

from __future__ import annotations

import contextlib
import filecmp
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from streamguard._disk import force_renaming

__all__ = ["rewrite"]


def rewrite(path: Path, content: Iterable[bytes], /) -> bool:
    """Replace what `path` holds; mode and, where allowed, owner are kept.

    A symbolic link stays one: the file it leads to is rewritten. A file whose content would
    not change is left as it is.

    Args:
        path: a regular file.
        content: the new content, which may be read from the file meanwhile.

    Returns:
        Whether the file changed.

    Raises:
        OSError: it cannot be written; the file is as it was.
    """
    target = path.resolve(strict=True)
    before = target.stat()
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    fresh = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(content)
            file.flush()
            os.fsync(file.fileno())
        if filecmp.cmp(fresh, target, shallow=False):
            fresh.unlink()
            return False
        if hasattr(os, "chown"):
            with contextlib.suppress(PermissionError):
                os.chown(fresh, before.st_uid, before.st_gid)
        fresh.chmod(stat.S_IMODE(before.st_mode))
        fresh.replace(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    force_renaming(target.parent)
    return True
