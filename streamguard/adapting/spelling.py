r"""How the characters of one JSON string were written, for writing them again.

`\/`, `\u00e9` and `é` are spellings. As long as what the guard lets through is what came
in, every character is written as it was. From the first change on it is not known which
character came from where: then a character is written as its first unusual spelling in
this string, else as `json.dumps` does. Either way it decodes to what the guard let through.

Every cut must come to the same result, though the input runs ahead of the output, so a new
unusual spelling is noted only when all text before it has been through the guard: that is
what `Decoder` stops for.
"""

from __future__ import annotations

import re
from collections import deque
from itertools import takewhile
from operator import eq

from streamguard.session import Session

__all__ = ["Decoder", "Speller"]

_USUAL = {code: f"\\u{code:04x}" for code in range(0x20)} | {
    ord(char): escape
    for char, escape in zip('"\\\n\r\t\b\f', ('\\"', "\\\\", "\\n", "\\r", "\\t", "\\b", "\\f"), strict=True)
}
_MUST = re.compile('["\\\\\x00-\x1f]')
_SHORT = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_PLAIN = re.compile(r"""(?:[^"\\\x00-\x1f]++|\\["\\nrtbf])++""")
_SIMPLE = re.compile(r"""\\(["\\nrtbf])""")
_HEX = "[0-9a-fA-F]"
_HIGH = rf"\\u[dD][89abAB]{_HEX}{{2}}"
_LOW = rf"\\u[dD][c-fC-F]{_HEX}{{2}}"
_ESCAPE = re.compile(
    rf"(?P<pair>{_HIGH}{_LOW})"
    rf"|(?P<partial>{_HIGH}(?:\\(?:u(?:[dD](?:[c-fC-F]{_HEX}?)?)?)?)?\Z|\\(?:u{_HEX}{{0,3}})?\Z)"
    rf'|\\(?:(?P<char>["\\/bfnrt])|u(?P<code>{_HEX}{{4}}))'
)
_KEPT = 256
"""Characters of the input kept for comparison beyond those the guard still holds."""
_SPELLINGS = 4096
"""Characters whose unusual spelling is remembered."""


class Decoder:
    """Reads the raw text of one string, cut anywhere. Memory: 11 characters."""

    __slots__ = ("carry", "ended")

    def __init__(self) -> None:
        self.carry = ""  # the beginning of an escape
        self.ended = False

    def read(
        self, text: str, at: int, speller: Speller, *, last: bool = False
    ) -> tuple[str, int, tuple[str, str] | None]:
        r"""Read up to the end of the text, of the string, or to a new unusual spelling.

        Args:
            text: raw text, beginning with `carry`.
            at: where to begin.
            speller: is told how the characters were spelled.
            last: no more text will come; what has begun is read as it stands.

        Returns:
            The decoded characters, where to go on, and the spelling to be noted before that.
        """
        out: list[str] = []
        self.carry = ""
        while at < len(text):
            if plain := _PLAIN.match(text, at):
                out.append(speller.saw(_unescaped(plain[0])))
                at = plain.end()
                continue
            char = text[at]
            if char == '"':
                self.ended = True
                return "".join(out), at + 1, None
            raw = char
            if char == "\\":
                escape = _ESCAPE.match(text, at)
                if escape is None or (last and escape["partial"]):
                    if escape is not None and len(escape[0]) >= 6:  # a high surrogate alone
                        raw, char = escape[0][:6], chr(int(escape[0][2:6], 16))
                    else:
                        out.append(speller.saw_stray(text[at + 1 : at + 2]))
                        at += 2
                        continue
                elif escape["partial"]:
                    self.carry = escape[0]
                    return "".join(out), len(text), None
                else:
                    raw = escape[0]
                    char = _decoded(escape)
            if speller.is_new(char, raw):
                return "".join(out), at, (char, raw)
            out.append(speller.saw(char, raw))
            at += len(raw)
        return "".join(out), at, None


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return _SIMPLE.sub(lambda found: _SHORT.get(found[1], found[1]), text)


def _decoded(escape: re.Match[str]) -> str:
    if pair := escape["pair"]:
        return chr(0x10000 + ((int(pair[2:6], 16) & 0x3FF) << 10) + (int(pair[8:12], 16) & 0x3FF))
    if code := escape["code"]:
        return chr(int(code, 16))
    return _SHORT.get(escape["char"], escape["char"])


class Speller:
    """Writes the characters of one string. Memory: what the guard holds and `_KEPT` more."""

    __slots__ = ("_came", "_cut", "_exact", "_odd", "_read", "_stray", "_table", "_waiting")

    def __init__(self) -> None:
        self._exact = True
        self._waiting = ""  # what came in and has not come out
        self._read = 0  # characters that have come out
        self._came = 0  # characters that have come in
        self._cut = False  # `_waiting` is only the beginning of what came in
        self._odd: deque[tuple[int, str]] = deque()
        self._stray = False  # a backslash that escapes nothing came out, and is still to be written
        self._table: dict[int, str] | None = None

    def is_new(self, char: str, raw: str) -> bool:
        """Tell whether this spelling has to be noted, by `note`, before it is seen."""
        code = ord(char)
        if raw == _USUAL.get(code, char) or (char.isascii() and char.isalnum()):
            return False
        table = self._table
        if table is not None and (code in table and (code not in _USUAL or table[code] != _USUAL[code])):
            return False
        return table is None or len(table) < _SPELLINGS or 0xD800 <= code < 0xE000

    def note(self, char: str, raw: str) -> None:
        """Remember how a character is spelled."""
        if self._table is None:
            self._table = dict(_USUAL)
        self._table[ord(char)] = raw

    def saw(self, text: str, raw: str | None = None) -> str:
        """Take characters that are spelled as usual, or one that is spelled as `raw`."""
        if self._exact and not self._cut:
            if raw is not None and raw != _USUAL.get(ord(text), text):
                self._odd.append((self._came, raw))
            self._waiting += text
            self._came += len(text)
        return text

    def saw_stray(self, char: str) -> str:
        """Take a backslash that escapes nothing, with the character behind it, if any.

        The two are written together, or the backslash would escape what comes instead.
        """
        if not char:
            return self.saw("\\", "\\")
        return self.saw("\\", "") + self.saw(char, "\\" + char)

    def spell(self, text: str, session: Session) -> str:
        """Write what the guard let through.

        Args:
            text: what came out of it.
            session: the guard, asked how many characters it still holds.
        """
        if not self._exact:
            return self._usual(text)
        if self._waiting.startswith(text):
            raw = self._as_it_came(len(text))
            self._waiting = self._waiting[len(text) :]
            waiting = len(self._waiting)
            if waiting > _KEPT and waiting > session.pending:  # some of it will not come out
                self._cut = True
                self._waiting = self._waiting[:_KEPT]
                while self._odd and self._odd[-1][0] >= self._read + _KEPT:
                    self._odd.pop()
            return raw
        same = sum(takewhile(bool, map(eq, text, self._waiting)))
        raw = self._as_it_came(same)
        return raw + self.end() + self._usual(text[same:])

    def end(self) -> str:
        """Write what is left over, at the end and where the spellings are lost."""
        self._exact = False
        self._waiting = ""
        self._odd.clear()
        stray, self._stray = self._stray, False
        return "\\\\" if stray else ""

    def _as_it_came(self, size: int) -> str:
        out: list[str] = []
        done = 0
        while self._odd and self._odd[0][0] < self._read + size:
            at, raw = self._odd.popleft()
            out.append(_escaped(self._waiting[done : at - self._read]))
            out.append(raw)
            done = at - self._read + 1
            self._stray = not raw
        if done < size:
            out.append(_escaped(self._waiting[done:size]))
        self._read += size
        return "".join(out)

    def _usual(self, text: str) -> str:
        return _escaped(text) if self._table is None else text.translate(self._table)


def _escaped(text: str) -> str:
    return _MUST.sub(lambda found: _USUAL[ord(found[0])], text) if _MUST.search(text) else text
