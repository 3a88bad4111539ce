"""Reasoning that its provider has signed.

It is complete when its signature comes, so what its lane holds goes out with that. Of reasoning
that did not come out as it went in the signature is invalid, and is taken out.
"""

from __future__ import annotations

from typing import Any

from streamguard import End
from streamguard.adapting import Path, Unchanged
from streamguard_openai.shapes import DROPPED, fields, has_fields, is_sequence, text_of, with_fields
from streamguard_openai.texts import Texts

__all__ = ["SIGNED", "Signatures", "without_signature"]

SIGNED = frozenset({"reasoning_details", "thinking_blocks"})
"""Fields of a message or a delta: lists of what may be signed."""

_TEXTS = ("text", "thinking", "summary")


class Signatures:
    """What is signed in one response. *Memory*: two hashes for each text that has changed."""

    __slots__ = ("_texts", "_unchanged")

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._unchanged: dict[Path, Unchanged] = {}

    def checked(self, key: Path, came: Any, shown: Any) -> Any:
        """Return the items, with what is held where they are signed.

        Args:
            key: names the list among the texts of the response.
            came: the items as they came.
            shown: the items, guarded.
        """
        if not (is_sequence(came) and is_sequence(shown)):
            return shown
        news = [self._item(key, old, new) for old, new in zip(came, shown, strict=True)]
        return shown if all(new is old for new, old in zip(news, shown, strict=True)) else news

    def _item(self, key: Path, old: Any, new: Any) -> Any:
        own = fields(old)
        index = own.get("index")
        item: Path = (*key, index if isinstance(index, int) else "*")
        signed = bool(text_of(old, "signature"))
        changes: dict[str, Any] = {}
        valid = True
        for name in _TEXTS:
            lane = (*item, name)
            taken, given = text_of(old, name), text_of(new, name)
            if signed and (held := self._texts.lanes.flush(lane, End.COMPLETE)):
                given += held
                changes[name] = given
            if taken or given:
                self._unchanged.setdefault(lane, Unchanged()).passed(taken, given)
            if signed and (unchanged := self._unchanged.pop(lane, None)) is not None:
                valid = valid and bool(unchanged)
        if not valid:
            changes["signature"] = DROPPED
        return with_fields(new, changes) if changes else new


def without_signature(came: Any, shown: Any) -> Any:
    """Take the signatures out of what has changed in a list that came whole."""
    if shown is came or not (is_sequence(came) and is_sequence(shown)):
        return shown
    return [
        with_fields(new, {"signature": DROPPED})
        if new is not old and has_fields(new) and fields(new).get("signature")
        else new
        for old, new in zip(came, shown, strict=True)
    ]
