"""What a user of an adapter has chosen, as one object handed from module to module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from streamguard.adapting.errors import ErrorGuard
from streamguard.adapting.json_lane import JsonLane
from streamguard.adapting.policies import ReasoningPolicy, ToolArgsPolicy
from streamguard.session import FindingHandler, Transformer

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user has chosen; one serves any number of responses.

    Attributes:
        guard: what texts go through.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to reasoning.
        tool_guard: what arguments of tools go through; by default the guard.
        json_content: the content is JSON (a structured output): only its strings are guarded.
        on_finding: called with each finding.

    Raises:
        TypeError: a guard is no `Transformer`.
        ValueError: a policy is unknown.
    """

    guard: Transformer
    tool_args: ToolArgsPolicy = "guard"
    reasoning: ReasoningPolicy = "guard"
    tool_guard: Transformer | None = None
    json_content: bool = False
    on_finding: FindingHandler | None = None

    def __post_init__(self) -> None:
        for policy, name in ((self.tool_args, "tool_args"), (self.reasoning, "reasoning")):
            if policy not in get_args(ToolArgsPolicy):
                raise ValueError(f"{name} is one of {', '.join(get_args(ToolArgsPolicy))}")
        for guard in (self.guard, self.tool_guard):
            if guard is not None and not isinstance(guard, Transformer):
                raise TypeError(f"a guard must be a Transformer, not {type(guard).__name__}")

    @property
    def options(self) -> dict[str, Any]:
        """All but the guard, as the keyword arguments that adapters take."""
        return {
            "tool_args": self.tool_args,
            "reasoning": self.reasoning,
            "tool_guard": self.tool_guard,
            "json_content": self.json_content,
            "on_finding": self.on_finding,
        }

    @property
    def for_content(self) -> Transformer:
        """What the content goes through."""
        return JsonLane(self.guard) if self.json_content else self.guard

    @property
    def for_tools(self) -> Transformer:
        """What goes to a tool goes through; if it is JSON, in a `JsonLane`."""
        return self.guard if self.tool_guard is None else self.tool_guard

    @property
    def for_errors(self) -> ErrorGuard:
        """What the errors of calls and streams go through."""
        return ErrorGuard(self.guard, on_finding=self.on_finding)
