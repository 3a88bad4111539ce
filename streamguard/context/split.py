"""Where a conversation is cut: its head and its tail stay, what is between may go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamguard.context.messages import Message, side, units
from streamguard.context.summary import asks, is_inserted
from streamguard.context.tokens import Budget

__all__ = ["Split", "split"]


@dataclass(frozen=True, slots=True)
class Split:
    """A conversation in three parts; no call is parted from its results."""

    head: list[Message]
    middle: list[Message]
    tail: list[Message]


def split(
    messages: Sequence[Message], sizes: Sequence[int], *, budget: Budget, limit: int, first: int, last: int
) -> Split:
    """Divide a conversation.

    The head is all instructions at the beginning and whole units of at most `first` messages and
    a quarter of the budget. The tail grows backwards, unit by unit, while it has less than its
    budget; the unit that passes the budget may take it up to one and a half times. It goes
    back as far as the user's latest request if that is within the same ceiling. At least
    `last` messages are in it.

    Args:
        messages: of which every result follows its call.
        sizes: the tokens of each.
        budget: what goes to what.
        limit: the tokens that all may have together.
        first: messages of the head.
        last: messages of the tail.
    """
    parts = units(messages)
    weights = [sum(sizes[part.start : part.stop]) for part in parts]
    begin = 0
    while begin < len(parts) and side(messages[parts[begin].start]) == "system":
        begin += 1
    fixed = sum(weights[:begin])
    kept = weight = 0
    while begin < len(parts) and not is_inserted(messages[parts[begin].start]):
        kept += len(parts[begin])
        weight += weights[begin]
        if kept > first or weight > budget.head:
            break
        fixed += weights[begin]
        begin += 1

    # Behind the ceiling there has to be room for a summary.
    ceiling = min(budget.tail * 3 // 2, limit - fixed - budget.summary(limit))
    end = len(parts)
    kept = weight = 0
    while end > begin:
        size = weights[end - 1]
        if kept >= last and (weight >= ceiling * 2 // 3 or weight + size > ceiling):
            break
        end -= 1
        kept += len(parts[end])
        weight += size
    starts = [*(part.start for part in parts), len(messages)]
    if not any(map(asks, messages[starts[end] :])):
        # The user's latest request comes along if the ceiling has room for all behind it.
        room = ceiling - weight
        for at in range(end - 1, begin - 1, -1):
            room -= weights[at]
            if room < 0:
                break
            if any(map(asks, messages[starts[at] : starts[at + 1]])):
                end = at
                break
    cut, stop = starts[begin], starts[end]
    return Split(list(messages[:cut]), list(messages[cut:stop]), list(messages[stop:]))
