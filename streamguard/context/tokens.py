"""Counting tokens, and what of a model's window goes to what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from inspect import isawaitable

from streamguard.context.messages import Message, blocks, field, kind, texts

__all__ = ["Budget", "Ledger", "TokenCounter", "estimate_tokens"]

TokenCounter = Callable[[Message], int | Awaitable[int]]
"""Counts the tokens of one message; the count of a conversation is their sum."""

_BYTES = 4  # of UTF-8 a token, a usual figure for English; CJK comes to 0.75 tokens a character
_MESSAGE = 4  # tokens that a message costs besides its text
_MEDIA = 1600  # tokens of an image, as large as the APIs make them before they scale it down


def estimate_tokens(message: Message, /) -> int:
    """Estimate the tokens of a message without a tokenizer: a quarter of its bytes in UTF-8.

    An image, a sound or a document in a block counts 1600, however long its data.
    """
    parts = [*blocks(message)]
    for block in blocks(message):
        if kind(block) == "tool_result":
            parts += blocks(block)
    media = sum(kind(part) in _MEDIA_KINDS for part in parts)
    thoughts = [str(field(part, "thinking") or "") for part in parts if kind(part) == "thinking"]
    size = sum(len(text.encode("utf-8", "replace")) for text in (*texts(message), *thoughts))
    return _MESSAGE + -(-size // _BYTES) + _MEDIA * media


_MEDIA_KINDS = frozenset(
    ("image", "image_url", "input_image", "input_audio", "audio", "document", "file", "input_file")
)


class Ledger:
    """Asks a counter once for each message, whether it answers at once or not."""

    __slots__ = ("_counter", "_known")

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: dict[int, tuple[Message, int]] = {}  # with the message, so that its id stays its own

    async def sizes(self, messages: Sequence[Message]) -> list[int]:
        """The tokens of each message."""
        return [await self._size(message) for message in messages]

    async def total(self, messages: Sequence[Message]) -> int:
        """The tokens of all messages."""
        return sum(await self.sizes(messages))

    async def _size(self, message: Message) -> int:
        if id(message) not in self._known:
            found = self._counter(message)
            self._known[id(message)] = (message, await found if isawaitable(found) else found)
        return self._known[id(message)][1]


@dataclass(frozen=True, slots=True)
class Budget:
    """How many tokens go to what.

    Attributes:
        window: tokens the model can take in.
        threshold: the share of the window that a conversation may fill.
        tail_share: the share of that for the newest messages.
    """

    window: int
    threshold: float = 0.5
    tail_share: float = 0.2

    def __post_init__(self) -> None:
        if self.window <= 0:
            raise ValueError("a window is a positive number of tokens")
        if not 0 < self.threshold <= 1 or not 0 < self.tail_share <= 0.5:
            raise ValueError("a threshold is above 0 and at most 1, the tail's share at most 0.5")

    @property
    def limit(self) -> int:
        """Tokens from which on a conversation is compacted, and below which it has to come."""
        return int(self.window * self.threshold)

    @property
    def head(self) -> int:
        """Tokens that the protected beginning may have, system messages aside."""
        return self.limit // 4

    @property
    def tail(self) -> int:
        """Tokens of the newest messages that are kept."""
        return int(self.limit * self.tail_share)

    def summary(self, replaced: int) -> int:
        """Tokens of a summary: a fifth of what it replaces, from 2,000 up to 12,000.

        At most a twentieth of the window, if that is more than 2,000; and never more than half
        of what it replaces.
        """
        most = min(12_000, self.window // 20)
        return min(max(min(replaced // 5, most), 2_000), replaced // 2)
