"""What a memory provider may do; every hook does nothing unless a provider says otherwise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from streamguard.memory.entries import Operation, Target
from streamguard.memory.store import MemoryStore

__all__ = ["BuiltinProvider", "MemoryProvider"]


class MemoryProvider(ABC):
    """A source and a sink of memories. The manager calls it, bounds its time and survives its errors."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What logs and errors call it."""

    async def prefetch(self, query: str, /) -> str:
        """Return what is remembered that bears on the coming turn; empty for nothing."""
        del query
        return ""

    async def queue_prefetch(self, query: str, /) -> None:
        """Begin to look for what the next turn may ask for."""
        del query

    async def sync_turn(self, user: str, assistant: str, /) -> None:
        """Take note of a turn that is over."""
        del user, assistant

    async def on_pre_compress(self, messages: Sequence[Mapping[str, object]], /) -> str:
        """Return what should be kept of messages that are about to be summarised; empty for nothing."""
        del messages
        return ""

    async def on_memory_write(self, target: Target, operation: Operation, /) -> None:
        """Take note of a change of the built-in memory."""
        del target, operation

    async def on_delegation(self, task: str, result: str, /) -> None:
        """Take note of what another agent was asked, and what it has answered."""
        del task, result


class BuiltinProvider(MemoryProvider):
    """The memory files. They are in the prompt as a snapshot, so there is nothing to fetch."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store

    @property
    def name(self) -> str:
        """Always the same."""
        return "builtin"
