"""What keeps a conversation within a model's window: the base class, and engines by name.

A distribution offers an engine of its own as an entry point:

    [project.entry-points."streamguard.context_engines"]
    mine = "my_package.engine:MyEngine"
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Literal

from streamguard.context.messages import Message

__all__ = ["Compaction", "ContextEngine", "engine_names", "load_engine"]

GROUP = "streamguard.context_engines"
_OWN = "compressor"


@dataclass(frozen=True, slots=True)
class Compaction:
    """A conversation made shorter.

    Attributes:
        messages: the conversation to go on with. Messages that were kept are the same objects.
        action: what was done: nothing, old results of tools cleared, older turns summarized,
            or, where no summary could be had, older turns replaced by what is known without one.
        tokens_before: of the messages given.
        tokens_after: of the messages returned.
        fits: whether these are within the budget. Where not, what is protected is too long, or
            leaves no room for anything that stands for the rest.
        replaced: how many messages a summary stands for now.
        failure: the name of the error class for which there is no summary.
    """

    messages: list[Message]
    action: Literal["none", "pruned", "summarized", "fallback"]
    tokens_before: int
    tokens_after: int
    fits: bool
    replaced: int = 0
    failure: str = ""


class ContextEngine(ABC):
    """Keeps conversations within a window. It holds nothing of them: one may serve many."""

    __slots__ = ()

    @abstractmethod
    async def count(self, messages: Sequence[Message], /) -> int:
        """Count the tokens of a conversation."""

    @abstractmethod
    def due(self, tokens: int, /) -> bool:
        """Tell whether a request of so many tokens should be compacted first.

        Args:
            tokens: counted by `count`, or reported by the provider for the last request.
        """

    @abstractmethod
    async def compact(
        self, messages: Sequence[Message], /, *, focus: str = "", overhead: int = 0
    ) -> Compaction:
        """Make a conversation shorter.

        Args:
            messages: the conversation; it is not changed.
            focus: a topic of which more is to be kept than of the rest.
            overhead: tokens of the request besides the messages: descriptions of tools, and
                instructions that are passed apart.

        Raises:
            ValueError: a message has no role that is known.
        """

    async def prepare(self, messages: Sequence[Message], /, *, overhead: int = 0) -> Compaction:
        """Compact a conversation if that is due, else return it as it is; errors as `compact`."""
        tokens = await self.count(messages)
        if self.due(tokens + overhead):
            return await self.compact(messages, overhead=overhead)
        return Compaction(list(messages), "none", tokens, tokens, fits=True)


def engine_names() -> tuple[str, ...]:
    """The names of the engines that are installed, sorted."""
    return tuple(sorted({_OWN, *entry_points(group=GROUP).names}))


def load_engine(name: str, /) -> type[ContextEngine]:
    """Find an engine by its name.

    Args:
        name: `"compressor"` is ours, others come from entry points.

    Raises:
        LookupError: no engine has this name, or more than one has.
        TypeError: what was found is no `ContextEngine`.
    """
    if name == _OWN:
        from streamguard.context.compressor import ContextCompressor

        return ContextCompressor
    found = {point.value: point for point in entry_points(group=GROUP, name=name)}
    if len(found) != 1:
        few = "no engine has" if not found else "more than one engine has"
        raise LookupError(f"{few} this name; installed: {', '.join(engine_names())}")
    (point,) = found.values()
    engine: object = point.load()
    if not (isinstance(engine, type) and issubclass(engine, ContextEngine)):
        raise TypeError(f"{point.value} is no ContextEngine")
    return engine
