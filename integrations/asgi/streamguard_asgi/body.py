"""What the guards of a body have in common: bytes in, the safe part of them out, no I/O.

A guard that fails, for whatever reason, ends the body in the form its protocol has for it and
takes what follows without a word of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from streamguard import End
from streamguard.session import StreamClosedError
from streamguard_asgi.closing import Ending, ending_of

__all__ = ["BytesGuard"]


class BytesGuard(ABC):
    """The state of one body that is being guarded.

    Attributes:
        cut: the body broke off: its source did, or it ended in the middle of an event.
        failure: why the guard has ended the body, if it has: a rule that blocks, an event that is
            too large. The bytes that say so have been returned; from then on nothing is. The
            source can be closed.
    """

    __slots__ = ("_closed", "cut", "failure")

    def __init__(self) -> None:
        self._closed = False
        self.cut = False
        self.failure: Exception | None = None

    def feed(self, data: bytes, /) -> bytes:
        """Take the next bytes, cut anywhere, and return what may be sent now.

        Raises:
            StreamClosedError: `flush` was called before.
        """
        if self._closed:
            raise StreamClosedError("feed() on a body that has ended; every body needs a new guard")
        return b"".join(self._safely(self._fed(data)))

    def flush(self, end: End = End.COMPLETE, /) -> bytes:
        """End the body and return the rest of it.

        Args:
            end: why it ended. After `ERROR`, and where it ends in the middle of an event, what is
                only half received is dropped, and the body ends with the error its protocol has,
                if it has any.

        Raises:
            StreamClosedError: `flush` was called before.
        """
        if self._closed:
            raise StreamClosedError("flush() on a body that has ended; every body needs a new guard")
        self._closed = True
        self.cut = end is End.ERROR
        return b"".join(self._safely(self._ended(end)))

    def _safely(self, steps: Iterator[bytes]) -> Iterator[bytes]:
        if self.failure is not None:
            return
        try:
            yield from steps
        except Exception as error:  # whatever it was, nothing unguarded may follow
            self.failure = error
            yield self._closing(ending_of(error))
        except BaseException:
            self._closed = True
            raise

    @abstractmethod
    def _fed(self, data: bytes) -> Iterator[bytes]:
        """Take bytes and yield what may be sent."""

    @abstractmethod
    def _ended(self, end: End) -> Iterator[bytes]:
        """Yield the rest; called once, last."""

    @abstractmethod
    def _closing(self, ending: Ending) -> bytes:
        """Return what ends the body where it cannot go on."""
