"""What a user has chosen, and which fields are what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streamguard import End, Transformer
from streamguard.adapting import (
    ErrorGuard,
    JsonLane,
    LeafPolicy,
    Path,
    ReasoningPolicy,
    ToolArgsPolicy,
    guard_object,
)
from streamguard.session import FindingHandler

__all__ = ["Policies", "end_of", "guard_leaves"]

_KEPT = frozenset(
    name.replace("_", "")
    for name in (
        "id",
        "name",
        "role",
        "model_version",
        "response_id",
        "mime_type",
        "outcome",
        "language",
        "language_code",
        "tool_type",
        "scheduling",
        "thought_signature",
        "data",
        "sdk_blob",
        "license",
        "publication_date",
        "media_id",
        "google_maps_widget_context_token",
    )
)

_FREE = frozenset({"args", "response", "partmetadata", "custommetadata"})
"""Names of objects the user has shaped: nothing below is known to be harmless."""


def end_of(finish_reason: object) -> End | None:
    """Translate a finish reason; `None` where there is none yet."""
    reason = getattr(finish_reason, "value", finish_reason)
    if not reason or reason == "FINISH_REASON_UNSPECIFIED":
        return None
    if reason == "STOP":
        return End.COMPLETE
    return End.TRUNCATED if reason in ("MAX_TOKENS", "CONTINUATION") else End.ERROR


@dataclass(frozen=True, slots=True)
class Policies:
    """A guard and what it applies to.

    Attributes:
        guard: what text goes through.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to thoughts.
        tool_guard: what arguments of tools go through; by default the guard.
        on_finding: called with each finding.
        json_content: the text is JSON (a structured output): only its strings are guarded.

    Raises:
        ValueError: a policy is unknown.
    """

    guard: Transformer
    tool_args: ToolArgsPolicy = "guard"
    reasoning: ReasoningPolicy = "guard"
    tool_guard: Transformer | None = None
    on_finding: FindingHandler | None = None
    json_content: bool = False

    def __post_init__(self) -> None:
        for policy in (self.tool_args, self.reasoning):
            if policy not in ("guard", "keep", "drop"):
                raise ValueError("a policy is one of guard, keep, drop")

    @property
    def for_text(self) -> Transformer:
        """What the answer goes through."""
        return JsonLane(self.guard) if self.json_content else self.guard

    @property
    def for_errors(self) -> ErrorGuard:
        """What the errors of calls and streams go through."""
        return ErrorGuard(self.guard, on_finding=self.on_finding)

    @property
    def for_tools(self) -> Transformer:
        """What the arguments of tools go through."""
        return self.guard if self.tool_guard is None else self.tool_guard


def guard_leaves(obj: Any, policies: Policies) -> Any:
    """Guard an object leaf by leaf, but for names, ids and what is opaque."""
    return guard_object(obj, policies.guard, select=_select, on_finding=policies.on_finding)


def _select(path: Path) -> LeafPolicy:
    for part in path:
        name = part.replace("_", "").lower() if isinstance(part, str) else ""
        if name in _FREE:
            return "guard"
        if name in _KEPT:
            return "keep"
    return "guard"
