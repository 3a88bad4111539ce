"""Memory for agents: what goes into a prompt is fenced, scanned and redacted first.

The fence (`build_memory_block`, `sanitize`) and the scan for prompt injection (`scan`,
`InjectionGuard`) need the core alone. The store needs the extra `memory` to write.
"""

from typing import TYPE_CHECKING

from streamguard._lazy import lazily

if TYPE_CHECKING:
    from streamguard.memory.entries import (
        AmbiguousEntryError,
        EntryError,
        EntryNotFoundError,
        MemoryChangedError,
        MemoryFileError,
        MemoryFullError,
        MemoryStoreError,
        Operation,
        Target,
        Usage,
    )
    from streamguard.memory.fence import build_memory_block, sanitize
    from streamguard.memory.guard import AuditEntry, MemoryGuard, MemoryRecord, MemoryRejected
    from streamguard.memory.injection import InjectionFinding, InjectionGuard, blocked, scan
    from streamguard.memory.manager import MemoryManager
    from streamguard.memory.nudge import WriteNudge
    from streamguard.memory.provider import BuiltinProvider, MemoryProvider
    from streamguard.memory.store import MemoryStore
    from streamguard.memory.threat import Scope, Severity
    from streamguard.memory.tool import MemoryTool, memory_tool

__all__ = [
    "AmbiguousEntryError",
    "AuditEntry",
    "BuiltinProvider",
    "EntryError",
    "EntryNotFoundError",
    "InjectionFinding",
    "InjectionGuard",
    "MemoryChangedError",
    "MemoryFileError",
    "MemoryFullError",
    "MemoryGuard",
    "MemoryManager",
    "MemoryProvider",
    "MemoryRecord",
    "MemoryRejected",
    "MemoryStore",
    "MemoryStoreError",
    "MemoryTool",
    "Operation",
    "Scope",
    "Severity",
    "Target",
    "Usage",
    "WriteNudge",
    "blocked",
    "build_memory_block",
    "memory_tool",
    "sanitize",
    "scan",
]

_MODULES = {
    "entries": (
        *("AmbiguousEntryError", "EntryError", "EntryNotFoundError", "MemoryChangedError", "MemoryFileError"),
        *("MemoryFullError", "MemoryStoreError", "Operation", "Target", "Usage"),
    ),
    "fence": ("build_memory_block", "sanitize"),
    "guard": ("AuditEntry", "MemoryGuard", "MemoryRecord", "MemoryRejected"),
    "injection": ("InjectionFinding", "InjectionGuard", "blocked", "scan"),
    "manager": ("MemoryManager",),
    "nudge": ("WriteNudge",),
    "provider": ("BuiltinProvider", "MemoryProvider"),
    "store": ("MemoryStore",),
    "threat": ("Scope", "Severity"),
    "tool": ("MemoryTool", "memory_tool"),
}
__getattr__, __dir__ = lazily(__name__, _MODULES)
