"""The memories of one agent: the built-in one, and at most one other.

A turn does not depend on them. Providers run side by side, each within a bound of time; one
that fails or is late is left out, and a warning in the log names it and the kind of error.
What comes back goes into a prompt, so it is cleaned and fenced here, whoever it comes from.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar, cast

import anyio
import anyio.to_thread

from streamguard.memory.entries import Operation, Target, cut
from streamguard.memory.fence import build_memory_block
from streamguard.memory.guard import MemoryGuard
from streamguard.memory.outgoing import guarded
from streamguard.memory.provider import BuiltinProvider, MemoryProvider
from streamguard.memory.tool import MemoryTool

__all__ = ["RECALL_LIMIT", "MemoryManager"]

RECALL_LIMIT = 20_000
_LEFT_OUT = "[The rest is left out: it is too long.]"

_T = TypeVar("_T")
_log = logging.getLogger("streamguard.memory")


class MemoryManager:
    """Asks the providers of one agent, and tells them.

    Args:
        builtin: the built-in memory, if there is one.
        guard: cleans what providers return; `MemoryGuard()` by default.
        timeout: seconds each provider has for each hook.
        limit: characters of what one provider returns that are used; the rest is left out.
    """

    def __init__(
        self,
        builtin: BuiltinProvider | None = None,
        *,
        guard: MemoryGuard | None = None,
        timeout: float = 5.0,
        limit: int = RECALL_LIMIT,
    ) -> None:
        if limit < 1:
            raise ValueError("a limit is a number of characters, 1 or more")
        self._limit = limit
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

        Args:
            query: what the turn is about; secrets are taken out before providers see it.

        Returns:
            A memory block for the prompt, fenced and cleaned; empty if nothing is remembered.
        """
        asked = self._guard.clean(query)
        return build_memory_block(self._joined(await self._each("prefetch", lambda one: one.prefetch(asked))))

    async def queue_prefetch(self, query: str, /) -> None:
        """Have the providers begin to look for what the next turn may ask for; secrets are taken out."""
        asked = self._guard.clean(query)
        await self._each("queue_prefetch", lambda one: one.queue_prefetch(asked))

    async def sync_turn(self, user: str, assistant: str, /) -> None:
        """Tell of a turn that is over; secrets and what was recalled for it are taken out."""
        said, answered = self._guard.clean(user), self._guard.clean(assistant)
        await self._each("sync_turn", lambda one: one.sync_turn(said, answered))

    async def on_pre_compress(self, messages: Sequence[Mapping[str, object]], /) -> str:
        """Tell of messages that are about to be summarised; secrets and memory blocks are taken out.

        Returns:
            What the providers want the summary to keep, cleaned and not fenced; empty for nothing.
        """

        def told() -> list[Mapping[str, object]]:
            return cast("list[Mapping[str, object]]", guarded(messages, self._guard.redact))

        cleaned = await anyio.to_thread.run_sync(told)
        return self._joined(await self._each("on_pre_compress", lambda one: one.on_pre_compress(cleaned)))

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
        cleaned = [self._fitting(text) for text in texts if isinstance(text, str)]
        return "\n\n".join(text for text in cleaned if text)

    def _fitting(self, text: str) -> str:
        """What is used of a provider's text. It is cut once before it is cleaned, to bound the time."""
        used = cut(text, 4 * self._limit)
        clean = self._guard.clean(used).strip()
        fitting = cut(clean, self._limit)
        return fitting if (used, fitting) == (text, clean) else f"{fitting}\n{_LEFT_OUT}"

    async def _each(self, hook: str, call: Callable[[MemoryProvider], Awaitable[_T]]) -> list[_T | None]:
        """Call every provider at once; `None` stands for one that has failed or was too late."""
        results: list[_T | None] = [None] * len(self._providers)
        ended: set[int] = set()

        async def bounded(number: int, provider: MemoryProvider) -> None:
            with anyio.move_on_after(self._timeout) as scope:
                try:
                    result = await call(provider)
                    if anyio.current_time() <= scope.deadline:
                        results[number] = result
                except Exception as error:
                    # Only the kind of error: its message may quote what is remembered.
                    ended.add(number)
                    _log.warning(
                        "the memory provider %s failed in %s: %s", provider.name, hook, type(error).__name__
                    )
            if number not in ended and anyio.current_time() > scope.deadline:
                _log.warning("the memory provider %s was too late in %s", provider.name, hook)
            ended.add(number)

        async with anyio.create_task_group() as tasks:
            for number, provider in enumerate(self._providers):
                tasks.start_soon(bounded, number, provider)
        for number, provider in enumerate(self._providers):
            if number not in ended:  # a cancellation that nobody but the provider has asked for
                _log.warning("the memory provider %s failed in %s: it was cancelled", provider.name, hook)
        return results
