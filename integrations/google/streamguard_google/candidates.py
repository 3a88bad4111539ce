"""One chunk on its way: its candidates' parts are guarded first, what repeats them last.

What repeats the answer, in pieces or by offsets, cannot be guarded by itself: a piece of a
secret is no secret. Log probabilities and the segments of grounding are left only while the
answer came out as it went in.
"""

from __future__ import annotations

from typing import Any

from streamguard import End
from streamguard.adapting import Lanes, Settings, guard_object
from streamguard_google.leaves import guard_leaves
from streamguard_google.parts import Parts
from streamguard_google.shape import fields, get, listed, plain, put

__all__ = ["Candidate", "guard_rest", "speaks"]

_KEPT = frozenset(
    {
        "content",
        "finish_reason",
        "safety_ratings",
        "index",
        "token_count",
        "avg_logprobs",
        "logprobs_result",
        "continuation_token",
    }
)
_REST = frozenset(
    {"candidates", "usage_metadata", "model_version", "response_id", "create_time", "model_status"}
)


class Candidate:
    """A candidate of one chunk."""

    def __init__(self, key: object, candidate: Any, parts: Parts) -> None:
        self.key = key
        self.parts = parts
        self.end = end_of(get(candidate, "finish_reason"))
        self.closed = False
        content = get(candidate, "content")
        came = listed(content, "parts")
        self.speaks = speaks(candidate)
        self._candidate = candidate
        self._content = content
        self._came = came
        self._shown = parts.guarded(came) if came else []

    def close(self, end: End) -> None:
        """Let out what its texts hold."""
        self.closed = True
        self.parts.close(end, self._shown)

    def bare(self, content: Any) -> Any:
        """Make a candidate like this one that has nothing but a content."""
        return put(plain(self._candidate, ("index",)), content=content)

    def shown(self, template: Any, settings: Settings) -> Any:
        """Make the candidate to be shown.

        Args:
            template: a content of this candidate, for one that has none.
            settings: what is guarded how.
        """
        changes: dict[str, object] = {}
        came, shown = self._came, self._shown
        if len(came) != len(shown) or any(new is not old for new, old in zip(shown, came, strict=True)):
            content = template if self._content is None else self._content
            changes["content"] = put(content, parts=shown)
        said = changes.get("content", self._content)
        more = {
            name: safe
            for name, value in fields(said).items()
            if name not in ("parts", "role") and (safe := guard_leaves(value, settings)) is not value
        }
        if more:
            changes["content"] = put(said, **more)
        for name, value in fields(self._candidate).items():
            if name not in _KEPT:
                safe = guard_leaves(value, settings)
                if (
                    name == "grounding_metadata"
                    and not self.parts.unchanged
                    and listed(safe, "grounding_supports")
                ):
                    safe = put(safe, grounding_supports=None)
                if safe is not value:
                    changes[name] = safe
        if not self.parts.unchanged and get(self._candidate, "logprobs_result") is not None:
            changes["logprobs_result"] = None
        return put(self._candidate, **changes) if changes else self._candidate


def end_of(finish_reason: object) -> End | None:
    """Translate a finish reason; `None` where there is none yet."""
    reason = getattr(finish_reason, "value", finish_reason)
    if not reason or reason == "FINISH_REASON_UNSPECIFIED":
        return None
    if reason == "STOP":
        return End.COMPLETE
    return End.TRUNCATED if reason in ("MAX_TOKENS", "CONTINUATION") else End.ERROR


def speaks(candidate: Any) -> bool:
    """Tell whether a candidate says anything."""
    return any(
        get(part, "text") or fields(part).keys() - {"text"}
        for part in listed(get(candidate, "content"), "parts")
    )


def guard_rest(chunk: Any, settings: Settings) -> dict[str, object]:
    """Guard what a chunk has besides candidates; return what changed."""
    changes: dict[str, object] = {}
    for name, value in fields(chunk).items():
        if name in _REST:
            continue
        if name == "sdk_http_response":
            safe = put(value, body=None) if get(value, "body") is not None else value
        elif name == "automatic_function_calling_history":
            safe = _history(value, settings)
        elif name == "parsed":
            safe = guard_object(value, settings.guard, on_finding=settings.on_finding)
        else:
            safe = guard_leaves(value, settings)
        if safe is not value:
            changes[name] = safe
    return changes


def _history(contents: list[Any], settings: Settings) -> list[Any]:
    """Guard contents, of which those of the model may be the pieces of one answer."""
    parts = Parts("history", settings, Lanes(settings.guard, on_finding=settings.on_finding))
    shown: list[list[Any]] = []
    for content in contents:
        if get(content, "role") != "model" and shown:
            parts.close(End.COMPLETE, shown[-1])
        shown.append(parts.guarded(listed(content, "parts")))
    if shown:
        parts.close(End.COMPLETE, shown[-1])
    return [
        content
        if len(new) == len(listed(content, "parts"))
        and all(part is old for part, old in zip(new, listed(content, "parts"), strict=True))
        else put(content, parts=new)
        for content, new in zip(contents, shown, strict=True)
    ]
