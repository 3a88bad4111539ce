"""The memories of one agent: the built-in one, and at most one other.

A turn does not depend on them. Providers run side by side, each within a bound of time; one
that fails or is late is left out, and a warning in the log names it and the kind of error.
What comes back goes into a prompt, so it is cleaned and fenced here, whoever it comes from.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

import anyio
import anyio.to_thread

from streamguard.memory.entries import Operation, Target
from streamguard.memory.fence import build_memory_block
from streamguard.memory.guard import MemoryGuard
from streamguard.memory.provider import BuiltinProvider, MemoryProvider
from streamguard.memory.tool import MemoryTool

__all__ = ["MemoryManager"]

_T = TypeVar("_T")
_log = logging.getLogger("streamguard.memory")


class MemoryManager:
    """Asks the providers of one agent, and tells them.

    Args:
        builtin: the built-in memory, if there is one.
        guard: cleans what providers return; `MemoryGuard()` by default.
        timeout: seconds each provider has for each hook.
    """

    def __init__(
        self,
        builtin: BuiltinProvider | None = None,
        *,
        guard: MemoryGuard | None = None,
        timeout: float = 5.0,
    ) -> None:
        self._providers: list[MemoryProvider] = [] if builtin is None else [builtin]
        self._guard = MemoryGuard() if guard is None else guard
        self._timeout = timeout

    @property
    def providers(self) -> tuple[MemoryProvider, ...]:
        """The built-in one first."""
        return tuple(self._providers)

    def add_provider(self, provider: MemoryProvider, /) -> bool:
        """Add the one other provider there may be.

        Returns:
            Whether it was added. A second one is refused with a warning in the log: two
            memories that both claim to know the user contradict each other.
        """
        other = next((one for one in self._providers if not isinstance(one, BuiltinProvider)), None)
        if other is not None or isinstance(provider, BuiltinProvider):
            _log.warning(
                "the memory provider %s is not added: %s is there already",
                provider.name,
                other.name if other is not None else "the built-in one, if any,",
            )
            return False
        self._providers.append(provider)
        return True

    async def prefetch(self, query: str, /) -> str:
        """Recall what bears on the coming turn.

        Returns:
            A memory block for the prompt, fenced and cleaned; empty if nothing is remembered.
        """
        return build_memory_block(self._joined(await self._each("prefetch", lambda one: one.prefetch(query))))

    async def queue_prefetch(self, query: str, /) -> None:
        """Have the providers begin to look for what the next turn may ask for."""
        await self._each("queue_prefetch", lambda one: one.queue_prefetch(query))

    async def sync_turn(self, user: str, assistant: str, /) -> None:
        """Tell of a turn that is over; secrets and what was recalled for it are taken out."""
        said, answered = self._guard.clean(user), self._guard.clean(assistant)
        await self._each("sync_turn", lambda one: one.sync_turn(said, answered))

    async def on_pre_compress(self, messages: Sequence[Mapping[str, object]], /) -> str:
        """Tell of messages that are about to be summarised.

        Returns:
            What the providers want the summary to keep, cleaned and not fenced; empty for nothing.
        """
        return self._joined(await self._each("on_pre_compress", lambda one: one.on_pre_compress(messages)))

    async def on_memory_write(self, target: Target, operation: Operation, /) -> None:
        """Tell of a change of the built-in memory; secrets are taken out."""
        cleaned = Operation(
            operation.action, self._guard.clean(operation.content), self._guard.clean(operation.old)
        )
        await self._each("on_memory_write", lambda one: one.on_memory_write(target, cleaned))

    async def on_delegation(self, task: str, result: str, /) -> None:
        """Tell of what another agent was asked and has answered; secrets are taken out."""
        asked, answered = self._guard.clean(task), self._guard.clean(result)
        await self._each("on_delegation", lambda one: one.on_delegation(asked, answered))

    async def run_tool(self, tool: MemoryTool, arguments: str | Mapping[str, object], /) -> str:
        """Run a call of the memory tool beside the event loop, then tell the providers of its changes.

        Returns:
            The result for the model, in JSON.

        Raises:
            OSError: the disk fails.
        """
        changes: list[tuple[Target, Operation]] = []

        def note(target: Target, operation: Operation) -> None:
            changes.append((target, operation))
            if tool.on_write is not None:
                tool.on_write(target, operation)

        noting = MemoryTool(tool.store, note, tool.name, tool.description)
        result = await anyio.to_thread.run_sync(noting.run, arguments)
        for target, operation in changes:
            await self.on_memory_write(target, operation)
        return result

    def _joined(self, texts: Sequence[str | None]) -> str:
        cleaned = [self._guard.clean(text).strip() for text in texts if isinstance(text, str)]
        return "\n\n".join(text for text in cleaned if text)

    async def _each(self, hook: str, call: Callable[[MemoryProvider], Awaitable[_T]]) -> list[_T | None]:
        """Call every provider at once; `None` stands for one that has failed or was too late."""
        results: list[_T | None] = [None] * len(self._providers)

        async def bounded(number: int, provider: MemoryProvider) -> None:
            with anyio.move_on_after(self._timeout) as scope:
                try:
                    results[number] = await call(provider)
                except Exception as error:
                    # Only the kind of error: its message may quote what is remembered.
                    _log.warning(
                        "the memory provider %s failed in %s: %s", provider.name, hook, type(error).__name__
                    )
            if scope.cancelled_caught:
                _log.warning("the memory provider %s was too late in %s", provider.name, hook)

        async with anyio.create_task_group() as tasks:
            for number, provider in enumerate(self._providers):
                tasks.start_soon(bounded, number, provider)
        return results
