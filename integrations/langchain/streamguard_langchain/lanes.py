"""Lanes that know where in a message their texts stand.

A lane that goes from one block of content to the next may hold characters of the block it leaves.
These are owed to that block: when the lane shows them they come out there. Once something is
found, that is over: what is shown from then on stands where the lane does.
"""

from __future__ import annotations

from typing import cast

from streamguard import End, Finding, Transformer
from streamguard.adapting import LaneFinding, Lanes
from streamguard.session import FindingHandler
from streamguard_langchain.blocks import Blocks, is_named
from streamguard_langchain.places import Key, Place

__all__ = ["Piece", "PlacedLanes"]

Piece = tuple[Place, str]
"""A text, and where it stands."""


class PlacedLanes(Lanes):
    """The lanes of one response.

    Attributes:
        blocks: the blocks of its content.
        places: where the text of each open lane was last seen.

    *Memory*: the sessions, and for each open lane the field of the chunk it was last seen in.
    """

    __slots__ = ("_late", "_owed", "_stands", "_told", "blocks", "places")

    def __init__(self, guard: Transformer, on_finding: FindingHandler | None, *, apart: bool) -> None:
        """Begin a response; `apart` is that of `Blocks`."""
        super().__init__(guard, on_finding=self._found)
        self._told = on_finding
        self.blocks = Blocks(apart=apart)
        self.places: dict[Key, Place] = {}
        self._stands: dict[Key, Key] = {}  # the way to the text that a lane was last fed
        self._owed: dict[Key, list[tuple[Place, int]]] = {}
        self._late: list[Piece] = []

    def say(self, key: Key, place: Place, text: str, guard: Transformer, end: End | None) -> str:
        """Guard the next text at a place, and return what may be shown there.

        Args:
            key: the way to it.
            place: where it stands.
            text: the text.
            guard: what its lane goes through, if this opens it.
            end: how its lane ends with this text, even an empty one; `None` if it goes on.

        Raises:
            StreamGuardError: two blocks that are one text take turns.
        """
        lane = self.lane(key, text)
        shown = ""
        if text:
            self._enter(lane, key, place)
            shown = self._fed(lane, text, guard)
        if end is not None and lane in self.places:
            shown += self._rest(lane, end)
        return shown

    def lane(self, key: Key, text: str = "") -> Key:
        """Name the lane of a text; `text` is what it is to be fed."""
        return self.blocks.lane(key, text) if key[0] == "content" else key

    def close(self, lane: Key, end: End) -> list[Piece]:
        """Close a lane of a response that ends like this; return what it held, and where that stood."""
        place = self.places[lane]
        rest = self._rest(lane, end)
        return [*self.late(), (place, rest)] if rest else self.late()

    def late(self) -> list[Piece]:
        """Return what has been shown since this was asked last of blocks that their lane has left."""
        late, self._late = self._late, []
        return late

    def before(self) -> list[Piece]:
        """Return what comes before a text that has just gone on: the rest of texts it follows, and `late`."""
        over = [lane for lane in self.blocks.over() if lane in self.places]
        return [*(piece for lane in over for piece in self.close(lane, End.COMPLETE)), *self.late()]

    def held(self) -> list[Place]:
        """Where lanes stand that are open, and where what is owed stood."""
        return [*self.places.values(), *(place for owed in self._owed.values() for place, _ in owed)]

    def _enter(self, lane: Key, key: Key, place: Place) -> None:
        before = self._stands.get(lane)
        if before != key:
            owed = self._owed.get(lane, [])
            held = self.pending(lane) - sum(count for _, count in owed)
            if before is not None and held > 0 and is_named(before[1]):
                self._owed[lane] = [*owed, (self.places[lane], held)]
            self._stands[lane] = key
        if not place[1]:  # content that is one string has no blocks
            self._owed.pop(lane, None)
        self.places[lane] = place

    def _fed(self, lane: Key, text: str, guard: Transformer) -> str:
        """Feed a lane; one by one while something is owed, or what is paid would depend on the cut."""
        shown, at = "", 0
        while at < len(text) and self._owed.get(lane):
            shown += self._own(lane, self.feed(lane, text[at]))
            at += 1
        return shown + self.feed(lane, text[at:], guard=guard)

    def _own(self, lane: Key, shown: str) -> str:
        """Take out of what a lane shows what is owed to other blocks; return the rest."""
        owed = self._owed.get(lane)
        while owed and shown:
            place, count = owed.pop(0)
            part, shown = shown[:count], shown[count:]
            self._late.append((place, part))
            if len(part) < count:
                owed.insert(0, (place, count - len(part)))
        return shown

    def _rest(self, lane: Key, end: End) -> str:
        if lane[0] == "content":
            end = self.blocks.end(lane, end)
        rest = self._own(lane, self.flush(lane, end))
        del self.places[lane]
        self._owed.pop(lane, None)
        self._stands.pop(lane, None)
        return rest

    def _found(self, found: Finding) -> None:
        if isinstance(found, LaneFinding):
            self._owed.pop(cast("Key", found.lane), None)
        if self._told is not None:
            self._told(found)
