"""Where in a long text a match could be, found without walking it.

Every match of a pattern contains one of its anchors: literals that the pattern itself
requires, with a bound on what can stand between the match's start and the anchor. They
are derived from the pattern, never written beside it, so they cannot miss what the
pattern accepts. A text without anchors is passed over at the speed of one
Aho-Corasick scan, or of `str.find` where the anchors are single characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from streamguard.automaton.pattern import (
    MAX_LOOK_BEHIND,
    Alternation,
    CharSet,
    Concat,
    Node,
    Repeat,
)
from streamguard.automaton.probe import probe

if TYPE_CHECKING:
    import ahocorasick_rs

__all__ = ["Anchors", "Prefilter", "anchors", "exact", "members", "prefix_length", "width"]

MAX_STRINGS = 64
"""Most literals one stretch of a pattern may stand for (case variants count)."""

MAX_LENGTH = 64
"""Literals this long are telling enough; longer ones are not looked for."""

WINDOW = 65_536
"""Characters searched at a time, so that a long text full of anchors is not a long list of them."""

MAX_PROBED = 8
"""Most starts that are looked at one by one for an anchor that may stand inside a match."""

_SURROGATE = re.compile("[\ud800-\udfff]")


_FOLDED = frozenset("\u0130\u0131\u017f\u212a")
"""What `re` takes for i, s or k where case is ignored; written so that no editor normalises it."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """Literals of which every match contains one.

    Attributes:
        strings: the literals.
        lead: most characters between the start of a match and its anchor.
    """

    strings: frozenset[str]
    lead: int

    @property
    def score(self) -> tuple[int, int, int]:
        """How telling they are: length counts first, then how few there are."""
        return min(map(len, self.strings)), -len(self.strings), -self.lead


@lru_cache(maxsize=4096)
def members(charset: CharSet) -> frozenset[str] | None:
    """The characters of a set, or `None` where they are many or hard to list."""
    source = charset.source
    if source.startswith("[^") or source == "." or re.search(r"\\[dDwWsSxuUN0-9]", source):
        return None
    candidates = set(map(chr, range(128)))
    if not source.isascii():
        if "-" in source or _SURROGATE.search(source):
            return None
        candidates.update(source)
    if charset.flags & re.IGNORECASE:
        candidates |= _FOLDED if source.isascii() else _cased()
    test = re.compile(source, charset.flags).fullmatch
    found = frozenset(char for char in candidates if test(char))
    return found if 0 < len(found) <= MAX_STRINGS else None


@lru_cache(maxsize=1)
def _cased() -> frozenset[str]:
    """Every letter with another case, of any script."""
    return frozenset(
        char for char in map(chr, range(0x20000)) if char.lower() != char or char.upper() != char
    )


def exact(node: Node) -> frozenset[str] | None:
    """Every string a pattern stands for, or `None` where they are too many."""
    if isinstance(node, CharSet):
        return members(node)
    if isinstance(node, Alternation):
        union: set[str] = set()
        for branch in node.branches:
            strings = exact(branch)
            if strings is None:
                return None
            union |= strings
        return frozenset(union) if len(union) <= MAX_STRINGS else None
    if isinstance(node, Concat):
        joined = frozenset([""])
        for part in node.parts:
            following = _product(joined, exact(part))
            if following is None:
                return None
            joined = following
        return joined
    if isinstance(node, Repeat):
        if node.most is None or node.most > MAX_STRINGS:
            return None
        once = exact(node.node)
        power: frozenset[str] | None = frozenset([""])
        repeated: set[str] = set()
        for count in range(node.most + 1):
            if count:
                power = _product(power, once)
            if power is None or len(repeated) > MAX_STRINGS:
                return None
            if count >= node.least:
                repeated |= power
        return frozenset(repeated) if len(repeated) <= MAX_STRINGS else None
    return frozenset([""])


def width(node: Node) -> int | None:
    """Most characters a pattern can match, or `None` where there is no bound."""
    if isinstance(node, CharSet):
        return 1
    if isinstance(node, Alternation | Concat):
        parts = [width(part) for part in (node.branches if isinstance(node, Alternation) else node.parts)]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return max(known, default=0) if isinstance(node, Alternation) else sum(known)
    if isinstance(node, Repeat):
        inner = width(node.node)
        return 0 if inner == 0 else None if inner is None or node.most is None else inner * node.most
    return 0


def anchors(node: Node) -> Anchors | None:
    """The most telling anchors of a pattern, or `None` where it requires no literal."""
    found: list[Anchors] = []
    strings = exact(node)
    if strings and "" not in strings:
        found.append(Anchors(strings, 0))
    if isinstance(node, Alternation):
        branches = [anchors(branch) for branch in node.branches]
        known = [branch for branch in branches if branch is not None]
        if len(known) == len(branches):
            union = frozenset[str]().union(*(branch.strings for branch in known))
            found.append(Anchors(union, max(branch.lead for branch in known)))
    elif isinstance(node, Repeat) and node.least > 0:
        inner = anchors(node.node)
        if inner is not None:
            found.append(inner)
    elif isinstance(node, Concat):
        found.extend(_concat_anchors(node))
    return max(found, key=lambda one: one.score, default=None)


def _concat_anchors(node: Concat) -> list[Anchors]:
    found: list[Anchors] = []
    strings = [exact(part) for part in node.parts]
    lead: int | None = 0
    for index, part in enumerate(node.parts):
        if lead is None:
            break
        if strings[index] is None:
            inner = anchors(part)
            if inner is not None:
                found.append(Anchors(inner.strings, lead + inner.lead))
        run: frozenset[str] | None = frozenset([""])
        best: frozenset[str] | None = None
        for following in strings[index:]:
            run = _product(run, following)
            if run is None:
                break
            if "" not in run:
                best = run
            if min(map(len, run)) >= MAX_LENGTH:
                break
        if best is not None:
            found.append(Anchors(best, lead))
        size = width(part)
        lead = None if size is None else lead + size
    return found


def prefix_length(node: Node) -> int:
    """Length of the literal that every match begins with; the shortest where there are several."""
    strings = exact(node)
    if strings:
        return min(map(len, strings))
    if isinstance(node, Alternation):
        return min(map(prefix_length, node.branches))
    if isinstance(node, Repeat):
        return prefix_length(node.node) if node.least else 0
    length = 0
    if isinstance(node, Concat):
        for part in node.parts:
            length += prefix_length(part)
            if exact(part) is None:
                break
    return length


def _product(heads: frozenset[str] | None, tails: frozenset[str] | None) -> frozenset[str] | None:
    if heads is None or tails is None or len(heads) * len(tails) > MAX_STRINGS:
        return None
    return frozenset(head + tail for head in heads for tail in tails)


class Hit:
    """What an anchor announces.

    Args:
        nodes: the patterns that require it.
        lead: most characters between the start of their matches and the anchor.
    """

    __slots__ = ("_lead", "_probe", "_reach")

    def __init__(self, nodes: Sequence[Node], lead: int) -> None:
        self._lead = lead
        beginnings = [probe(node) for node in nodes]
        self._reach = max(beginning.most for beginning in beginnings) + 1
        sources = {beginning.source for beginning in beginnings}
        self._probe = re.compile("|".join(sorted(sources))).match if lead <= MAX_PROBED else None

    def may_begin(self, data: str, begin: int, position: int) -> bool:
        """Whether a match may begin so that the anchor at `begin` is its own.

        What is written before `position` may not be what stands there: a value may have been
        replaced.
        """
        first = begin - self._lead
        if self._probe is None or first < position + MAX_LOOK_BEHIND or begin + self._reach > len(data):
            return True
        return any(self._probe(data, start) is not None for start in range(first, begin + 1))


class Prefilter:
    """The anchors of several patterns together."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.derived = [anchors(node) for node in nodes]
        known = [one for one in self.derived if one is not None]
        self.complete = len(known) == len(self.derived)
        """Whether every pattern has anchors; without that nothing can be skipped."""
        self.strings = frozenset[str]().union(*(one.strings for one in known))
        self.lead = max((one.lead for one in known), default=0)
        self._nodes = tuple(nodes)
        self._longest = max(map(len, self.strings), default=0)
        self._sorted = sorted(self.strings)
        self._automaton: ahocorasick_rs.AhoCorasick | None = None
        self._hits: dict[int, Hit] = {}
        owners: dict[str, list[int]] = {}
        for number, one in enumerate(self.derived):
            for string in one.strings if one else ():
                owners.setdefault(string, []).append(number)
        self._owners = [owners[string] for string in self._sorted]
        self._leads = [
            max(one.lead for one in map(self.derived.__getitem__, numbers) if one) for numbers in self._owners
        ]

    def stops(self, data: str) -> Callable[[int], tuple[int, int]]:
        """Look through `data`, as far as is asked.

        Returns:
            A function from a position where nothing is under way to the next position
            from which the text has to be walked, and the position up to which.
        """
        size = len(data)
        if not self.complete:
            return lambda position: (position, size)
        if self._longest == 1:
            return self._characters(data)
        last = size - self.lead - self._longest + 1
        found: list[tuple[int, int, int, int]] = []  # the next one last
        searched = -1  # anchors of matches that begin before are known
        reach = self._longest + self.lead - 1

        def stop(position: int) -> tuple[int, int]:
            nonlocal searched
            while True:
                while found:
                    start, anchor, begin, end = found[-1]
                    if end > position:
                        if (self._hits.get(anchor) or self._hit(anchor)).may_begin(data, begin, position):
                            return max(position, min(start, last)), end
                    found.pop()
                if searched >= size:
                    return max(position, last), size
                origin = max(position, searched)
                joins = origin == searched  # what may begin before this window is known
                searched = origin + WINDOW
                for anchor, begin, end in self._search(data[origin : searched + reach]):
                    start = origin + begin - self._leads[anchor]
                    if start < searched and (start >= origin or not joins):
                        found.append((start, anchor, origin + begin, origin + end))
                found.sort(reverse=True)

        return stop

    def _hit(self, anchor: int) -> Hit:
        hit = self._hits[anchor] = Hit(
            [self._nodes[owner] for owner in self._owners[anchor]], self._leads[anchor]
        )
        return hit

    def _search(self, text: str) -> list[tuple[int, int, int]]:
        """The anchors in a text: which, where it begins, where it ends; in the order of their ends."""
        if self._automaton is None:
            import ahocorasick_rs

            self._automaton = ahocorasick_rs.AhoCorasick(
                self._sorted,
                matchkind=ahocorasick_rs.MatchKind.Standard,
                implementation=ahocorasick_rs.Implementation.DFA,  # twice as fast; some 2 MB a rule set
            )
        try:
            return self._automaton.find_matches_as_indexes(text, overlapping=True)
        except UnicodeEncodeError:  # no anchor holds half a surrogate pair
            return self._automaton.find_matches_as_indexes(_SURROGATE.sub("\ufffd", text), overlapping=True)

    def _characters(self, data: str) -> Callable[[int], tuple[int, int]]:
        size = len(data)
        lead = self.lead
        if len(self.strings) == 1:
            (char,) = self.strings
            find = data.find

            def stop(position: int) -> tuple[int, int]:
                start = find(char, position)
                if start < 0:
                    return max(position, size - lead), size
                return max(position, start - lead), start + 1

            return stop
        search = re.compile(f"[{''.join(map(re.escape, sorted(self.strings)))}]").search

        def stop_at_any(position: int) -> tuple[int, int]:
            found = search(data, position)
            if found is None:
                return max(position, size - lead), size
            return max(position, found.start() - lead), found.end()

        return stop_at_any
