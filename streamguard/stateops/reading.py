"""Reads what may be a state operation, one character at a time. Keeps no text; knows no stream.

`Candidate` is strict, because what it reads may have to be shown: JSON, in which commas may be
missing or too many. `Block` reads on once a marker has decided, and is lenient, because nothing of
it will be shown: it counts brackets, and lets a line break end a string that was left open.
"""

from __future__ import annotations

import enum

__all__ = ["MAX_GAP", "STATE_OP_FENCES", "STATE_OP_MARKERS", "Block", "Candidate", "Place", "Verdict"]

STATE_OP_MARKERS = ("op", "path", "question")
"""Keys that make an object a state operation."""

STATE_OP_FENCES = ("", "json", "state-ops", "state")
"""Names after the backticks of a fence that may hold state operations."""

MAX_GAP = 64
"""Longest white space that is held: for a block that may follow it, or may end before it."""

_MAX_NESTING = 64
_WORD_START = frozenset("-0123456789tfn")
_WORD = frozenset("+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


class Verdict(enum.Enum):
    """What a character made of what was being read."""

    OPEN = enum.auto()
    """It is part of it, and more may come."""
    CLOSED = enum.auto()
    """It is the last part of it. A candidate that closes has shown no marker."""
    MARKER = enum.auto()
    """It is the colon after a marker key."""
    OUT = enum.auto()
    """It is no part of it."""


class Place(enum.Enum):
    """Where text stands."""

    PROSE = enum.auto()
    CODE = enum.auto()
    """In a fence of a listed name."""
    FOREIGN = enum.auto()
    """In a fence of another name: a bracket in it is code."""


class _Expect(enum.Enum):
    ELEMENT = enum.auto()
    STRING = enum.auto()
    KEY = enum.auto()
    KEY_STRING = enum.auto()
    COLON = enum.auto()
    VALUE = enum.auto()


class _Json:
    """JSON up to the colon after a marker key of its top level."""

    __slots__ = ("_bare", "_escaped", "_expect", "_marker_rests", "_markers", "_word", "nest")

    def __init__(self, markers: tuple[str, ...], *, bare: bool) -> None:
        self._markers = markers
        self._bare = bare
        self._expect = _Expect.VALUE
        self._escaped = False
        self._word = False
        self._marker_rests = markers  # what is missing of the markers that a key may still become
        self.nest = ""  # the brackets that are open

    @property
    def quoted(self) -> bool:
        return self._expect is _Expect.STRING or self._expect is _Expect.KEY_STRING

    @property
    def at_marker(self) -> bool:
        return self._expect is _Expect.COLON and self.nest in ("{", "[{") and "" in self._marker_rests

    def step(self, char: str, *, spaced: bool) -> Verdict:
        if self.quoted:
            return self._step_quoted(char)
        expect, word = self._expect, False
        if expect is _Expect.COLON:
            if char != ":":
                return Verdict.OUT
            verdict = Verdict.MARKER if self.at_marker else Verdict.OPEN
            self._expect = _Expect.VALUE
            return verdict
        if char in "]}":
            if self.nest[-1:] != ("[" if char == "]" else "{"):
                return Verdict.OUT
            self.nest = self.nest[:-1]
            self._expect_next()
        elif char == ",":
            self._expect_next()
        elif self._word and not spaced and char in _WORD:
            word = True
        elif expect is _Expect.KEY:
            if char != '"':
                return Verdict.OUT
            self._expect = _Expect.KEY_STRING
            self._marker_rests = self._markers
        elif self._bare and self.nest == "[" and char != "{":
            return Verdict.OUT  # links and notes are bracketed as well; only objects are awaited
        elif char == '"':
            self._expect = _Expect.STRING
        elif char in "[{" and len(self.nest) < _MAX_NESTING:
            self.nest += char
            self._expect_next()
        elif char in _WORD_START:
            word = True
            self._expect_next()
        else:
            return Verdict.OUT
        self._word = word
        return Verdict.OPEN if self.nest else Verdict.CLOSED

    def _step_quoted(self, char: str) -> Verdict:
        if char == "\n":
            return Verdict.OUT
        if char == '"' and not self._escaped:
            if self._expect is _Expect.KEY_STRING:
                self._expect = _Expect.COLON
            else:
                self._expect_next()
            return Verdict.OPEN
        self._escaped = char == "\\" and not self._escaped
        if self._expect is _Expect.KEY_STRING and self._marker_rests:
            self._marker_rests = tuple(rest[1:] for rest in self._marker_rests if rest[:1] == char)
        return Verdict.OPEN

    def _expect_next(self) -> None:
        self._expect = _Expect.KEY if self.nest[-1:] == "{" else _Expect.ELEMENT


class Candidate:
    """What may be a state operation.

    Attributes:
        begin: where it begins in the text that is held.
        cut: where the white space in front of it begins.
        offset: where that begins in the stream.
        data: it turned out too long, and is shown as it comes.
    """

    __slots__ = (
        "_fences",
        "_json",
        "_markers",
        "_name",
        "_place",
        "_ticks",
        "begin",
        "cut",
        "data",
        "offset",
    )

    def __init__(self, markers: tuple[str, ...], fences: tuple[str, ...], place: Place) -> None:
        self._markers = markers
        self._fences = fences
        self._place = place
        self._ticks = 0
        self._name = ""
        self._json: _Json | None = None
        self.begin = self.cut = self.offset = 0
        self.data = False

    @property
    def rule(self) -> str:
        """The rule that a finding will have: what it began with."""
        return "fenced" if self._ticks else "bare"

    @property
    def is_json(self) -> bool:
        """A bracket has come."""
        return self._json is not None

    @property
    def depth(self) -> int:
        """Brackets that are open."""
        return len(self._json.nest) if self._json else 0

    @property
    def quoted(self) -> bool:
        """White space is part of a string now, and to be read. Elsewhere it is told by `spaced` alone."""
        return self._json is not None and self._json.quoted

    @property
    def at_marker(self) -> bool:
        """A marker key was the last thing read; only its colon is missing."""
        return self._json is not None and self._json.at_marker and not self.data

    def step(self, char: str, *, spaced: bool) -> Verdict:
        """Read a character. After `OUT`, the state is what it was before."""
        if self._json is not None:
            verdict = self._json.step(char, spaced=spaced)
            return Verdict.OPEN if verdict is Verdict.MARKER and self.data else verdict
        if char == "`" and not spaced and not self._name:
            self._ticks += 1
        elif char in "[{" and (not self._ticks or self._opens_json):
            self._json = _Json(self._markers, bare=not self._ticks)
            return self._json.step(char, spaced=False)
        elif self._ticks >= 3 and not spaced and self._names(self._name + char.lower()):
            self._name += char.lower()
        else:
            return Verdict.OUT
        return Verdict.OPEN

    def place_after(self, *, spaced: bool) -> Place:
        """Where the text stands that follows this candidate, now that it is none."""
        if self._ticks < 3:
            return self._place
        named = self._name in self._fences and self._name != ""
        if self._json is not None or (named and spaced):
            return Place.CODE
        if self._place is not Place.PROSE:
            return Place.PROSE
        return Place.CODE if spaced and not self._name else Place.FOREIGN

    @property
    def _opens_json(self) -> bool:
        # In a code block a fence without a name is the closing one.
        listed = self._ticks >= 3 and self._name in self._fences
        return listed and (self._name != "" or self._place is Place.PROSE)

    def _names(self, name: str) -> bool:
        return any(fence.startswith(name) for fence in self._fences)


class Block:
    """A decided block.

    Attributes:
        rule: `"fenced"` or `"bare"`.
        offset: where it begins in the stream, with the white space in front of it.
        length: how much was taken out for it so far, in characters.
        complete: it would be whole if the stream ended now.
        tail: the last characters read, where they are part of it only if more of it follows.
    """

    __slots__ = ("_depth", "_escaped", "_quoted", "_ticks", "complete", "length", "offset", "rule", "tail")

    def __init__(self, rule: str, *, depth: int, offset: int, length: int) -> None:
        self.rule = rule
        self.offset = offset
        self.length = length
        self.complete = False
        self.tail: list[str] = []
        self._depth = depth
        self._quoted = False
        self._escaped = False
        self._ticks = 0

    def step(self, char: str) -> Verdict:
        """Read a character. After `OUT` the block has ended, in front of `tail`."""
        if self.complete:
            return Verdict.OPEN if char == "`" else Verdict.OUT
        if self._quoted and char != "\n":
            self._quoted = char != '"' or self._escaped
            self._escaped = char == "\\" and not self._escaped
            return Verdict.OPEN
        self._quoted = self._escaped = False
        if char == "`" and self.rule == "fenced":
            self._ticks += 1
            self.complete = self._ticks == 3
        elif char.isspace():
            if self._ticks and not self._depth:
                return Verdict.OUT
            if len(self.tail) >= MAX_GAP:
                if self._ends_before(char):
                    return Verdict.OUT
                self.tail.clear()
            self._ticks = 0
        elif self._ends_before(char):
            return Verdict.OUT
        else:
            self._ticks = 0
            self.tail.clear()
            return self._step_token(char)
        if self.complete:
            self.tail.clear()
        elif self.rule == "bare" or not self._depth:
            self.tail.append(char)
        return Verdict.OPEN

    def _step_token(self, char: str) -> Verdict:
        if char == '"':
            self._quoted = True
        elif char in "[{":
            self._depth += 1
        elif char in "]}":
            self._depth = max(0, self._depth - 1)
            if not self._depth and self.rule == "bare":
                return Verdict.CLOSED
        return Verdict.OPEN

    def _ends_before(self, char: str) -> bool:
        if self.rule == "fenced":
            return not self._depth and (self._ticks > 0 or char not in "[]{},")
        return char not in '[]{},":' and self.tail.count("\n") > 1
