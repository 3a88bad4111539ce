"""Reasoning that LiteLLM carries in a field for what nobody can read.

Where a provider has no Responses of its own, LiteLLM writes the thinking of its model as plain
JSON into `encrypted_content`. What can be read there is guarded: if the guard takes anything
out, or reasoning is dropped, the field is left out, for its signatures would not hold. What a
provider has encrypted stays.
"""

from __future__ import annotations

import json
import re
from typing import Any

from streamguard_openai.shapes import DROPPED, fields, is_dict, is_sequence, with_fields

from streamguard.adapting import Settings, guard_object

__all__ = ["SEALED", "unsealed"]

SEALED = "encrypted"
"""Stands in every frame that has such a field."""

_NAMES = frozenset({"data", "encrypted_content", "signature"})
_PREFIX = re.compile(r"(?:litellm_enc:[^;]*;|litellm_encrypted_reasoning:)+")
_OPAQUE = re.compile(r"[\w+/=.:;-]*", re.ASCII)


def unsealed(value: Any, settings: Settings) -> Any:
    """Guard what can be read in the sealed fields of an object; the object itself if nothing changed."""
    if settings.reasoning == "keep" or value is None or isinstance(value, str | bytes | int | float):
        return value
    if is_sequence(value):
        news = [unsealed(item, settings) for item in value]
        return value if all(new is item for new, item in zip(news, value, strict=True)) else news
    if not (is_dict(value) or callable(getattr(value, "model_copy", None))):
        return value  # such as a client, which leads anywhere
    changes: dict[str, Any] = {}
    for name, item in fields(value).items():
        if name in _NAMES and isinstance(item, str):
            new = _field(name, item, settings)
        else:
            new = unsealed(item, settings)
        if new is not item:
            changes[name] = new
    return with_fields(value, changes) if changes else value


def _field(name: str, text: str, settings: Settings) -> Any:
    prefix = _PREFIX.match(text)
    if name != "encrypted_content" and prefix is None:
        return text
    inner = text if prefix is None else text[prefix.end() :]
    if _OPAQUE.fullmatch(inner):
        return text
    if settings.reasoning == "drop":
        return DROPPED
    try:
        parsed = json.loads(inner)
    except ValueError:
        return text if settings.guard.scrub(inner) == inner else DROPPED
    return text if guard_object(parsed, settings.guard) is parsed else DROPPED
