"""LiteralRedactor: the known secrets of a deployment, replaced wherever they appear.

Every spelling of every value is one literal; `literal_index` says which one stands where.
Semantics on the whole text: the leftmost; among those that begin together the longest.

What is held is the text from the leftmost position where a literal may still come or grow.
Where one stands already, and all that it may grow into have the same placeholder, the
placeholder is shown at once, and only what comes behind is held. A position is left for
good when nothing begins there, and the next one is looked at only then.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from streamguard.redact.literal_index import LEAST, SHORT, STAGE, Index, Owner, index_of
from streamguard.redact.placeholder import PlaceholderFunction, digest
from streamguard.redact.placeholder import placeholder as standard
from streamguard.redact.spellings import ENCODINGS
from streamguard.session import Bound, End, Finding, FindingHandler, HiddenHandler, Session, Transformer

__all__ = ["LiteralRedactor"]

TELLING_NAMES = r"(?i)pass|secret|token|key|credential"
TELLING = 3
"""After a doubtful end that many characters of a literal are shown, more are dropped."""


@dataclass(frozen=True, init=False, eq=False)
class LiteralRedactor(Transformer):
    """Replaces known values, such as the passwords in the environment, by placeholders.

    A value is found as it is (upper and lower case are different) and in its encodings, all of
    which get the placeholder of the plain value: `[REDACTED:<id>:<8 hex digits>]`. The
    id is the name in lower case with hyphens: `DB_PASSWORD` becomes `db-password`.

    Base64 and hexadecimal digits may be wrapped, and the lines of a value of several may be ended
    in either way, indented and quoted with `>`.

    Not found are values that are encoded twice over, but for JSON in a JSON string, or otherwise
    than as a whole; and of base64 inside a longer text up to four bits at each end stay.

    The values are kept in memory, but in no field and no `repr`; pickling is refused.
    Two redactors are equal only if they are one. Put it before a `Redactor`, whose
    rules then leave these placeholders alone.

    *Delay*: text that may be the beginning of a value is held until it is one or cannot be.
    *Memory*: a stream keeps at most the longest spelling of a value, less one character, with up
    to ten for every line break in it.

    Attributes:
        ids: the ids of the values that are looked for, in order.
        encodings: the encodings they are looked for in.
        min_length: the fewest characters of a value.
    """

    ids: tuple[str, ...]
    encodings: frozenset[str]
    min_length: int

    def __init__(
        self,
        values: Mapping[str, str],
        *,
        key: bytes | None = None,
        placeholder: PlaceholderFunction | None = None,
        encodings: Collection[str] = ("base64", "url", "json"),
        min_length: int = 6,
    ) -> None:
        """Take the values. White space around a value is not part of it.

        Args:
            values: the values by name. Of two names with one value the first is shown.
            key: makes the digest an HMAC. Without it, whoever reads a placeholder can
                check a guess at the value; a weak password is guessed in seconds.
            placeholder: makes another placeholder of the id and the digest. It is called
                here, once a value.
            encodings: some of `"base64"`, `"url"`, `"json"` and `"hex"`.
            min_length: values shorter than that are refused; 4 at least.

        Raises:
            ValueError: there are no values; two values have one id, or a name makes none; a
                value is too short, an everyday word, a number of under 12 digits, one
                character repeated, or could match inside a placeholder; an empty key, an
                unknown encoding, a `min_length` under 4. It tells the name, never the value.
            TypeError: a value is not a `str`.
        """
        if not values:
            raise ValueError("a redactor without values redacts nothing: give at least one")
        self._set(values, key, placeholder, encodings, min_length, refuse=_raise)

    @classmethod
    def from_environment(
        cls,
        names: Iterable[str] | None = None,
        *,
        pattern: str = TELLING_NAMES,
        environ: Mapping[str, str] | None = None,
        key: bytes | None = None,
        placeholder: PlaceholderFunction | None = None,
        encodings: Collection[str] = ("base64", "url", "json"),
        min_length: int = 6,
    ) -> LiteralRedactor:
        """Take the values from environment variables.

        Variables that are not set and values that `LiteralRedactor` refuses are passed over
        in silence; `ids` tells what is left.

        Args:
            names: the variables; by default those whose name `pattern` is found in.
            pattern: a regular expression for names that tell of a secret.
            environ: another environment than `os.environ`.
            key: as for `LiteralRedactor`, like what follows.
            placeholder: makes another placeholder.
            encodings: the encodings to look for.
            min_length: values shorter than that are passed over.

        Raises:
            ValueError: `names` are given and none of them has a value that can be used; two values
                have one id, or a name makes none; an option is out of range.
        """
        source = os.environ if environ is None else environ
        if names is None:
            search = re.compile(pattern).search
            chosen = [name for name in source if search(name)]
        else:
            if isinstance(names, str):
                raise TypeError("names must be several names, not one str")
            chosen = [name for name in dict.fromkeys(names) if name in source]
        made = object.__new__(cls)
        values = {name: source[name] for name in chosen}
        made._set(values, key, placeholder, encodings, min_length, refuse=_pass_over)
        if names is not None and not made.ids:
            raise ValueError("none of the names has a value that can be redacted")
        return made

    def _set(
        self,
        values: Mapping[str, str],
        key: bytes | None,
        placeholder: PlaceholderFunction | None,
        encodings: Collection[str],
        min_length: int,
        *,
        refuse: Callable[[str, str], None],
    ) -> None:
        if isinstance(encodings, str):
            raise TypeError("encodings must be several names, not one str")
        chosen = frozenset(encodings)
        if unknown := sorted(chosen - frozenset(ENCODINGS)):
            raise ValueError(f"unknown encoding {unknown[0]!r}; there are {', '.join(ENCODINGS)}")
        if key is not None and not key:
            raise ValueError("an empty key protects nothing: give at least one byte, better 16")
        if min_length < LEAST:
            raise ValueError(f"min_length must be at least {LEAST}: shorter values stand everywhere")
        taken: dict[str, Owner] = {}
        for name, given in values.items():
            if not isinstance(given, str):
                raise TypeError(f"the value of {name!r} must be str, not {type(given).__name__}")
            value = given.strip()
            made = _id(name)
            other = taken.get(made)
            if other is None:
                mark = (placeholder or standard)(made, digest(value, key))
                taken[made] = Owner(name, made, mark, value)
            elif other.value != value:
                raise ValueError(f"the names {other.name!r} and {name!r} make one id, {made!r}")
        index = index_of(list(taken.values()), chosen, min_length, refuse)
        object.__setattr__(self, "ids", tuple(owner.id for owner in index.owners))
        object.__setattr__(self, "encodings", chosen)
        object.__setattr__(self, "min_length", min_length)
        object.__setattr__(self, "_index", index)

    def session(
        self,
        *,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> Session:
        """Make the state of one stream. `on_hidden` is for fences; nothing is hidden here."""
        return _Session(self._index, on_finding)

    def bounds(self) -> tuple[Bound, ...]:
        """The most characters held back for each value."""
        return self._index.bounds()

    def __copy__(self) -> LiteralRedactor:
        return self

    def __deepcopy__(self, _memo: object) -> LiteralRedactor:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a LiteralRedactor holds secrets and is not pickled: make it anew")

    if TYPE_CHECKING:
        _index: Index


def _raise(name: str, reason: str) -> None:
    raise ValueError(f"the value of {name!r} {reason}")


def _pass_over(name: str, reason: str) -> None:
    """Leave the value out."""


def _id(name: str) -> str:
    made = re.sub(r"[^a-z0-9]+", "-", name.lower()).lstrip("-0123456789")[:64].rstrip("-")
    if not made:
        raise ValueError(f"the name {name!r} makes no id: it needs a letter from a to z")
    return made


class _Session(Session):
    __slots__ = ("_held", "_index", "_offset", "_on_finding", "_shown")

    def __init__(self, index: Index, on_finding: FindingHandler | None) -> None:
        super().__init__()
        self._index = index
        self._on_finding = on_finding
        self._held = ""
        self._offset = 0  # of the first held character, in the input
        self._shown = 0  # characters at the beginning of what is held whose placeholder is out

    @property
    def pending(self) -> int:
        return len(self._held) - self._shown

    def _feed(self, text: str, /) -> str:
        data = self._held + text
        size = len(data)
        if size > SHORT:
            return self._run(data, 0)
        index = self._index
        heads = index.heads
        if index.joins and not data.isprintable():  # it may have line breaks
            for at in range(size):
                head = data[at : at + LEAST]
                if head in heads or (("\n" in head or "\r" in head) and index.begins(data, at)):
                    break
            else:
                at = size
        else:
            for at in range(size):
                if data[at : at + LEAST] in heads:
                    break
            else:
                at = size
        if at <= size - LEAST:
            return self._run(data, at)
        self._held = data[at:]
        self._offset += at
        return data[:at]

    def _run(self, data: str, first: int, *, final: bool = False) -> str:
        index = self._index
        out: list[str] = []
        done = 0  # what comes before has been dealt with
        held = len(data)
        for at in index.starts(data, first, len(self._held)):
            if at < done:
                continue
            length, number, grows, certain = index.look(data, at)
            if grows and not final:
                out.append(data[done:at])
                if certain:
                    if not self._shown:
                        out.append(index.owners[number].mark)
                    self._shown = length
                done = held = at
                break
            if length:
                out.append(data[done:at])
                if not self._shown:
                    out.append(index.owners[number].mark)
                self._shown = 0
                self._report(index.owners[number].id, "redacted", at, length)
                done = at + length
        out.append(data[done:held])
        self._held = data[held:]
        self._offset += held
        return "".join(out)

    def _flush(self, end: End, /) -> str:
        if end in {End.COMPLETE, End.TOOL_CALL} or not self._held:
            return self._run(self._held, 0, final=True)
        length, number, _, _ = self._index.look(self._held, 0)
        out = ""
        if length:
            owner = self._index.owners[number]
            out = "" if self._shown else owner.mark
            self._report(owner.id, "redacted", 0, length)
        elif len(self._held) <= TELLING:
            return self._held
        if length < len(self._held):  # it may be the rest of a value, or the first part
            self._report("half-received", "dropped", length, len(self._held) - length)
        return out

    def _report(self, rule: str, action: str, at: int, length: int) -> None:
        if self._on_finding is not None:
            self._on_finding(Finding(STAGE, rule, action, self._offset + at, length))
