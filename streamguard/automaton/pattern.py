r"""Reads the part of Python's `re` syntax that can be matched while text streams.

What is read: literals and escapes, classes (Unicode ones included), groups,
alternation, greedy repeats, the flags `i`, `s`, `x` and `a`, `\b` and `\B`, `\A`, `\Z`,
look-behind of a fixed width up to 8 characters, look-ahead of one character. What is
refused, with the reason: whatever needs memory that grows with the text (back-references,
long look-ahead) or has no meaning where the longest match wins (lazy, possessive, atomic).

Whether a character belongs to a class is left to `re` itself, so that case and
Unicode rules are the ones Python users know.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from streamguard.session import PatternError

__all__ = ["Alternation", "CharSet", "Concat", "LookAhead", "LookBehind", "Node", "Repeat", "parse"]

MAX_LOOK_BEHIND = 8
_SAFE_FLAGS = {"i": re.IGNORECASE, "s": re.DOTALL, "x": re.VERBOSE, "a": re.ASCII}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}


@dataclass(frozen=True, slots=True)
class CharSet:
    """One character out of a set, as `re` source and flags."""

    source: str
    flags: int = 0


@dataclass(frozen=True, slots=True)
class Concat:
    """Parts one after the other; none at all is the empty pattern."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """One of several branches."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`least` to `most` times; `most` is `None` where there is no bound."""

    node: Node
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class LookBehind:
    """What stands before: one of several sequences of the same width, or none of them.

    An empty sequence stands for the start of the text.
    """

    sequences: tuple[tuple[CharSet, ...], ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class LookAhead:
    """What the next character is: in one of the sets, or the end of the text."""

    sets: tuple[CharSet, ...]
    end: bool
    negated: bool


Node = CharSet | Concat | Alternation | Repeat | LookBehind | LookAhead

_END = LookAhead((), end=True, negated=False)
_START = LookBehind(((),), negated=False)
_WORD = CharSet(r"\w")


def parse(pattern: str, flags: int = 0) -> Node:
    """Read a pattern.

    Args:
        pattern: `re` source.
        flags: `re` flags that hold from the start.

    Raises:
        PatternError: the pattern is empty, malformed, or outside the subset; the message
            names the construct, where it stands, and what to write instead.
    """
    if not pattern:
        raise PatternError("an empty pattern matches everywhere: write what is to be found")
    try:
        re.compile(pattern, flags)
    except re.error as error:
        raise PatternError(f"not a regular expression: {error}") from None
    return _Parser(pattern, flags).parse()


class _Parser:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags
        self.at = 0

    def parse(self) -> Node:
        node = self.alternation()
        assert self.at == len(self.pattern)  # noqa: S101 - `re` accepted the parentheses
        return node

    def refuse(self, construct: str, instead: str, at: int | None = None) -> PatternError:
        where = self.at if at is None else at
        return PatternError(f"{construct} at position {where} cannot be matched in a stream: {instead}")

    def peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def take(self, text: str) -> bool:
        if self.peek(text):
            self.at += len(text)
            return True
        return False

    def alternation(self) -> Node:
        flags = self.flags
        branches = [self.concat()]
        while self.take("|"):
            branches.append(self.concat())
        self.flags = flags
        return branches[0] if len(branches) == 1 else Alternation(tuple(branches))

    def concat(self) -> Node:
        parts: list[Node] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            if self.flags & re.VERBOSE and self.skip_verbose():
                continue
            node = self.atom()
            if node is not None:
                parts.append(self.repeat(node))
        return parts[0] if len(parts) == 1 else Concat(tuple(parts))

    def skip_verbose(self) -> bool:
        start = self.at
        while self.at < len(self.pattern):
            if self.pattern[self.at] in " \t\n\r\f\v":
                self.at += 1
            elif self.pattern[self.at] == "#":
                stop = self.pattern.find("\n", self.at)
                self.at = len(self.pattern) if stop < 0 else stop + 1
            else:
                break
        return self.at > start

    def repeat(self, node: Node) -> Node:
        while True:
            if self.flags & re.VERBOSE:
                self.skip_verbose()
            at = self.at
            if self.take("*"):
                least, most = 0, None
            elif self.take("+"):
                least, most = 1, None
            elif self.take("?"):
                least, most = 0, 1
            elif found := re.compile(r"\{(\d*)(,?)(\d*)\}").match(self.pattern, at):
                if not (found[1] or found[3]):
                    return node  # `{}` and `{,}`: `re` reads the first as literals
                self.at = found.end()
                least = int(found[1] or 0)
                most = (int(found[3]) if found[3] else None) if found[2] else least
            else:
                return node
            if isinstance(node, LookBehind | LookAhead):
                raise self.refuse("a repeated assertion", "write it once", at)
            if self.peek("?"):
                raise self.refuse(
                    "a lazy repeat",
                    "leave the `?` out; the longest match wins, so exclude what must not be in it",
                )
            if self.peek("+"):
                raise self.refuse("a possessive repeat", "leave the `+` out")
            node = Repeat(node, least, most)

    def atom(self) -> Node | None:
        char = self.pattern[self.at]
        if char == "(":
            return self.group()
        if char == "[":
            return self.charset()
        if char == "\\":
            return self.escape()
        self.at += 1
        if char == ".":
            return CharSet(".", self.flags & re.DOTALL)
        if char == "^":
            return _START
        if char == "$":
            raise self.refuse(
                "`$`", "write \\Z for the end of the text, or (?=\\n|\\Z) for the end of a line", self.at - 1
            )
        return self.literal(char)

    def literal(self, char: str) -> CharSet:
        return CharSet(re.escape(char), self.flags & (re.IGNORECASE | re.ASCII))

    def charset(self) -> CharSet:
        stop = first = self.at + 2 if self.pattern.startswith("^", self.at + 1) else self.at + 1
        while self.pattern[stop] != "]" or stop == first:  # a `]` that comes first is a literal
            stop += 2 if self.pattern[stop] == "\\" else 1
        source = self.pattern[self.at : stop + 1]
        self.at = stop + 1
        return CharSet(source, self.flags & (re.IGNORECASE | re.ASCII))

    def escape(self) -> Node:
        at = self.at
        char = self.pattern[at + 1]
        self.at += 2
        if char in "dDwWsS":
            return CharSet("\\" + char, self.flags & re.ASCII)
        if char == "b":
            return self.boundary(inside=False)
        if char == "B":
            return self.boundary(inside=True)
        if char == "A":
            return _START
        if char == "Z":
            return _END
        if char in _ESCAPES:
            return self.literal(_ESCAPES[char])
        if char in "xuU":
            size = {"x": 2, "u": 4, "U": 8}[char]
            self.at += size
            return self.literal(chr(int(self.pattern[at + 2 : self.at], 16)))
        if char == "0":
            raise self.refuse("an octal escape", "write \\x.. instead", at)
        if char.isdigit():
            raise self.refuse("a back-reference", "spell the alternatives out", at)
        if char == "N":
            raise self.refuse("a named character", "write the character itself or \\u....", at)
        return self.literal(char)

    def boundary(self, *, inside: bool) -> Node:
        word = CharSet(_WORD.source, self.flags & re.ASCII)
        return Alternation(
            tuple(
                Concat(
                    (
                        LookBehind(((word,),), negated=not before),
                        LookAhead((word,), end=False, negated=before is not inside),
                    )
                )
                for before in (True, False)
            )
        )

    def group(self) -> Node | None:
        at = self.at
        self.at += 1
        flags = self.flags
        if self.take("?"):
            if self.take("#"):
                self.at = self.pattern.index(")", self.at) + 1
                return None
            if self.take("<=") or self.take("<!"):
                return self.look_behind(at, negated=self.pattern[self.at - 1] == "!")
            if self.take("=") or self.take("!"):
                return self.look_ahead(at, negated=self.pattern[self.at - 1] == "!")
            if self.take("P="):
                raise self.refuse("a back-reference", "spell the alternatives out", at)
            if self.take("("):
                raise self.refuse("a conditional group", "spell the alternatives out", at)
            if self.take(">"):
                raise self.refuse("an atomic group", "write (?:...); the longest match wins", at)
            if self.take("P<"):
                self.at = self.pattern.index(">", self.at) + 1
            elif not self.take(":") and self.inline_flags(at):
                return None  # flags for the rest of the pattern
        node = self.alternation()
        self.at += 1
        self.flags = flags
        return node

    def inline_flags(self, at: int) -> bool:
        found = re.compile(r"([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])").match(self.pattern, self.at)
        assert found  # noqa: S101 - `re` accepted it
        for letter in found[1] + (found[2] or ""):
            if letter == "u":
                continue
            if letter not in _SAFE_FLAGS:
                instead = "write (?<![^\\n]) and (?=\\n|\\Z)" if letter == "m" else "leave it out"
                raise self.refuse(f"the flag {letter!r}", instead, at)
            if letter in found[1]:
                self.flags |= _SAFE_FLAGS[letter]
            else:
                self.flags &= ~_SAFE_FLAGS[letter]
        self.at = found.end()
        return found[3] == ")"

    def inside(self) -> Node:
        flags = self.flags
        node = self.alternation()
        self.at += 1
        self.flags = flags
        return node

    def look_behind(self, at: int, *, negated: bool) -> Node:
        sequences = _sequences(self.inside())
        if sequences is None or not all(sequences):
            raise self.refuse(
                "this look-behind",
                f"it may hold characters and sets only, 1 to {MAX_LOOK_BEHIND} of them",
                at,
            )
        if len(sequences[0]) > MAX_LOOK_BEHIND:
            raise self.refuse(
                "a look-behind this wide",
                f"{MAX_LOOK_BEHIND} characters are remembered; use the rule's context for more",
                at,
            )
        return LookBehind(tuple(sequences), negated=negated)

    def look_ahead(self, at: int, *, negated: bool) -> Node:
        node = self.inside()
        sets: list[CharSet] = []
        end = False
        for branch in node.branches if isinstance(node, Alternation) else (node,):
            if isinstance(branch, CharSet):
                sets.append(branch)
            elif branch == _END:
                end = True
            else:
                raise self.refuse(
                    "a look-ahead of more than one character",
                    "use one character or set, or \\Z, or alternatives of these",
                    at,
                )
        return LookAhead(tuple(sets), end=end, negated=negated)


def _sequences(node: Node) -> list[tuple[CharSet, ...]] | None:
    """Every sequence a node without repeats of varying length stands for."""
    if isinstance(node, CharSet):
        return [(node,)]
    if isinstance(node, Alternation):
        found = [_sequences(branch) for branch in node.branches]
        return None if None in found else [one for some in found if some for one in some]
    if isinstance(node, Concat):
        joined: list[tuple[CharSet, ...]] = [()]
        for part in node.parts:
            tails = _sequences(part)
            if tails is None:
                return None
            joined = [head + tail for head in joined for tail in tails]
        return joined
    if isinstance(node, Repeat) and node.least == node.most:
        return _sequences(Concat((node.node,) * node.least))
    return None
