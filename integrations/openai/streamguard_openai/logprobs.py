"""Log probabilities repeat the text, token by token. They stay only beside the very same text.

Where the guard has held back, released or changed anything of a chunk, its tokens say more than
its text: they are dropped. They are dropped too where they spell something else than the text
they come with, for then it is not known what they give away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamguard_openai.shapes import fields, has_fields, is_list, text_of

__all__ = ["says", "spells"]

_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")


def says(logprobs: Any, choice: Mapping[str, Any]) -> bool:
    """Tell whether log probabilities spell the text of the choice they stand in."""
    if not has_fields(logprobs):
        return False
    own = fields(logprobs)
    if is_list(own.get("tokens")):  # of completions
        return all(isinstance(token, str) for token in own["tokens"]) and "".join(own["tokens"]) == (
            choice.get("text") or ""
        )
    message = choice.get("delta") if choice.get("delta") is not None else choice.get("message")
    texts = {text_of(message, name) for name in _TEXTS} | {""}
    return all(spells(value, texts) for value in own.values() if is_list(value))


def spells(tokens: Any, texts: set[str]) -> bool:
    """Tell whether a list of tokens spells one of these texts, by its strings or its bytes."""
    if not is_list(tokens) or not all(has_fields(token) for token in tokens):
        return False
    if "".join(text_of(token, "token") for token in tokens) in texts:
        return True
    raw = bytearray()
    for token in tokens:
        part = fields(token).get("bytes")
        if not is_list(part) or not all(isinstance(byte, int) and 0 <= byte < 256 for byte in part):
            return False
        raw += bytes(part)
    return raw.decode("utf-8", "replace") in texts
