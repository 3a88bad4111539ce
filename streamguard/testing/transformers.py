"""A transformer under the laws that texts alone can show.

Each law is a function that takes chunks and says what is wrong, or nothing; the same
function shrinks the counterexample. What was emitted is compared with `scrub` of the
whole text: the laws define the whole first, and the stream has to agree with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, count, islice, repeat, zip_longest
from random import Random
from typing import Literal, cast

from streamguard.session import End, Finding, LimitExceededError, Session, StreamClosedError, Transformer
from streamguard.testing.cost import check_memory
from streamguard.testing.cuts import every_cut, random_cuts
from streamguard.testing.laws import Law, LawViolation, shrink
from streamguard.testing.oracle import emitted, whole

__all__ = ["check_transformer"]

LAWS = frozenset(Law) - {Law.MINIMAL_HOLD_BACK, Law.LINEAR_TIME}

MOST_PREFIXES = 200
"""Prefixes tried of one text; of a longer text they are drawn."""

Fault = Callable[[list[str]], str]


def check_transformer(
    t: Transformer,
    texts: Iterable[str],
    /,
    *,
    laws: Collection[Law] = LAWS,
    alphabet: Iterable[str] = (),
    clean: Iterable[str] = (),
    ends: Sequence[End] = tuple(End),
    undecided_on_error: Literal["drop", "show"] = "show",
    samples: int = 24,
    seed: int = 0,
) -> None:
    """Check that a transformer keeps the laws on the given texts and their combinations.

    Args:
        t: the transformer, or a pipeline.
        texts: short texts that come near what it acts on, and reach it. The work grows with
            the square of their length.
        laws: which laws to check; all but `MINIMAL_HOLD_BACK` and `LINEAR_TIME`, which
            `check_minimal` and `check_linear` check.
        alphabet: characters, or longer tokens, that may continue a text; by default the
            characters of the texts.
        clean: further texts, with nothing to take out, for `TRANSPARENCY`.
        ends: the ways the streams may end.
        undecided_on_error: what `FAIL_CLOSED` lets a stage do with text that is undecided when
            the source fails: `"show"` it as far as it would be shown if the text were
            complete, or `"drop"` all of it, the strictest reading of the law.
        samples: how many random cuts, continuations and combinations are drawn each time.
        seed: the same seed draws the same.

    Raises:
        LawViolation: the first law found broken, with the chunks that show it.
        ValueError: a law in `laws` is not checked here.
    """
    if other := [law for law in laws if law not in LAWS]:
        raise ValueError(f"{other[0]} has a check of its own")
    clean = tuple(clean)
    every = tuple(dict.fromkeys((*texts, *clean)))
    letters = tuple(dict.fromkeys(alphabet)) or tuple(sorted(set("".join(every))))
    random = Random(seed)  # noqa: S311 - reproducible, not secret
    check = _Check(t, every, letters, tuple(ends), undecided_on_error, samples, random)
    for text in every:
        for law in sorted(laws, key=lambda law: law.number):
            if law is Law.USED_ONCE:
                check.used_once(text)
            elif law is Law.CHUNK_INVARIANCE:
                check.chunk_invariance(text)
            elif law is Law.PREFIX_SAFETY:
                check.prefix_safety(text)
            elif law is Law.FRESHNESS:
                check.freshness(text)
            elif law is Law.TRANSPARENCY and text in clean:
                check.transparency(text)
            elif law is Law.IDEMPOTENCE:
                check.idempotence(text)
            elif law is Law.BOUNDED_STATE:
                check.bounded_state(text)
            elif law is Law.FAIL_CLOSED:
                check.fail_closed(text)


@dataclass(frozen=True, eq=False)
class _Check:
    t: Transformer
    texts: tuple[str, ...]
    letters: tuple[str, ...]
    ends: tuple[End, ...]
    undecided_on_error: Literal["drop", "show"]
    samples: int
    random: Random

    def used_once(self, text: str) -> None:
        ended = self.t.session()
        with suppress(LimitExceededError):
            ended.feed(text)
            ended.flush()
        wrong = self.t.session()
        try:
            wrong.feed(cast("str", b"bytes"))
        except TypeError:
            pass
        else:
            raise LawViolation(Law.USED_ONCE, "feed() took bytes; it has to raise TypeError")
        uses: dict[str, Callable[[], object]] = {
            "feed() after the end": lambda: ended.feed(text),
            "flush() after the end": ended.flush,
            "feed() after a TypeError": lambda: wrong.feed(text),
            "flush() after a TypeError": wrong.flush,
        }
        for name, use in uses.items():
            try:
                use()
            except StreamClosedError:
                continue
            raise LawViolation(Law.USED_ONCE, f"{name} was not refused", [text])

    def chunk_invariance(self, text: str) -> None:
        cuts = [*every_cut(text), *random_cuts(text, seed=self._seed(), n=self.samples)]
        for end in self.ends:

            def fault(chunks: list[str], end: End = end) -> str:
                streamed, expected = _stream(self.t, chunks, end), _whole(self.t, "".join(chunks), end)
                return "" if streamed == expected else f"in chunks: {streamed}\n  whole: {expected}, {end}"

            for cut in cuts:
                _refute(Law.CHUNK_INVARIANCE, cut, fault)

    def prefix_safety(self, text: str) -> None:
        for x, rest in self._prefixes(text):
            ways = [list(x), [x]]
            shown = [emitted(self.t, chunks) for chunks in ways]
            self._undecided(Law.PREFIX_SAFETY, ways, shown, rest)

    def freshness(self, text: str) -> None:
        before = hash(self.t)
        for other in (text, self.random.choice(self.texts)):
            turns = chain.from_iterable(zip_longest(text, other, fillvalue=""))
            _refute(Law.FRESHNESS, list(turns), self._interleaved)
            stop = self.random.randint(0, len(other))
            _refute(Law.FRESHNESS, [other[:stop], text], self._abandoned)
        if hash(self.t) != before:
            raise LawViolation(Law.FRESHNESS, "the hash of the transformer changed", [text])

    def transparency(self, text: str) -> None:
        # Not shrunk: a part of a clean text need not be clean.
        outcome = whole(self.t, text, End.COMPLETE)
        if outcome != text:
            raise LawViolation(Law.TRANSPARENCY, f"came through as {outcome!r}", [text])

    def idempotence(self, text: str) -> None:
        def fault(chunks: list[str]) -> str:
            once = whole(self.t, "".join(chunks), End.COMPLETE)
            twice = None if once is None else whole(self.t, once, End.COMPLETE)
            return "" if once == twice else f"once: {once!r}\n  twice: {twice!r}"

        _refute(Law.IDEMPOTENCE, [text], fault)
        for _ in range(self.samples):
            at = self.random.randint(0, len(text))
            _refute(Law.IDEMPOTENCE, [text[:at], self.random.choice(self.texts), text[at:]], fault)

    def bounded_state(self, text: str) -> None:
        size = max(1024, 2 * sum(bound.characters for bound in self.t.bounds()))

        def repeated(chunks: list[str]) -> str:
            # Numbered, so that a memory of everything ever seen grows as well.
            numbered = chain.from_iterable(f"{''.join(chunks)}{index}" for index in count())

            def pieces(amount: int) -> Iterator[str]:
                for _ in range(amount):
                    yield "".join(islice(numbered, size // 1024))

            return check_memory(self.t, pieces(1024), pieces(3 * 1024))

        def endless(chunks: list[str]) -> str:
            *opening, unit = chunks or [""]
            # Small pieces see the hold-back at its peak, a long one whether a chunk is kept.
            early = repeat(unit * (size // 16), 16)
            return check_memory(self.t, chain(opening, early), [unit * (3 * size)])

        _refute(Law.BOUNDED_STATE, [text], repeated, "repeated and numbered")
        openings = [(text[:stop], letter) for stop in range(len(text) + 1) for letter in self.letters]
        for opening in self.random.sample(openings, min(self.samples, len(openings))):
            _refute(Law.BOUNDED_STATE, opening, endless, "the last chunk without end")

    def fail_closed(self, text: str) -> None:
        for x, rest in self._prefixes(text):
            _refute(Law.FAIL_CLOSED, list(x), self._source_fails)
            if self.undecided_on_error == "drop":
                self._undecided(Law.FAIL_CLOSED, [[x]], [whole(self.t, x, End.ERROR)], rest)
            else:
                _refute(Law.FAIL_CLOSED, [x], self._more_than_complete)
        source = _Source(list(text))
        output = self.t.transform_sync(source)
        with suppress(LimitExceededError):
            next(output, None)
        output.close()
        if not source.closed:
            raise LawViolation(Law.FAIL_CLOSED, "the source of an abandoned iteration stays open", list(text))

    def _seed(self) -> int:
        return self.random.getrandbits(32)

    def _prefixes(self, text: str) -> Iterator[tuple[str, str]]:
        stops = range(len(text) + 1)
        for stop in stops if len(stops) <= MOST_PREFIXES else self.random.sample(stops, MOST_PREFIXES):
            yield text[:stop], text[stop:]

    def _continuations(self, rest: str) -> Iterator[tuple[str, End]]:
        for y in ("", rest):
            for end in self.ends:
                yield y, end
        for y in self.letters:
            yield y, self.random.choice(self.ends)
        for _ in range(self.samples):
            other = self.random.choice(self.texts)
            yield other[self.random.randint(0, len(other)) :], self.random.choice(self.ends)

    def _undecided(self, law: Law, ways: Sequence[list[str]], shown: Sequence[str | None], rest: str) -> None:
        """Refute that what is `shown` after each of `ways` can still become something else."""
        x = "".join(ways[0])
        for y, end in self._continuations(rest):
            outcome = whole(self.t, x + y, end)
            for chunks, early in zip(ways, shown, strict=True):
                if early is None or outcome is None or outcome.startswith(early):
                    continue

                def fault(chunks: list[str], end: End = end) -> str:
                    *first, last = chunks or [""]
                    early = (
                        emitted(self.t, first)
                        if law is Law.PREFIX_SAFETY
                        else whole(self.t, "".join(first), End.ERROR)
                    )
                    outcome = whole(self.t, "".join(chunks), end)
                    if early is None or outcome is None or outcome.startswith(early):
                        return ""
                    return f"{early!r} was shown before {last!r} came\n  whole: {outcome!r}, {end}"

                _refute(law, [*chunks, y], fault)

    def _interleaved(self, chunks: list[str]) -> str:
        streams = [_Stream(self.t), _Stream(self.t)]
        for index, chunk in enumerate(chunks):
            streams[index % 2].feed(chunk)
        for turn, stream in enumerate(streams):
            mixed = stream.end(End.COMPLETE)
            alone = _whole(self.t, "".join(chunks[turn::2]), End.COMPLETE)
            if mixed != alone:
                return f"two streams in turns; stream {turn + 1}: {mixed}\n  alone: {alone}"
        return ""

    def _abandoned(self, chunks: list[str]) -> str:
        *first, text = chunks or [""]
        alone = _whole(self.t, text, End.COMPLETE)
        _Stream(self.t).feed("".join(first))
        after = _whole(self.t, text, End.COMPLETE)
        return "" if after == alone else f"after an abandoned stream: {after}\n  before: {alone}"

    def _more_than_complete(self, chunks: list[str]) -> str:
        shown, complete = (whole(self.t, "".join(chunks), end) for end in (End.ERROR, End.COMPLETE))
        if shown is None or complete is None or complete.startswith(shown):
            return ""
        return f"{shown!r} is shown after an error\n  complete: {complete!r}"

    def _source_fails(self, chunks: list[str]) -> str:
        decided = whole(self.t, "".join(chunks), End.ERROR)
        failure = _SourceError()
        source = _Source(chunks, failure)
        output: list[str] = []
        try:
            output.extend(self.t.transform_sync(source))
        except LimitExceededError:
            return ""
        except _SourceError as error:
            if error is not failure:
                return "another error came out than the source raised"
        else:
            return "the error of the source did not come out"
        if not source.closed:
            return "the source that failed stays open"
        if "".join(output) != decided:
            return f"{''.join(output)!r} was shown before the error of the source\n  decided: {decided!r}"
        return "an empty chunk came out" if "" in output else ""


def _refute(law: Law, chunks: Sequence[str], fault: Fault, note: str = "") -> None:
    if fault(list(chunks)):
        simplest = shrink(chunks, lambda candidate: bool(fault(candidate)))
        found = fault(simplest)
        raise LawViolation(law, f"{note}: {found}" if note else found, simplest)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came out of a stream: its text, `None` where a limit raised, and its findings.

    Findings have no order: the stages of a pipeline report in turns that the cut decides.
    """

    text: str | None
    findings: Counter[Finding]

    def __str__(self) -> str:
        return f"{self.text!r} with {list(self.findings.elements())}"


class _Stream:
    """A session with its findings; one that raised on a limit stays silent."""

    def __init__(self, t: Transformer) -> None:
        self.findings: list[Finding] = []
        self.session: Session | None = t.session(on_finding=self.findings.append)
        self.shown: list[str] = []

    def feed(self, chunk: str) -> None:
        if self.session is not None:
            try:
                self.shown.append(self.session.feed(chunk))
            except LimitExceededError:
                self.session = None

    def end(self, end: End) -> _Outcome:
        if self.session is not None:
            try:
                self.shown.append(self.session.flush(end))
            except LimitExceededError:
                self.session = None
        if self.session is None:
            return _Outcome(None, Counter())
        return _Outcome("".join(self.shown), Counter(self.findings))


def _stream(t: Transformer, chunks: Iterable[str], end: End) -> _Outcome:
    stream = _Stream(t)
    for chunk in chunks:
        stream.feed(chunk)
    return stream.end(end)


def _whole(t: Transformer, text: str, end: End) -> _Outcome:
    findings: list[Finding] = []
    try:
        return _Outcome(t.scrub(text, end=end, on_finding=findings.append), Counter(findings))
    except LimitExceededError:
        return _Outcome(None, Counter())


class _SourceError(Exception):
    """Raised by a source under test."""


class _Source:
    def __init__(self, chunks: Sequence[str], failure: Exception | None = None) -> None:
        self.chunks = iter(chunks)
        self.failure = failure
        self.closed = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for chunk in self.chunks:
            return chunk
        raise StopIteration if self.failure is None else self.failure

    def close(self) -> None:
        self.closed = True
