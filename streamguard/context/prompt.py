"""The system prompt, put together once for a session.

Providers keep the beginning of a request, and ask less for it, as long as it is the same to
the byte. So a prompt is a value: what memory and files say later does not change it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from streamguard.context.files import ContextFile, load_context_file
from streamguard.context.skills import SkillsIndex
from streamguard.session import FindingHandler, Transformer

__all__ = ["PLATFORM_HINTS", "SystemPrompt", "build_system_prompt"]

PLATFORM_HINTS: Mapping[str, str] = {
    "terminal": "Your answers are shown in a terminal, as plain text: no Markdown, short lines.",
    "chat": "Your answers are shown in a messenger: short, in simple Markdown, without tables.",
    "email": "Your answers are sent as an email: plain text in whole sentences, without a subject line.",
    "sms": "Your answers are sent as text messages: one or two sentences of plain text, without links.",
    "voice": "Your answers are read out: sentences as they are spoken, no lists, no symbols, no code.",
}
"""What a model should know of the place its answers are read at."""


@dataclass(frozen=True, slots=True, init=False)
class SystemPrompt:
    """A prompt and what it is made of; a value that does not change.

    Attributes:
        components: names and texts, in order. Blank ones are not among them.
        context_file: the project's file in it, if there is one.
    """

    components: tuple[tuple[str, str], ...]
    context_file: ContextFile | None

    def __init__(self, components: Mapping[str, str], *, context_file: ContextFile | None = None) -> None:
        """Put a prompt together.

        Args:
            components: names and texts; they stand in the prompt in this order.
            context_file: the file that one of them was made of.
        """
        object.__setattr__(self, "components", tuple(_told(components)))
        object.__setattr__(self, "context_file", context_file)

    def __str__(self) -> str:
        return "\n\n".join(text for _, text in self.components)

    @property
    def digest(self) -> str:
        """The SHA-256 of the prompt: two with the same one share a provider's cache."""
        return sha256(str(self).encode("utf-8", "surrogatepass")).hexdigest()


def _told(components: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, text in components.items():
        if told := text.replace("\r\n", "\n").strip():
            yield name, told


def build_system_prompt(
    *,
    identity: str = "",
    platform: str = "",
    skills: SkillsIndex | None = None,
    directory: str | Path | None = None,
    memory: str = "",
    guidance: str = "",
    guard: Transformer | None = None,
    on_finding: FindingHandler | None = None,
) -> SystemPrompt:
    """Put the prompt of a session together; do it once and keep it.

    Args:
        identity: who the model is.
        platform: where its answers are read: a key of `PLATFORM_HINTS`, or a text.
        skills: what skills there are.
        directory: the working directory, whose context file is taken.
        memory: the snapshot of a memory store, as it was when the session began.
        guidance: how to go about things.
        guard: redacts the context file; by default secrets.
        on_finding: is told what was redacted.

    Returns:
        The components that have a text, in this order: identity, platform, skills, context,
        memory, guidance.
    """
    context = None
    if directory is not None:
        context = load_context_file(directory, guard=guard, on_finding=on_finding)
    return SystemPrompt(
        {
            "identity": identity,
            "platform": PLATFORM_HINTS.get(platform, platform),
            "skills": skills.text() if skills else "",
            "context": f"# Project\n\n## {context.path.name}\n\n{context.text}" if context else "",
            "memory": memory,
            "guidance": guidance,
        },
        context_file=context,
    )
