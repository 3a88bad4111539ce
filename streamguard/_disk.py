"""What writing a file so that a crash cannot tear it needs of the system."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

__all__ = ["force_renaming"]


def force_renaming(directory: Path, /) -> None:
    """Force a renaming in a directory to the disk, on systems that can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
