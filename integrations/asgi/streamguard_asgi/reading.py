"""Reading and writing the JSON of events, so that nothing in it goes unread.

Where a key comes twice in an object, readers differ in what they take. So such JSON is never
passed on as it came: it is written again, and says only what was read here.
"""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["dumped", "is_cut", "loaded"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def loaded(text: str, /) -> tuple[Any, bool]:
    """Read JSON.

    Returns:
        The value, and whether the text says what the value says and nothing else.

    Raises:
        ValueError: it is no JSON; `NaN` and the infinities are none.
        RecursionError: it is nested too deeply.
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
    """Write JSON, with the spacing and the escapes of another text.

    Raises:
        ValueError: a number is too large to be written.
    """
    separators = (", ", ": ") if '": ' in like else (",", ":")
    text = json.dumps(value, ensure_ascii=like.isascii(), allow_nan=False, separators=separators)
    if _SURROGATE.search(text) is not None:  # half a character has no bytes of its own
        text = json.dumps(value, allow_nan=False, separators=separators)
    return text


class _KeyComesTwiceError(Exception):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise _KeyComesTwiceError
    return result


def _refuse(_constant: str) -> Any:
    raise ValueError("a constant that JSON does not have")


_STRICT = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse)
_LENIENT = json.JSONDecoder(parse_constant=_refuse)
