"""Which literals there are, and which of them stands where in a text.

The literals are one sorted list. Those that begin with a given text stand together in it,
and so one binary search says of a position which is the longest literal that stands there,
and whether the text that is left is the beginning of a longer one. A trie would say so one
character at a time, at the price of a node for each of some million characters.

No literal overlaps a placeholder: what is redacted once is the same when it is redacted twice.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from streamguard.redact.spellings import spellings
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


class Index:
    """The literals, sorted, with what one search has to know of each."""

    __slots__ = ("_anchors", "_literals", "_other", "_owner", "_parent", "heads", "longest", "owners")

    def __init__(self, owners: list[Owner], literals: dict[str, int]) -> None:
        self.owners = owners
        self._literals = sorted(literals)
        self._owner = array("I", map(literals.__getitem__, self._literals))
        self.longest = max(map(len, literals), default=0)
        self.heads = frozenset(one[:size] for one in literals for size in range(1, LEAST + 1))
        self._anchors: tuple[ahocorasick_rs.AhoCorasick, int] | None = None
        # Of each literal, the longest other one that it begins with.
        self._parent = array("i")
        above: list[int] = []
        for at, one in enumerate(self._literals):
            while above and not one.startswith(self._literals[above[-1]]):
                above.pop()
            self._parent.append(above[-1] if above else -1)
            above.append(at)
        # Of each literal, the next one that has another placeholder.
        self._other = array("I", bytes(4 * len(self._literals)))
        following = len(self._literals)
        for at in range(following - 1, -1, -1):
            if at + 1 < len(self._literals) and self._mark(at) != self._mark(at + 1):
                following = at + 1
            self._other[at] = following

    def __reduce__(self) -> NoReturn:
        raise TypeError("secrets are not pickled")

    def _mark(self, at: int) -> str:
        return self.owners[self._owner[at]].mark

    def literals_in(self, text: str) -> Iterator[str]:
        """Yield the longest literal at every position of a text."""
        for at in self.starts(text, 0):
            length, _, _, _ = self.look(text, at)
            if length:
                yield text[at : at + length]

    def bounds(self) -> tuple[Bound, ...]:
        """The most characters held back for each value."""
        most = [0] * len(self.owners)
        for one, owner in zip(self._literals, self._owner, strict=True):
            most[owner] = max(most[owner], len(one) - 1)
        return tuple(Bound(STAGE, owner.id, held) for owner, held in zip(self.owners, most, strict=True))

    def look(self, data: str, start: int) -> tuple[int, int, bool, bool]:
        """Say what stands at a position.

        Returns:
            The length of the longest literal and its owner, 0 and 0 where there is none;
            whether a longer one may come; if so, whether the placeholder is certain.
        """
        literals = self._literals
        piece = data[start : start + self.longest]
        above = bisect_right(literals, piece)
        # What sorts between a beginning of `piece` and `piece` begins with that beginning as well:
        # the longest literal in `piece` is the one before it, or one that this begins with.
        at = above - 1
        while at >= 0 and not piece.startswith(literals[at]):
            at = self._parent[at]
        grows = above < len(literals) and literals[above].startswith(piece)
        if at < 0:
            return 0, 0, grows, False
        certain = False
        if grows and self._mark(at) == self._mark(above):
            other = self._other[above]
            certain = other == len(literals) or not literals[other].startswith(piece)
        return len(literals[at]), self._owner[at], grows, certain

    def starts(self, data: str, at: int, held: int = 0) -> Iterator[int]:
        """Yield every position from `at` on where a literal may begin.

        Args:
            data: the text.
            at: the first position.
            held: how much of the text was held: it is walked, and no further than called for, or
                all of it would be searched again whenever it grows.
        """
        heads = self.heads
        if len(data) - max(at, held) > SHORT and self._literals:
            for start in range(at, held):
                if data[start : start + LEAST] in heads:
                    yield start
            automaton, size = self._anchors or self._build()
            last = len(data) - size
            for start in range(max(at, held), last + 1, WINDOW):
                window = data[start : min(start + WINDOW, last + 1) + size - 1]
                for _, begin, _ in _search(automaton, window):
                    yield start + begin
            at = last + 1
        for start in range(at, len(data)):
            if data[start : start + LEAST] in heads:
                yield start

    def _build(self) -> tuple[ahocorasick_rs.AhoCorasick, int]:
        import ahocorasick_rs

        size = min(ANCHOR, *map(len, self._literals))
        anchors = {_SURROGATE.sub("\ufffd", one[:size]) for one in self._literals}
        automaton = ahocorasick_rs.AhoCorasick(
            sorted(anchors), implementation=ahocorasick_rs.Implementation.ContiguousNFA
        )
        self._anchors = automaton, size
        return self._anchors


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
    edges = _Edges({owner.mark for owner in owners})
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
    while True:
        index = Index(kept, literals)
        inside = {one for mark in edges.marks for one in index.literals_in(mark)}
        if not inside:
            return index
        for one in inside:
            owner = kept[literals.pop(one)]
            if one == edges.trimmed(owner.value):
                refuse(owner.name, MEETS)
                return index_of(
                    [other for other in kept if other is not owner], encodings, min_length, refuse
                )


class _Edges:
    """Where literals meet placeholders.

    A literal that ends as a placeholder begins, such as one with a bracket last, would
    match together with the placeholder of the value behind it when the output is redacted
    again. It is looked for without that end; the same for its beginning.
    """

    def __init__(self, marks: set[str]) -> None:
        self.marks = sorted(marks - {""})
        self._backwards = sorted(mark[::-1] for mark in self.marks)
        first = {mark[0] for mark in self.marks}
        last = {mark[-1] for mark in self.marks}
        self._first = _any_of(first)
        self._last = _any_of(last)
        self._either = _any_of(first | last)

    def trimmed(self, text: str) -> str:
        """Return the literal without what may be part of a placeholder; empty if one is in it."""
        if not self._either.search(text):
            return text
        size = -1
        while size != len(text):
            size = len(text)
            for found in self._first.finditer(text):
                rest = text[found.start() :]
                if _begins(self.marks, rest):
                    text = text[: found.start()]
                    break
                at = bisect_right(self.marks, rest) - 1
                if at >= 0 and rest.startswith(self.marks[at]):
                    return ""
            backwards = text[::-1]
            for found in self._last.finditer(backwards):
                rest = backwards[found.start() :]
                if _begins(self._backwards, rest):
                    text = text[len(rest) :]
                    break
        return text


def _any_of(chars: set[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(chars))) or "(?!)")


def _begins(ordered: list[str], text: str) -> bool:
    """Whether one of the strings begins with the text."""
    at = bisect_left(ordered, text)
    return at < len(ordered) and ordered[at].startswith(text)
