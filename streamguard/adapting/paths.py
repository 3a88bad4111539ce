"""Which leaves of an object are what, written as data.

    {
        ("choices", "*", "delta", "content"): "guard",
        ("choices", "*", "delta", "tool_calls", "*", "function", "arguments"): "json",
        ("choices", "*", "logprobs"): "drop",
        ("**", "signature"): "keep",
    }

A path is a tuple of the names and indices that lead to a place. In a pattern `"*"` stands for
any one of them and `"**"` for any number, none included. A pattern covers the place it leads
to and all below. Where several cover a place, the first in order decides; where none does, it
is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from streamguard.adapting.policies import LeafPolicy

__all__ = ["Path", "Select", "Selection"]

Path = tuple[str | int, ...]
"""The names and indices that lead to a place in an object, or a pattern of such."""

Select = Mapping[Path, LeafPolicy] | Callable[[Path], LeafPolicy | bool]
"""Patterns and their policies, or a function that is asked about the path of each leaf;
`True` is `"guard"`, `False` is `"keep"`."""

_POLICIES = ("guard", "json", "drop", "keep")


class Selection:
    """What a selector says of one place and of those below it; immutable."""

    __slots__ = ("_ask", "_path", "_rules")

    def __init__(self, select: Select | None) -> None:
        """Begin at the root.

        Raises:
            ValueError: a policy is unknown.
        """
        self._path: Path = ()
        self._ask: Callable[[Path], LeafPolicy | bool] | None = None
        self._rules: tuple[tuple[Path, LeafPolicy], ...] = ()
        if select is None:
            self._rules = (((), "guard"),)
        elif callable(select):
            self._ask = select
        else:
            self._rules = tuple(select.items())
            for _, policy in self._rules:
                _check(policy)

    def below(self, part: object) -> Selection:
        """Go to the place a name or an index leads to."""
        place = Selection.__new__(Selection)
        place._path = ()
        place._ask = self._ask
        place._rules = self._rules
        if self._ask is not None:
            place._path = (*self._path, part if isinstance(part, str | int) else str(part))
        elif not all(rest == () for rest, _ in self._rules):
            place._rules = tuple(step for rule in self._rules for step in _steps(rule, part))
        return place

    def settled(self) -> LeafPolicy | None:
        """The policy of this place and all below, or `None` if that cannot be said yet."""
        if self._ask is not None:
            return None
        if not self._rules:
            return "keep"
        rest, policy = self._rules[0]
        return policy if _covers(rest) else None

    @property
    def drops(self) -> bool:
        """Whether this place is dropped, but for what an earlier pattern keeps below it."""
        return self._ask is None and self.leaf() == "drop"

    def leaf(self) -> LeafPolicy:
        """The policy of this place, if it is a leaf."""
        if self._ask is not None:
            answer = self._ask(self._path)
            if answer is True or answer is False:
                return "guard" if answer else "keep"
            _check(answer)
            return answer
        for rest, policy in self._rules:
            if _covers(rest):
                return policy
        return "keep"


def _check(policy: str) -> None:
    if policy not in _POLICIES:
        raise ValueError(f"a policy is one of {', '.join(_POLICIES)}")


def _covers(rest: Path) -> bool:
    return all(part == "**" for part in rest)


def _steps(rule: tuple[Path, LeafPolicy], part: object) -> list[tuple[Path, LeafPolicy]]:
    """What is left of a pattern behind a part of the path."""
    rest, policy = rule
    if not rest:
        return [rule]
    steps: list[tuple[Path, LeafPolicy]] = []
    if rest[0] == "**":
        steps = [*_steps((rest[1:], policy), part), rule] if len(rest) > 1 else [((), policy)]
    elif rest[0] in ("*", part):
        steps = [(rest[1:], policy)]
    return steps
