"""What a session costs, counted and never timed: the bytes it keeps, the steps it takes.

Memory is what a session reaches that a fresh one does not: settings, automata and
other shared objects are reached by both. Work is the number of lines of Python that run.
Work inside one call of a C function, such as a regular expression that is run again
over all that is held, is not seen; it can only grow where what is held grows.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import TYPE_CHECKING

from streamguard.session import LimitExceededError, Session, Transformer
from streamguard.testing.laws import Law, LawViolation

if TYPE_CHECKING:
    from _typeshed import TraceFunction

__all__ = ["check_linear"]

SLACK = 512
"""Bytes a state may grow by without being called growing: allocators round up."""


def check_linear(
    t: Transformer,
    make_text: Callable[[int], str],
    /,
    sizes: tuple[int, int] = (500, 2000),
    *,
    slack: float = 1.5,
) -> None:
    """Check that the work grows as the text does, one character at a time and at once.

    Args:
        t: the transformer.
        make_text: makes a text of about the given length, the worst that can be thought of.
        sizes: a small and a large length.
        slack: how much faster than the text the work may grow between the two; work that
            grows with the square of the text grows by another factor of 4 from 500
            to 2000 characters.

    Raises:
        LawViolation: of `LINEAR_TIME`, with the two counts.
    """
    small, large = (make_text(size) for size in sizes)
    for cut in (_one_by_one, _at_once):
        for text in (small, large):
            _steps(t, cut(text))  # fills what the transformer builds on first use
        few, many = _steps(t, cut(small)), _steps(t, cut(large))
        if many > slack * few * len(large) / max(1, len(small)):
            raise LawViolation(
                Law.LINEAR_TIME,
                f"{few} lines run for {len(small)} characters, {many} for {len(large)}, "
                f"{'one character at a time' if cut is _one_by_one else 'in one chunk'}",
                cut(small),
            )


def _one_by_one(text: str) -> list[str]:
    return list(text)


def _at_once(text: str) -> list[str]:
    return [text]


def _steps(t: Transformer, chunks: Iterable[str]) -> int:
    steps = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> TraceFunction:
        nonlocal steps
        steps += event == "line"
        return trace

    session = t.session()
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for chunk in chunks:
            session.feed(chunk)
        session.flush()
    except LimitExceededError:
        pass
    finally:
        sys.settrace(before)
    return steps


def check_memory(t: Transformer, early: Iterable[str], late: Iterable[str], /) -> str:
    """Run two parts of one stream and say what grew in the second, if anything.

    Args:
        t: the transformer.
        early: chunks longer, in all, than the transformer may ever hold back.
        late: three times as much.

    Returns:
        What is wrong, or nothing.
    """
    most = sum(bound.characters for bound in t.bounds())
    early, late = tuple(early), tuple(late)
    _run(t, early + late)  # what a transformer builds when it is first used belongs to all its streams
    shared = _reachable(t.session(), {})
    session = t.session()
    peaks: list[int] = []
    try:
        for part in (early, late):
            peak = 0
            for index, chunk in enumerate(part):
                session.feed(chunk)
                if not 0 <= session.pending <= most:
                    return f"{session.pending} characters are pending; bounds() allows {most}"
                # Measuring after each of many chunks is slow, and at a multiple of the period blind.
                if index < 61 or index % 61 == 0:
                    peak = max(peak, _size(session, shared))
            peaks.append(max(peak, _size(session, shared)))
    except LimitExceededError:
        return ""
    if peaks[1] <= peaks[0] * 1.25 + SLACK:
        return ""
    return f"the state grew from {peaks[0]} bytes to {peaks[1]} while the text grew to four times its length"


def _run(t: Transformer, chunks: Iterable[str]) -> None:
    session = t.session()
    with suppress(LimitExceededError):
        for chunk in chunks:
            session.feed(chunk)


def _size(session: Session, shared: dict[int, object]) -> int:
    return sum(map(sys.getsizeof, _reachable(session, shared).values()))


def _reachable(root: object, known: dict[int, object]) -> dict[int, object]:
    """Find every object reached from `root` and not known, kept alive so that ids stay true."""
    found: dict[int, object] = {}
    todo: list[object] = [root]
    while todo:
        part = todo.pop()
        if id(part) in known or id(part) in found or isinstance(part, type | ModuleType | CodeType):
            continue
        found[id(part)] = part
        todo += (part.__closure__ or ()) if isinstance(part, FunctionType) else gc.get_referents(part)
    return found
