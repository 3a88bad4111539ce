r"""A lane of JSON, such as the arguments of a tool call: only its strings are guarded.

Every string that is a value is decoded while it streams, goes through a session of its own,
behind its key (see `keyed`), and is written again (see `spelling`). Everything else passes as
it came: keys, numbers, literals, white space, structure. The lane is read by a machine with
one state a level, so nesting costs no recursion. Documents may follow one another.

What is not JSON fails closed. A string where no key can stand is a value. What is neither a
string nor a number nor a literal ends the JSON: from there on the lane is one text and is
guarded as that, quotation marks and all. To be told in time, numbers and literals are held
until they end. Below `DEPTH` levels keys are no longer told from values: all are guarded.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from streamguard.adapting.keyed import LONGEST_NAME, Keyed
from streamguard.adapting.spelling import Decoder, Speller
from streamguard.session import Bound, End, FindingHandler, HiddenHandler, Session, Transformer

__all__ = ["DEPTH", "JsonLane"]

DEPTH = 1000
"""Levels of nesting whose keys are known."""

_OUTSIDE = re.compile(
    r'(?P<space>[ \t\r\n\ufeff]+)|(?P<mark>[][{},:"])|(?P<bare>[^][{},:" \t\r\n\ufeff]+)', re.DOTALL
)
_KEY = re.compile(r'(?:[^"\\]|\\.)*', re.DOTALL)
_NUMERIC = re.compile(r"[-+.0-9eE]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_LITERALS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
_LONGEST = 64  # characters of a number that are held
_RAW_NAME = 6 * LONGEST_NAME


@dataclass(frozen=True, slots=True)
class JsonLane(Transformer):
    """Guards the strings of streamed JSON, and leaves everything else as it is.

    The output is valid JSON whenever the input is, of the same structure. Redactors see each
    string twice: alone, and behind its key. Findings count characters of the decoded string.

    *Delay*: that of the guard inside a string; a number or a literal until it ends; an escape
    until it is whole. *Memory*: that of the guard, and a key for each of up to 1000 levels.

    Attributes:
        guard: what each string goes through.
    """

    guard: Transformer

    def session(
        self,
        *,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> Session:
        """Make the state of one lane. A document that is cut off shows nothing undecided."""
        return _JsonSession(Keyed(self.guard), on_finding, on_hidden)

    def bounds(self) -> tuple[Bound, ...]:
        """The bounds of the guard, of its redactors once more, and of what JSON itself needs."""
        return (*Keyed(self.guard).bounds(), Bound("json", "number or escape", _LONGEST))


class _JsonSession(Session):
    __slots__ = (
        "_bare",
        "_decoder",
        "_deep",
        "_in_key",
        "_key",
        "_key_next",
        "_keyed",
        "_long",
        "_names",
        "_objects",
        "_on_finding",
        "_on_hidden",
        "_slash",
        "_speller",
        "_text",
        "_value",
    )

    def __init__(
        self, keyed: Keyed, on_finding: FindingHandler | None, on_hidden: HiddenHandler | None
    ) -> None:
        super().__init__()
        self._keyed = keyed
        self._on_finding = on_finding
        self._on_hidden = on_hidden
        self._objects = bytearray()  # for each level: 1 if it is an object
        self._names: list[str | None] = []  # for each level: what its values stand under
        self._deep = 0  # levels below DEPTH
        self._key_next = False
        self._in_key = False
        self._key = ""  # the raw text of the key, its end
        self._slash = False  # the key so far ends with a backslash that escapes what comes
        self._bare = ""  # a number or literal that has not ended
        self._long = False  # inside a number too long to be held
        self._value: Session | None = None  # of the string we are in
        self._decoder = Decoder()
        self._speller = Speller()
        self._text: Session | None = None  # of all the rest, which is no JSON

    @property
    def pending(self) -> int:
        if self._text is not None:
            return self._text.pending
        if self._value is not None:
            return self._value.pending + len(self._decoder.carry)
        return len(self._bare)

    def _feed(self, text: str, /) -> str:
        out: list[str] = []
        at = 0
        if self._value is not None and self._decoder.carry:
            text = self._decoder.carry + text
        while at < len(text):
            if self._text is not None:
                out.append(self._text._feed(text[at:]))
                break
            if self._value is not None:
                at = self._read_value(self._value, text, at, out)
            elif self._in_key:
                at = self._read_key(text, at, out)
            else:
                at = self._read_outside(text, at, out)
        return "".join(out)

    def _flush(self, end: End, /) -> str:
        whole = end in {End.COMPLETE, End.TOOL_CALL}
        out: list[str] = []
        if self._value is not None:
            carry, at = self._decoder.carry if whole else "", 0
            while at < len(carry):
                at = self._read_value(self._value, carry, at, out, last=True)
            out.append(self._speller.spell(self._value.flush(end), self._value))
            out.append(self._speller.end())
        elif self._bare and not (whole and _is_bare(self._bare)):
            self._begin_text("", out)
        out.append(self._bare)
        if self._text is not None:
            out.append(self._text.flush(end))
        return "".join(out)

    def _read_value(self, session: Session, text: str, at: int, out: list[str], *, last: bool = False) -> int:
        speller = self._speller
        decoded, at, spelling = self._decoder.read(text, at, speller, last=last)
        out.append(speller.spell(session._feed(decoded), session))
        if spelling is not None:
            speller.note(*spelling)
        if self._decoder.ended:
            out.append(speller.spell(session.flush(), session))
            out.append(speller.end())
            out.append('"')
            self._value = None
        return at

    def _begin_value(self) -> None:
        self._decoder = Decoder()
        self._speller = Speller()
        self._value = self._keyed.session(
            self._name(), on_finding=self._on_finding, on_hidden=self._on_hidden
        )

    def _name(self) -> str | None:
        return self._names[-1] if self._names and not self._deep else None

    def _read_key(self, text: str, at: int, out: list[str]) -> int:
        start = at
        if self._slash:
            at += 1
        found = _KEY.match(text, at)
        at = found.end() if found is not None else at
        self._slash = text[at : at + 1] == "\\"  # the last character of this text
        at += self._slash
        self._key = (self._key + text[start:at])[-_RAW_NAME:]
        if text[at : at + 1] == '"':
            at += 1
            self._in_key = False
            self._names[-1] = _decoded(self._key)
            self._key = ""
        out.append(text[start:at])
        return at

    def _read_outside(self, text: str, at: int, out: list[str]) -> int:
        found = _OUTSIDE.match(text, at)
        if found is None:  # pragma: no cover - every character is one of the three
            return len(text)
        piece = found[0]
        if found["bare"] is not None:
            self._read_bare(piece, out)
            return found.end()
        if self._bare and not _is_bare(self._bare):
            self._begin_text("", out)
            return at
        out.append(self._bare)
        out.append(piece)
        self._bare = ""
        self._long = False
        if found["mark"] is not None:
            self._structure(piece)
        return found.end()

    def _read_bare(self, piece: str, out: list[str]) -> None:
        token = self._bare + piece
        numeric = _NUMERIC.match(token)
        size = numeric.end() if numeric is not None else 0
        if self._long or size > _LONGEST:
            self._long = True
            self._bare = ""
            out.append(token[:size])
            if size < len(token):
                self._begin_text(token[size:], out)
        elif size == len(token) or any(literal.startswith(token) for literal in _LITERALS):
            self._bare = token
        else:
            self._bare = ""
            self._begin_text(token, out)

    def _begin_text(self, text: str, out: list[str]) -> None:
        """What has come is no JSON: guard it and all that follows as one text."""
        self._text = self._keyed.session(
            self._name(), quote="", on_finding=self._on_finding, on_hidden=self._on_hidden
        )
        bare, self._bare = self._bare, ""
        out.append(self._text._feed(bare + text))

    def _structure(self, mark: str) -> None:
        match mark:
            case '"':
                if self._key_next:
                    self._key_next = False
                    self._in_key = True
                    self._slash = False
                else:
                    self._begin_value()
            case "{" | "[":
                if len(self._objects) == DEPTH:
                    self._deep += 1
                    self._key_next = False
                    return
                self._names.append(None if mark == "{" else self._name())
                self._objects.append(mark == "{")
                self._key_next = mark == "{"
            case "}" | "]":
                if self._deep:
                    self._deep -= 1
                elif self._objects:
                    self._objects.pop()
                    self._names.pop()
                self._key_next = False
            case ",":
                self._key_next = not self._deep and bool(self._objects) and bool(self._objects[-1])
            case _:  # a colon
                self._key_next = False


def _is_bare(token: str) -> bool:
    return token in _LITERALS or _NUMBER.fullmatch(token) is not None


def _decoded(raw: str) -> str:
    try:
        return str(json.loads(f'"{raw}"', strict=False))
    except ValueError:
        return raw
