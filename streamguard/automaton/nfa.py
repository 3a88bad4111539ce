"""Patterns as one non-deterministic automaton: how it is built, and how threads of it read.

Each rule is a context, which is remembered, and a value, which is held. A thread is a
state with the position where its value began; threads still in their context have no
such position. Edges without a character may carry a condition: on what stands before
(a bit of `behind`, kept by a Shift-And matcher over all look-behinds) or on the next
character (known one step later: look-ahead is nothing but one more state).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from streamguard.automaton.folding import fold
from streamguard.automaton.nodes import (
    Alternation,
    CharSet,
    Concat,
    LookBehind,
    Node,
    Repeat,
    flat,
    nullable,
)
from streamguard.session import PatternError

__all__ = ["END", "SKIPPED", "Ahead", "Behind", "Closure", "Free", "Nfa"]

MAX_STATES = 250_000
SKIPPED = -1
"""The class of a character that shows nothing, where these are passed over."""
END = 1
"""The class of the end of the text; characters have every bit but this one."""


@dataclass(frozen=True, slots=True)
class Behind:
    """Holds where one of `bits` is set in what stands before, or none if `negated`."""

    bits: int
    negated: bool


@dataclass(frozen=True, slots=True)
class Ahead:
    """Holds where the class of the next character meets `classes`, or not if `negated`."""

    classes: int
    negated: bool


@dataclass(frozen=True, slots=True)
class Closure:
    """Where threads stand, once every edge without a character has been followed."""

    consuming: tuple[int, ...]
    accepts: tuple[int, ...]
    waiting: bool


Moves = tuple[tuple[int, ...], tuple[int, ...]]
"""Where a character leads in contexts, and in values."""


@dataclass(frozen=True, slots=True)
class Free:
    """Where one thread gets without a character, and the conditions it meets on its way."""

    consuming: tuple[int, ...]
    accepts: tuple[int, ...]
    conditional: tuple[tuple[int, Behind | Ahead], ...]
    reads: int  # bits of the sets it reads a character of
    moves: dict[int, Moves] = field(
        default_factory=dict[int, Moves]
    )  # by those of the bits that the next character has


class Nfa:
    """The states of all rules.

    A character's class is a bit mask of the sets it belongs to.
    """

    def __init__(self, *, folded: bool = False) -> None:
        self.folded = folded
        self.edges: list[tuple[tuple[int, Behind | Ahead | None], ...]] = []
        self.reads: list[tuple[int, int] | None] = []  # (bit of the set, next state)
        self.accept: list[int | None] = []
        self.rule: list[int] = []
        self.owners: list[int] = []  # bits of the rules a state belongs to: contexts are shared
        self.is_value: list[bool] = []
        self._initial: list[int] = []
        self._contexts: list[tuple[tuple[Node, ...], int]] = []
        self.sets: dict[CharSet, int] = {}
        self._tests: list[Callable[[str], object]] = []
        self._masks: dict[str, int] = {}
        self._free: dict[int, Free] = {}  # asked for when every rule has been added
        # Shift-And over all look-behind sequences; bit 0 is the start of the text.
        self._behind: dict[tuple[CharSet, ...], int] = {(): 0}
        self._behind_sets: list[int] = [0]
        self._first = 0
        self._last = 1
        self._behind_masks: dict[int, int] = {}
        self._rule = 0
        self._owners = 0
        self._value = False

    # -- building ---------------------------------------------------------------

    def add_rule(self, rule: int, context: Node | None, value: Node) -> int:
        """Add a rule; returns the state its value starts in."""
        if nullable(value):
            raise PatternError("the value can be empty: let it match at least one character")
        self._rule, self._owners, self._value = rule, 1 << rule, True
        start = self._build(value, self._state(accept=rule))
        self._value = False
        if context is None:
            self._initial.append(start)
        else:
            self._contexts.append((flat(context), start))
        return start

    @property
    def initial(self) -> list[int]:
        """The states everything begins in."""
        if self._contexts:
            self._initial.append(self._share(self._contexts))
            self._contexts = []
        return self._initial

    def _share(self, contexts: Sequence[tuple[tuple[Node, ...], int]]) -> int:
        """The state from which each context leads to its value; what they have in common is built once."""
        owners = 0
        for _, start in contexts:
            owners |= self.owners[start]
        after = [start for parts, start in contexts if not parts]
        shared: dict[Node, list[tuple[tuple[Node, ...], int]]] = {}
        for parts, start in contexts:
            if parts:
                shared.setdefault(parts[0], []).append((parts[1:], start))
        for first, rest in shared.items():
            following = self._share(rest)
            self._owners = self.owners[following]
            after.append(self._build(first, following))
        self._owners = owners
        return after[0] if len(after) == 1 else self._state([(state, None) for state in after])

    def _state(
        self,
        edges: Iterable[tuple[int, Behind | Ahead | None]] = (),
        reads: tuple[int, int] | None = None,
        accept: int | None = None,
    ) -> int:
        if len(self.edges) >= MAX_STATES:
            raise PatternError(f"the patterns need more than {MAX_STATES} states: use smaller repeat counts")
        self.edges.append(tuple(edges))
        self.reads.append(reads)
        self.accept.append(accept)
        self.rule.append(self._rule)
        self.owners.append(self._owners)
        self.is_value.append(self._value)
        return len(self.edges) - 1

    def _build(self, node: Node, after: int) -> int:
        """The state from which `node` leads to `after`."""
        if isinstance(node, CharSet):
            return self._state(reads=(self._set(node), after))
        if isinstance(node, Concat):
            for part in reversed(node.parts):
                after = self._build(part, after)
            return after
        if isinstance(node, Alternation):
            return self._state([(self._build(branch, after), None) for branch in node.branches])
        if isinstance(node, Repeat):
            if node.most is None:
                loop = self._state()
                self.edges[loop] = ((self._build(node.node, loop), None), (after, None))
                after = loop
            else:
                stop = after
                for _ in range(node.most - node.least):
                    after = self._state([(self._build(node.node, after), None), (stop, None)])
            for _ in range(node.least):
                after = self._build(node.node, after)
            return after
        if isinstance(node, LookBehind):
            bits = 0
            for sequence in node.sequences:
                bits |= 1 << self.sequence(sequence)
            return self._state([(after, Behind(bits, node.negated))])
        classes = END if node.end else 0
        for charset in node.sets:
            classes |= 1 << self._set(charset)
        return self._state([(after, Ahead(classes, node.negated))])

    def _set(self, charset: CharSet) -> int:
        if charset not in self.sets:
            self.sets[charset] = len(self.sets) + 1
            self._tests.append(re.compile(charset.source, charset.flags).fullmatch)
        return self.sets[charset]

    def sequence(self, sequence: tuple[CharSet, ...]) -> int:
        """The bit that is set where `sequence` ends."""
        if sequence not in self._behind:
            self._first |= 1 << len(self._behind_sets)
            self._behind_sets.extend(self._set(charset) for charset in sequence)
            self._behind[sequence] = len(self._behind_sets) - 1
            self._last |= 1 << self._behind[sequence]
        return self._behind[sequence]

    # -- reading ----------------------------------------------------------------

    def classify(self, char: str) -> int:
        """The class of a character; `SKIPPED` for one that is not there."""
        mask = self._masks.get(char)
        if mask is None:
            mask = 0
            plain = fold(char) if self.folded else char
            if not plain:
                mask = SKIPPED
            for bit, test in enumerate(self._tests, 1):
                if mask >= 0 and test(plain):
                    mask |= 1 << bit
            if len(self._masks) > 8192:
                self._masks.clear()
            self._masks[char] = mask
        return mask

    @property
    def reach(self) -> int:
        """Most characters a pattern looks back."""
        return max(map(len, self._behind))

    def step_behind(self, behind: int, mask: int) -> int:
        """What stands before, after one more character."""
        matching = self._behind_masks.get(mask)
        if matching is None:
            matching = 0
            for position, bit in enumerate(self._behind_sets):
                if position and mask >> bit & 1:
                    matching |= 1 << position
            self._behind_masks[mask] = matching
        return ((behind & ~self._last) << 1 | self._first) & matching

    def looks(self, owners: int) -> int:
        """The positions of all look-behinds that the rules of these bits ask for."""
        ends = 0
        for owner, bits in self._looking_behind:
            if owner & owners:
                ends |= bits
        return self.positions(ends)

    def positions(self, ends: int) -> int:
        """The positions of the look-behinds that have these ends."""
        kept = ends & 1
        for sequence, end in self._behind.items():
            if ends >> end & 1:
                kept |= (1 << end + 1) - (1 << end + 1 - len(sequence))
        return kept

    @cached_property
    def _looking_behind(self) -> set[tuple[int, int]]:
        """The look-behinds, by the rules that ask for them."""
        return {
            (self.owners[state], condition.bits)
            for state, edges in enumerate(self.edges)
            for _, condition in edges
            if isinstance(condition, Behind)
        }

    def closure(self, states: Iterable[int], behind: int, mask: int | None) -> Closure:
        """Follow the edges without a character.

        Args:
            states: where the threads are.
            behind: what stands before.
            mask: the class of the next character; `None` while it is not known, which
                leaves edges that wait for it.
        """
        seen = set(states)
        stack = list(seen)
        consuming: set[int] = set()
        accepts: set[int] = set()
        waiting = False
        while stack:
            free = self.freely(stack.pop())
            consuming.update(free.consuming)
            accepts.update(free.accepts)
            for target, condition in free.conditional:
                if target in seen:
                    continue
                if isinstance(condition, Behind):
                    if bool(behind & condition.bits) is condition.negated:
                        continue
                elif mask is None:
                    waiting = True
                    continue
                elif bool(mask & condition.classes) is condition.negated:
                    continue
                seen.add(target)
                stack.append(target)
        return Closure(tuple(consuming), tuple(sorted(accepts)), waiting)

    def advance(self, states: Iterable[int], behind: int, mask: int) -> tuple[set[int], set[int], set[int]]:
        """Read a character of class `mask`.

        Returns:
            Where the threads go that read it in a context; where those go that read it in a
            value; and the rules that matched before it.
        """
        context: set[int] = set()
        value: set[int] = set()
        accepts: set[int] = set()
        asking: list[int] = []
        for state in states:
            free = self._free.get(state) or self.freely(state)
            if free.conditional:
                asking.append(state)
                continue
            accepts.update(free.accepts)
            met = mask & free.reads
            if not met:
                continue
            moves = free.moves.get(met)
            if moves is None:
                moves = free.moves[met] = self._read_apart(free.consuming, met)
            context.update(moves[0])
            value.update(moves[1])
        if asking:
            closure = self.closure(asking, behind, mask)
            moves = self._read_apart(closure.consuming, mask)
            context.update(moves[0])
            value.update(moves[1])
            accepts.update(closure.accepts)
        return context, value, accepts

    def _read_apart(self, consuming: Iterable[int], mask: int) -> Moves:
        """Where states of contexts go with a character of class `mask`, and states of values."""
        moved: tuple[set[int], set[int]] = (set(), set())
        for state in consuming:
            reads = self.reads[state]
            if reads is not None and mask >> reads[0] & 1:
                moved[self.is_value[state]].add(reads[1])
        return tuple(moved[0]), tuple(moved[1])

    def freely(self, state: int) -> Free:
        """Where a thread in `state` gets without a character and without a condition."""
        free = self._free.get(state)
        if free is not None:
            return free
        seen = {state}
        stack = [state]
        read = 0
        consuming: list[int] = []
        accepts: set[int] = set()
        conditional: list[tuple[int, Behind | Ahead]] = []
        while stack:
            reached = stack.pop()
            reads = self.reads[reached]
            if reads is not None:
                consuming.append(reached)
                read |= 1 << reads[0]
            rule = self.accept[reached]
            if rule is not None:
                accepts.add(rule)
            for target, condition in self.edges[reached]:
                if condition is not None:
                    conditional.append((target, condition))
                elif target not in seen:
                    seen.add(target)
                    stack.append(target)
        free = self._free[state] = Free(tuple(consuming), tuple(accepts), tuple(conditional), read)
        return free

    def read(self, states: Iterable[int], mask: int) -> set[int]:
        """Where the consuming `states` go with a character of class `mask`."""
        moved: set[int] = set()
        for state in states:
            reads = self.reads[state]
            if reads is not None and mask >> reads[0] & 1:
                moved.add(reads[1])
        return moved
