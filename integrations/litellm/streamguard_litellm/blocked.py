"""How a stream ends that a rule has blocked: in the form its protocol has for that.

Nothing of what was held is shown. The end says that the content was filtered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streamguard_openai.shapes import fields, has_fields, is_dict, is_list, only, text_of, with_fields

from streamguard import End, Transformer
from streamguard.session import Bound, FindingHandler, HiddenHandler, Session

__all__ = ["WITHHELD", "Withheld", "ending"]

_IDENTITY = ("id", "object", "created", "model", "system_fingerprint", "responseId", "modelVersion")


class _Nothing(Session):
    __slots__ = ()

    @property
    def pending(self) -> int:
        return 0

    def _feed(self, text: str, /) -> str:
        return ""

    def _flush(self, end: End, /) -> str:
        return ""


class Withheld(Transformer):
    """Shows nothing of any text: what a response that is blocked goes through."""

    __slots__ = ()

    def session(
        self,
        *,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> Session:
        """Make a session that shows nothing."""
        return _Nothing()

    def bounds(self) -> tuple[Bound, ...]:
        """Nothing is held."""
        return ()


WITHHELD = Withheld()


def ending(first: Any, last: Any, shown: Any, blocks: Iterable[int], choices: int) -> list[Any]:
    """Make the events that end a stream.

    Args:
        first: the first event of the stream.
        last: the event that was blocked.
        shown: the event that came out last.
        blocks: the indices of the blocks of a message that are open.
        choices: how many choices were asked for.
    """
    own = fields(last)
    if is_list(own.get("choices")):
        return [_choices(last, own, choices)]
    if is_list(own.get("candidates")):
        kept = {name: own[name] for name in _IDENTITY if name in own}
        closed: dict[str, Any] = {
            "content": {"role": "model", "parts": []},
            "finishReason": "SAFETY",
            "index": 0,
        }
        return [{**kept, "candidates": [closed]}]
    if text_of(last, "type").startswith("response."):
        return _response(first, fields(shown))
    if text_of(first, "type") == "message_start":
        stops = [{"type": "content_block_stop", "index": index} for index in sorted(blocks)]
        delta = {"stop_reason": "refusal", "stop_sequence": None}
        end = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 0}}
        return [*stops, end, {"type": "message_stop"}]
    return []


def _choices(last: Any, own: Mapping[str, Any], count: int) -> Any:
    template = own["choices"][0]
    text = fields(template)
    rest: dict[str, Any] = {"text": ""} if "text" in text else {"delta": only(text["delta"], {})}
    closed = [
        only(template, {"index": index, "finish_reason": "content_filter", **rest}) for index in range(count)
    ]
    kept = {name: own[name] for name in _IDENTITY if name in own}
    return only(last, {**kept, "choices": closed})


def _response(first: Any, shown: Mapping[str, Any]) -> list[Any]:
    response = fields(first).get("response")
    if not has_fields(response):
        return []
    number = shown.get("sequence_number")
    said: dict[str, Any] = {
        "type": "response.incomplete",
        "sequence_number": number + 1 if isinstance(number, int) else 0,
        "response": with_fields(
            response,
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}, "output": []},
        ),
    }
    if is_dict(first):
        return [said]
    from litellm.types.llms.openai import (  # pyright: ignore[reportMissingTypeStubs]  # typed inline
        ResponseIncompleteEvent,
    )

    return [ResponseIncompleteEvent(**said)]
