"""How a match begins, as an ordinary regular expression.

Most places where an anchor stands are no match, and a look at a few characters more tells.
A probe is the pattern cut off after so many characters, with nothing in it that could repeat
without bound: it matches wherever the pattern does, and never looks far. Where a later
character is required, as the `@` of an address with a password is, it looks for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from streamguard.automaton.anchors import members
from streamguard.automaton.nodes import (
    Alternation,
    CharSet,
    Concat,
    LookAhead,
    LookBehind,
    Node,
    Repeat,
    flat,
)

__all__ = ["Probe", "probe"]

ENOUGH = 32
"""Characters after which a beginning is telling enough."""
MOST = 64
"""Most characters an optional or repeated part may take to be written out."""
MOST_WAYS = 20000
"""Most ways in which a beginning may have to be tried: `re` goes back and tries again."""
FAR = 512
"""Most characters a required one is looked for."""
_FLAGS = {int(re.ASCII): "a", int(re.IGNORECASE): "i", int(re.DOTALL): "s"}


class Probe(NamedTuple):
    """A regular expression for the beginning of a pattern.

    Attributes:
        source: it, for `re`, in a text where something stands before.
        least: fewest characters it reads.
        most: most characters it reads.
        whole: whether it is all of the pattern.
        ways: in how many ways it may have to be tried at one place, about.
    """

    source: str
    least: int
    most: int
    whole: bool
    ways: int = 1


def probe(node: Node, enough: int = ENOUGH) -> Probe:
    """Write down how a match begins, up to `enough` characters at least where the pattern allows."""
    if isinstance(node, CharSet):
        return Probe(_charset(node), 1, 1, whole=True)
    if isinstance(node, Concat):
        return _concat(node, enough)
    if isinstance(node, Alternation):
        branches = [probe(branch, enough) for branch in node.branches]
        least, most = min(branch.least for branch in branches), max(branch.most for branch in branches)
        ways = max(branch.ways for branch in branches) * (1 if least == most else 2)
        source = f"(?:{'|'.join(branch.source for branch in branches)})"
        return Probe(source, least, most, all(branch.whole for branch in branches), ways)
    if isinstance(node, Repeat):
        return _repeat(node, enough)
    return Probe(_look_behind(node) if isinstance(node, LookBehind) else _look_ahead(node), 0, 0, whole=True)


def _concat(node: Concat, enough: int) -> Probe:
    source, least, most, ways = "", 0, 0, 1
    parts = flat(node)
    for number, part in enumerate(parts):
        written = _affordable(part, enough - least, MOST_WAYS // ways)
        if written is None:
            return Probe(source + _later(parts[number:]), least, most, whole=False, ways=ways)
        source += written.source
        least += written.least
        most += written.most
        ways *= written.ways
        if not written.whole:
            later = _later(parts[number + 1 :], _sets(part))
            return Probe(source + later, least, most, whole=False, ways=ways)
    return Probe(source, least, most, whole=True, ways=ways)


def _affordable(part: Node, enough: int, ways: int) -> Probe | None:
    """As much of a part as can be tried in so many ways; `None` if that is nothing."""
    while enough > 0:
        written = probe(part, enough)
        if written.ways <= ways:
            return written
        enough //= 2
    return None


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


def _repeat(node: Repeat, enough: int) -> Probe:
    once = probe(node.node, enough)
    if not once.whole:
        return once._replace(whole=False) if node.least else Probe("", 0, 0, whole=False)
    if node.most is not None and once.most * node.most <= MOST:
        source = f"(?:{once.source}){{{node.least},{node.most}}}"
        ways = sum(once.ways**count for count in range(node.least, node.most + 1))
        return Probe(source, once.least * node.least, once.most * node.most, whole=True, ways=ways)
    count = min(node.least, -(-enough // max(once.least, 1)))
    source = f"(?:{once.source}){{{count}}}"
    return Probe(source, once.least * count, once.most * count, whole=False, ways=once.ways**count)


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
