"""What a user has chosen, and what names mean in LangChain's messages.

A text has a *role*, known from the name of its field or from where the field stands: `text`,
`reasoning`, `json` (arguments of a tool, as JSON), `tool` (what goes to a tool otherwise) or `answer` (a
structured output that comes as arguments of a tool).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from streamguard import End, Transformer, __version__
from streamguard.adapting import ReasoningPolicy, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_langchain.fingerprint import fingerprint
from streamguard_langchain.shapes import is_dict

__all__ = [
    "Role",
    "Settings",
    "block_role",
    "end_of",
    "end_of_stream",
    "is_sealed",
    "is_tool_block",
    "reason_of",
    "role_of",
    "wants_json",
]

Role = Literal["text", "reasoning", "json", "tool", "answer"]

_ROLES: dict[str, Role] = {
    "args": "json",
    "arguments": "json",
    "partial_json": "json",
    "input": "tool",
    "reasoning": "reasoning",
    "reasoning_content": "reasoning",
    "reasoning_details": "reasoning",
    "reasoning_text": "reasoning",
    "thinking": "reasoning",
    "thinking_blocks": "reasoning",
}
_REASONING_BLOCKS = frozenset({"reasoning", "reasoning_content", "redacted_thinking", "thinking"})
_TOOL_BLOCKS = frozenset(
    {
        "custom_tool_call",
        "function_call",
        "input_json_delta",
        "invalid_tool_call",
        "mcp_tool_use",
        "server_tool_call",
        "server_tool_call_chunk",
        "server_tool_use",
        "tool_call",
        "tool_call_chunk",
        "tool_use",
    }
)
_ENDS: dict[str, End] = {
    **dict.fromkeys(
        (
            "complete",
            "completed",
            "end_turn",
            "eos",
            "eos_token",
            "finish",
            "finished",
            "stop",
            "stop_sequence",
        ),
        End.COMPLETE,
    ),
    **dict.fromkeys(("function_call", "tool_call", "tool_calls", "tool_use"), End.TOOL_CALL),
    **dict.fromkeys(("content_filter", "error", "failed", "refusal", "safety"), End.ERROR),
}
_REASONS = (
    "finish_reason",
    "stop_reason",
    "done_reason",
    "finishReason",
    "stopReason",
    "doneReason",
    "completion_reason",
    "completionReason",
)
_STATES = frozenset({"completed", "incomplete", "failed"})
_NO_REASON = frozenset({"", "finish_reason_unspecified", "null"})


@dataclass(frozen=True)
class Settings:
    """One serves any number of models and responses.

    Attributes:
        guard: what texts go through.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to reasoning.
        tool_guard: what arguments of tools go through, if not `guard`.
        input_guard: what tool results and human messages go through before the model sees them.
        on_finding: called with each finding.
        answers: names of tools that nobody can call: their arguments are structured outputs.

    Raises:
        TypeError: a guard is no `Transformer`.
        ValueError: a policy is unknown.
    """

    guard: Transformer
    tool_args: ToolArgsPolicy = "keep"
    reasoning: ReasoningPolicy = "guard"
    tool_guard: Transformer | None = None
    input_guard: Transformer | None = None
    on_finding: FindingHandler | None = None
    answers: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name in ("tool_args", "reasoning"):
            if getattr(self, name) not in ("guard", "keep", "drop"):
                raise ValueError(f"{name} is one of guard, keep, drop")
        for guard in (self.guard, self.for_tools, self.input_guard or self.guard):
            if not isinstance(guard, Transformer):
                raise TypeError(f"a guard must be a Transformer, not {type(guard).__name__}")

    @property
    def for_tools(self) -> Transformer:
        """What arguments of tools go through."""
        return self.guard if self.tool_guard is None else self.tool_guard

    @cached_property
    def fingerprint(self) -> str:
        """Names the guards and the policies, so that caches tell them apart; says nothing of them.

        Made once: a redactor is told in a hundred thousand characters.
        """
        return fingerprint(
            __version__,  # another may show what this one takes out
            self.guard,
            self.tool_args,
            self.reasoning,
            self.tool_guard,
            self.input_guard,
            self.answers,
        )

    def policy(self, role: Role) -> Literal["guard", "keep", "drop"]:
        """Return what is to be done with texts of a role."""
        if role in ("json", "tool"):
            return self.tool_args
        if role == "answer":
            return "drop" if self.tool_args == "drop" else "guard"
        return self.reasoning if role == "reasoning" else "guard"


def role_of(name: str, outer: Role) -> Role:
    """Tell the role of a field from its name, else from where it stands."""
    role = _ROLES.get(name, outer)
    return outer if outer == "answer" and role in ("json", "tool") else role


def block_role(kind: object) -> Role:
    """Tell the role of what stands in a block of content."""
    if kind in _REASONING_BLOCKS:
        return "reasoning"
    return "tool" if is_tool_block(kind) else "text"


def is_tool_block(kind: object) -> bool:
    """Tell whether a block of content calls a tool; a text right before it ends there."""
    return kind in _TOOL_BLOCKS


def is_sealed(name: str) -> bool:
    """Tell whether a field of a message's own is a signature, or encrypted."""
    return (
        name == "signature" or name.endswith(("_signature", "signatures__")) or name.startswith("encrypted_")
    )


def reason_of(metadata: Mapping[str, Any]) -> str | None:
    """Return why a response ended, in the provider's word, if its metadata says so."""
    for name in _REASONS:
        reason = metadata.get(name)
        if isinstance(reason, str) and reason.lower() not in _NO_REASON:
            return reason
    state = metadata.get("status")
    return state if state in _STATES else None


def end_of(reason: str | None, *, calls_tools: bool) -> End:
    """Tell how the texts of a response end. Of an unknown reason nothing good is assumed.

    Args:
        reason: the provider's word; without one the response is complete, since a provider's
            library raises where a response breaks off.
        calls_tools: whether the response calls tools.
    """
    end = End.COMPLETE if reason is None else _ENDS.get(reason.rpartition(".")[2].lower(), End.TRUNCATED)
    return End.TOOL_CALL if end is End.COMPLETE and calls_tools else end


def end_of_stream(metadata: Mapping[str, Any], *, calls_tools: bool) -> End:
    """Tell how the texts of a stream end that has run out.

    Models of LangChain that name their provider pass on why a response ended. Where such a one has
    given no reason, the connection was closed in the middle. A model that names none may never give one.
    """
    reason = reason_of(metadata)
    if reason is None and metadata.get("model_provider"):
        return End.TRUNCATED
    return end_of(reason, calls_tools=calls_tools)


def wants_json(options: Mapping[str, Any]) -> bool:
    """Tell whether the options of a call ask for an answer in JSON."""
    output = options.get("output_config")
    return (
        options.get("response_format") not in (None, {"type": "text"})
        or options.get("format") == "json"
        or is_dict(options.get("format"))
        or options.get("response_mime_type") == "application/json"
        or (is_dict(output) and output.get("format") is not None)
    )
