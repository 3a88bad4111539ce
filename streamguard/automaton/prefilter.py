"""Where in a long text a match could be, found without walking it.

A text without anchors is passed over at the speed of one Aho-Corasick scan, or of `str.find`
where the anchors are single characters. Where one stands, a probe says whether a match may
begin there.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from streamguard.automaton.anchors import Anchors, anchors
from streamguard.automaton.nodes import MAX_LOOK_BEHIND, Node
from streamguard.automaton.probe import Beginning, probe
from streamguard.automaton.runs import Run, clusters, run

if TYPE_CHECKING:
    import ahocorasick_rs

__all__ = ["Prefilter"]

ALL = -1
"""Bits of every pattern."""
TAIL = 3
"""Characters at the end of a text that are walked with every pattern in view."""
FAR = 40
"""More characters than this are walked at the end of a text only for the rules that need it."""
WINDOW = 65_536
"""Characters searched at a time, so that a long text full of anchors is not a long list of them."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class Stop(NamedTuple):
    """Where the text has to be walked.

    Attributes:
        start: from here on.
        end: up to here, or longer if something is under way.
        owners: bits of the patterns that may begin.
    """

    start: int
    end: int
    owners: int


class Hit:
    """What an anchor announces.

    Args:
        owners: bits of the patterns that require it, and of those that have anchors in common.
        lead: most characters between the start of their matches and the anchor.
        probes: how these begin, and how far before the anchor that is looked for.
    """

    __slots__ = ("_probes", "lead", "owners")

    def __init__(self, owners: int, lead: int, probes: Sequence[tuple[int, re.Pattern[str]]]) -> None:
        self.owners = owners
        self.lead = lead
        self._probes = [(before, probe.match) for before, probe in probes]

    def may_begin(self, data: str, begin: int, position: int) -> bool:
        """Whether a match may begin so that the anchor at `begin` is its own.

        What is written before `position` may not be what stands there: a value may have been
        replaced.
        """
        if begin - self.lead < position + MAX_LOOK_BEHIND:
            return True
        found = None
        for before, match in self._probes:
            found = found or match(data, begin - before)
        return found is not None


def _run_instead(node: Node, found: Anchors | None) -> Run | None:
    """How matches begin, where that is looked for instead of anchors: those of three characters will do."""
    if found is not None and min(map(len, found.strings)) > 2:
        return None
    return run(node, found)


def _families(owners: Sequence[tuple[int, ...]]) -> dict[int, int]:
    """For each pattern the bits of those that have anchors in common with it, or with one of these."""
    families = {owner: 1 << owner for together in owners for owner in together}
    for together in {together for together in owners if len(together) > 1}:
        family = 0
        for owner in together:
            family |= families[owner]
        for owner in families:
            if family >> owner & 1:
                families[owner] = family
    return families


class Prefilter:
    """The anchors of several patterns together."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.derived = [anchors(node) for node in nodes]
        runs = [_run_instead(node, one) for node, one in zip(nodes, self.derived, strict=True)]
        used = [one if found is None else None for one, found in zip(self.derived, runs, strict=True)]
        known = [one for one in used if one is not None]
        self.complete = all(one or found for one, found in zip(used, runs, strict=True))
        """Whether every pattern has something to look for; without that nothing can be skipped."""
        self.strings = frozenset[str]().union(*(one.strings for one in known))
        self.lead = max((one.lead for one in known), default=0)
        self._clusters = clusters([(number, one) for number, one in enumerate(runs) if one is not None])
        self._nodes = tuple(nodes)
        self._longest = max(map(len, self.strings), default=0)
        self._sorted = sorted(self.strings)
        self._automaton: ahocorasick_rs.AhoCorasick | None = None
        self._hits: dict[int, Hit] = {}
        owners: dict[str, list[int]] = {}
        for number, one in enumerate(used):
            for string in one.strings if one else ():
                owners.setdefault(string, []).append(number)
        self._owners = [tuple(owners[string]) for string in self._sorted]
        self._families = _families([*self._owners, *(cluster.owners for cluster in self._clusters)])
        self._by_owners: dict[tuple[int, ...], Hit] = {}
        self._own_leads = [one.lead if one else 0 for one in used]
        self._leads = [max(self._own_leads[number] for number in numbers) for numbers in self._owners]
        self._probes: dict[int, Beginning] = {}
        self._together: dict[tuple[int, ...], re.Pattern[str]] = {}
        self._beginnings = {string[: TAIL + 1] for string in self.strings if len(string) > TAIL + 1}
        # How far from the end of a text those may begin whose anchor may be missing; near ones, far ones.
        self._cut = [(0, 0), (0, 0)]
        for number, one in enumerate(used):
            if one is not None and one.lead:
                self._may_be_cut(number, one.lead + max(map(len, one.strings)))
        self.skips = self.complete and (self._longest > 1 or bool(self._clusters))
        """Whether what stands between the places told by `stops` may be passed over rule by rule."""

    def _may_be_cut(self, number: int, characters: int) -> None:
        far = characters > FAR
        owners, most = self._cut[far]
        self._cut[far] = owners | self._families[number], max(most, characters)

    def stops(self, data: str, *, last: bool = False) -> Callable[[int], Stop]:
        """Look through `data`, as far as is asked.

        Args:
            data: the text.
            last: nothing follows it, so that nothing is cut off.

        Returns:
            A function from a position to the next stop that has not been told: where one of
            its patterns has an anchor, or where one may stand that the text cuts off.
        """
        size = len(data)
        if not self.complete:
            return lambda position: Stop(position, size, ALL)
        if not self.skips:
            return self._characters(data)
        tail = [] if last else self._tail(data)  # the next one last
        found: list[tuple[int, int, int]] = []  # start, end and owners; the next one last
        searched = -1  # anchors of matches that begin before are known
        reach = self._longest + self.lead - 1
        hits = self._hits

        def stop(position: int) -> Stop:
            nonlocal searched
            while True:
                while found:
                    if tail and tail[-1].start <= found[-1][0]:
                        return tail.pop()
                    start, end, owners = found.pop()
                    if end > position:
                        return Stop(max(position, start), end, owners)
                if searched >= size:
                    return tail.pop() if tail else Stop(size, size, ALL)
                origin = max(position, searched)
                # What begins before a window that joins the last one is known.
                first = origin if origin == searched else origin - self.lead
                searched = origin + WINDOW
                for anchor, begin, end in self._search(data[origin : searched + reach]):
                    hit = hits.get(anchor) or self._hit(anchor)
                    start = origin + begin - hit.lead
                    if first <= start < searched and hit.may_begin(data, origin + begin, position):
                        found.append((start, origin + end, hit.owners))
                for number in range(len(self._clusters)):
                    owners = (hits.get(~number) or self._hit(~number)).owners
                    runs = self._runs(number, data, position, origin, min(searched, size))
                    found.extend((begin, begin + 1, owners) for begin in runs)
                found.sort(reverse=True)

        return stop

    def around(self, data: str, at: int, told: int) -> list[Stop]:
        """The stops right behind a position before which other text stands now; the first one last.

        Args:
            data: the text.
            at: the position.
            told: stops that begin up to here may have been told.
        """
        until = min(max(at + MAX_LOOK_BEHIND, told + 1), len(data))
        near = data[at : until + self.lead + self._longest]
        found = [(anchor, at + begin) for anchor, begin, _ in self._search(near)]
        for number, cluster in enumerate(self._clusters):
            found.extend((~number, begin) for begin in cluster.find(data, at, until))
        stops: list[Stop] = []
        for anchor, begin in found:
            hit = self._hits.get(anchor) or self._hit(anchor)
            if begin - hit.lead < until and hit.may_begin(data, begin, at):
                stops.append(Stop(max(begin - hit.lead, at), begin + 1, hit.owners))
        stops.sort(reverse=True)
        return stops

    def _runs(self, number: int, data: str, position: int, origin: int, until: int) -> Iterator[int]:
        """Where the runs of a cluster begin; no probe is asked where it could not see all that counts."""
        cluster = self._clusters[number]
        first = min(max(origin, position + MAX_LOOK_BEHIND), until)
        yield from cluster.find(data, origin, first)
        yield from cluster.find_probed(data, first, until)

    def _tail(self, data: str) -> list[Stop]:
        """Where something may begin that the end of the data cuts off; the first one last.

        A rule is followed from where its anchor begins, as far as that is there; one whose anchor
        may stand inside a match from where that may begin. The last few characters may be the
        beginning of nearly anything.
        """
        size = len(data)
        stops = [Stop(max(size - TAIL, 0), size, ALL)]
        stops += [Stop(max(size - most, 0), size, owners) for owners, most in self._cut if owners]
        for cluster in self._clusters:
            start = cluster.cut_off(data)
            if start < size:
                stops.append(Stop(start, size, self._families[cluster.owners[0]]))
        for start in range(max(size - self._longest, 0), size - TAIL):
            if data[start : start + TAIL + 1] in self._beginnings:
                cut = data[start:]
                index = bisect_left(self._sorted, cut)
                while index < len(self._sorted) and self._sorted[index].startswith(cut):
                    stops.append(Stop(start, size, self._families[self._owners[index][0]]))
                    index += 1
        stops.sort(reverse=True)
        return stops

    def _hit(self, anchor: int) -> Hit:
        """What an anchor announces; of a negative number, what a run does."""
        owners = self._owners[anchor] if anchor >= 0 else self._clusters[~anchor].owners
        hit = self._by_owners.get(owners)
        if hit is None:
            alike: dict[tuple[int, str], list[int]] = {}
            for owner in owners:
                if owner not in self._probes:
                    self._probes[owner] = probe(self._nodes[owner])
                first = next(iter(self._probes[owner]), "")
                alike.setdefault((self._own_leads[owner], first), []).append(owner)
            lead = self._leads[anchor] if anchor >= 0 else 0
            probes = [(before, self._probe(tuple(numbers), before)) for (before, _), numbers in alike.items()]
            hit = self._by_owners[owners] = Hit(self._families[owners[0]], lead, probes)
        if anchor < 0:
            self._clusters[~anchor].probe(self._beginning(owners).source)
        self._hits[anchor] = hit
        return hit

    def _beginning(self, owners: Sequence[int]) -> Beginning:
        return reduce(Beginning.merged, (self._probes[owner] for owner in owners))

    def _probe(self, owners: tuple[int, ...], before: int) -> re.Pattern[str]:
        """How matches of patterns begin that begin alike, so many characters or fewer from here."""
        found = self._together.get(owners)
        if found is None:
            source = self._beginning(owners).source
            found = re.compile(f"(?s:.{{0,{before}}}?){source}" if before else source)
            self._together[owners] = found
        return found

    def _search(self, text: str) -> list[tuple[int, int, int]]:
        """The anchors in a text: which, where it begins, where it ends; in the order of their ends."""
        if not self._sorted:
            return []
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

    def _characters(self, data: str) -> Callable[[int], Stop]:
        size = len(data)
        lead = self.lead
        if len(self.strings) == 1:
            (char,) = self.strings
            find = data.find

            def stop(position: int) -> Stop:
                start = find(char, position)
                if start < 0:
                    return Stop(max(position, size - lead), size, ALL)
                return Stop(max(position, start - lead), start + 1, ALL)

            return stop
        search = re.compile(f"[{''.join(map(re.escape, sorted(self.strings)))}]").search

        def stop_at_any(position: int) -> Stop:
            found = search(data, position)
            if found is None:
                return Stop(max(position, size - lead), size, ALL)
            return Stop(max(position, found.start() - lead), found.end(), ALL)

        return stop_at_any
