r"""A text that stands under a name: guarded by itself, then once more behind the name.

Rules such as the one for passwords want to see the name (`"password": "..."`). A name is no
part of the text, so what the redactors see before the value is taken off their output again.
The first look goes through the whole guard and sees the value alone. The second goes through
the guard's redactors only, each having been given `"name": "` before the value and getting `"`
after it. Both are sessions, one fed by the other: the two looks stream, and come to the same
result for every cut.

Redactors that would take something out of the name itself are asked without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from streamguard.session import (
    Bound,
    End,
    Finding,
    FindingHandler,
    HiddenHandler,
    Pipeline,
    Session,
    Transformer,
)

__all__ = ["LONGEST_NAME", "Keyed"]

LONGEST_NAME = 256
"""Characters of a name that are looked at: its last."""


class Keyed:
    """Settings for texts under a name; what a guard is to a text without one."""

    __slots__ = ("_guard", "_redactors")

    def __init__(self, guard: Transformer) -> None:
        from streamguard.redact import Redactor

        stages = guard.stages if isinstance(guard, Pipeline) else (guard,)
        self._guard = guard
        redactors = tuple(stage for stage in stages if isinstance(stage, Redactor))
        self._redactors: Transformer | None = None
        if redactors:
            self._redactors = redactors[0] if len(redactors) == 1 else Pipeline(*redactors)

    def bounds(self) -> tuple[Bound, ...]:
        """The bounds of both looks."""
        return (*self._guard.bounds(), *(self._redactors.bounds() if self._redactors is not None else ()))

    def session(
        self,
        name: str | None,
        *,
        quote: str = '"',
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> Session:
        """Make the state of one text.

        Args:
            name: what the text stands under, or `None`.
            quote: what stands around the text: a quotation mark, or nothing.
            on_finding: called with each finding; offsets count from the beginning of the text.
            on_hidden: called with the fence's name and the hidden text as it passes.
        """
        alone = self._guard.session(on_finding=on_finding, on_hidden=on_hidden)
        if name is None or self._redactors is None:
            return alone
        before = f'"{name[-LONGEST_NAME:]}": {quote}'
        relay = _Relay(on_finding, len(before)) if on_finding is not None else None
        named = self._redactors.session(on_finding=relay)
        shown = named.feed(before)
        if len(shown) + named.pending != len(before) or not before.startswith(shown):
            return alone
        if relay is not None:
            relay.open = True
        return _Behind(alone, named, before[len(shown) :], quote)

    def scrub(self, text: str, name: str | None, /, *, on_finding: FindingHandler | None = None) -> str:
        """Guard a whole text under a name."""
        session = self.session(name, on_finding=on_finding)
        return session.feed(text) + session.flush()


class _Relay:
    """Moves the offsets of findings back by what stands before the text."""

    __slots__ = ("_before", "_on_finding", "open")

    def __init__(self, on_finding: Callable[[Finding], None], before: int) -> None:
        self._on_finding = on_finding
        self._before = before
        self.open = False

    def __call__(self, finding: Finding) -> None:
        if self.open:
            self._on_finding(replace(finding, offset=max(0, finding.offset - self._before)))


class _Behind(Session):
    __slots__ = ("_alone", "_before", "_named", "_quote")

    def __init__(self, alone: Session, named: Session, before: str, quote: str) -> None:
        super().__init__()
        self._alone = alone
        self._named = named
        self._before = before  # what is still to be taken off the output
        self._quote = quote

    @property
    def pending(self) -> int:
        return self._alone.pending + max(0, self._named.pending - len(self._before))

    def _feed(self, text: str, /) -> str:
        text = self._alone._feed(text)
        return self._rest(self._named._feed(text)) if text else ""

    def _flush(self, end: End, /) -> str:
        tail = self._alone.flush(end)
        whole = end in {End.COMPLETE, End.TOOL_CALL}
        tail = self._named._feed(tail + self._quote if whole else tail) + self._named.flush(end)
        tail = self._rest(tail)
        return tail.removesuffix(self._quote) if whole else tail

    def _rest(self, text: str) -> str:
        """Take off what stood before the value, as far as it came out as it went in."""
        if not self._before:
            return text
        same = 0
        for mine, theirs in zip(text, self._before, strict=False):
            if mine != theirs:
                break
            same += 1
        self._before = self._before[same:] if same == len(text) else ""
        return text[same:]
