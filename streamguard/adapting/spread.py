"""One text over several blocks, each of which gets back what it gave.

Providers cut an answer into blocks for reasons of their own (each citation makes one), and
whoever shows it joins them. So the blocks are one text, and a guard has to see them as one. What
it holds at the end of a block belongs to that block and comes out there, when the next one
has decided it. Once something is found that is over: what is shown then stands where the text does.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from streamguard.session import End, Finding, FindingHandler, HiddenHandler, Transformer

__all__ = ["Spread"]

Block = TypeVar("Block", bound=Hashable)


class Spread(Generic[Block]):
    """The session of a text that goes from block to block.

    *Delay*: that of the guard. *Memory*: that of a session, and the name of each block of which
    something is held.
    """

    __slots__ = ("_block", "_on_finding", "_owed", "_session")

    def __init__(
        self,
        guard: Transformer,
        *,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> None:
        """Begin a text.

        Args:
            guard: what it goes through.
            on_finding: called with each finding; offsets count from the beginning of the first block.
            on_hidden: called with the fence's name and the hidden text as it passes.
        """
        self._on_finding = on_finding
        self._session = guard.session(on_finding=self._found, on_hidden=on_hidden)
        self._owed: list[tuple[Block, int]] = []  # blocks that were left, and how much of each is held
        self._block: Block | None = None

    def feed(self, block: Block, text: str, /) -> list[tuple[Block, str]]:
        """Take the next text of a block, and return what may be shown now.

        Args:
            block: any name; a text that has left a block does not come back to it.
            text: any length, empty included.

        Returns:
            Texts with the blocks they belong to, in order; those of earlier blocks come first.

        Raises:
            StreamClosedError: the session was flushed, or raised before.
            LimitExceededError: a stage was told to raise on a limit.
            StreamBlocked: a stage was told to end the stream on what it has found.
        """
        if block != self._block:
            if self._block is not None and (held := self._held()) > 0:
                self._owed.append((self._block, held))
            self._block = block
        shown: list[tuple[Block, str]] = []
        at = 0
        while self._owed and at < len(text):  # one by one: what is found must not depend on the cut
            self._share(self._session.feed(text[at]), shown)
            at += 1
        self._share(self._session.feed(text[at:]), shown)
        return shown

    def flush(self, end: End = End.COMPLETE, /) -> list[tuple[Block, str]]:
        """End the text, and return what was held and may be shown, as `feed` does.

        Raises:
            StreamClosedError: the session was flushed, or raised before.
        """
        shown: list[tuple[Block, str]] = []
        self._share(self._session.flush(end), shown)
        self._owed.clear()
        return shown

    @property
    def owing(self) -> tuple[Block, ...]:
        """The blocks that the text has left and that may still get something, in order."""
        return tuple(block for block, _ in self._owed)

    @property
    def pending(self) -> int:
        """Characters held back now, of all blocks."""
        return self._session.pending

    def _held(self) -> int:
        return self._session.pending - sum(count for _, count in self._owed)

    def _share(self, text: str, shown: list[tuple[Block, str]]) -> None:
        while text and self._owed:
            block, count = self._owed.pop(0)
            if len(text) < count:
                self._owed.insert(0, (block, count - len(text)))
            _add(shown, block, text[:count])
            text = text[count:]
        if text and self._block is not None:
            _add(shown, self._block, text)

    def _found(self, finding: Finding) -> None:
        self._owed.clear()
        if self._on_finding is not None:
            self._on_finding(finding)


def _add(shown: list[tuple[Block, str]], block: Block, text: str) -> None:
    if shown and shown[-1][0] == block:
        text = shown.pop()[1] + text
    shown.append((block, text))
