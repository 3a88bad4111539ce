"""JSON Lines: chosen strings of each record are guarded, every other byte stays.

A record is not parsed and written anew: that would reorder nothing but lose spacing,
number spelling, duplicate keys and the choice of escapes. Its strings are found in the
line by a tokenizer instead, and only those the guard changed are replaced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from streamguard.session import FindingHandler, Transformer

__all__ = ["Pointer", "guard_jsonl", "parse_pointer"]

Pointer = tuple[str, ...]
"""The parts of a JSON pointer; `*` stands for every element or member."""

_TOKEN = re.compile(
    r"""(?P<string>"[^"\\]*(?:\\.[^"\\]*)*")|(?P<mark>[][{},:])|[^][{},:" \t\r\n]+""", re.DOTALL
)
_SURROGATE = re.compile("[\ud800-\udfff]")


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

    Args:
        source: the bytes of the file, cut anywhere.
        guard: what each string goes through.
        pointers: which strings: those at a pointer and, where it leads to a list or an
            object, all below. Keys of objects are never changed.
        on_finding: called with each finding; offsets count from the string's start.
        on_plain: called for each line that is not JSON. Such a line is guarded as plain text.

    Yields:
        One line at a time, its line break included.
    """
    for line in _lines(source):
        text = line.decode("utf-8", "surrogateescape")
        if not text.strip():
            yield line
            continue
        try:
            json.loads(text.removeprefix("\ufeff"), strict=False, parse_int=str, parse_float=str)
        except (ValueError, RecursionError):
            on_plain()
            body = text.rstrip("\r\n")
            text = guard.scrub(body, on_finding=on_finding) + text[len(body) :]
        else:
            text = "".join(_guarded(text, guard, pointers, on_finding))
        yield text.encode("utf-8", "surrogateescape")


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


def _guarded(
    text: str, guard: Transformer, pointers: Sequence[Pointer], on_finding: FindingHandler
) -> Iterator[str]:
    done = 0
    for start, end in _strings(text, pointers):
        value = json.loads(text[start:end], strict=False)
        safe = guard.scrub(value, on_finding=on_finding)
        if safe != value:
            yield text[done:start]
            yield _quote(safe, text[start:end])
            done = end
    yield text[done:]


def _strings(text: str, pointers: Sequence[Pointer]) -> Iterator[tuple[int, int]]:
    """Find the spans of the string values that a pointer covers; `text` is valid JSON."""
    path: list[str] = []
    objects: list[bool] = []
    key_next = False
    for token in _TOKEN.finditer(text):
        if (string := token["string"]) is not None:
            if key_next:
                path[-1] = json.loads(string, strict=False)
            elif any(_covers(pointer, path) for pointer in pointers):
                yield token.span("string")
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
