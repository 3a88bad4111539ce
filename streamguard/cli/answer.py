"""The guarded text of a recorded answer, one session a lane.

Lanes are shown one after the other, in the order they began: the first that is still open
streams, text of later ones waits guarded. Blocks and items of one field are joined as
they are, since providers cut sentences into several (citations); between reasoning and
answer, and between two choices, stands an empty line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from streamguard.cli.exits import Failure
from streamguard.cli.recording import Delta, Ends, Lane, read_events, read_steps
from streamguard.session import End, FindingHandler, Session, Transformer

__all__ = ["Answer", "guard_recording"]


class _OpenLane:
    __slots__ = ("_half", "_session", "closed", "lane", "waiting")

    def __init__(self, lane: Lane, session: Session) -> None:
        self.lane = lane
        self.waiting = ""
        self.closed = False
        self._session = session
        self._half = ""

    def feed(self, text: str) -> None:
        # JSON escapes spell a character outside the BMP as two surrogates, and a provider
        # may cut between them.
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        self.waiting += self._session.feed(_paired(text.removesuffix(self._half)))

    def close(self, end: End) -> None:
        if not self.closed:
            self.closed = True
            tail = self._session.feed(_paired(self._half)) if self._half else ""
            self.waiting += tail + self._session.flush(end)


def _paired(text: str) -> str:
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class Answer:
    """Takes the steps of a recording, returns text in the order it is to be shown."""

    def __init__(self, guard: Transformer, *, reasoning: bool, on_finding: FindingHandler) -> None:
        self._guard = guard
        self._reasoning = reasoning
        self._on_finding = on_finding
        self._lanes: list[_OpenLane] = []
        self._noted: dict[int | None, End] = {}
        self._shown: Lane | None = None
        self._last = ""

    def take(self, step: Delta | Ends) -> Iterator[str]:
        """Take one step and yield what may be shown now."""
        match step:
            case Delta(lane, text):
                if text and (self._reasoning or lane.field == "text"):
                    self._open(lane).feed(text)
            case Ends(choice, end, now=True):
                self._close(choice, end)
            case Ends(choice, end):
                if end is not End.COMPLETE or choice not in self._noted:
                    self._noted[choice] = end
        yield from self._ready()

    def finish(self) -> Iterator[str]:
        """End the lanes that are still open: as noted, or because the recording was cut off."""
        for open_lane in self._lanes:
            open_lane.close(self._noted.get(open_lane.lane.choice, End.TRUNCATED))
        yield from self._ready()

    def _open(self, lane: Lane) -> _OpenLane:
        for known in self._lanes:
            if known.lane == lane and not known.closed:
                return known
        if lane.field == "text":
            # Where the answer begins its reasoning is over.
            for known in self._lanes:
                if known.lane.choice == lane.choice and known.lane.field == "reasoning":
                    known.close(End.COMPLETE)
        new = _OpenLane(lane, self._guard.session(on_finding=self._on_finding))
        self._lanes.append(new)
        return new

    def _close(self, choice: int | None, end: End) -> None:
        for open_lane in self._lanes:
            if choice is None or open_lane.lane.choice == choice:
                open_lane.close(end)

    def _ready(self) -> Iterator[str]:
        while self._lanes:
            first = self._lanes[0]
            if first.waiting:
                yield self._break(first.lane) + first.waiting
                self._last = first.waiting
                first.waiting = ""
            if not first.closed:
                return
            del self._lanes[0]

    def _break(self, lane: Lane) -> str:
        before, self._shown = self._shown, lane
        if before is None or (before.choice, before.field) == (lane.choice, lane.field):
            return ""
        return "\n" if self._last.endswith("\n") else "\n\n"


def guard_recording(
    source: Iterable[bytes],
    guard: Transformer,
    form: Literal["sse", "jsonl"],
    /,
    *,
    provider: str,
    reasoning: bool,
    name: str,
    on_finding: FindingHandler,
    on_broken: Callable[[], None],
) -> Iterator[bytes]:
    """Yield the guarded text of a recorded answer.

    Raises:
        Failure: there were events, and none of them is of `provider`.
    """
    answer = Answer(guard, reasoning=reasoning, on_finding=on_finding)
    known = False
    for event in read_events(source, form, on_broken=on_broken):
        steps = read_steps(event, provider)
        known = known or steps is not None
        for step in steps or ():
            for text in answer.take(step):
                yield text.encode("utf-8", "surrogateescape")
    for text in answer.finish():
        yield text.encode("utf-8", "surrogateescape")
    if not known:
        what = "any known provider" if provider == "auto" else provider
        raise Failure(f"{name}: no event of {what} in it")
