"""Patterns matched exactly while text streams."""

from streamguard.automaton.anchors import prefix_length, width
from streamguard.automaton.matcher import (
    Decided,
    Decision,
    Matcher,
    Pattern,
    Residue,
    Scan,
    State,
    Tail,
    swallow,
)
from streamguard.automaton.nfa import END
from streamguard.automaton.pattern import Node, nullable, parse

__all__ = [
    "END",
    "Decided",
    "Decision",
    "Matcher",
    "Node",
    "Pattern",
    "Residue",
    "Scan",
    "State",
    "Tail",
    "nullable",
    "parse",
    "prefix_length",
    "swallow",
    "width",
]
