"""FenceScrubber: hidden blocks taken out while the text streams.

A stream is in one of three places: in the open, inside a block, inside a Markdown code
block. Each place has its matcher, and a decision of the matcher is the only thing that
leads from one place to another. What stands inside a block is counted and forgotten.

Matching is done on the output: where a block was cut out, matching goes on from what
stood before it, so that two halves of a tag on its sides are seen as the tag they would
make. A tag completed that way is taken out like any other, which makes scrubbing
idempotent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import getitem
from typing import Literal, get_args

from streamguard.automaton import Decided, Decision, Matcher, Residue, Scan, State
from streamguard.fence.fences import MEMORY, Fence, check_tag
from streamguard.fence.plan import LIMIT, Kind, Plan, code_end, delimiters
from streamguard.session import (
    Bound,
    End,
    Finding,
    FindingHandler,
    HiddenHandler,
    LimitExceededError,
    PatternError,
    Session,
    Transformer,
)

__all__ = ["FenceScrubber"]

STAGE = "fence"
SHORT = 64
"""Chunks up to this length are walked; longer ones are searched for openers first."""

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
        where: `"anywhere"`, or `"line_start"`: a fence opens only where nothing but white
            space stands before it on its line and a line break follows, so that prose may
            mention a tag; elsewhere only where the next line begins a `[System note:`, as
            the memory block of hermes-agent does.
        attributes: allow white space and attributes in tags (up to 160 characters) and
            ignore characters without width.
        nested: count blocks of the same name inside a block.
        orphan_close: `"drop"` a closer that closes nothing, with the blanks after it, or
            `"keep"` it.
        unclosed: `"drop"`: a block that is never closed is hidden to the end; or `"keep"`:
            it is shown at the end. Memory fences are dropped either way.
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
            PatternError: no fences, a malformed tag name, the same fence twice.
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
        if max_block is not None and max_block < 0:
            raise ValueError("max_block is a number of characters, 0 or more")
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
        return _Session(self, _plan(self), on_finding, on_hidden)

    def bounds(self) -> tuple[Bound, ...]:
        """The most characters a tag of each fence can hold back."""
        plan = _plan(self)
        most = [0] * len(plan.fences)
        for rule, target in enumerate(plan.targets):
            if target.fence >= 0:
                most[target.fence] = max(most[target.fence], plan.visible.bound(rule)[0])
        policy = f"shown at the end, up to {self.keeps} characters" if self.unclosed == "keep" else ""
        return tuple(
            Bound(STAGE, fence.name, LIMIT if self.code else most[number], "" if fence.private else policy)
            for number, fence in enumerate(plan.fences)
        )

    @property
    def keeps(self) -> int:
        """Most characters of an open block that are kept to be shown at the end."""
        if self.unclosed == "drop":
            return 0
        return KEPT_BLOCK if self.max_block is None else self.max_block


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
        delimiters(fence, attributes=settings.attributes, escaped=settings.escaped, private=fence in MEMORY)
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


class _Block:
    """The block a stream is inside of."""

    __slots__ = ("content", "depth", "fence", "kept", "kinds", "matcher", "name", "opened", "residue")

    def __init__(
        self, plan: Plan, fence: int, residue: Residue | None, opened: int, content: int, *, trim: bool
    ) -> None:
        self.fence = fence
        self.name = plan.fences[fence].name
        self.matcher, self.kinds = plan.hidden(fence, trim=trim)
        self.residue = residue
        self.opened = opened  # offset of the opener, in the input
        self.content = content  # offset of the text after it
        self.depth = 1
        self.kept: list[str] | None = None  # from the opener on, where it may have to be shown


class _Session(Session):
    __slots__ = (
        "block",
        "code",
        "held",
        "line_start",
        "literal",
        "offset",
        "on_finding",
        "on_hidden",
        "plan",
        "settings",
        "state",
    )

    def __init__(
        self,
        settings: FenceScrubber,
        plan: Plan,
        on_finding: FindingHandler | None,
        on_hidden: HiddenHandler | None,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.plan = plan
        self.on_finding = on_finding
        self.on_hidden = on_hidden
        self.state = plan.visible.start
        self.held = ""
        self.offset = 0  # of the first held character, in the input
        self.block: _Block | None = None
        self.code = ""  # the delimiter of the Markdown code block the stream is inside of
        self.line_start = True  # whether the output is at the start of a line
        self.literal: dict[int, int] = {}  # openers that are text: fence, and up to which offset
        if settings.start_inside is not None:
            fence = next(n for n, fence in enumerate(plan.fences) if fence.name == settings.start_inside)
            self.block = _Block(plan, fence, None, 0, 0, trim=settings.trim == "lines")
            self.state = self.block.matcher.start

    @property
    def pending(self) -> int:
        kept = self.block.kept if self.block is not None else None
        return len(self.held) + (sum(map(len, kept)) if kept else 0)

    def _feed(self, text: str, /) -> str:
        if self.block is None and not self.code:
            state = self.state
            if state.quiet and self.plan.mark and self.plan.mark not in text:
                if text:
                    self.offset += len(text)
                    self.state = self.plan.idle
                    self.line_start = text[-1] == "\n"
                return text
            if len(text) <= SHORT:
                try:
                    state = reduce(getitem, text, state)
                except Decided:
                    return _Pass(self, text).run(final=False)
                self.state = state
                text = self.held + text
                safe = len(text) - state.hold
                self.held = text[safe:]
                text = text[:safe]
                self.offset += safe
                if text:
                    self.line_start = text[-1] == "\n"
                return text
        return _Pass(self, text).run(final=False)

    def _flush(self, end: End, /) -> str:
        return _Pass(self, "").run(final=True)


class _Pass:
    """One chunk, with what was held before it, gone through from decision to decision."""

    __slots__ = ("base", "data", "out", "scan", "scans", "session", "shown")

    def __init__(self, session: _Session, text: str) -> None:
        self.session = session
        self.out: list[str] = []
        self.begin(session.held + text, session.offset, session.state, len(session.held))

    def begin(self, data: str, base: int, state: State, at: int) -> None:
        self.data = data
        self.base = base  # offset of the data in the input
        self.shown = 0  # how much of the data is dealt with
        self.scans: dict[int, Scan] = {}
        self.go_on(self.matcher(), state, at)

    def matcher(self) -> Matcher:
        session = self.session
        if session.block is not None:
            return session.block.matcher
        return code_end(session.code[0], len(session.code)) if session.code else session.plan.visible

    def go_on(self, matcher: Matcher, state: State, at: int) -> None:
        """Read on with another matcher, or in another state."""
        scan = self.scans.get(id(matcher))
        if scan is None:
            scan = self.scans[id(matcher)] = Scan(matcher, state, self.data, at)
        else:
            scan.resume(state, at)
        self.scan = scan

    def run(self, *, final: bool) -> str:
        session = self.session
        decision: Decision | None = None
        while True:
            decision = decision or self.scan.next()
            if decision is None and final:
                outcome = self.scan.matcher.finish(self.scan.state.config)
                decision = outcome if isinstance(outcome, Decision) else None
            if decision is not None:
                decision = self.decide(decision)
                continue
            if self.too_long(len(self.data) - (0 if final else self.scan.state.hold)):
                continue
            if final and self.never_closed():
                continue
            break
        safe = len(self.data) if final else len(self.data) - self.scan.state.hold
        self.pass_on(safe)
        if final and session.block is not None:
            self.report(session.block, len(self.data))
        session.held = self.data[safe:]
        session.state = self.scan.state
        session.offset = self.base + safe
        return "".join(self.out)

    def decide(self, decision: Decision) -> Decision | None:
        """Act on a decision; returns the next one where refusing this brings it about."""
        session = self.session
        end = self.scan.at - decision.matches[0][1]
        start = self.scan.at - decision.age
        rule = decision.matches[0][0]
        block = session.block
        if block is not None:
            if self.too_long(start):
                return None
            self.inside(block, block.kinds[rule], start, end)
            return None
        if session.code:
            mark, session.code = session.code, ""
            self.go_on(session.plan.visible, session.plan.visible.after(mark), end)
            return None
        target = session.plan.targets[rule]
        if target.kind is Kind.OPEN and self.base + start < session.literal.get(target.fence, -1):
            return self.scan.refuse(decision)
        self.pass_on(start if target.kind is not Kind.CODE else end)
        if target.kind is Kind.CODE:
            mark, length = target.code
            session.code = mark * length
            self.go_on(self.matcher(), self.matcher().after("\n"), end)
        elif target.kind is Kind.OPEN:
            trim = session.settings.trim == "lines" and session.line_start
            block = _Block(
                session.plan, target.fence, decision.residue, self.base + start, self.base + end, trim=trim
            )
            if session.settings.keeps and not session.plan.fences[target.fence].private:
                block.kept = [self.data[start:end]]
            session.block = block
            self.go_on(block.matcher, block.matcher.after(self.data[start:end]), end)
        else:
            name = session.plan.fences[target.fence].name
            self.tell(name, "dropped", self.base + start, end - start)
            self.go_on(session.plan.visible, session.plan.visible.restore(decision.residue), end)
        self.shown = end
        return None

    def inside(self, block: _Block, kind: Kind, start: int, end: int) -> None:
        """A tag inside a block."""
        block.depth += {Kind.OPEN: 1, Kind.CLOSE: -1}.get(kind, 0)
        if block.depth:
            self.scan.resume(block.matcher.after(self.data[start:end]), end)
            return
        self.pass_on(start)
        self.shown = end
        self.report(block, end)
        self.leave(block, end)

    def leave(self, block: _Block, at: int) -> None:
        session = self.session
        session.block = None
        self.go_on(session.plan.visible, session.plan.visible.restore(block.residue), at)

    def too_long(self, confirmed: int) -> bool:
        """Leave the block if its text is too long and the rest of it is to be shown.

        Args:
            confirmed: where the part of the data ends that is certainly its text.
        """
        session = self.session
        block = session.block
        if block is None:
            return False
        limit = session.settings.max_block
        if limit is None and block.kept is not None:
            limit = session.settings.keeps
        if limit is None or self.base + confirmed - block.content <= limit:
            return False
        action = session.settings.on_limit
        if action == "raise":
            raise LimitExceededError(STAGE, block.name, limit)
        if action == "drop":
            block.kept = None
            return False
        at = block.content + limit - self.base
        if block.kept is not None:
            self.show_kept(block, block.kept, block.content + limit)
        else:
            self.pass_on(at)
            self.report(block, at)
            self.leave(block, at)
        return True

    def never_closed(self) -> bool:
        """At the end of the stream: show the block that is open, if it may be shown."""
        block = self.session.block
        if block is None or block.kept is None:
            return False
        self.show_kept(block, block.kept, self.base + len(self.data))
        return True

    def show_kept(self, block: _Block, kept: list[str], until: int) -> None:
        """Go through the text of a block again, from its opener, which counts as text.

        So do all openers of its fence up to `until`: they belong to the same block.
        """
        session = self.session
        session.literal[block.fence] = until
        session.block = None
        state = session.plan.visible.restore(block.residue)
        self.begin("".join(kept) + self.data[self.shown :], block.opened, state, 0)

    def pass_on(self, end: int) -> None:
        """Give the data up to `end` to whom it belongs."""
        piece = self.data[self.shown : end]
        if not piece:
            return
        self.shown = end
        session = self.session
        if session.block is None:
            self.out.append(piece)
            session.line_start = piece[-1] == "\n"
            return
        if session.block.kept is not None:
            session.block.kept.append(piece)
        if session.on_hidden is not None:
            session.on_hidden(session.block.name, piece)

    def report(self, block: _Block, end: int) -> None:
        self.tell(block.name, "hidden", block.opened, self.base + end - block.opened)

    def tell(self, rule: str, action: str, offset: int, length: int) -> None:
        if self.session.on_finding is not None:
            self.session.on_finding(Finding(STAGE, rule, action, offset, length))
