"""What the preambles of each language begin with: data, one module a language."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Phrases"]


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases of a language, as patterns in the subset of `streamguard.automaton.pattern`.

    Case is ignored. A space stands for one or two spaces or tabs, a straight apostrophe for the
    curly one as well.

    Attributes:
        interjections: what may stand before a phrase, separators included.
        leads: whole sentences that go with a preamble that follows, and stay otherwise.
        beginnings: what a preamble begins with.
        exceptions: a sentence that contains one of these is no preamble.
        openings: whole sentences of filler at the start of a text.
    """

    interjections: str
    leads: str
    beginnings: tuple[str, ...]
    exceptions: tuple[str, ...]
    openings: tuple[str, ...]
