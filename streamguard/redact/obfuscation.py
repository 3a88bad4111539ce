r"""Values that are written so that nobody would recognise them, or that were wrapped.

Zero-width and control characters inside a value are passed over and other forms of ASCII are
read as ASCII by the matcher itself. What is done here: a token may be broken over lines, as
Markdown, mail programs and quoted-printable do it, with a backslash, an equals sign, blanks or a
quotation mark of theirs, and Markdown's `\_` is an underscore.

A line below a token is most often another item: the next key of a list or of an `.env` file, a
date of a log. What stands there belongs to the token only if

- it begins with a letter and has a digit, or with digits and goes on with a letter;
- it does not begin as a name does, with a word and `-` or `_`: `sk-`, `api_`, `DB_`;
- it ends as a token does. Behind the digit, or the letter after digits, three characters and
  more are followed by the end of the line or by what closes a value; ten letters and digits and
  more by anything but what a key, a path or an address goes on with; from twenty-eight
  characters on it is too long to be a name.

So nothing is held longer than the beginning of a line, and of a line of prose its first word.
A token that is not yet certain where it breaks has a line that begins like that behind its first
break, and from there on as many characters as it takes, over as many lines as it likes. A value
of a fixed length needs none of this: it may break anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from streamguard.automaton import Node, Pattern, parse
from streamguard.automaton.folding import fold_text
from streamguard.automaton.nodes import Alternation, CharSet, Concat, LookAhead, Repeat, flat, one_of
from streamguard.redact.rule import Rule

__all__ = ["plain", "plain_token", "undisguised", "unescaped", "with_breaks"]

_BROKEN = re.compile(r"\\|\s|>|=(?=[\r\n])")
_LEAST = 8
_CLOSED, _LONG, _NO_NAME = 3, 10, 28
"""Characters behind those that tell of a token, by what has to follow."""

_LOWER, _UPPER, _DIGIT, _OTHER = "[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9]"
_UNDERSCORE = one_of("_")
_ESCAPED = Concat((one_of(r"\\"), _UNDERSCORE))
_BREAK = r"\r?[\r\n][ \t>]{0,4}"
_CLOSES = parse(r"""(?=[\r\n"'`,;|<>\\\]})*]|\Z)""")
_GOES_ON = one_of(r"[=:/@(\[{&]")


def plain(value: str) -> str:
    """A value as it was before it was obfuscated."""
    return fold_text(value)


def plain_token(value: str) -> str:
    """The same for a token, or a part of one, which may be broken over lines."""
    return _BROKEN.sub("", fold_text(value))


def unescaped(text: str) -> str:
    """A text without the backslashes that Markdown has before underscores."""
    return text.replace("\\_", "_")


@lru_cache(maxsize=1024)
def undisguised(rule: Rule) -> Callable[[str], str]:
    """What takes the disguise off a value of this rule."""
    return plain if with_breaks(rule.pattern()) is None else plain_token


def with_breaks(pattern: Pattern) -> Pattern | None:
    """The pattern of a token that may be broken over lines; `None` for one that is no token.

    Of values that are checked only those of a fixed length are: others would be held on the
    lines below.
    """
    value = _broken(pattern.value, fixed=pattern.checked)
    return None if value is None else Pattern(value, pattern.context, checked=pattern.checked)


def _broken(node: Node, *, fixed: bool) -> Node | None:
    """The node with breaks in its last part."""
    if isinstance(node, Alternation):
        branches = [_broken(branch, fixed=fixed) for branch in node.branches]
        if all(branch is None for branch in branches):
            return None
        return Alternation(tuple(new or old for new, old in zip(branches, node.branches, strict=True)))
    parts = flat(node)
    if not parts:
        return None
    before, last = parts[:-1], parts[-1]
    if isinstance(last, LookAhead):
        inner = _broken(Concat(before), fixed=fixed)
        return None if inner is None else Concat((inner, last))
    broken: Node | None = None
    if isinstance(last, Alternation):
        broken = _broken(last, fixed=fixed)
    elif isinstance(last, Repeat) and isinstance(last.node, CharSet):
        broken = _broken_run(last.node, last.least, last.most, fixed=fixed)
    elif isinstance(last, Repeat) and not fixed and _continued(last) != last:
        broken = _continued(last)  # parts with something between them, such as those of a JWT
        before = tuple(map(_continued, before))
    return None if broken is None else Concat((*map(_escaped, before), broken))


def _broken_run(char: CharSet, least: int, most: int | None, *, fixed: bool) -> Node | None:
    if least < _LEAST or not _is_of_tokens(char) or (fixed and least != most):
        return None
    one = _either(char)
    piece = Concat((Repeat(_break(char), 0, 1), one))
    if most is not None:
        return Concat((one, Repeat(piece, least - 1, most - 1)))
    told = _told(char)
    if told is None:
        return None
    more = Repeat(piece, least - 2, least - 2)
    begun = Concat((Repeat(one, 1, None), _break(char), told, more, _ended(char, 0, 0)))
    return Concat((Alternation((Repeat(one, least, None), begun)), _lines(char)))


def _continued(node: Node) -> Node:
    """The node with lines below in its open runs."""
    if isinstance(node, Alternation):
        return Alternation(tuple(map(_continued, node.branches)))
    if isinstance(node, Concat):
        return Concat(tuple(map(_continued, node.parts)))
    if not isinstance(node, Repeat):
        return node
    char = node.node
    if not isinstance(char, CharSet):
        return Repeat(_continued(char), node.least, node.most)
    if node.most is not None or not _is_of_tokens(char):
        return node
    return Concat((Repeat(_either(char), node.least, None), _lines(char)))


def _escaped(node: Node) -> Node:
    """The node with every underscore that stands for itself as Markdown may have it."""
    if isinstance(node, Alternation):
        return Alternation(tuple(map(_escaped, node.branches)))
    if isinstance(node, Concat):
        return Concat(tuple(map(_escaped, node.parts)))
    return _either(node) if node == _UNDERSCORE else node


def _is_of_tokens(char: CharSet) -> bool:
    return not re.search(char.source, "\\\n\r\t >", char.flags)


@lru_cache(maxsize=256)
def _only(char: CharSet, other: str) -> CharSet | None:
    """The ASCII characters that belong to both sets."""
    both = [
        one
        for one in map(chr, range(33, 127))
        if re.match(char.source, one, char.flags) and re.match(other, one)
    ]
    return one_of(f"[{''.join(map(re.escape, both))}]") if both else None


@lru_cache(maxsize=256)
def _either(char: CharSet) -> Node:
    """A character of a token, in Markdown too."""
    return Alternation((char, _ESCAPED)) if re.match(char.source, "_", char.flags) else char


@lru_cache(maxsize=256)
def _break(char: CharSet) -> Node:
    marks = r"[\\ \t]" if re.match(char.source, "=", char.flags) else r"[\\= \t]"
    return parse(f"{marks}{{0,2}}{_BREAK}")


@lru_cache(maxsize=256)
def _lines(char: CharSet) -> Node:
    """Any number of lines below that belong to the token."""
    told = _told(char)
    if told is None:
        return Concat(())
    return Repeat(Concat((_break(char), told, _ended(char, _CLOSED, _LONG))), 0, None)


@lru_cache(maxsize=256)
def _told(char: CharSet) -> Node | None:
    """The beginning of a line that tells of a token, or `None` where there can be none."""
    lower, upper, digit = _only(char, _LOWER), _only(char, _UPPER), _only(char, _DIGIT)
    letter, other = _only(char, "[A-Za-z]"), _only(char, _OTHER)
    if digit is None or letter is None:
        return None
    rest = Concat((Repeat(_either(_only(char, "[^0-9]") or letter), 0, None), digit))
    names: list[Node] = []
    forms: list[Node] = [Concat((Repeat(digit, 1, None), letter))]
    for case, opposite in ((lower, upper), (upper, lower)):
        if case is None:
            continue
        forms.append(Concat((Repeat(case, 1, None), digit)))
        if opposite is not None:
            names.append(Concat((Repeat(case, 1, None), opposite)))
        if other is not None:
            names.append(Concat((case, _either(other))))
    if names:
        forms.append(Concat((Alternation(tuple(names)), rest)))
    return Alternation(tuple(forms))


@lru_cache(maxsize=256)
def _ended(char: CharSet, closed: int, long: int) -> Node:
    """The rest of a line, with what has to follow."""
    one = _either(char)
    word = Repeat(_only(char, "[A-Za-z0-9]") or char, long, None)
    no_name = LookAhead((char, _GOES_ON), end=False, negated=True)
    closes = Concat((Repeat(one, 0, None), _CLOSES))
    any_end = Repeat(one, _NO_NAME - closed, None)
    return Alternation(
        (
            Concat((Repeat(one, closed, closed), Alternation((closes, any_end)))),
            Concat((word, no_name)),
        )
    )
