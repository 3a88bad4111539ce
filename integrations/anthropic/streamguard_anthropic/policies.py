"""What a user has chosen, as one settings object handed from module to module."""

from __future__ import annotations

from dataclasses import dataclass

from streamguard import End, Transformer
from streamguard.adapting import ErrorGuard, JsonLane, ReasoningPolicy, ToolArgsPolicy
from streamguard.session import FindingHandler

__all__ = ["TOOL_BLOCKS", "Policies", "end_of"]

TOOL_BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
"""Blocks that call a tool; a text right before one stands before a tool call."""

_ENDS = {
    "max_tokens": End.TRUNCATED,
    "model_context_window_exceeded": End.TRUNCATED,
    "pause_turn": End.TRUNCATED,
    "tool_use": End.TOOL_CALL,
    "refusal": End.ERROR,
}


def end_of(stop_reason: object) -> End:
    """Translate a stop reason; an unknown one is a regular end."""
    return _ENDS.get(str(stop_reason), End.COMPLETE)


@dataclass(frozen=True, slots=True)
class Policies:
    """A guard and what it applies to.

    Attributes:
        guard: what text goes through.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to thinking.
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
        """What text goes through."""
        return JsonLane(self.guard) if self.json_content else self.guard

    @property
    def for_errors(self) -> ErrorGuard:
        """What the errors of calls and streams go through."""
        return ErrorGuard(self.guard, on_finding=self.on_finding)

    @property
    def for_tools(self) -> Transformer:
        """What the arguments of tools go through."""
        return self.guard if self.tool_guard is None else self.tool_guard
