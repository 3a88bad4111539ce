"""FenceScrubber: which blocks are taken out of a stream, and what becomes of odd ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from streamguard.fence.fences import Fence, check_tag
from streamguard.fence.plan import Plan, delimiters
from streamguard.fence.session import STAGE, FenceSession
from streamguard.session import (
    Bound,
    FindingHandler,
    HiddenHandler,
    PatternError,
    Session,
    Transformer,
)

__all__ = ["FenceScrubber"]

KEPT_BLOCK = 65_536
"""Longest block that `unclosed="keep"` keeps for the end, where `max_block` says nothing."""


@dataclass(frozen=True, slots=True, init=False)
class FenceScrubber(Transformer):
    """Removes blocks such as `<memory-context> ... </memory-context>` with their tags.

    *Delay*: text that may be the beginning of a tag is held until it is one or cannot be.
    *Memory*: at most 512 characters, whatever the length of a block; with
    `unclosed="keep"` also the block that is open.

    Attributes:
        fences: tag names and `Fence` objects; presets are tuples of them.
        where: `"anywhere"`, or `"line_start"`: a fence opens only where its tag stands alone
            on a line, so that prose may mention it; elsewhere only where the next line
            begins with `[System note:`, as the memory block of hermes-agent does.
        attributes: allow white space and attributes in tags (up to 100 characters) and
            ignore characters that are not drawn.
        nested: count blocks of the same name inside a block.
        orphan_close: `"drop"` a closer that closes nothing (behind a blank, the blanks after it too), or
            `"keep"` it.
        unclosed: `"drop"`: a block that is never closed is hidden to the end; or `"keep"`:
            it is shown at the end, unless the stream was cut off. Private fences, those
            for memory among them, are hidden either way.
        start_inside: name of the fence that the prompt has already opened.
        code: keep a tag inside Markdown inline code (on one line) or a fenced code block.
        escaped: also recognise HTML-escaped, JSON-escaped and full-width tags.
        max_block: longest block, in characters between its tags; `None` for no limit.
        on_limit: what happens to the rest of a longer block: `"drop"` it too, `"raise"`
            `LimitExceededError`, or `"release"` it.
        trim: `"none"`, or `"lines"`: remove the blank lines that a block standing at the
            start of a line leaves behind it.
    """

    fences: tuple[str | Fence, ...]
    where: Literal["anywhere", "line_start"]
    attributes: bool
    nested: bool
    orphan_close: Literal["drop", "keep"]
    unclosed: Literal["drop", "keep"]
    start_inside: str | None
    code: bool
    escaped: bool
    max_block: int | None
    on_limit: Literal["drop", "raise", "release"]
    trim: Literal["none", "lines"]

    def __init__(
        self,
        *fences: str | Fence | Iterable[str | Fence],
        where: Literal["anywhere", "line_start"] = "anywhere",
        attributes: bool = True,
        nested: bool = True,
        orphan_close: Literal["drop", "keep"] = "drop",
        unclosed: Literal["drop", "keep"] = "drop",
        start_inside: str | None = None,
        code: bool = False,
        escaped: bool = False,
        max_block: int | None = None,
        on_limit: Literal["drop", "raise", "release"] = "drop",
        trim: Literal["none", "lines"] = "none",
    ) -> None:
        """Compile the fences.

        Raises:
            PatternError: no fences, a malformed tag name or pattern, two fences of one name.
            ValueError: an option has a value it does not know.
        """
        flat: list[str | Fence] = []
        for fence in fences:
            flat.extend((fence,) if isinstance(fence, str | Fence) else fence)
        values = {
            "fences": tuple(
                dict.fromkeys(fence if isinstance(fence, Fence) else check_tag(fence) for fence in flat)
            ),
            "where": _one_of("where", where, Literal["anywhere", "line_start"]),
            "attributes": attributes,
            "nested": nested,
            "orphan_close": _one_of("orphan_close", orphan_close, Literal["drop", "keep"]),
            "unclosed": _one_of("unclosed", unclosed, Literal["drop", "keep"]),
            "start_inside": start_inside,
            "code": code,
            "escaped": escaped,
            "max_block": max_block,
            "on_limit": _one_of("on_limit", on_limit, Literal["drop", "raise", "release"]),
            "trim": _one_of("trim", trim, Literal["none", "lines"]),
        }
        if max_block is not None and (type(max_block) is not int or max_block < 0):
            raise ValueError("max_block is a whole number of characters, 0 or more")
        for name, value in values.items():
            object.__setattr__(self, name, value)
        names = [fence.name for fence in _plan(self).fences]
        if start_inside is not None and start_inside not in names:
            raise ValueError(
                f"start_inside names no fence of this scrubber; its fences are {', '.join(names)}"
            )

    def session(
        self,
        *,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> Session:
        """Make the state of one stream."""
        return FenceSession(self, _plan(self), on_finding, on_hidden)

    def bounds(self) -> tuple[Bound, ...]:
        """The most characters each fence can hold back: a delimiter, or a block that is kept."""
        plan = _plan(self)
        found: list[Bound] = []
        for number, fence in enumerate(plan.fences):
            characters = plan.bound(number, trim=self.trim == "lines")
            policy = ""
            if self.unclosed == "keep" and not fence.private:
                characters = 2 * characters + self.keeps
                policy = _LONGER[self.on_limit]
            found.append(Bound(STAGE, fence.name, characters, policy))
        return tuple(found)

    @property
    def keeps(self) -> int:
        """Longest block that `unclosed="keep"` can show at the end, in characters."""
        return KEPT_BLOCK if self.max_block is None else self.max_block


_LONGER = {
    "drop": "a longer block is hidden",
    "raise": "a longer block raises an error",
    "release": "a longer block is shown",
}


def _one_of(option: str, value: str, choices: object) -> str:
    allowed = get_args(choices)
    if value not in allowed:
        raise ValueError(f"{option} must be {' or '.join(map(repr, allowed))}")
    return value


@lru_cache(maxsize=64)
def _plan(settings: FenceScrubber) -> Plan:
    if not settings.fences:
        raise PatternError("a scrubber without fences removes nothing: name at least one")
    found = [
        delimiters(fence, attributes=settings.attributes, escaped=settings.escaped)
        for fence in settings.fences
    ]
    names = [one.name.casefold() for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise PatternError(f"two fences have the name {twice!r}; names are compared without case")
    return Plan(
        found,
        line_start=settings.where == "line_start",
        nested=settings.nested,
        drop_orphans=settings.orphan_close == "drop",
        code=settings.code,
    )
