"""The contract: one stream in, the safe part of it out.

A `Transformer` is settings. It never holds stream state, so one object serves any
number of concurrent streams. `Transformer.session()` makes a `Session`: the state of
ONE stream, fed with `feed`, ended with `flush`, used once. Nothing here does I/O;
`drivers` iterates over sources and closes them, and knows nothing of text.

The invariant every session keeps: what it has returned so far is the longest text
that is a prefix of `scrub(x + y)` for every continuation `y` of the text `x` it was
fed. Everything else is hold-back, counted by `pending`.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable
from dataclasses import dataclass

from streamguard.drivers import drive, drive_sync

__all__ = [
    "Bound",
    "End",
    "Finding",
    "FindingHandler",
    "HiddenHandler",
    "LimitExceededError",
    "PatternError",
    "Pipeline",
    "Session",
    "StreamBlocked",
    "StreamClosedError",
    "StreamGuardError",
    "Transformer",
]


class End(enum.Enum):
    """Why a stream ended; providers call it the finish reason."""

    COMPLETE = "complete"
    TOOL_CALL = "tool_call"
    TRUNCATED = "truncated"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was done where. It never carries the text itself.

    Attributes:
        stage: name of the stage that acted, such as `"redactor"`.
        rule: the rule, fence or phrase set that matched.
        action: `"redacted"`, `"hidden"`, `"trimmed"`, `"dropped"`, `"flagged"` (reported, not
            removed) or `"blocked"` (the stream has ended).
        offset: where the removed text began, in characters of the stage's own input.
        length: how many characters of the input were taken out.
    """

    stage: str
    rule: str
    action: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Bound:
    """The worst-case hold-back of one rule of one stage.

    Attributes:
        stage: name of the stage.
        rule: the rule, fence or phrase set.
        characters: most characters held back at any moment.
        policy: what happens to a match that goes on longer than that; empty where
            no match can.
    """

    stage: str
    rule: str
    characters: int
    policy: str = ""

    def __str__(self) -> str:
        unbounded = f", unbounded: {self.policy}" if self.policy else ""
        return f"{self.stage}/{self.rule}: {self.characters} characters{unbounded}"


FindingHandler = Callable[[Finding], None]
"""Receives each finding as soon as it is certain."""

HiddenHandler = Callable[[str, str], None]
"""Receives `(fence name, hidden text)` piece by piece, as the text passes."""


class StreamGuardError(Exception):
    """Base of every error that streamguard raises on its own account."""


class StreamClosedError(StreamGuardError):
    """A session that was flushed, or that raised, was used again."""


class LimitExceededError(StreamGuardError):
    """A hidden block is longer than its stage allows.

    Attributes:
        stage: name of the stage.
        rule: the fence whose block is too long.
        limit: the limit, in characters.
    """

    def __init__(self, stage: str, rule: str, limit: int) -> None:
        super().__init__(f"{stage}: a {rule!r} block is longer than {limit} characters")
        self.stage = stage
        self.rule = rule
        self.limit = limit


class StreamBlocked(StreamGuardError):  # noqa: N818 - the name its users look for: what happened
    """A rule whose action is to block has matched; nothing of the value has been shown.

    Attributes:
        finding: which rule, where, and how long the value is.
    """

    def __init__(self, finding: Finding) -> None:
        super().__init__(f"{finding.stage}: the stream is blocked by the rule {finding.rule!r}")
        self.finding = finding


class PatternError(StreamGuardError, ValueError):
    """A pattern is outside the subset that can be matched while it streams."""


class Session(ABC):
    """The state of one stream.

    A stage implements `_feed`, `_flush` and `pending`; the checks every stage shares
    are made here, once a chunk whatever the number of stages.
    """

    __slots__ = ("_closed",)

    def __init__(self) -> None:
        self._closed = False

    def feed(self, text: str, /) -> str:
        """Take the next chunk and return what may be shown now.

        Args:
            text: the chunk; any length, empty included.

        Returns:
            The text that has become safe, which may be empty.

        Raises:
            StreamClosedError: the session was flushed, or raised before.
            TypeError: the chunk is not a `str`.
            LimitExceededError: a stage was told to raise on a limit.
            StreamBlocked: a stage was told to end the stream on what it has found.
        """
        if self._closed:
            raise StreamClosedError("feed() on a session that has ended; every stream needs a new one")
        try:
            if not isinstance(text, str):
                raise TypeError(f"a chunk must be str, not {type(text).__name__}")
            return self._feed(text)
        except BaseException:
            self._closed = True
            raise

    def flush(self, end: End = End.COMPLETE) -> str:
        """End the stream and return what was held back and may be shown.

        Args:
            end: why the stream ended. After `TRUNCATED` and `ERROR` a half-received
                secret is dropped.

        Raises:
            StreamClosedError: the session was flushed, or raised before.
            TypeError: `end` is not an `End`.
        """
        if self._closed:
            raise StreamClosedError("flush() on a session that has ended; every stream needs a new one")
        self._closed = True
        if not isinstance(end, End):
            raise TypeError(f"end must be an End, not {type(end).__name__}")
        return self._flush(end)

    @property
    @abstractmethod
    def pending(self) -> int:
        """Characters held back now; without meaning once the stream has ended."""

    @abstractmethod
    def _feed(self, text: str, /) -> str:
        """Take `text`, return what has become safe."""

    @abstractmethod
    def _flush(self, end: End, /) -> str:
        """Return what is still to be shown; called once, last."""

    def _feed_last(self, text: str, end: End, /) -> str:
        """Take the last of the text; a stage may look for less where it knows that nothing follows."""
        return self._feed(text) + self._flush(end)


class Transformer(ABC):
    """Settings of a guard: immutable, hashable, free to share between streams."""

    __slots__ = ()

    @abstractmethod
    def session(
        self,
        *,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> Session:
        """Make the state of one new stream.

        Args:
            on_finding: called with each `Finding`.
            on_hidden: called with the fence's name and the hidden text as it passes.
        """

    @abstractmethod
    def bounds(self) -> tuple[Bound, ...]:
        """The worst-case hold-back of every rule, in characters."""

    def scrub(
        self,
        text: str,
        /,
        *,
        end: End = End.COMPLETE,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> str:
        """Guard a whole text. Every stream of the same text comes to the same result."""
        if not isinstance(text, str):
            raise TypeError(f"a text must be str, not {type(text).__name__}")
        if not isinstance(end, End):
            raise TypeError(f"end must be an End, not {type(end).__name__}")
        return self.session(on_finding=on_finding, on_hidden=on_hidden)._feed_last(text, end)

    def transform(
        self,
        source: AsyncIterable[str],
        /,
        *,
        end: End | Callable[[], End] = End.COMPLETE,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> AsyncGenerator[str, None]:
        """Guard an asynchronous stream of text.

        Args:
            source: the chunks. It is closed on every exit: at its end, on an error, when
                the consumer stops early and on cancellation.
            end: why the stream ended, or a function that says so once it has.
            on_finding: called with each `Finding`.
            on_hidden: called with the fence's name and the hidden text as it passes.

        Yields:
            Text that is safe to show; never an empty chunk.

        Raises:
            TypeError: the source is not asynchronous, or a chunk is not a `str`.
            LimitExceededError: a stage was told to raise on a limit.
            Exception: whatever the source raises, after the text already decided.
        """
        if not hasattr(source, "__aiter__"):
            raise TypeError(
                f"transform() needs an async iterable, not {type(source).__name__}; see transform_sync()"
            )
        session = self.session(on_finding=on_finding, on_hidden=on_hidden)
        return drive(session.feed, _flusher(session, end), source)

    def transform_sync(
        self,
        source: Iterable[str],
        /,
        *,
        end: End | Callable[[], End] = End.COMPLETE,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> Generator[str, None, None]:
        """Guard a synchronous stream of text; otherwise as `transform`."""
        if not hasattr(source, "__iter__"):
            raise TypeError(
                f"transform_sync() needs an iterable, not {type(source).__name__}; see transform()"
            )
        session = self.session(on_finding=on_finding, on_hidden=on_hidden)
        return drive_sync(session.feed, _flusher(session, end), source)

    def __or__(self, other: Transformer) -> Pipeline:
        """`a | b` runs `a` first and gives its output to `b`."""
        if not isinstance(other, Transformer):
            return NotImplemented
        return Pipeline(self, other)


def _flusher(session: Session, end: End | Callable[[], End]) -> Callable[[Exception | None], str]:
    def flush(failure: Exception | None) -> str:
        if failure is not None:
            return session.flush(End.ERROR)
        return session.flush(end() if callable(end) else end)

    return flush


@dataclass(frozen=True, slots=True, init=False)
class Pipeline(Transformer):
    """Transformers in order, each fed what the one before it let through.

    Put what removes text (fences, preambles) before what replaces it (the redactor):
    a removed block may bring the two halves of a key together, and only a later stage
    sees them joined.
    """

    stages: tuple[Transformer, ...]

    def __init__(self, *stages: Transformer) -> None:
        flat: list[Transformer] = []
        for stage in stages:
            if isinstance(stage, Pipeline):
                flat.extend(stage.stages)
            elif isinstance(stage, Transformer):
                flat.append(stage)
            else:
                raise TypeError(f"a stage must be a Transformer, not {type(stage).__name__}")
        object.__setattr__(self, "stages", tuple(flat))

    def session(
        self,
        *,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> Session:
        """Make one session a stage, chained without I/O."""
        return _PipelineSession(
            [stage.session(on_finding=on_finding, on_hidden=on_hidden) for stage in self.stages]
        )

    def bounds(self) -> tuple[Bound, ...]:
        """The bounds of every stage, in order."""
        return tuple(bound for stage in self.stages for bound in stage.bounds())


class _PipelineSession(Session):
    __slots__ = ("_feeds", "_sessions")

    def __init__(self, sessions: list[Session]) -> None:
        super().__init__()
        self._sessions = tuple(sessions)
        self._feeds = tuple([session._feed for session in sessions])

    @property
    def pending(self) -> int:
        return sum(session.pending for session in self._sessions)

    def _feed(self, text: str, /) -> str:
        for feed in self._feeds:
            text = feed(text)
            if not text:
                break
        return text

    def _flush(self, end: End, /) -> str:
        tail = ""
        for session in self._sessions:
            tail = session._feed_last(tail, end) if tail else session.flush(end)
        return tail

    def _feed_last(self, text: str, end: End, /) -> str:
        for session in self._sessions:
            text = session._feed_last(text, end)
        return text
