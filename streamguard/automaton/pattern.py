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
from functools import lru_cache

from streamguard.automaton.nodes import (
    MAX_ALTERNATIVES,
    MAX_LOOK_BEHIND,
    Alternation,
    CharSet,
    Concat,
    LookAhead,
    LookBehind,
    Node,
    Repeat,
    branches_of,
    fixed_width,
    one_of,
    reads,
    sequences_of,
)
from streamguard.session import PatternError

__all__ = ["parse"]

MAX_DEPTH = 50
"""Most groups inside one another."""
MAX_GROUPS = 8192
"""Most groups that are remembered, to be used again in other patterns."""
_SAFE_FLAGS = {"i": re.IGNORECASE, "s": re.DOTALL, "x": re.VERBOSE, "a": re.ASCII}
_ASCII, _DOTALL, _VERBOSE = int(re.ASCII), int(re.DOTALL), int(re.VERBOSE)
_CASE = int(re.IGNORECASE | re.ASCII)
_KNOWN_FLAGS = re.IGNORECASE | re.DOTALL | re.VERBOSE | re.ASCII | re.UNICODE
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}

_END = LookAhead((), end=True, negated=False)
_START = LookBehind(((),), negated=False)
_WORD = one_of(r"\w")


@lru_cache(maxsize=1024)
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
    refused = flags & ~_KNOWN_FLAGS
    if refused:
        raise PatternError(f"{re.RegexFlag(refused)!r} cannot be used in a stream: leave it out")
    try:
        re.compile(pattern, flags)
    except re.error as error:
        if error.pos is None:  # `re` read it, and does not say where the look-behind stands
            _Parser(pattern, flags).parse()
        raise PatternError(f"not a regular expression: {error}") from None
    except RecursionError:
        raise PatternError(f"groups are nested deeper than {MAX_DEPTH}: write them flat") from None
    except (ValueError, OverflowError) as error:
        raise PatternError(f"not a regular expression: {error}") from None
    return _Parser(pattern, flags).parse()


_GROUPS: dict[tuple[str, int], Node] = {}
"""Groups by how they are written, and the flags they are read with."""


class _Parser:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.flags = int(flags)  # plain numbers are compared ten times faster
        self.at = 0
        self.depth = 0

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
        self.skip_comments()
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            node = self.atom()
            if node is not None:
                parts.append(self.repeat(node))
            self.skip_comments()
        return parts[0] if len(parts) == 1 else Concat(tuple(parts))

    def skip_comments(self) -> None:
        """Skip comments, and white space where it means nothing."""
        while True:
            if self.take("(?#"):
                self.at = self.pattern.index(")", self.at) + 1
            elif not (self.flags & _VERBOSE and self.skip_verbose()):
                return

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
            self.skip_comments()
            at = self.at
            if self.take("*"):
                least, most = 0, None
            elif self.take("+"):
                least, most = 1, None
            elif self.take("?"):
                least, most = 0, 1
            elif found := re.compile(r"\{(?!\})([0-9]*)(,?)([0-9]*)\}").match(self.pattern, at):
                self.at = found.end()  # `{}` is two literals, `{,}` is `*`
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
            if not reads(node):
                least, most = min(least, 1), 1  # once is as good as a thousand times
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
            return one_of(".", self.flags & _DOTALL)
        if char == "^":
            return _START
        if char == "$":
            raise self.refuse(
                "`$`", "write \\Z for the end of the text, or (?=\\n|\\Z) for the end of a line", self.at - 1
            )
        return self.literal(char)

    def literal(self, char: str) -> CharSet:
        return one_of(re.escape(char), self.flags & _CASE)

    def charset(self) -> CharSet:
        stop = first = self.at + 2 if self.pattern.startswith("^", self.at + 1) else self.at + 1
        while self.pattern[stop] != "]" or stop == first:  # a `]` that comes first is a literal
            stop += 2 if self.pattern[stop] == "\\" else 1
        source = self.pattern[self.at : stop + 1]
        self.at = stop + 1
        return one_of(source, self.flags & _CASE)

    def escape(self) -> Node:
        at = self.at
        char = self.pattern[at + 1]
        self.at += 2
        if char in "dDwWsS":
            return one_of("\\" + char, self.flags & _ASCII)
        if char == "b":
            return self.boundary(inside=False)
        if char == "B":
            return self.boundary(inside=True)
        if char == "A":
            return _START
        if char in "Zz":  # the same; Python 3.14 reads both
            return _END
        if char in _ESCAPES:
            return self.literal(_ESCAPES[char])
        if char in "xuU":
            size = {"x": 2, "u": 4, "U": 8}[char]
            self.at += size
            return self.literal(chr(int(self.pattern[at + 2 : self.at], 16)))
        if re.compile(r"0|[0-3][0-7][0-7]").match(self.pattern, at + 1):
            raise self.refuse("an octal escape", "write \\x.. instead", at)
        if char in "123456789":
            raise self.refuse("a back-reference", "spell the alternatives out", at)
        if char == "N":
            raise self.refuse("a named character", "write the character itself or \\u....", at)
        return self.literal(char)

    def boundary(self, *, inside: bool) -> Node:
        word = one_of(_WORD.source, self.flags & _ASCII)
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
        """A group; where one is written like another, it is the same object: rules have many in common."""
        at, flags = self.at, self.flags
        node = self.read_group()
        if node is None:
            return None
        if len(_GROUPS) >= MAX_GROUPS:
            _GROUPS.clear()
        return _GROUPS.setdefault((self.pattern[at : self.at], flags), node)

    def read_group(self) -> Node | None:
        at = self.at
        self.at += 1
        flags = self.flags
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.refuse(f"a group nested deeper than {MAX_DEPTH}", "write it flat", at)
        if self.take("?"):
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
                self.depth -= 1
                return None  # flags for the rest of the pattern
        node = self.inside()
        self.flags = flags
        return node

    def inline_flags(self, at: int) -> bool:
        found = re.compile(r"([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])").match(self.pattern, self.at)
        assert found  # noqa: S101 - `re` accepted it
        for letter in found[1] + (found[2] or ""):
            if letter == "u":
                self.flags &= ~_ASCII
                continue
            if letter not in _SAFE_FLAGS:
                instead = "write (?<![^\\n]) and (?=\\n|\\Z)" if letter == "m" else "leave it out"
                raise self.refuse(f"the flag {letter!r}", instead, at)
            if letter in found[1]:
                self.flags |= int(_SAFE_FLAGS[letter])
            else:
                self.flags &= ~int(_SAFE_FLAGS[letter])
        self.at = found.end()
        return found[3] == ")"

    def inside(self) -> Node:
        node = self.alternation()
        self.at += 1
        self.depth -= 1
        return node

    def look_behind(self, at: int, *, negated: bool) -> Node:
        node = self.inside()
        size = fixed_width(node)
        if not size:
            raise self.refuse(
                "this look-behind" if size is None else "an empty look-behind",
                f"it may hold characters and sets only, always the same number of them, "
                f"1 to {MAX_LOOK_BEHIND}; write several look-behinds for several widths",
                at,
            )
        if size > MAX_LOOK_BEHIND:
            raise self.refuse(
                "a look-behind this wide",
                f"{MAX_LOOK_BEHIND} characters are remembered; use the rule's context for more",
                at,
            )
        sequences = sequences_of(node)
        if len(sequences) > MAX_ALTERNATIVES:
            raise self.refuse(
                f"a look-behind of more than {MAX_ALTERNATIVES} alternatives", "use sets such as [ab]", at
            )
        return LookBehind(tuple(sequences), negated=negated)

    def look_ahead(self, at: int, *, negated: bool) -> Node:
        node = self.inside()
        sets: list[CharSet] = []
        end = False
        for branch in branches_of(node):
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
