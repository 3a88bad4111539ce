"""Reading and writing the JSON of events, so that nothing in it goes unread.

Where a key comes twice in an object, readers differ in what they take. So such JSON is never
passed on as it came: it is written again, and says only what was read here.
"""

from __future__ import annotations

import json
import re
from math import isinf
from typing import Any

__all__ = ["dumped", "is_cut", "loaded"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def loaded(text: str, /) -> tuple[Any, bool]:
    """Read JSON, with the constants (`NaN`) that Python adds to it.

    Returns:
        The value, and whether the text says what the value says and nothing else.

    Raises:
        json.JSONDecodeError: it is no JSON.
        ValueError, RecursionError: others may be able to read it: a number is too large, or it is
            nested too deeply.
    """
    try:
        return _STRICT.decode(text), True
    except _KeyComesTwiceError:
        return _LENIENT.decode(text), False


def is_cut(text: str, /) -> bool:
    """Tell whether a text begins as an object, an array or a string of JSON, and is none."""
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return False
    try:
        _LENIENT.decode(text)
    except (ValueError, RecursionError):
        return True
    return False


def dumped(value: Any, like: str, /) -> str:
    """Write JSON, with the spacing and the escapes of another text."""
    separators = (", ", ": ") if '": ' in like else (",", ":")
    text = json.dumps(value, ensure_ascii=like.isascii(), separators=separators)
    if _SURROGATE.search(text) is not None:  # half a character has no bytes of its own
        text = json.dumps(value, separators=separators)
    return text


class _KeyComesTwiceError(Exception):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise _KeyComesTwiceError
    return result


def _float(digits: str) -> float:
    value = float(digits)
    if isinf(value):
        raise ValueError("a number is too large")
    return value


_STRICT = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float)
_LENIENT = json.JSONDecoder(parse_float=_float)
