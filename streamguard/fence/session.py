"""The state of one stream: in the open, inside a block, or inside a Markdown code block.

Each place has its matcher, and a decision of the matcher is the only thing that leads
from one place to another. What stands inside a block is counted and forgotten.

Matching is done on the output: where a block was cut out, matching goes on from what
stood before it, so that two halves of a tag on its sides are seen as the tag they would
make. A tag completed that way is taken out like any other, which makes scrubbing
idempotent.
"""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from streamguard.automaton import Decided, Decision, Matcher, Residue, Scan, State
from streamguard.fence.plan import Kind, Plan, code_end
from streamguard.session import End, Finding, FindingHandler, HiddenHandler, LimitExceededError, Session

if TYPE_CHECKING:
    from streamguard.fence.scrubber import FenceScrubber

__all__ = ["STAGE", "FenceSession"]

STAGE = "fence"
SHORT = 64
"""Chunks up to this length are walked; longer ones are searched for openers first."""

STEP = 48
"""Characters read between two looks at whether a block has become too long."""


class _Block:
    """The block a stream is inside of."""

    __slots__ = (
        "content",
        "depth",
        "fence",
        "kept",
        "kinds",
        "limit",
        "matcher",
        "name",
        "opened",
        "residue",
    )

    def __init__(self, settings: FenceScrubber, plan: Plan, fence: int, *, trim: bool) -> None:
        self.fence = fence
        self.name = plan.fences[fence].name
        self.matcher, self.kinds = plan.hidden(fence, trim=trim)
        self.residue: Residue | None = None  # what stood before the opener
        self.opened = 0  # offset of the opener, in the input
        self.content = 0  # offset of the text after it
        self.depth = 1
        self.limit = settings.max_block
        self.kept: StringIO | None = None  # from the opener on, while it may have to be shown


class FenceSession(Session):
    """The state of one stream; `FenceScrubber.session` makes it."""

    __slots__ = (
        "block",
        "code",
        "held",
        "idle",
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
        self.state: State = plan.visible.start
        self.idle: State | None = None  # the last of the states in which a chunk without the mark is shown
        self.held: str = ""
        self.offset = 0  # of the first held character, in the input
        self.block: _Block | None = None
        self.code = ""  # the delimiter of the Markdown code block the stream is inside of
        self.line_start = True  # whether the output is at the start of a line
        self.literal: dict[int, int] = {}  # openers that are text: fence, and up to which offset
        if settings.start_inside is not None:
            fence = next(n for n, fence in enumerate(plan.fences) if fence.name == settings.start_inside)
            self.block = _Block(settings, plan, fence, trim=settings.trim == "lines")
            self.state = self.block.matcher.start

    @property
    def pending(self) -> int:
        """Characters held back now: of a delimiter, and of a block that may yet be shown."""
        block = self.block
        first = self.offset if block is None or block.kept is None else block.opened
        return self.offset + len(self.held) - first

    def _feed(self, text: str, /) -> str:
        plan = self.plan
        # Without the mark nothing can begin; a text without a mark of its own is never idle.
        if self.state is self.idle and plan.mark not in text and text:
            self.state = self.idle = plan.idle[text[-1]]
            self.offset += len(text)
            self.line_start = text[-1] == "\n"
            return text
        block = self.block
        if (
            block is None
            and not self.code
            and self.state.quiet
            and plan.mark
            and plan.mark not in text
            and text
        ):
            self.state = self.idle = plan.idle[text[-1]]
            self.offset += len(text)
            return self.give(text)
        if len(text) <= SHORT and (block is None or block.limit is None):
            state = self.state
            try:
                for char in text:
                    state = state[char]
            except Decided:
                pass
            else:
                self.state = state
                text = self.held + text
                decided = len(text) - state.hold
                self.held = text[decided:]
                self.offset += decided
                return self.give(text[:decided])
        return _Pass(self, text).run()

    def _flush(self, end: End, /) -> str:
        if end in (End.TRUNCATED, End.ERROR):
            self.hide()  # its closer may be what was cut off
        return _Pass(self, "").finish()

    def give(self, text: str) -> str:
        """Give text that is decided to whom it belongs; returns what is to be shown of it."""
        block = self.block
        if not text:
            return ""
        if block is None:
            self.line_start = text[-1] == "\n"
            return text
        if block.kept is not None:
            block.kept.write(text)
        elif self.on_hidden is not None:
            self.on_hidden(block.name, text)
        return ""

    def hide(self) -> None:
        """Nothing of the open block is going to be shown, however long it is."""
        block = self.block
        if block is not None:
            block.limit = None
            kept, block.kept = block.kept, None
            if kept is not None:
                self.give(kept.getvalue()[block.content - block.opened :])

    def tell(self, rule: str, action: str, start: int, end: int) -> None:
        """Report what was taken out, by its place in the input."""
        if self.on_finding is not None:
            self.on_finding(Finding(STAGE, rule, action, start, end - start))


class _Pass:
    """One chunk, with what was held before it, gone through from decision to decision."""

    __slots__ = ("base", "data", "given", "out", "scan", "scans", "session")

    def __init__(self, session: FenceSession, text: str) -> None:
        self.session = session
        self.out: list[str] = []
        self.begin(session.held + text, session.offset, session.state, len(session.held))

    def begin(self, data: str, base: int, state: State, at: int) -> None:
        self.data = data
        self.base = base  # offset of the data in the input
        self.given = 0  # how much of the data is dealt with
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

    def run(self) -> str:
        """Go through the data; what may still become a delimiter stays held."""
        self.read()
        decided = len(self.data) - self.scan.state.hold
        self.give(decided)
        session = self.session
        session.held = self.data[decided:]
        session.state = self.scan.state
        session.offset = self.base + decided
        return "".join(self.out)

    def finish(self) -> str:
        """Go through the data, which the end of the text follows."""
        session = self.session
        decision: Decision | None = None
        while True:
            self.read(decision)
            outcome = self.scan.matcher.finish(self.scan.state.config)
            decision = outcome if isinstance(outcome, Decision) else None
            if decision is not None:
                decision = self.decide(decision)
            elif not self.too_long(len(self.data)):
                block = session.block
                if block is None or block.kept is None:
                    break
                self.show(block, block.kept, self.base + len(self.data))
        self.give(len(self.data))
        if session.block is not None:
            self.leave(session.block, len(self.data))
        session.held = ""
        return "".join(self.out)

    def read(self, decision: Decision | None = None) -> None:
        """Read to the end of the data, acting on every decision."""
        while True:
            stop = len(self.data)
            block = self.session.block
            if block is not None and block.limit is not None:
                stop = min(stop, max(self.scan.at, block.content + block.limit - self.base) + STEP)
            decision = decision or self.scan.next(stop)
            if decision is not None:
                decision = self.decide(decision)
            elif not self.too_long(self.scan.at - self.scan.state.hold) and self.scan.at == len(self.data):
                return

    def decide(self, decision: Decision) -> Decision | None:
        """Act on a decision; returns the next one where refusing this brings it about."""
        session = self.session
        rule, back = decision.matches[0]
        start, end = self.scan.at - decision.age, self.scan.at - back
        if session.block is not None:
            self.inside(session.block, rule, start, end)
            return None
        if session.code:
            mark, session.code = session.code, ""
            self.go_on(session.plan.visible, session.plan.visible.after(mark), end)
            return None
        target = session.plan.targets[rule]
        if target.kind is Kind.OPEN and self.base + start < session.literal.get(target.fence, -1):
            return self.scan.refuse(decision)
        if target.kind is Kind.CODE:
            self.give(end)
            session.code = target.code
            self.go_on(self.matcher(), self.matcher().after("\n"), end)
            return None
        if (
            end - len(target.ahead) > start
        ):  # else the tag has been given: what it looks for goes in its place
            end -= len(target.ahead)
        self.give(start)
        if target.kind is Kind.OPEN:
            self.enter(target.fence, decision.residue, start, end)
        else:
            session.tell(
                session.plan.fences[target.fence].name, "dropped", self.base + start, self.base + end
            )
            self.given = end
            self.go_on(session.plan.visible, session.plan.visible.restore(decision.residue), end)
        return None

    def enter(self, fence: int, residue: Residue | None, start: int, end: int) -> None:
        """Go on inside a block, whose opener stands from `start` to `end`."""
        session = self.session
        settings = session.settings
        block = _Block(settings, session.plan, fence, trim=settings.trim == "lines" and session.line_start)
        block.residue = residue
        block.opened, block.content = self.base + start, self.base + end
        opener = self.data[start:end]
        if settings.unclosed == "keep" and not session.plan.fences[fence].private:
            block.kept = StringIO()
            block.kept.write(opener)
            block.limit = settings.keeps
        session.block = block
        self.given = end
        self.go_on(block.matcher, block.matcher.after(opener), end)

    def inside(self, block: _Block, rule: int, start: int, end: int) -> None:
        """A delimiter inside a block."""
        if self.too_long(start):
            return
        if block.kinds[rule] is not Kind.VOID:
            block.depth += 1 if block.kinds[rule] is Kind.OPEN else -1
        if block.depth:
            self.scan.resume(block.matcher.after(self.data[start:end]), end)
            return
        self.session.hide()
        self.give(start)
        self.given = end
        self.leave(block, end)

    def leave(self, block: _Block, at: int) -> None:
        """Go on in the open; the block ends at `at`."""
        session = self.session
        session.tell(block.name, "hidden", block.opened, self.base + at)
        session.block = None
        self.go_on(session.plan.visible, session.plan.visible.restore(block.residue), at)

    def too_long(self, certain: int) -> bool:
        """Leave the block if its text is too long and the rest of it is to be shown.

        Args:
            certain: where the part of the data ends that is certainly its text.
        """
        session = self.session
        block = session.block
        if block is None or block.limit is None or self.base + certain - block.content <= block.limit:
            return False
        if session.settings.on_limit == "raise":
            raise LimitExceededError(STAGE, block.name, block.limit)
        if session.settings.on_limit == "drop":
            session.hide()
            return False
        until = block.content + block.limit
        if block.kept is not None:
            self.show(block, block.kept, until)
        else:
            self.give(until - self.base)
            self.leave(block, until - self.base)
        return True

    def show(self, block: _Block, kept: StringIO, until: int) -> None:
        """Go through the text of a block again, from its opener, which counts as text.

        So do all openers of its fence up to `until`: they belong to the same block.
        """
        session = self.session
        session.literal[block.fence] = until
        session.block = None
        state = session.plan.visible.restore(block.residue)
        if block.opened >= self.base:
            self.given = block.opened - self.base
            self.go_on(session.plan.visible, state, self.given)
        else:
            self.begin(kept.getvalue() + self.data[self.given :], block.opened, state, 0)

    def give(self, end: int) -> None:
        """Give the data up to `end` to whom it belongs."""
        if end > self.given:
            self.out.append(self.session.give(self.data[self.given : end]))
            self.given = end
