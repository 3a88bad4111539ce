"""JSON Lines: chosen strings of each record are guarded, every other byte stays.

A record is not parsed and written anew: that would reorder nothing but lose spacing,
number spelling, duplicate keys and the choice of escapes. Its strings are found in the
line by a tokenizer instead, and only those the guard changed are replaced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from streamguard.session import Finding, FindingHandler, Pipeline, Transformer

__all__ = ["Pointer", "guard_jsonl", "parse_pointer"]

Pointer = tuple[str, ...]
"""The parts of a JSON pointer; `*` stands for every element or member."""

_TOKEN = re.compile(
    r"""(?P<string>"[^"\\]*(?:\\.[^"\\]*)*")|(?P<mark>[][{},:])|[^][{},:" \t\r\n]+""", re.DOTALL
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_PROBE = "\ud800"  # no bytes decode to it


def parse_pointer(pointer: str, /) -> Pointer:
    """Split a JSON pointer (RFC 6901) into its parts.

    Raises:
        ValueError: it is not empty and does not begin with a slash, or has a stray `~`.
    """
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        raise ValueError("a JSON pointer begins with /")
    if re.search(r"~(?![01])", pointer):
        raise ValueError("in a JSON pointer ~ is written ~0, and / inside a name ~1")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/"))


def guard_jsonl(
    source: Iterable[bytes],
    guard: Transformer,
    pointers: Sequence[Pointer],
    /,
    *,
    on_finding: FindingHandler,
    on_plain: Callable[[], None],
) -> Iterator[bytes]:
    """Guard strings of records, each as one whole text.

    A string is guarded by itself, then its redactors see it once more behind its key.
    Consecutive lines that are not JSON are one text. A record that comes while a block or a
    value of theirs is still open is guarded as a record and then belongs to that text too:
    ending the text there would show the rest of the block.

    Args:
        source: the bytes of the file, cut anywhere.
        guard: what each string goes through.
        pointers: which strings: those at a pointer and, where it leads to a list or an
            object, all below. Keys of objects are never changed.
        on_finding: called with each finding; offsets count from the text's start.
        on_plain: called for each line that is not JSON.

    Yields:
        What is safe of one line, its line break included.
    """
    strings = _Strings(guard, on_finding)
    run: _Run | None = None
    for line in _lines(source):
        text = line.decode("utf-8", "surrogateescape")
        blank = not text.strip()
        record = not blank and _is_json(text)
        # A bare number or name may as well be a line of the text around it.
        if record and run is not None and text.lstrip("\ufeff \t\r")[0] in '{["' and run.whole():
            yield _encoded(run.end())
            run = None
        if record:
            text = "".join(_guarded(text, strings, pointers))
        elif not blank:
            on_plain()
            run = run or _Run(guard, on_finding)
        yield _encoded(run.feed(text) if run is not None else text)
    if run is not None:
        yield _encoded(run.end())


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _is_json(text: str) -> bool:
    try:
        json.loads(text.removeprefix("\ufeff"), strict=False, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return False
    return True


class _Run:
    """Consecutive lines that are not JSON: one text."""

    def __init__(self, guard: Transformer, on_finding: FindingHandler) -> None:
        self._session = guard.session(on_finding=on_finding)
        self._shadow = guard.session()
        self._break = ""
        self._last = ""

    def feed(self, line: str) -> str:
        self._shadow.feed(line)
        self._break = line[len(line.rstrip("\r\n")) :]
        return self._shown(self._session.feed(line))

    def whole(self) -> bool:
        """Tell whether nothing is open: text that came now would be shown.

        A second session is asked, with a character that the first must not see.
        """
        return self._shadow.feed(_PROBE).endswith(_PROBE) and not self._shadow.pending

    def end(self) -> str:
        """End the text, on a line of its own if it was one."""
        text = self._shown(self._session.flush())
        return text + self._break if self._last not in ("", "\n") else text

    def _shown(self, text: str) -> str:
        self._last = text[-1:] or self._last
        return text


class _Strings:
    """Guards one string: by itself, then behind its key for the rules that want a name."""

    def __init__(self, guard: Transformer, on_finding: FindingHandler) -> None:
        from streamguard.redact import Redactor

        stages = guard.stages if isinstance(guard, Pipeline) else (guard,)
        self._guard = guard
        self._redactor = Pipeline(*(stage for stage in stages if isinstance(stage, Redactor)))
        self._on_finding = on_finding

    def scrub(self, value: str, key: str | None) -> str:
        value = self._guard.scrub(value, on_finding=self._on_finding)
        if key is None or not value or not self._redactor.stages:
            return value
        findings: list[Finding] = []
        before = f'"{key}": "'
        named = self._redactor.scrub(f'{before}{value}"', on_finding=findings.append)
        if not (named.startswith(before) and named.endswith('"') and len(named) > len(before)):
            return value
        for found in findings:
            self._on_finding(replace(found, offset=max(0, found.offset - len(before))))
        return named[len(before) : -1]


def _lines(source: Iterable[bytes]) -> Iterator[bytes]:
    started: list[bytes] = []
    for chunk in source:
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            yield b"".join((*started, line, b"\n"))
            started.clear()
        if rest:
            started.append(rest)
    if started:
        yield b"".join(started)


def _guarded(text: str, strings: _Strings, pointers: Sequence[Pointer]) -> Iterator[str]:
    done = 0
    for start, end, key in _strings(text, pointers):
        value = json.loads(text[start:end], strict=False)
        safe = strings.scrub(value, key)
        if safe != value:
            yield text[done:start]
            yield _quote(safe, text[start:end])
            done = end
    yield text[done:]


def _strings(text: str, pointers: Sequence[Pointer]) -> Iterator[tuple[int, int, str | None]]:
    """Find the string values that a pointer covers: where they stand, and under which key.

    `text` is valid JSON. Strings of an array stand under the array's key.
    """
    path: list[str] = []
    objects: list[bool] = []
    key_next = False
    for token in _TOKEN.finditer(text):
        if (string := token["string"]) is not None:
            if key_next:
                path[-1] = json.loads(string, strict=False)
            elif any(_covers(pointer, path) for pointer in pointers):
                names = (path[at] for at in range(len(path) - 1, -1, -1) if objects[at])
                yield (*token.span("string"), next(names, None))
            continue
        match token["mark"]:
            case "{" | "[" as mark:
                path.append("0")
                objects.append(mark == "{")
                key_next = objects[-1]
            case "}" | "]":
                path.pop()
                objects.pop()
                key_next = False
            case ",":
                key_next = objects[-1]
                if not key_next:
                    path[-1] = str(int(path[-1]) + 1)
            case ":":
                key_next = False
            case _:  # a number or a name
                pass


def _covers(pointer: Pointer, path: Sequence[str]) -> bool:
    return len(path) >= len(pointer) and all(
        wanted in ("*", part) for wanted, part in zip(pointer, path, strict=False)
    )


def _quote(value: str, before: str) -> str:
    """Write `value` as a JSON string in the manner of `before`, the string it replaces.

    Bytes that were not UTF-8 stand in `before` as lone surrogates and stay bytes; other
    lone surrogates came from escapes and become escapes again.
    """
    if before.isascii():
        return json.dumps(value)
    raw = set(_SURROGATE.findall(before))
    return _SURROGATE.sub(
        lambda found: found[0] if found[0] in raw else f"\\u{ord(found[0]):04x}",
        json.dumps(value, ensure_ascii=False),
    )
