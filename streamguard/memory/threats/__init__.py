"""Sentences that try to take a model over, one file a kind.

The names are those of hermes-agent's patterns; the patterns are not. Each asks for what
makes the sentence an attack (whose instructions, hidden from whom, sent where), so that
manuals which tell people to ignore a warning or to send a token come through. Patterns see
text as a reader does: other forms of letters folded to ASCII, what shows nothing left out.
"""

from streamguard.memory.threat import Threat
from streamguard.memory.threats.takeover import TAKEOVER
from streamguard.memory.threats.theft import THEFT

__all__ = ["TAKEOVER", "THEFT", "THREATS"]

THREATS: tuple[Threat, ...] = (*TAKEOVER, *THEFT)
"""All of them, in order of priority."""
