"""Patterns matched exactly while text streams."""

from streamguard.automaton.anchors import prefix_length, width
from streamguard.automaton.matcher import Matcher
from streamguard.automaton.nfa import END
from streamguard.automaton.nodes import Node, Pattern, nullable
from streamguard.automaton.pattern import parse
from streamguard.automaton.scan import Scan, swallow
from streamguard.automaton.states import Decided, Decision, Residue, State, Tail

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
