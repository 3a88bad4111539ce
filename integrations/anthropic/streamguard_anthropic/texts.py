"""The texts of a message: which goes on in which block, and where what is held comes out."""

from __future__ import annotations

from typing import Any

from streamguard import End
from streamguard.adapting import JsonLane, Settings, in_lane
from streamguard_anthropic.blocks import Block, Line, Text
from streamguard_anthropic.shape import get, put

__all__ = ["Texts"]


class Texts:
    """The text of the message, which goes from block to block, and those that have a block of their own.

    A block of text goes on with the text of the one before it, if that has stopped: blocks that are open
    at the same time are texts of their own.
    """

    __slots__ = ("_guards", "_line", "_on_finding", "_shared")

    def __init__(self, settings: Settings, line: Line) -> None:
        """Begin a message, the events of which go into a line."""
        self._line = line
        self._on_finding = settings.on_finding
        self._shared: dict[bool, Text] = {}  # the text of the message, and that of copies of its blocks
        self._guards = {
            "text": settings.for_content,
            "thinking": settings.guard,
            "partial_json": JsonLane(settings.for_tools),
        }

    def feed(self, block: Block, event: Any, field: str, text: str) -> str:
        """Take the text of a delta; return what may be shown in its place.

        Before that goes what it has decided of earlier blocks.
        """
        block.fill()
        said, shown = self._text_of(block, field), ""
        for place, piece in said.feed(block, text):
            if place is block:
                shown += piece
            else:
                self._show(place, piece)
        said.template = event
        return shown

    def feed_whole(self, block: Block, event: Any, text: str) -> None:
        """Take an event that opens or closes a block and has its text in it, and put it into the line."""
        block.signed = bool(get(get(event, "content_block"), "signature"))
        said = self._text_of(block, str(block.kind))
        pieces = said.feed(block, text)
        if text or (said.undecided and said.template is None):  # nothing else to show what it may get in
            self._line.add_filled(event, block)
        else:
            self._line.add(event)
        for place, piece in pieces:
            self._show(place, piece)

    def end_own(self, block: Block, end: End) -> None:
        """End the text of a block, but for that of the message."""
        if block.text is not None and block.text not in self._shared.values():
            self._end(block.text, end)

    def end_signed(self, block: Block) -> None:
        """End the text of a block that came with a signature: it is complete."""
        if block.signed:
            self.end_own(block, End.COMPLETE)

    def end_stopped(self, end: End) -> None:
        """End the text of the message, if its block has stopped."""
        for text in self._shared.values():
            if text.block is not None and text.block.stopped:
                self._end(text, end)

    def end_shared(self, end: End) -> None:
        """End the text of the message."""
        for text in self._shared.values():
            self._end(text, end)

    def _end(self, text: Text, end: End) -> None:
        if text.block is not None:
            for block, piece in text.flush(end):
                self._show(block, piece)

    def _show(self, block: Block, piece: str) -> None:
        """Put what was held into its block."""
        if block.entry is not None:
            block.head += piece
        elif block.text is not None:
            event, field = block.text.template, block.text.field
            changes: dict[str, object] = {"delta": put(get(event, "delta"), **{field: piece})}
            if get(event, "index") != block.index:
                changes["index"] = block.index
            self._line.add_delta(put(event, **changes), block)

    def _text_of(self, block: Block, field: str) -> Text:
        """The text that goes on in a block."""
        text = block.text
        if text is None or text.block is None:
            shared = field == "text" and block.kind in ("text", None)
            text = self._shared.get(block.is_copy) if shared else None
            if text is None or text.block is None or not text.block.stopped:
                text = Text(self._guards[field], block, field, in_lane(self._on_finding, block.index))
            if shared:
                self._shared[block.is_copy] = text
            block.text = text
        return text
