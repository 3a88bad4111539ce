"""How a match begins, as an ordinary regular expression.

Most places where an anchor stands are no match, and a look at a few characters more tells.
A probe is the pattern cut off after so many characters, with nothing in it that could repeat
without bound: it matches wherever the pattern does, and never looks far.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from streamguard.automaton.pattern import Alternation, CharSet, Concat, LookAhead, LookBehind, Node, Repeat

__all__ = ["Probe", "probe"]

ENOUGH = 16
"""Characters after which a beginning is telling enough."""
MOST = 64
"""Most characters an optional or repeated part may take to be written out."""
_FLAGS = {re.ASCII: "a", re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.UNICODE: ""}


class Probe(NamedTuple):
    """A regular expression for the beginning of a pattern.

    Attributes:
        source: it, for `re`, in a text where something stands before.
        least: fewest characters it reads.
        most: most characters it reads.
        whole: whether it is all of the pattern.
    """

    source: str
    least: int
    most: int
    whole: bool


def probe(node: Node, enough: int = ENOUGH) -> Probe:
    """Write down how a match begins, up to `enough` characters at least where the pattern allows."""
    if isinstance(node, CharSet):
        return Probe(_charset(node), 1, 1, whole=True)
    if isinstance(node, Concat):
        return _concat(node, enough)
    if isinstance(node, Alternation):
        branches = [probe(branch, enough) for branch in node.branches]
        return Probe(
            f"(?:{'|'.join(branch.source for branch in branches)})",
            min(branch.least for branch in branches),
            max(branch.most for branch in branches),
            all(branch.whole for branch in branches),
        )
    if isinstance(node, Repeat):
        return _repeat(node, enough)
    return Probe(_look_behind(node) if isinstance(node, LookBehind) else _look_ahead(node), 0, 0, whole=True)


def _concat(node: Concat, enough: int) -> Probe:
    source, least, most = "", 0, 0
    for part in node.parts:
        if least >= enough:
            return Probe(source, least, most, whole=False)
        written = probe(part, enough - least)
        source += written.source
        least += written.least
        most += written.most
        if not written.whole:
            return Probe(source, least, most, whole=False)
    return Probe(source, least, most, whole=True)


def _repeat(node: Repeat, enough: int) -> Probe:
    once = probe(node.node, enough)
    if not once.whole:
        return once._replace(whole=False) if node.least else Probe("", 0, 0, whole=False)
    if node.most is not None and once.most * node.most <= MOST:
        source = f"(?:{once.source}){{{node.least},{node.most}}}"
        return Probe(source, once.least * node.least, once.most * node.most, whole=True)
    count = min(node.least, -(-enough // max(once.least, 1)))
    return Probe(f"(?:{once.source}){{{count}}}", once.least * count, once.most * count, whole=False)


def _charset(node: CharSet) -> str:
    letters = "".join(letter for flag, letter in _FLAGS.items() if node.flags & flag)
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
