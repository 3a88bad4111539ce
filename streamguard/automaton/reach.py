"""The questions asked of an `Nfa` as a graph, before any text is read: what leads where, and what is read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from streamguard.automaton.nfa import Ahead, Behind, Nfa

__all__ = [
    "asked_later",
    "asking",
    "can_begin",
    "context_ends",
    "leading",
    "looking_ahead",
    "sets_read",
    "spread",
    "successors",
]


def spread(nfa: Nfa, states: Iterable[int]) -> set[int]:
    """`states` and those that edges without a character lead to, whatever stands around."""
    seen = set(states)
    stack = list(seen)
    while stack:
        for target, _ in nfa.edges[stack.pop()]:
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return seen


def successors(nfa: Nfa, states: Iterable[int]) -> set[int]:
    """Where one character, whichever, can lead from `states`, whatever stands around."""
    reads = (nfa.reads[state] for state in spread(nfa, states))
    return {read[1] for read in reads if read is not None}


def sets_read(nfa: Nfa, states: Iterable[int]) -> int:
    """The sets of which `states` read a character, as a mask to compare classes with."""
    sets = 0
    for state in states:
        reads = nfa.reads[state]
        if reads is not None:
            sets |= 1 << reads[0]
    return sets


def leading(nfa: Nfa, ends: Collection[int], *, freely: bool) -> set[int]:
    """The states from which edges without a character lead to `ends`; `freely`: or a condition."""
    return _reached(ends, _into(nfa, freely=freely))


def looking_ahead(nfa: Nfa) -> list[int]:
    """The states with an edge that asks for the next character."""
    return [
        state
        for state, edges in enumerate(nfa.edges)
        if any(isinstance(condition, Ahead) for _, condition in edges)
    ]


def asking(nfa: Nfa) -> set[int]:
    """The rules with matches that depend on the character after them."""
    ends = [state for state, rule in enumerate(nfa.accept) if rule is not None]
    ending = leading(nfa, ends, freely=False)
    return {
        nfa.rule[state]
        for state in looking_ahead(nfa)
        if any(isinstance(condition, Ahead) and target in ending for target, condition in nfa.edges[state])
    }


def asked_later(nfa: Nfa) -> int:
    """The look-behinds that are met behind a character that was read, as bits of their ends."""
    bits = 0
    for state in spread(nfa, {reads[1] for reads in nfa.reads if reads is not None}):
        for _, condition in nfa.edges[state]:
            if isinstance(condition, Behind):
                bits |= condition.bits
    return bits


def can_begin(nfa: Nfa, start: int, behind: int) -> bool:
    """Whether a value that begins in `start` can read anything, as far as what stands before tells."""
    seen = {start}
    stack = [start]
    while stack:
        state = stack.pop()
        if nfa.reads[state] is not None:
            return True
        for target, condition in nfa.edges[state]:
            if isinstance(condition, Behind) and bool(behind & condition.bits) is condition.negated:
                continue
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return False


def context_ends(nfa: Nfa, starts: Sequence[int]) -> list[int]:
    """For each rule the bits, one of which is set where its context may have ended; 0 for anywhere.

    Looks at the last character of the context alone.
    """
    initial = set(nfa.initial)
    sets = {number: charset for charset, number in nfa.sets.items()}
    freely = _into(nfa, freely=False)
    reading: dict[int, list[int]] = {}
    for state, reads in enumerate(nfa.reads):
        if reads is not None and not nfa.is_value[state]:
            reading.setdefault(reads[1], []).append(reads[0])
    ends: list[int] = []
    for start in starts:
        before = _reached({start}, freely)
        last = {read for state in before for read in reading.get(state, ())}
        bits = sum(1 << nfa.sequence((sets[read],)) for read in last)
        ends.append(0 if initial & before else bits)
    return ends


def _into(nfa: Nfa, *, freely: bool) -> dict[int, list[int]]:
    """For each state those with an edge to it that reads nothing; `freely`: and asks nothing."""
    into: dict[int, list[int]] = {}
    for state, edges in enumerate(nfa.edges):
        for target, condition in edges:
            if condition is None or not freely:
                into.setdefault(target, []).append(state)
    return into


def _reached(states: Iterable[int], edges: Mapping[int, Sequence[int]]) -> set[int]:
    seen = set(states)
    stack = list(seen)
    while stack:
        for state in edges.get(stack.pop(), ()):
            if state not in seen:
                seen.add(state)
                stack.append(state)
    return seen
