"""Lanes: the texts of one response, each guarded as a stream of its own.

A response is not one text. It has choices, and each has content, reasoning and the
arguments of tool calls, whose pieces come interleaved. `Lanes` keeps one session for each.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields

from streamguard.session import End, Finding, FindingHandler, HiddenHandler, Session, Transformer

__all__ = ["LaneFinding", "Lanes", "in_lane"]


@dataclass(frozen=True, slots=True)
class LaneFinding(Finding):
    """A finding that says in which lane it was made.

    Attributes:
        lane: the key of the lane.
    """

    lane: Hashable


class Lanes:
    """One session a lane.

    A lane is named by any hashable key, such as `("choice", 0, "content")`. It is opened by
    its first text. A lane that gets text after it was closed is opened anew, as a new stream:
    providers do send text behind a finish reason, and that must not break the user's stream.

    *Memory*: that of a session for each open lane; of a closed one its key is kept.
    """

    __slots__ = ("_closed", "_guard", "_on_finding", "_on_hidden", "_sessions")

    def __init__(
        self,
        guard: Transformer,
        *,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> None:
        """Make the lanes of one response.

        Args:
            guard: what every lane goes through, unless `feed` says otherwise.
            on_finding: called with each finding, a `LaneFinding`.
            on_hidden: called with the fence's name and the hidden text as it passes.
        """
        self._guard = guard
        self._on_finding = on_finding
        self._on_hidden = on_hidden
        self._sessions: dict[Hashable, Session] = {}
        self._closed: set[Hashable] = set()

    def feed(self, key: Hashable, text: str, /, *, guard: Transformer | None = None) -> str:
        """Take the next text of a lane and return what may be shown now.

        Args:
            key: the lane; it is opened if it is not open.
            text: the text; any length, empty included.
            guard: what the lane goes through if this call opens it, such as a `JsonLane`.

        Raises:
            StreamClosedError: the lane's session has raised before.
            TypeError: the text is not a `str`.
            LimitExceededError: a stage was told to raise on a limit.
        """
        session = self._sessions.get(key)
        if session is None:
            session = self._opened(key, guard)
        return session.feed(text)

    def feeder(self, key: Hashable, /, *, guard: Transformer | None = None) -> Callable[[str], str]:
        """Return what feeds a lane until it is closed: `feed` for one lane, without looking it up.

        Args:
            key: the lane; it is opened if it is not open.
            guard: what the lane goes through if this call opens it.
        """
        return (self._sessions.get(key) or self._opened(key, guard)).feed

    def _opened(self, key: Hashable, guard: Transformer | None) -> Session:
        chosen = self._guard if guard is None else guard
        session = chosen.session(on_finding=in_lane(self._on_finding, key), on_hidden=self._on_hidden)
        self._sessions[key] = session
        self._closed.discard(key)
        return session

    def flush(self, key: Hashable, end: End = End.COMPLETE, /) -> str:
        """Close a lane and return what it held and may show; nothing if it is not open.

        Raises:
            StreamClosedError: the lane's session has raised before.
        """
        session = self._sessions.pop(key, None)
        if session is None:
            return ""
        self._closed.add(key)
        return session.flush(end)

    def flush_all(self, end: End = End.COMPLETE, /) -> list[tuple[Hashable, str]]:
        """Close every open lane, in the order they were opened.

        Returns:
            The key and the text of each lane that had something to show.

        Raises:
            StreamClosedError: a lane's session has raised before.
        """
        held = [(key, self.flush(key, end)) for key in self.open]
        return [(key, text) for key, text in held if text]

    @property
    def open(self) -> tuple[Hashable, ...]:
        """The lanes that are open, in the order they were opened."""
        return tuple(self._sessions)

    @property
    def closed(self) -> frozenset[Hashable]:
        """The lanes that were closed and not opened again."""
        return frozenset(self._closed)

    def pending(self, key: Hashable, /) -> int:
        """Characters a lane holds back now; none if it is not open."""
        session = self._sessions.get(key)
        return 0 if session is None else session.pending


def in_lane(on_finding: FindingHandler | None, lane: Hashable, /) -> FindingHandler | None:
    """Return what calls a handler with each finding as a `LaneFinding`; `None` if there is no handler."""
    if on_finding is None:
        return None

    def report(found: Finding) -> None:
        on_finding(LaneFinding(**{name: getattr(found, name) for name in _FIELDS}, lane=lane))

    return report


_FIELDS = tuple(field.name for field in fields(Finding))
