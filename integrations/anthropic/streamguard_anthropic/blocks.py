"""Blocks of a message, the texts that go through them, and the line in which their events stand.

What a guard holds at the end of a block may be decided in the next one. Until then the event that
closes the block waits, and whatever came later stands in line behind it: so events keep their
order, and no block gets text once it is closed.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from streamguard import End, Finding, Transformer
from streamguard.adapting import Spread, Unchanged
from streamguard.session import FindingHandler
from streamguard_anthropic.response import with_text
from streamguard_anthropic.shape import get, put

__all__ = ["Block", "Line", "Text"]

Entry = list[Any]  # an event, and the block on whose text it waits


class Text:
    """A text, and the block in which it stands.

    *Memory*: that of `Spread`, and an event.
    """

    __slots__ = ("_behind", "_on_finding", "_spread", "_torn", "_unchanged", "block", "field", "template")

    def __init__(
        self, guard: Transformer, block: Block, field: str, on_finding: FindingHandler | None
    ) -> None:
        self._spread: Spread[Block] = Spread(guard, on_finding=self._found)
        self._on_finding = on_finding
        self._behind = 0  # how many characters less were shown than taken
        self._torn = False  # something was found, and what has come since may belong to it
        self._unchanged = Unchanged() if field == "thinking" else None
        self.block: Block | None = block  # none once it has ended
        self.field = field  # where it stands in a delta
        self.template: Any = None  # the last event with a delta of it

    def feed(self, block: Block, text: str) -> list[tuple[Block, str]]:
        """Take the next text of a block; return what may be shown, and where."""
        self.block = block
        held = self._torn and self._spread.pending
        pieces = self._spread.feed(block, text)
        self._behind += len(text)
        for _, piece in pieces:
            self._behind -= len(piece)
        if self._unchanged is not None:
            self._unchanged.passed(text, "".join(piece for _, piece in pieces))
        if self._torn and not held and pieces == [(block, text)] and not self._spread.pending:
            self._torn, self._behind = False, 0
        return pieces

    def flush(self, end: End) -> list[tuple[Block, str]]:
        """End the text; return what may be shown, and where."""
        self.block = None
        pieces = self._spread.flush(end)
        if self._unchanged is not None:
            self._unchanged.passed("", "".join(piece for _, piece in pieces))
        return pieces

    @property
    def is_changed(self) -> bool:
        """Whether thinking has not come out as it went in: its signature is invalid then."""
        return self._unchanged is not None and not self._unchanged

    @property
    def undecided(self) -> bool:
        """Whether something may still come of what was taken.

        To ask what is held would not do: a long secret is not kept, yet its placeholder comes.
        """
        return self._torn or self._behind != 0 or self._spread.pending > 0

    def holds(self, block: Block) -> bool:
        """Tell whether a block may get something of what it gave."""
        return block in self._spread.owing or (self.block is block and self.undecided)

    def _found(self, finding: Finding) -> None:
        self._torn = True
        if self._on_finding is not None:
            self._on_finding(finding)


class Block:
    """What is known of a block."""

    __slots__ = (
        "due",
        "entry",
        "head",
        "index",
        "is_copy",
        "kind",
        "signed",
        "stopped",
        "text",
        "unknown",
        "waits",
    )

    def __init__(self, index: Any, kind: object, *, is_copy: bool = False) -> None:
        self.index = index
        self.kind = kind
        self.is_copy = is_copy  # it stands in a closing event, and repeats what was streamed
        self.text: Text | None = None
        self.unknown: dict[Any, tuple[Any, tuple[str, ...]]] = {}  # deltas of unknown kinds: event, fields
        self.entry: Entry | None = None  # an event that has text of the block in it, and waits for
        self.head = ""  # what it may show of that
        self.signed = False  # it came with a signature
        self.stopped = False
        self.waits = False  # the event that closes it stands in line, and before that goes
        self.due: list[Any] = []  # what has been decided

    @property
    def owes(self) -> bool:
        """Whether the block may still get something."""
        return bool(self.unknown) or (self.text is not None and self.text.holds(self))

    def fill(self) -> None:
        """Give the event that waits what may be shown by now; it waits no longer."""
        if self.entry is not None:
            event = self.entry[0]
            content = get(event, "content_block")
            if (safe := with_text(content, self.head)) is not content:
                event = put(event, content_block=safe)
            self.entry[:] = event, None
            self.entry = None


class Line:
    """Events in the order in which they came; behind one that waits all do.

    *Memory*: the events that wait, and the indices of dropped blocks.
    """

    __slots__ = ("_entries", "_shown", "dropped")

    def __init__(self) -> None:
        self.dropped: set[Any] = set()  # indices of blocks that are left out
        self._entries: deque[Entry] = deque()
        self._shown: list[Any] = []

    def add(self, event: Any) -> None:
        """Put an event at the end of the line."""
        event = self._numbered(event)
        if self._entries:
            self._entries.append([event, None])
        else:
            self._shown.append(event)

    def add_filled(self, event: Any, block: Block) -> None:
        """Add an event that has text of a block in it: it waits until that is decided."""
        block.entry = [self._numbered(event), block]
        self._entries.append(block.entry)

    def add_stop(self, event: Any, block: Block) -> None:
        """Add the event that closes a block, if any: it waits until the block's text is decided."""
        block.stopped = block.waits = True
        self._entries.append([self._numbered(event), block])

    def add_delta(self, event: Any, block: Block) -> None:
        """Add an event of a block, before the one that closes it."""
        if block.waits:
            block.due.append(self._numbered(event))
        else:
            self.add(event)

    def shown(self) -> list[Any]:
        """Take out what need not wait."""
        shown, self._shown = self._shown, []
        while self._entries:
            entry = self._entries[0]
            block: Block | None = entry[1]
            if block is not None:
                stops = entry is not block.entry
                if stops:
                    shown += block.due
                    block.due.clear()
                if block.owes:
                    break
                if stops:
                    block.waits = False
                else:
                    block.fill()
            if entry[0] is not None:
                shown.append(entry[0])
            self._entries.popleft()
        return shown

    def _numbered(self, event: Any) -> Any:
        """Count the blocks anew where some were dropped: clients look blocks up by their index."""
        if not self.dropped or (index := get(event, "index")) is None:
            return event
        before = sum(1 for dropped in self.dropped if dropped < index)
        return put(event, index=index - before) if before else event
