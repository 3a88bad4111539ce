"""Which literals there are, and which of them stands where in a text.

The literals are one sorted list. Those that begin with a given text stand together in it,
and so one binary search says of a position which is the longest literal that stands there,
and whether the text that is left is the beginning of a longer one. A trie would say so one
character at a time, at the price of a node for each of some million characters.

Base64 and values of several lines come wrapped and indented. They are in a list of their own,
without line breaks, and the text is looked up in it without its own; where a break stands among
the first characters of one, the search goes by the break.

No literal overlaps a placeholder: what is redacted once is the same when it is redacted twice.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from streamguard.redact.literal_edges import Edges
from streamguard.redact.spellings import BREAK, spellings, wrapped
from streamguard.session import Bound

if TYPE_CHECKING:
    import ahocorasick_rs

__all__ = ["LEAST", "SHORT", "STAGE", "Index", "Owner", "index_of"]

STAGE = "literals"
SHORT = 128
"""Texts up to this length are walked; in longer ones the beginnings of literals are searched."""
WINDOW = 65536
LEAST = 4
"""Fewest characters of a literal; by as many the walk tells that nothing begins at a position."""
ANCHOR = 6
"""Characters by which the search does."""
NUMBER = 12
"""Fewer digits than that are an everyday number: a port, a date, an account."""
OPENING = "[REDACTED:"
"""How the placeholders of every redactor begin."""
MEETS = "could match inside a placeholder"

LONGEST_BREAK = 10
LINE = 32
"""Fewest characters between two breaks of what is wrapped."""
SHORTEST = 8
"""Fewest characters of what is looked for over several lines."""

_BREAKS = re.compile(r"[\r\n]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_EVERYDAY = """
true false none null nil undefined enabled disabled enable disable default unknown optional required
localhost example sample testing staging production development debug release master
username password passwd passphrase secret secrets token tokens private public apikey api-key api_key
credential credentials changeme change-me change_me placeholder redacted hidden string number integer
boolean object random system service server client database postgres postgresql mysql mariadb mongodb
sqlite redis rabbitmq kafka elastic elasticsearch administrator anonymous nobody foobar letmein qwerty
keychain keyring bearer basic oauth oauth2 openid vault github gitlab google amazon openai anthropic
"""
_WORDS = frozenset(_EVERYDAY.split())


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Owner:
    """A value and what stands in its place."""

    name: str
    id: str
    mark: str
    value: str


class _Sorted:
    """Literals, sorted, with what one search has to know of each."""

    __slots__ = ("_marks", "literals", "longest", "other", "owner", "parent")

    def __init__(self, literals: dict[str, int], owners: list[Owner]) -> None:
        ordered = self.literals = sorted(literals)
        self.longest = max(map(len, literals), default=0)
        self.owner = array("I", map(literals.__getitem__, ordered))
        self._marks = [owner.mark for owner in owners]
        # Of each literal, the longest other one that it begins with.
        self.parent = array("i")
        above: list[int] = []
        for at, one in enumerate(ordered):
            while above and not one.startswith(ordered[above[-1]]):
                above.pop()
            self.parent.append(above[-1] if above else -1)
            above.append(at)
        # Of each literal, the next one that has another placeholder.
        self.other = array("I", bytes(4 * len(ordered)))
        following = len(ordered)
        for at in range(following - 1, -1, -1):
            if at + 1 < len(ordered) and self._mark(at) != self._mark(at + 1):
                following = at + 1
            self.other[at] = following

    def _mark(self, at: int) -> str:
        return self._marks[self.owner[at]]

    def find(self, piece: str) -> tuple[int, int]:
        """The longest literal that a text begins with, or -1; and the first one that sorts behind it."""
        literals = self.literals
        above = bisect_right(literals, piece)
        # What sorts between a beginning of `piece` and `piece` begins with that beginning as well:
        # the longest literal in `piece` is the one before it, or one that this begins with.
        at = above - 1
        while at >= 0 and not piece.startswith(literals[at]):
            at = self.parent[at]
        return at, above

    def grows(self, above: int, piece: str) -> bool:
        """Whether a text is the beginning of a literal."""
        return above < len(self.literals) and self.literals[above].startswith(piece)

    def agree(self, above: int, piece: str, mark: str) -> bool:
        """Whether all the literals that a text is the beginning of have this placeholder."""
        if self._mark(above) != mark:
            return False
        other = self.other[above]
        return other == len(self.literals) or not self.literals[other].startswith(piece)


class Index:
    """The literals, and those that are looked for over several lines."""

    __slots__ = (
        "_anchors",
        "_beyond",
        "_breaks",
        "_joined",
        "_joined_heads",
        "_plain",
        "_window",
        "heads",
        "joins",
        "owners",
    )

    def __init__(self, owners: list[Owner], literals: dict[str, int], broken: dict[str, int]) -> None:
        self.owners = owners
        self._plain = _Sorted(literals, owners)
        self._joined = _Sorted(broken, owners)
        self.joins = bool(broken)
        self.heads = _heads(literals)
        self._joined_heads = _heads(broken)
        # A value of several lines has breaks of its own, as many as it likes.
        self._breaks = 1 + max((len(BREAK.findall(owner.value)) for owner in owners), default=0)
        self._window = self._room(self._joined.longest)
        self._beyond = ANCHOR + LONGEST_BREAK * self._breaks
        self._anchors: tuple[ahocorasick_rs.AhoCorasick, int] | None = None

    def __reduce__(self) -> NoReturn:
        raise TypeError("secrets are not pickled")

    def _room(self, size: int) -> int:
        """The most characters of what has that many without its line breaks."""
        return size + LONGEST_BREAK * (self._breaks + size // LINE)

    def literals_in(self, text: str) -> Iterator[str]:
        """Yield the longest literal at every position of a text."""
        for at in self.starts(text, 0):
            length, _, _, _ = self.look(text, at)
            if length:
                yield text[at : at + length]

    def bounds(self) -> tuple[Bound, ...]:
        """The most characters held back for each value."""
        most = [0] * len(self.owners)
        for one, owner in zip(self._plain.literals, self._plain.owner, strict=True):
            most[owner] = max(most[owner], len(one) - 1)
        for one, owner in zip(self._joined.literals, self._joined.owner, strict=True):
            most[owner] = max(most[owner], self._room(len(one) - 1))
        return tuple(Bound(STAGE, owner.id, held) for owner, held in zip(self.owners, most, strict=True))

    def look(self, data: str, start: int) -> tuple[int, int, bool, bool]:
        """Say what stands at a position.

        Returns:
            The length of the longest literal and its owner, 0 and 0 where there is none;
            whether a longer one may come; if so, whether the placeholder is certain.
        """
        plain = self._plain
        piece = data[start : start + plain.longest]
        at, above = plain.find(piece)
        length, number = (len(plain.literals[at]), plain.owner[at]) if at >= 0 else (0, 0)
        grows = plain.grows(above, piece)
        # Up to its first break whatever is broken is the beginning of a plain literal as well.
        if not self.joins or not _BREAKS.search(data, start, start + self._window):
            certain = grows and at >= 0 and plain.agree(above, piece, self.owners[number].mark)
            return length, number, grows, certain
        together, spans, open_ended = self._without_breaks(data, start)
        joined = self._joined
        at, joined_above = joined.find(together)
        joined_grows = open_ended and joined.grows(joined_above, together)
        if at >= 0:
            found = size = len(joined.literals[at])
            for begin, end in spans:
                if begin < size:
                    size += end - begin
            if size > max(found, length):
                length, number = size, joined.owner[at]
        certain = bool(length) and (grows or joined_grows)
        if certain:
            mark = self.owners[number].mark
            certain = not grows or plain.agree(above, piece, mark)
            certain = certain and (not joined_grows or joined.agree(joined_above, together, mark))
        return length, number, grows or joined_grows, certain

    def _without_breaks(self, data: str, start: int) -> tuple[str, list[tuple[int, int]], bool]:
        """The text at a position without its line breaks, where they stood, and whether more may follow."""
        window = data[start : start + self._window]
        end = len(window)
        open_ended = end < self._window
        spans: list[tuple[int, int]] = []
        parts: list[str] = []
        done = removed = 0
        for found in BREAK.finditer(window):
            begin = found.start()
            if not begin or len(spans) >= self._breaks + (begin - removed) // LINE:
                end, open_ended = begin, False
                break
            parts.append(window[done:begin])
            done = found.end()
            removed += done - begin
            spans.append((begin, done))
        parts.append(window[done:end])
        return "".join(parts), spans, open_ended

    def begins(self, data: str, at: int) -> bool:
        """Whether a literal may begin at a position, as far as the first characters tell."""
        head = data[at : at + LEAST]
        if head in self.heads:
            return True
        found = _BREAKS.search(head)
        if found is None or head[: found.start()] not in self._joined_heads:
            return False
        near = data[at : at + LEAST + LONGEST_BREAK]
        return BREAK.sub("", near)[:LEAST] in self._joined_heads

    def _walk(self, data: str, at: int, stop: int) -> Iterator[int]:
        """Yield the positions up to another where a literal may begin, asking of each."""
        heads = self.heads
        if self.joins:
            for found in _BREAKS.finditer(data, at, stop + LEAST - 1):
                begin = found.start()
                for start in range(at, begin - LEAST + 1):
                    if data[start : start + LEAST] in heads:
                        yield start
                for start in range(max(at, begin - LEAST + 1), min(stop, begin + 1)):
                    if self.begins(data, start):
                        yield start
                at = max(at, begin + 1)
        for start in range(at, stop):
            if data[start : start + LEAST] in heads:
                yield start

    def _across(self, data: str, at: int, stop: int) -> list[int]:
        """The positions up to another where one begins whose first characters are not on one line."""
        text = data[at : stop + self._beyond]
        together = BREAK.sub("", text)
        if len(together) == len(text):
            return []
        automaton, _ = self._anchors or self._build()
        hits = [begin for _, begin, _ in _search(automaton, together)]
        if not hits:
            return []
        across: list[int] = []
        removed = 0
        breaks = BREAK.finditer(text)
        following = next(breaks, None)
        for hit in hits:
            while following is not None and following.start() <= hit + removed:
                removed += following.end() - following.start()
                following = next(breaks, None)
            across.append(at + hit + removed)
        return across

    def starts(self, data: str, at: int, held: int = 0) -> Iterator[int]:
        """Yield every position from `at` on where a literal may begin.

        Args:
            data: the text.
            at: the first position.
            held: how much of the text was held: it is walked, and no further than called for, or
                all of it would be searched again whenever it grows.
        """
        if len(data) - max(at, held) > SHORT and self._plain.literals:
            yield from self._walk(data, at, held)
            automaton, size = self._anchors or self._build()
            last = len(data) - size
            for start in range(max(at, held), last + 1, WINDOW):
                stop = min(start + WINDOW, last + 1)
                found = [start + begin for _, begin, _ in _search(automaton, data[start : stop + size - 1])]
                if self.joins and (across := self._across(data, start, stop)):
                    found = sorted({*found, *(one for one in across if one < stop)})
                yield from found
            if self.joins:  # of what has breaks there, too little has come
                yield from self._walk(data, max(at, held, len(data) - self._beyond), last + 1)
            at = last + 1
        yield from self._walk(data, at, len(data))

    def _build(self) -> tuple[ahocorasick_rs.AhoCorasick, int]:
        import ahocorasick_rs

        every = (*self._plain.literals, *self._joined.literals)
        size = min(ANCHOR, *map(len, every))
        anchors = {_SURROGATE.sub("\ufffd", one[:size]) for one in every}
        automaton = ahocorasick_rs.AhoCorasick(
            sorted(anchors), implementation=ahocorasick_rs.Implementation.ContiguousNFA
        )
        self._anchors = automaton, size
        return self._anchors


def _heads(literals: Iterable[str]) -> frozenset[str]:
    return frozenset(one[:size] for one in literals for size in range(1, LEAST + 1))


def _unfit(value: str, min_length: int) -> str:
    if len(value) < min_length:
        return f"is shorter than {min_length} characters"
    if OPENING in value:
        return MEETS
    if value.casefold() in _WORDS:
        return "is an everyday word"
    if len(value) < NUMBER and value.isdecimal():
        return f"is a number of fewer than {NUMBER} digits"
    if len(set(value)) == 1:
        return "is one character repeated"
    return ""


def _search(automaton: ahocorasick_rs.AhoCorasick, text: str) -> list[tuple[int, int, int]]:
    try:
        return automaton.find_matches_as_indexes(text, overlapping=True)
    except UnicodeEncodeError:  # half a surrogate pair; anchors have the same in its place
        return automaton.find_matches_as_indexes(_SURROGATE.sub("\ufffd", text), overlapping=True)


def index_of(
    owners: list[Owner], encodings: frozenset[str], min_length: int, refuse: Callable[[str, str], None]
) -> Index:
    """Make the literals, none of which overlaps a placeholder."""
    edges = Edges({owner.mark for owner in owners})
    literals: dict[str, int] = {}
    kept: list[Owner] = []
    seen: set[str] = set()
    for owner in owners:
        plain = edges.trimmed(owner.value)
        if reason := _unfit(owner.value, min_length) or (MEETS if _unfit(plain, min_length) else ""):
            refuse(owner.name, reason)
        elif owner.value not in seen:
            seen.add(owner.value)
            literals.setdefault(plain, len(kept))
            kept.append(owner)
    for number, owner in enumerate(kept):
        for spelling in spellings(owner.value, encodings):
            one = edges.trimmed(spelling)
            if len(one) >= min_length:
                literals.setdefault(one, number)
    broken = _joined_of(kept, literals, encodings, max(min_length, SHORTEST), edges)
    while True:
        index = Index(kept, literals, broken)
        inside = {one for mark in edges.marks for one in index.literals_in(mark)}
        if not inside:
            return index
        for one in inside:
            owner = kept[literals.pop(one)]
            broken.pop(one, None)
            if one == edges.trimmed(owner.value):
                refuse(owner.name, MEETS)
                return index_of(
                    [other for other in kept if other is not owner], encodings, min_length, refuse
                )


def _joined_of(
    owners: list[Owner], literals: dict[str, int], encodings: frozenset[str], least: int, edges: Edges
) -> dict[str, int]:
    """What is looked for without line breaks; nothing where placeholders have such themselves."""
    broken: dict[str, int] = {}
    if any(map(_BREAKS.search, edges.marks)):
        return broken
    for number, owner in enumerate(owners):
        value = BREAK.sub("", owner.value)
        whole = value == BREAK.sub("", edges.trimmed(owner.value)) == edges.trimmed(value)
        if value != owner.value and len(value) >= least and whole:
            broken.setdefault(value, number)
        for spelling in wrapped(owner.value, encodings):
            one = edges.trimmed(spelling)
            if len(one) >= least and one in literals:
                broken[one] = literals[one]
    return broken
