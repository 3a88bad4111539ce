"""Settings of a gateway: immutable, shared by all its requests."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from streamguard import Transformer
from streamguard.adapting import ReasoningPolicy, ToolArgsPolicy

__all__ = ["Limits", "Settings"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How long the gateway waits, and how much it takes.

    Attributes:
        connect: most seconds until the upstream is connected.
        read: most seconds without a byte of the upstream, before its first as between two.
        idle: most seconds in which a client sends nothing of a request that has begun, or
            takes nothing of its answer.
        body: most bytes of a request, and of an answer that does not stream.
        event: most bytes of one event of a stream.
        streams: most requests at a time; more are answered with status 503.
    """

    connect: float = 10.0
    read: float = 600.0
    idle: float = 60.0
    body: int = 64 << 20
    event: int = 8 << 20
    streams: int = 1000

    def __post_init__(self) -> None:
        for own in fields(self):
            if not getattr(self, own.name) > 0:
                raise ValueError(f"{own.name} must be more than 0")


@dataclass(frozen=True, slots=True)
class Settings:
    """What is done to requests and answers.

    Attributes:
        guard: what every text of an answer goes through.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to reasoning.
        request_guard: what the texts of requests go through, if anything.
        pass_unguarded: shell patterns of paths whose answers pass as they are.
        limits: how long to wait, how much to take.
    """

    guard: Transformer
    tool_args: ToolArgsPolicy = "guard"
    reasoning: ReasoningPolicy = "guard"
    request_guard: Transformer | None = None
    pass_unguarded: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
