r"""Values that are written so that nobody would recognise them, or that were wrapped.

Zero-width and control characters inside a value are passed over and other forms of ASCII are
read as ASCII by the matcher itself. What is done here: a token may be broken over lines, as
Markdown and mail programs do it, with a backslash, blanks or a quotation mark of theirs. Before
a token is certain, a break may stand anywhere in it. After that what stands on the next line
belongs to it only if a digit is among its first twelve characters: a word would be taken too.
"""

from __future__ import annotations

import re

from streamguard.automaton import Node, Pattern, parse
from streamguard.automaton.folding import fold_text
from streamguard.automaton.nodes import Alternation, CharSet, Concat, LookAhead, Repeat, flat

__all__ = ["plain", "plain_token", "with_breaks"]

_BREAK = parse(r"\\?\r?\n[ \t>]{0,8}")
_BROKEN = re.compile(r"[\\\s>]")
_LEAST = 8
_DIGIT = parse("[0-9]")
_WITHIN = 11


def plain(value: str) -> str:
    """A value as it was before it was obfuscated."""
    return fold_text(value)


def plain_token(value: str) -> str:
    """The same for a token, or a part of one, which may be broken over lines."""
    return _BROKEN.sub("", fold_text(value))


def with_breaks(pattern: Pattern) -> Pattern | None:
    """The pattern of a token that may be broken over lines; `None` for one that is no token."""
    if pattern.checked:
        return None
    value = _broken(pattern.value)
    return None if value is None else Pattern(value, pattern.context)


def _broken(node: Node) -> Node | None:
    if isinstance(node, Alternation):
        branches = [_broken(branch) for branch in node.branches]
        if all(branch is None for branch in branches):
            return None
        return Alternation(tuple(new or old for new, old in zip(branches, node.branches, strict=True)))
    parts = flat(node)
    if not parts:
        return None
    last = parts[-1]
    if isinstance(last, LookAhead):
        before = _broken(Concat(parts[:-1]))
        return None if before is None else Concat((before, last))
    if isinstance(last, Alternation):
        inner = _broken(last)
        return None if inner is None else Concat((*parts[:-1], inner))
    if not isinstance(last, Repeat) or not isinstance(last.node, CharSet):
        return None
    char, least = last.node, last.least
    if least < _LEAST or re.search(char.source, "\\\n\r\t >", char.flags):
        return None
    maybe = Repeat(_BREAK, 0, 1)
    begun = Concat((char, Repeat(Concat((maybe, char)), least - 1, least - 1)))
    if last.most is not None:
        rest: Node = Repeat(Concat((maybe, char)), 0, last.most - least)
        return Concat((*parts[:-1], begun, rest))
    line = Concat((_BREAK, Repeat(char, 0, _WITHIN), _DIGIT, Repeat(char, 0, None)))
    return Concat((*parts[:-1], begun, Repeat(char, 0, None), Repeat(line, 0, None)))
