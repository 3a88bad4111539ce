"""The oracle of law 3: what is held is held for a reason that can be shown.

After the text `x`, what may be emitted is the longest common prefix of `whole(x + y)`
over the continuations `y`. Over too few continuations that prefix is too long, never too
short: text emitted beyond it is a breach of law 2 for certain, text held short of it
a breach of law 3 unless a continuation that was not tried tells the outcomes apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product

from streamguard.session import End, LimitExceededError, Transformer
from streamguard.testing.laws import Law, LawViolation, shrink

__all__ = ["check_minimal"]


def check_minimal(
    t: Transformer,
    text: str,
    /,
    alphabet: Iterable[str],
    *,
    depth: int = 2,
    continuations: Iterable[str] = (),
    ends: Sequence[End] = (End.COMPLETE,),
    atomic: str = "",
) -> None:
    """Check that nothing is held longer than some continuation calls for.

    After every prefix of the text, fed one character at a time and at once, what was
    emitted has to be the longest common prefix of the outcomes over all continuations.

    Args:
        t: the transformer.
        text: the text whose prefixes are tried.
        alphabet: characters, or longer tokens, that continuations are made of. The check
            is exact where the alphabet reaches every transition of the patterns and
            the depth their ends.
        depth: most tokens in a continuation; there are `len(alphabet) ** depth` of them.
        continuations: further ones, for patterns too long to be reached by depth.
        ends: the ways the stream may end. A stage whose result depends on the `End`
            holds text for that reason alone, and needs them all here.
        atomic: a regular expression for what the stage writes in place of text, such as
            placeholders. By the letter of the law its beginning is due as soon as nothing
            else can come; what matches comes out as one piece or not at all instead.

    Raises:
        LawViolation: of `MINIMAL_HOLD_BACK` with the character that is held for no reason
            found and the continuations tried, or of `PREFIX_SAFETY`.
    """
    oracle = _Oracle(
        t=t,
        tokens=tuple(dict.fromkeys(alphabet)),
        depth=depth,
        further=tuple(dict.fromkeys(("", *continuations))),
        ends=tuple(ends),
        atomic=re.compile(atomic) if atomic else None,
    )
    for stop in range(len(text) + 1):
        for cut in (list(text[:stop]), [text[:stop]]):
            if law := oracle.broken(cut):
                chunks = shrink(cut, partial(oracle.breaks, law))
                raise LawViolation(law, oracle.explain(chunks), chunks)


@dataclass(frozen=True, eq=False)
class _Oracle:
    t: Transformer
    tokens: tuple[str, ...]
    depth: int
    further: tuple[str, ...]
    ends: tuple[End, ...]
    atomic: re.Pattern[str] | None
    known: dict[str, str | None] = field(default_factory=dict[str, str | None])

    def broken(self, chunks: list[str]) -> Law | None:
        shown, agreed = emitted(self.t, chunks), self.agreed("".join(chunks))
        if shown is None or agreed is None or shown == agreed:
            return None
        return Law.MINIMAL_HOLD_BACK if agreed.startswith(shown) else Law.PREFIX_SAFETY

    def breaks(self, law: Law, chunks: list[str]) -> bool:
        return self.broken(chunks) is law

    def explain(self, chunks: list[str]) -> str:
        shown, agreed = emitted(self.t, chunks) or "", self.agreed("".join(chunks)) or ""
        tried = (
            f"all continuations agree on {agreed!r}\n  tried: up to {self.depth} of {list(self.tokens)!r}, "
            f"and {list(self.further)!r}, with {', '.join(map(str, self.ends))}"
        )
        if not agreed.startswith(shown):
            return f"{shown!r} was emitted; {tried}"
        return f"{agreed[len(shown)]!r} is held at {len(shown)} of the output after {shown!r}; {tried}"

    def agreed(self, x: str) -> str | None:
        """Return the longest common prefix over the continuations; `None` if all of them raise."""
        if x not in self.known:
            outcomes = {
                outcome
                for y in (*self.further, *self.words())
                for end in self.ends
                if (outcome := whole(self.t, x + y, end)) is not None
            }
            self.known[x] = self.common(outcomes) if outcomes else None
        return self.known[x]

    def words(self) -> Iterator[str]:
        for length in range(1, self.depth + 1):
            yield from map("".join, product(self.tokens, repeat=length))

    def common(self, outcomes: set[str]) -> str:
        first, last = min(outcomes), max(outcomes)
        length = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
        if self.atomic is not None:
            pieces = [piece for outcome in outcomes for piece in self.atomic.finditer(outcome)]
            cut = [piece.start() for piece in pieces if piece.start() < length < piece.end()]
            length = min([length, *cut])
        return first[:length]


def emitted(t: Transformer, chunks: Iterable[str], /) -> str | None:
    """Return what a session has let through after `chunks`; `None` where it raises on a limit."""
    session = t.session()
    try:
        return "".join([session.feed(chunk) for chunk in chunks])
    except LimitExceededError:
        return None


def whole(t: Transformer, text: str, end: End, /) -> str | None:
    """Return the outcome for a whole text; `None` where it raises on a limit."""
    try:
        return t.scrub(text, end=end)
    except LimitExceededError:
        return None
