"""What texts pass on their way to a summarizer, unless it is told otherwise.

The fence of memory is found in every spelling that `sanitize` knows, and what an unclosed
one hides is hidden. Thoughts are taken out as tags, and escaped as whole blocks: a page of the
web that mentions `&lt;think&gt;` goes on behind it. A user who writes `<think>` as code means
the tag, no thought. Secrets come last, as a fence may stand in the middle of one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from streamguard.fence import MEMORY, REASONING, FenceScrubber
from streamguard.memory.fence import sanitize
from streamguard.redact import Redactor
from streamguard.session import Bound, End, FindingHandler, HiddenHandler, Session, Transformer

__all__ = ["default_guard"]

_ESCAPED = re.compile(
    r"&(?:[lg]t|#0*6[02]|#x0*3[ce]);|\\u003[ce]|[\uff0d\uff0f\uff1c\uff1e\uff21-\uff5a]", re.IGNORECASE
)
"""What an escaped tag has in it: most texts have none of it, and looking for the tags is slow."""


def default_guard() -> Transformer:
    """Fences of memory and reasoning, and secrets, are taken out."""
    return FenceScrubber(*MEMORY) | FenceScrubber(*REASONING, code=True) | _Disguised() | Redactor()


@dataclass(frozen=True, slots=True)
class _Disguised(Transformer):
    """Takes out fences that are escaped, from texts that are there whole: all is held to the end."""

    def session(
        self, *, on_finding: FindingHandler | None = None, on_hidden: HiddenHandler | None = None
    ) -> Session:
        del on_hidden
        return _Session(on_finding)

    def bounds(self) -> tuple[Bound, ...]:
        return (Bound("fence", "disguised", 0, "held until the end"),)


class _Session(Session):
    __slots__ = ("_held", "_on_finding", "_size")

    def __init__(self, on_finding: FindingHandler | None) -> None:
        super().__init__()
        self._on_finding = on_finding
        self._held: list[str] = []
        self._size = 0

    @property
    def pending(self) -> int:
        return self._size

    def _feed(self, text: str, /) -> str:
        self._held.append(text)
        self._size += len(text)
        return ""

    def _flush(self, end: End, /) -> str:
        del end
        text = "".join(self._held)
        self._held, self._size = [], 0
        if _ESCAPED.search(text):
            text = FenceScrubber(*MEMORY, escaped=True).scrub(text, on_finding=self._on_finding)
            thoughts = FenceScrubber(
                *REASONING, code=True, escaped=True, unclosed="keep", orphan_close="keep"
            )
            text = thoughts.scrub(text, on_finding=self._on_finding)
        return sanitize(text)
