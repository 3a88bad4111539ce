"""How a match begins, as an ordinary regular expression.

Most places where an anchor stands are no match, and a look at a few characters more tells.
A probe is the pattern cut off after so many characters: it matches wherever the pattern does,
and never looks far. What repeats without bound is written out up to some length; what goes on
for longer may be a match, and so may what the end of the text cuts off. Where a later character
is required, as the `@` of an address with a password is, a probe looks for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from math import prod
from typing import NamedTuple

from streamguard.automaton.anchors import Known, exact, members
from streamguard.automaton.nodes import (
    Alternation,
    CharSet,
    Concat,
    LookAhead,
    LookBehind,
    Node,
    Repeat,
    branches_of,
    flat,
)
from streamguard.automaton.runs import characters

__all__ = ["Beginning", "Part", "probe"]

ENOUGH = 32
"""Characters after which a beginning is telling enough."""
RUN = 32
"""How often a set is repeated, beyond the fewest times, where there is no such bound."""
MOST = 64
"""Most characters another optional or repeated part may take to be written out."""
LONG = 4000
"""A longer expression is not written twice."""
MOST_WAYS = 20000
"""Most ways in which a beginning may have to be tried: `re` goes back and tries again."""
NEAR = 16
"""So many characters may be missing at the end of a text, before it is asked whether they are."""
FAR = 512
"""Most characters a required one is looked for."""
_FLAGS = {int(re.ASCII): "a", int(re.IGNORECASE): "i", int(re.DOTALL): "s"}


class Part(NamedTuple):
    """A part of a pattern, as source for `re`.

    Attributes:
        whole: all of it, `None` where it is always longer.
        cut: how it begins where it is longer, empty if it never is.
        least: fewest characters it reads.
        most: most characters that are read of it.
        ways: in how many ways it may have to be tried at one place, about.
    """

    whole: str | None
    cut: str
    least: int
    most: int
    ways: int = 1


_ANYTHING = Part(None, "(?:)", 0, 0)


class Beginning(dict[str, tuple[Part, "Beginning"]]):
    """What may come first, as source for `re`, and what may come then; an empty one is any text."""

    def merged(self, other: Beginning) -> Beginning:
        """What begins like this or like the other; what they have in common is written once."""
        if not self or not other:
            return Beginning()
        both = Beginning(self)
        for source, (part, following) in other.items():
            known = both.get(source)
            both[source] = (part, following if known is None else known[1].merged(following))
        return both

    @property
    def source(self) -> str:
        """All of it, for a text in which something stands before."""
        source, most = self._written()
        return _unless_cut_off([source], most) if most else source

    def _written(self) -> tuple[str, int]:
        """It, and how much has to be there of a text, if not to find it means that it is not there."""
        ways: list[str] = []
        most = 0
        for source, (part, following) in sorted(self.items(), key=lambda item: item[0]):
            rest, reach = following._written()
            ways.append(source + rest)
            most = max(most, part.most + reach)
        if len(ways) < 2 and most < NEAR:
            return "".join(ways), most
        return _unless_cut_off(ways, most), 0


def probe(node: Node) -> Beginning:
    """Write down how a match begins, up to `ENOUGH` characters at least where the pattern allows."""
    return _Writer().begin(flat(node), ENOUGH, MOST_WAYS)


class _Writer:
    """Writes down the parts of one pattern; the same part in the same place is written once."""

    def __init__(self) -> None:
        self._written: dict[tuple[int, frozenset[str] | None, int], Part] = {}
        self._strings: Known = {}

    def begin(self, parts: Sequence[Node], enough: int, ways: int) -> Beginning:
        if not parts or enough <= 0:
            return Beginning()
        part, rest = parts[0], parts[1:]
        written = self._affordable(part, _first(rest, None), enough, ways)
        if written is None:
            later = _later(parts)
            return Beginning({later: (Part("", "", 0, 0), Beginning())} if later else {})
        if isinstance(part, Alternation) and len(written.cut) > LONG:
            return reduce(
                Beginning.merged,
                (self.begin((*flat(branch), *rest), enough, ways) for branch in part.branches),
            )
        found = Beginning()
        if written.whole is not None:
            found[written.whole] = written, self.begin(rest, enough - written.least, ways // written.ways)
        if written.cut:
            found[written.cut + _later(rest, _sets(part))] = written, Beginning()
        return found

    def _affordable(self, part: Node, after: frozenset[str] | None, enough: int, ways: int) -> Part | None:
        """As much of a part as can be tried in so many ways; `None` if that is nothing."""
        while enough > 0:
            written = self._part(part, after, enough)
            if written.ways <= ways:
                return written
            enough //= 2
        return None

    def _part(self, node: Node, after: frozenset[str] | None, enough: int) -> Part:
        """Write down a part.

        Args:
            node: the part.
            after: the characters that may follow it; `None` if any may.
            enough: how many characters of it are enough.
        """
        if isinstance(node, CharSet):
            return Part(_charset(node), "", 1, 1)
        key = (id(node), after, enough)
        written = self._written.get(key)
        if written is None:
            written = self._written[key] = self._write(node, after, enough)
        return written

    def _write(
        self,
        node: Concat | Alternation | Repeat | LookBehind | LookAhead,
        after: frozenset[str] | None,
        enough: int,
    ) -> Part:
        if isinstance(node, Concat):
            return self._concat(flat(node), after, enough)
        if isinstance(node, Alternation):
            return self._alternation(node, after, enough)
        if isinstance(node, Repeat):
            if isinstance(node.node, CharSet):
                return self._run(node.node, node, after, enough)
            return self._repeat(node, after, enough)
        if isinstance(node, LookBehind):
            return Part(_look_behind(node), "", 0, 0)
        return Part(_look_ahead(node), "", 0, 0)

    def _concat(self, parts: Sequence[Node], after: frozenset[str] | None, enough: int) -> Part:
        written: list[Part] = []
        ways = 1
        for number, part in enumerate(parts, 1):
            if isinstance(part, CharSet) and enough > 0:
                one = self._part(part, None, enough)
            else:
                following = _first(parts[number:], after)
                one = self._affordable(part, following, enough, MOST_WAYS // ways) or _ANYTHING
            written.append(one)
            if one.whole is None:
                break
            enough -= one.least
            ways *= one.ways
        whole: str | None = ""
        cut = ""
        for one in reversed(written):
            cut = _either([one.cut, cut and f"{one.whole}{cut}"])
            whole = None if whole is None or one.whole is None else one.whole + whole
        least, most = sum(one.least for one in written), sum(one.most for one in written)
        return Part(whole, cut, least, most, prod(one.ways for one in written))

    def _alternation(self, node: Alternation, after: frozenset[str] | None, enough: int) -> Part:
        nodes = list(branches_of(node))
        branches = [self._part(branch, after, enough) for branch in nodes]
        least, most = min(one.least for one in branches), max(one.most for one in branches)
        ways = max(one.ways for one in branches)
        if least < most:
            ways = min(2 * ways, self._ways(nodes, branches, after))
        whole = [one.whole for one in branches if one.whole is not None]
        cut = _either([one.cut for one in branches])
        return Part(f"(?:{'|'.join(whole)})" if whole else None, cut, least, most, ways)

    def _ways(self, nodes: Sequence[Node], branches: Sequence[Part], after: frozenset[str] | None) -> int:
        """In how many ways one of several branches may have to be tried, by what the first character is."""
        strings: set[str] = set()
        ways: dict[str, int] = {}
        for node, part in zip(nodes, branches, strict=True):
            known = exact(node, self._strings)
            strings |= known or set()
            for first in () if known else _first([node], after) or [""]:
                ways[first] = ways.get(first, 0) + part.ways
        nested: list[str] = []  # each begins the next
        depths: dict[str, int] = {}
        for string in sorted(strings):
            while nested and not string.startswith(nested[-1]):
                nested.pop()
            nested.append(string)
            depths[string[:1]] = max(depths.get(string[:1], 0), len(nested))
        for first, depth in depths.items():
            ways[first] = ways.get(first, 0) + depth
        anything = ways.pop("", 0)
        return anything + max(ways.values(), default=0)

    def _run(self, charset: CharSet, node: Repeat, after: frozenset[str] | None, enough: int) -> Part:
        """A repeated set; where nothing of it may follow, there is but one way to read it."""
        source, least = _charset(charset), node.least
        if least > enough:
            return Part(None, f"{source}{{{enough}}}", enough, enough)
        most = least + min(RUN, enough) if node.most is None else min(node.most, least + min(RUN, enough))
        cut = "" if most == node.most else f"{source}{{{most + 1}}}"
        alone = _told(node, after)
        whole = f"{source}{{{least},{most}}}{'+' if alone else ''}"
        return Part(whole, cut, least, most + bool(cut), 1 if alone else most - least + 1)

    def _repeat(self, node: Repeat, after: frozenset[str] | None, enough: int) -> Part:
        once = self._part(node.node, after if node.most == 1 else None, enough)
        least = node.least
        if once.whole is None:
            return once if least else once._replace(whole="", least=0)
        fewest = -(-enough // max(once.least, 1))
        if least > fewest:
            cut = _either([f"(?:{once.whole}){{{fewest}}}", once.cut])
            return Part(None, cut, enough, once.most * fewest, once.ways**fewest)
        most = max(least, MOST // max(once.most, 1)) if node.most is None else node.most
        if once.most * most > MOST:
            most = max(least, MOST // max(once.most, 1))
        more = most != node.most
        before = most - (not more)
        again = f"(?:{once.whole}){{0,{before}}}" if before > 0 else ""
        cut = _either([once.cut and again + once.cut, f"(?:{once.whole}){{{most + 1}}}" if more else ""])
        ways = (
            once.ways**most
            if _told(node, after)
            else sum(once.ways**count for count in range(least, most + 1))
        )
        whole = f"(?:{once.whole}){{{least},{most}}}"
        return Part(whole, cut, once.least * least, once.most * (most + 1), ways)


def _told(node: Repeat, after: frozenset[str] | None) -> bool:
    """Whether the next character tells if a part is to be repeated."""
    return after is not None and not after & _begins_with(node.node)[0]


def _either(sources: Sequence[str]) -> str:
    """One of those that are not empty."""
    given = [source for source in sources if source]
    return given[0] if len(given) == 1 else f"(?:{'|'.join(given)})" if given else ""


def _unless_cut_off(sources: Sequence[str], most: int) -> str:
    """One of these, or fewer characters than these might read."""
    return f"(?:{'|'.join(sources)}|(?!(?s:.{{{most + 1}}})))"


def _first(parts: Sequence[Node], after: frozenset[str] | None) -> frozenset[str] | None:
    """The characters that may come first; `after`, where all of the parts may be empty."""
    found = frozenset[str]()
    for part in parts:
        chars, empty = _begins_with(part)
        found |= chars
        if not empty:
            return found
    return None if after is None else found | after


def _begins_with(node: Node) -> tuple[frozenset[str], bool]:
    """The characters that may come first, and whether there may be none."""
    if isinstance(node, CharSet):
        return characters(node), False
    if isinstance(node, Repeat):
        chars, empty = _begins_with(node.node)
        return chars, empty or not node.least
    found = frozenset[str]()
    if isinstance(node, Alternation):
        branches = [_begins_with(branch) for branch in node.branches]
        return found.union(*(chars for chars, _ in branches)), any(empty for _, empty in branches)
    for part in node.parts if isinstance(node, Concat) else ():
        chars, empty = _begins_with(part)
        found |= chars
        if not empty:
            return found, False
    return found, True


def _later(parts: Sequence[Node], begun: Iterable[CharSet] = ()) -> str:
    """Ask for the mark that has to come, if what stands before it is known; within reason.

    Args:
        parts: what follows.
        begun: the sets of the part that has been written down in part.
    """
    found = _marks(parts, begun)
    if found is None:
        return ""
    between, marks = map(_ascii, found)
    return f"(?={between}{{0,{FAR}}}(?:{marks}|\\Z)|{between}{{{FAR}}})" if between and marks else ""


def _marks(parts: Sequence[Node], begun: Iterable[CharSet] = ()) -> tuple[set[CharSet], set[CharSet]] | None:
    """The sets of what may come first, and those one of which has to be met after it."""
    between = set(begun)
    for part in parts:
        if isinstance(part, LookAhead) and not part.negated and not part.end:
            return between, set(part.sets)
        if isinstance(part, CharSet):
            known = members(part)
            if known is not None and not any(map(str.isalnum, known)):
                return between, {part}
            between.add(part)
        elif isinstance(part, Alternation):
            branches = [_marks(flat(branch)) for branch in part.branches]
            marked = [branch for branch in branches if branch is not None]
            if len(marked) == len(branches):
                return between.union(*(one for one, _ in marked)), set[CharSet]().union(
                    *(one for _, one in marked)
                )
            between |= _sets(part)
        elif isinstance(part, Repeat):
            between |= _sets(part)
    return None


def _sets(node: Node) -> set[CharSet]:
    """Every set of a pattern."""
    if isinstance(node, CharSet):
        return {node}
    if isinstance(node, Repeat):
        return _sets(node.node)
    parts = node.branches if isinstance(node, Alternation) else node.parts if isinstance(node, Concat) else ()
    return set[CharSet]().union(*map(_sets, parts))


def _ascii(sets: set[CharSet]) -> str:
    """One set that has every character of these, and all those beyond ASCII."""
    tests = [re.compile(one.source, one.flags).fullmatch for one in sets]
    without = [char for char in map(chr, range(128)) if not any(test(char) for test in tests)]
    return f"[^{''.join(map(re.escape, without))}]" if without else ""


@lru_cache(maxsize=4096)
def _charset(node: CharSet) -> str:
    flags = int(node.flags)
    letters = "".join(letter for flag, letter in _FLAGS.items() if flags & flag)
    return f"(?{letters}:{node.source})" if letters else node.source


def _look_behind(node: LookBehind) -> str:
    # Where the text starts, nothing stands before; a probe is only used where something does.
    sequences = ["".join(map(_charset, sequence)) for sequence in node.sequences if sequence]
    if node.negated:
        return "".join(f"(?<!{sequence})" for sequence in sequences)
    return f"(?:{'|'.join(f'(?<={sequence})' for sequence in sequences)})" if sequences else "(?!)"


def _look_ahead(node: LookAhead) -> str:
    either = [*map(_charset, node.sets), *([r"\Z"] if node.end else [])]
    return f"(?{'!' if node.negated else '='}{'|'.join(either)})" if either else ""
