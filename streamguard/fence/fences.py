"""Fences: what opens and closes a block of text that is not for the reader."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from streamguard.session import PatternError

__all__ = ["HARMONY", "MEMORY", "REASONING", "TOOL_MARKUP", "Fence"]

_NAME = re.compile(r"[^\W\d][\w.:-]{0,63}")


@dataclass(frozen=True, slots=True, init=False)
class Fence:
    """A pair of delimiters other than `<name>` and `</name>`.

    Attributes:
        open: one or more texts that open a block.
        close: one or more texts that close it.
        name: what findings call it; by default the first opener.
        nests: whether an opener inside a block has to be closed as well.
        private: its text is never shown, not even where unclosed blocks are.
        patterns: the texts are patterns in the subset of `re` that streams.
    """

    open: tuple[str, ...]
    close: tuple[str, ...]
    name: str
    nests: bool
    private: bool
    patterns: bool

    def __init__(
        self,
        open: str | Iterable[str],  # noqa: A002 - the name the format's users know
        close: str | Iterable[str],
        *,
        name: str = "",
        nests: bool = True,
        private: bool = False,
        patterns: bool = False,
    ) -> None:
        """Describe a fence.

        Raises:
            PatternError: no opener or closer, an empty one, or one that is both.
        """
        openers = (open,) if isinstance(open, str) else tuple(open)
        closers = (close,) if isinstance(close, str) else tuple(close)
        if not openers or not closers or not all(openers) or not all(closers):
            raise PatternError("a fence needs an opener and a closer, and neither may be empty")
        if {opener.lower() for opener in openers} & {closer.lower() for closer in closers}:
            raise PatternError("a fence cannot open and close with the same text")
        for attribute, value in (
            ("open", openers),
            ("close", closers),
            ("name", name or openers[0]),
            ("nests", nests),
            ("private", private),
            ("patterns", patterns),
        ):
            object.__setattr__(self, attribute, value)


def check_tag(name: str) -> str:
    """Return the name of a tag, or say what is wrong with it."""
    if not name:
        raise PatternError("a tag needs a name")
    if not _NAME.fullmatch(name):
        raise PatternError(
            "a tag is given by its name alone, a letter first, then letters, digits, '_', '-', '.' or ':', "
            "without angle brackets; other delimiters are a Fence(open, close)"
        )
    return name


MEMORY: tuple[str | Fence, ...] = ("memory-context", "memory_context")
"""Recalled memory put into the prompt, as hermes-agent fences it. Never shown, closed or not."""

REASONING: tuple[str | Fence, ...] = (
    "think",
    "thinking",
    "thought",
    "reasoning",
    "reflection",
    "REASONING_SCRATCHPAD",
    "mm:think",
    "seed:think",
    "思考",
    "推理",
    "反思",
    Fence("[THINK]", "[/THINK]", name="[THINK]"),
    Fence("◁think▷", "◁/think▷", name="◁think▷"),
    Fence("<|channel>thought\n", "<channel|>", name="<|channel>thought"),
    Fence("<|START_THINKING|>", "<|END_THINKING|>"),
)
"""Reasoning blocks: DeepSeek, Qwen, MiniMax, Seed, hermes-agent, Mistral, Kimi, Gemma, Command."""

TOOL_MARKUP: tuple[str | Fence, ...] = (
    "tool_call",
    "tool_calls",
    "tool_response",
    "function_call",
    "function_calls",
    "antml:function_calls",
    "minimax:tool_call",
    "seed:tool_call",
    Fence("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
    Fence("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    Fence("<|START_ACTION|>", "<|END_ACTION|>"),
)
"""Tool calls written into the text: Hermes and Qwen, Anthropic, MiniMax, Seed, Kimi, DeepSeek, Command."""

_TO = r"(?: to=[\w.:-]{1,64})?"
_START = rf"<\|start\|>assistant{_TO}"
_HEADER = r"[^<>\n]{0,96}(?:<\|constrain\|>[^<>\n]{0,32})?<\|message\|>"
HARMONY: tuple[str | Fence, ...] = (
    Fence(
        (rf"(?:<\|start\|>[\w.:-]{{1,64}}{_TO})?<\|channel\|>(?:analysis|commentary){_HEADER}",),
        (
            r"<\|(?:end|call|return)\|>",
            rf"(?:{_START})?<\|channel\|>final{_HEADER}",
            rf"{_START}(?:<\|message\|>)?",
        ),
        name="harmony",
        nests=False,
        patterns=True,
    ),
)
"""OpenAI's Harmony format: the channels `analysis` and `commentary` are hidden, and all markup goes."""
