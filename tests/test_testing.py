"""Each check of the kit catches a transformer built to break its law, and passes a right one."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamguard import Bound, End, Finding, LimitExceededError, Pipeline, Session, Transformer
from streamguard.session import FindingHandler, HiddenHandler
from streamguard.testing import (
    Law,
    LawViolation,
    assert_stream_safe,
    assert_stream_safe_async,
    check_linear,
    check_minimal,
    check_transformer,
    chunked,
    cuts_of,
    every_cut,
    random_cuts,
    texts,
)

# --- the right one ---------------------------------------------------------------------------


class MaskSession(Session):
    """Replaces each `word` by `*`, and holds what may be the beginning of one."""

    __slots__ = ("_held", "_offset", "_report", "_word")

    def __init__(self, word: str, report: FindingHandler | None) -> None:
        super().__init__()
        self._word = word
        self._report = report
        self._held = ""
        self._offset = 0

    @property
    def pending(self) -> int:
        return len(self._held)

    def _feed(self, text: str, /) -> str:
        text = self._held + text
        *before, rest = text.split(self._word)
        for part in before:
            if self._report:
                self._report(
                    Finding("mask", self._word, "redacted", self._offset + len(part), len(self._word))
                )
            self._offset += len(part) + len(self._word)
        keep = next(n for n in reversed(range(len(self._word))) if rest.endswith(self._word[:n]))
        self._held = rest[len(rest) - keep :]
        self._offset += len(rest) - keep
        return "*".join([*before, rest[: len(rest) - keep]])

    def _flush(self, end: End, /) -> str:
        return "" if end in (End.ERROR, End.TRUNCATED) else self._held


@dataclass(frozen=True)
class Mask(Transformer):
    word: str = "key"
    make: Callable[[str, FindingHandler | None], Session] = MaskSession

    def session(
        self, *, on_finding: FindingHandler | None = None, on_hidden: HiddenHandler | None = None
    ) -> Session:
        return self.make(self.word, on_finding)

    def bounds(self) -> tuple[Bound, ...]:
        return (Bound("mask", self.word, len(self.word) - 1),)


class HideSession(Session):
    """Drops `(` to `)`; more than `limit` characters in between raise."""

    __slots__ = ("_inside", "_limit")

    def __init__(self, limit: int = sys.maxsize) -> None:
        super().__init__()
        self._inside = 0
        self._limit = limit

    @property
    def pending(self) -> int:
        return 0

    def _feed(self, text: str, /) -> str:
        shown: list[str] = []
        for character in text:
            if self._inside:
                self._inside = 0 if character == ")" else self._inside + 1
                if self._inside > self._limit:
                    raise LimitExceededError("hide", "(", self._limit)
            elif character == "(":
                self._inside = 1
            else:
                shown.append(character)
        return "".join(shown)

    def _flush(self, end: End, /) -> str:
        return ""


@dataclass(frozen=True)
class Stage(Transformer):
    """Any session as a transformer."""

    make: Callable[[], Session]
    most: int = 0

    def session(
        self, *, on_finding: FindingHandler | None = None, on_hidden: HiddenHandler | None = None
    ) -> Session:
        return self.make()

    def bounds(self) -> tuple[Bound, ...]:
        return (Bound("stage", "rule", self.most),)


TEXTS = ("a key, a kekey", "ke", "keykey y", "", "kkk")
HIDDEN = ("a(b)c", "((a)b", "a)b(")
RIGHT = [Mask(), Mask("aab"), Stage(HideSession), Mask() | Stage(HideSession), Pipeline()]


@pytest.mark.parametrize("t", RIGHT, ids=repr)
def test_a_right_transformer_keeps_every_law(t: Transformer) -> None:
    check_transformer(t, [*TEXTS, *HIDDEN], clean=["no such word"])


def test_a_limit_that_raises_keeps_every_law() -> None:
    check_transformer(Stage(lambda: HideSession(3)), [*HIDDEN, "a(bcdef)g"])


def broken(t: Transformer, law: Law, given: Iterable[str] = TEXTS) -> LawViolation:
    """The violation that the check of one law alone finds."""
    with pytest.raises(LawViolation) as caught:
        check_transformer(t, given, laws=[law])
    assert caught.value.law is law
    return caught.value


# --- the laws by name ------------------------------------------------------------------------


def test_the_laws_are_numbered_as_the_design_numbers_them() -> None:
    assert [law.number for law in Law] == list(range(10))
    assert str(Law.MINIMAL_HOLD_BACK) == "law 3 (minimal hold back)"


def test_a_violation_names_the_law_and_shows_the_chunks() -> None:
    violation = LawViolation(Law.IDEMPOTENCE, "once: 'a'", ["x", "y"])
    assert isinstance(violation, AssertionError)
    assert (violation.law, violation.detail, violation.chunks) == (Law.IDEMPOTENCE, "once: 'a'", ("x", "y"))
    for part in ("law 6", Law.IDEMPOTENCE.wording, "['x', 'y']", "once: 'a'"):
        assert part in str(violation)


@pytest.mark.parametrize("law", [Law.MINIMAL_HOLD_BACK, Law.LINEAR_TIME])
def test_a_law_with_a_check_of_its_own_is_refused(law: Law) -> None:
    with pytest.raises(ValueError, match="check of its own"):
        check_transformer(Mask(), TEXTS, laws=[law])


# --- used once -------------------------------------------------------------------------------


class Reusable(MaskSession):
    def flush(self, end: End = End.COMPLETE) -> str:
        tail, self._held = self._held, ""
        return tail


class TakesAnything(MaskSession):
    def feed(self, text: str, /) -> str:
        return self._feed(str(text))


class SurvivesErrors(MaskSession):
    def feed(self, text: str, /) -> str:
        try:
            return super().feed(text)
        except TypeError:
            self._closed = False
            raise


@pytest.mark.parametrize(
    ("make", "detail"),
    [
        (Reusable, "feed() after the end"),
        (TakesAnything, "feed() took bytes"),
        (SurvivesErrors, "feed() after a TypeError"),
    ],
)
def test_a_session_used_twice_is_caught(make: type[MaskSession], detail: str) -> None:
    assert detail in broken(Mask(make=make), Law.USED_ONCE).detail


# --- law 1: chunk invariance -----------------------------------------------------------------


class Memoryless(MaskSession):
    """Replaces in each chunk, and knows nothing of the one before."""

    def _feed(self, text: str, /) -> str:
        return text.replace(self._word, "*")


def test_replacing_chunk_by_chunk_breaks_chunk_invariance() -> None:
    violation = broken(Mask(make=Memoryless), Law.CHUNK_INVARIANCE)
    assert sorted(map(len, violation.chunks)) == [1, 2]
    assert "".join(violation.chunks) == "key"


class ReportsChunks(MaskSession):
    """The text is right; the offsets of the findings are those of the chunk."""

    def _feed(self, text: str, /) -> str:
        self._offset = 0
        return super()._feed(text)


def test_findings_that_depend_on_the_cut_break_chunk_invariance() -> None:
    assert "offset" in broken(Mask(make=ReportsChunks), Law.CHUNK_INVARIANCE).detail


class DropsBeforeEmpty(MaskSession):
    def _feed(self, text: str, /) -> str:
        if not text:
            self._held = ""
        return super()._feed(text)


def test_an_empty_chunk_that_matters_breaks_chunk_invariance() -> None:
    assert "" in broken(Mask(make=DropsBeforeEmpty), Law.CHUNK_INVARIANCE).chunks


class MindsToolCalls(MaskSession):
    """Wrong for one way to end alone."""

    __slots__ = ("_chunks",)

    def __init__(self, word: str, report: FindingHandler | None) -> None:
        super().__init__(word, report)
        self._chunks = 0

    def _feed(self, text: str, /) -> str:
        self._chunks += 1
        return super()._feed(text)

    def _flush(self, end: End, /) -> str:
        return "" if end is End.TOOL_CALL and self._chunks > 1 else super()._flush(end)


def test_every_way_to_end_is_tried() -> None:
    t = Mask(make=MindsToolCalls)
    assert "End.TOOL_CALL" in broken(t, Law.CHUNK_INVARIANCE).detail
    check_transformer(t, TEXTS, laws=[Law.CHUNK_INVARIANCE], ends=[End.COMPLETE, End.ERROR])


# --- law 2: prefix safety --------------------------------------------------------------------


class CarryOver(MaskSession):
    """The known trap: finds a word that was split after half of it has been sent."""

    def _feed(self, text: str, /) -> str:
        sent = self._held
        found = (sent + text).replace(self._word, "*")
        self._held = found[-(len(self._word) - 1) :]
        return found[len(sent) :]

    def _flush(self, end: End, /) -> str:
        return ""


def test_a_carry_over_buffer_breaks_prefix_safety() -> None:
    violation = broken(Mask(make=CarryOver), Law.PREFIX_SAFETY)
    assert "".join(violation.chunks) == "key"
    assert "was shown before" in violation.detail


def test_prefix_safety_is_tried_with_the_endings_of_other_texts() -> None:
    t = Mask("k12", make=Memoryless)
    check_transformer(t, ["k", "12"], laws=[Law.CHUNK_INVARIANCE])
    assert broken(t, Law.PREFIX_SAFETY, ["k", "12"]).chunks == ("k", "12")


def test_prefix_safety_is_tried_with_the_alphabet() -> None:
    check_transformer(Mask(make=Memoryless), ["k"], laws=[Law.PREFIX_SAFETY])
    with pytest.raises(LawViolation) as caught:
        check_transformer(Mask(make=Memoryless), ["k"], laws=[Law.PREFIX_SAFETY], alphabet=["ey"])
    assert caught.value.chunks == ("k", "ey")


class Hasty(MaskSession):
    """Safe one character at a time; in longer chunks it lets go of everything."""

    def _feed(self, text: str, /) -> str:
        shown = super()._feed(text)
        if len(text) > 1:
            shown, self._held = shown + self._held, ""
        return shown


def test_prefix_safety_is_tried_with_prefixes_in_one_chunk() -> None:
    early, late = broken(Mask(make=Hasty), Law.PREFIX_SAFETY).chunks
    assert len(early) == 2
    assert (early + late).endswith("key")


def test_long_texts_are_sampled() -> None:
    check_transformer(Mask(), ["a key " * 50], laws=[Law.PREFIX_SAFETY], samples=2)


# --- law 3: minimal hold-back ----------------------------------------------------------------


class HoldsEverything(MaskSession):
    def _feed(self, text: str, /) -> str:
        self._held += text
        return ""

    def _flush(self, end: End, /) -> str:
        return self._held.replace(self._word, "*")


class HoldsAFixedLength(MaskSession):
    """The usual carry-over: always the length of the word less one."""

    def _feed(self, text: str, /) -> str:
        *before, rest = (self._held + text).split(self._word)
        keep = min(len(rest), len(self._word) - 1)
        self._held = rest[len(rest) - keep :]
        return "*".join([*before, rest[: len(rest) - keep]])


class HoldsOneTooMany(MaskSession):
    def _feed(self, text: str, /) -> str:
        shown = super()._feed(text)
        if self._held and shown.endswith(" "):
            shown, self._held = shown[:-1], " " + self._held
        return shown


@pytest.mark.parametrize("t", [Mask(), Mask("aab"), Mask("aab") | Mask(), Stage(HideSession)], ids=repr)
def test_a_minimal_hold_back_passes(t: Transformer) -> None:
    for text in ("aaabkey", "kekey", "a(k)e(y"):
        check_minimal(t, text, "abkey", depth=2)


def test_a_pipeline_of_minimal_stages_need_not_be_minimal() -> None:
    """The second stage cannot know that the first never sends the `y` it waits for."""
    with pytest.raises(LawViolation, match=re.escape("'k' is held at 0 of the output")):
        check_minimal(Mask("y") | Mask("ky"), "k", "ky")


@pytest.mark.parametrize("make", [HoldsEverything, HoldsAFixedLength, HoldsOneTooMany])
def test_text_held_for_no_reason_is_caught(make: type[MaskSession]) -> None:
    with pytest.raises(LawViolation) as caught:
        check_minimal(Mask(make=make), "a kex", "key", depth=2)
    assert caught.value.law is Law.MINIMAL_HOLD_BACK
    assert re.match("'[a ]' is held at 0 of the output", caught.value.detail)
    assert "tried: up to 2 of ['k', 'e', 'y']" in caught.value.detail


def test_text_let_go_too_early_is_caught_by_the_oracle() -> None:
    with pytest.raises(LawViolation) as caught:
        check_minimal(Mask(make=Memoryless), "ke", "y", depth=1)
    assert caught.value.law is Law.PREFIX_SAFETY
    assert caught.value.chunks == ("ke",)


def test_a_short_depth_calls_for_continuations() -> None:
    with pytest.raises(LawViolation) as caught:
        check_minimal(Mask("k12345"), "k", "k", depth=1)
    assert caught.value.law is Law.MINIMAL_HOLD_BACK
    check_minimal(Mask("k12345"), "k", "k", depth=1, continuations=["12345"])


class WaitsForTheEnd(HoldsEverything):
    """Whether the last letter is shown depends on why the stream ended."""

    def _feed(self, text: str, /) -> str:
        text = self._held + text
        self._held = text[-1:]
        return text[:-1]

    def _flush(self, end: End, /) -> str:
        return "" if end is End.TOOL_CALL else self._held


def test_what_is_held_for_the_end_needs_the_ends() -> None:
    t = Mask(make=WaitsForTheEnd)
    check_minimal(t, "abc", "ab", ends=(End.COMPLETE, End.TOOL_CALL))
    with pytest.raises(LawViolation, match="law 3"):
        check_minimal(t, "abc", "ab", ends=(End.COMPLETE,))


class CountSession(Session):
    """Writes how many `k` came in a row in place of them."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    @property
    def pending(self) -> int:
        return 0

    def _feed(self, text: str, /) -> str:
        shown = ""
        for character in text:
            if character == "k":
                self._count += 1
            else:
                shown += self._flush(End.COMPLETE) + character
        return shown

    def _flush(self, end: End, /) -> str:
        count, self._count = self._count, 0
        return f"<{count}>" if count else ""


def test_a_placeholder_may_come_out_as_one_piece() -> None:
    t = Stage(CountSession)
    with pytest.raises(LawViolation, match="'<' is held at 0 of the output after ''"):
        check_minimal(t, "akka", "ka")
    check_minimal(t, "akka", "ka", atomic="<[0-9]+>")


def test_what_stands_around_a_placeholder_is_due() -> None:
    with pytest.raises(LawViolation, match="'b' is held"):
        check_minimal(Stage(lambda: HoldsEverything("key", None)), "bk", "ka", atomic="<[0-9]+>")


def test_a_limit_that_raises_is_no_outcome() -> None:
    check_minimal(Stage(lambda: HideSession(2)), "a(bb", "b)", depth=2)


# --- law 4: freshness ------------------------------------------------------------------------


@dataclass(frozen=True)
class SharesABuffer(Mask):
    """The state of the stream is kept in the transformer."""

    held: list[str] = field(default_factory=lambda: [""], hash=False, compare=False)

    def session(
        self, *, on_finding: FindingHandler | None = None, on_hidden: HiddenHandler | None = None
    ) -> Session:
        shared = self.held

        class Sharing(MaskSession):
            def _feed(self, text: str, /) -> str:
                self._held = shared[0]
                shown = super()._feed(text)
                shared[0] = self._held
                return shown

            def _flush(self, end: End, /) -> str:
                shared[0] = ""
                return super()._flush(end)

        return Sharing(self.word, on_finding)


def test_state_in_the_transformer_breaks_freshness() -> None:
    assert broken(SharesABuffer(), Law.FRESHNESS).detail.startswith("two streams in turns")


@dataclass(frozen=True)
class SharesAHandler(Mask):
    """The findings go to whoever came last."""

    handlers: list[FindingHandler | None] = field(default_factory=list, hash=False, compare=False)

    def session(
        self, *, on_finding: FindingHandler | None = None, on_hidden: HiddenHandler | None = None
    ) -> Session:
        self.handlers.append(on_finding)

        def report(finding: Finding) -> None:
            if handler := self.handlers[-1]:
                handler(finding)

        return MaskSession(self.word, report)


def test_findings_of_another_stream_break_freshness() -> None:
    assert broken(SharesAHandler(), Law.FRESHNESS).detail.startswith("two streams in turns")


@dataclass(frozen=True)
class SharesAtTheEnd(SharesABuffer):
    """Reads what is shared once, at its start."""

    def session(
        self, *, on_finding: FindingHandler | None = None, on_hidden: HiddenHandler | None = None
    ) -> Session:
        shared = self.held

        class Starting(MaskSession):
            def __init__(self) -> None:
                super().__init__("key", on_finding)
                self._held, shared[0] = shared[0], ""

            def _feed(self, text: str, /) -> str:
                shown = super()._feed(text)
                shared[0] = self._held
                return shown

            def _flush(self, end: End, /) -> str:
                shared[0] = ""
                return super()._flush(end)

        return Starting()


def test_what_an_abandoned_stream_leaves_breaks_freshness() -> None:
    assert "abandoned" in broken(SharesAtTheEnd(), Law.FRESHNESS, ["ke", "y"]).detail


class Mutable(Mask):
    """Its hash counts the streams."""

    made: list[int] = []  # noqa: RUF012

    def session(
        self, *, on_finding: FindingHandler | None = None, on_hidden: HiddenHandler | None = None
    ) -> Session:
        self.made.append(1)
        return super().session(on_finding=on_finding)

    def __hash__(self) -> int:
        return len(self.made)


def test_a_hash_that_changes_breaks_freshness() -> None:
    assert "hash" in broken(Mutable(), Law.FRESHNESS).detail


# --- law 5: transparency ---------------------------------------------------------------------


class Tidies(MaskSession):
    def _feed(self, text: str, /) -> str:
        return super()._feed(text).replace("\r\n", "\n")


def test_a_tidied_line_ending_breaks_transparency() -> None:
    with pytest.raises(LawViolation) as caught:
        check_transformer(Mask(make=Tidies), (), laws=[Law.TRANSPARENCY], clean=["one\r\ntwo"])
    assert caught.value.law is Law.TRANSPARENCY


def test_transparency_is_asked_of_clean_texts_alone() -> None:
    check_transformer(Mask(), ["a key"], laws=[Law.TRANSPARENCY])


# --- law 6: idempotence ----------------------------------------------------------------------


class RemoveSession(MaskSession):
    """Takes the word out and leaves nothing in its place."""

    def _feed(self, text: str, /) -> str:
        return super()._feed(text).replace("*", "")


def test_a_removal_that_assembles_a_new_match_breaks_idempotence() -> None:
    assert broken(Mask(make=RemoveSession), Law.IDEMPOTENCE, ["kekeyy"]).chunks == ("kekeyy",)


def test_a_match_assembled_around_another_text_breaks_idempotence() -> None:
    """<memory-<memory-context>x</memory-context>context>, from two harmless texts."""
    assert "".join(broken(Mask(make=RemoveSession), Law.IDEMPOTENCE, ["key"]).chunks) in {"kkeyey", "kekeyy"}


# --- law 7: bounded state --------------------------------------------------------------------


class StoresHidden(HideSession):
    """Keeps the hidden block, however long."""

    __slots__ = ("_hidden",)

    def __init__(self) -> None:
        super().__init__()
        self._hidden: list[str] = []

    def _feed(self, text: str, /) -> str:
        shown = super()._feed(text)
        self._hidden = [*self._hidden, text] if self._inside else []
        return shown


class RemembersWhatItSaw(MaskSession):
    """Grows only as long as the text brings something new."""

    __slots__ = ("_last", "_seen")

    def __init__(self, word: str, report: FindingHandler | None) -> None:
        super().__init__(word, report)
        self._last = ""
        self._seen: set[str] = set()

    def _feed(self, text: str, /) -> str:
        self._last = (self._last + text)[-4:]
        self._seen.add(self._last)
        return super()._feed(text)


class KeepsTheChunk(MaskSession):
    """Holds a character, and with it the whole chunk it came in."""

    __slots__ = ("_chunk",)

    def _feed(self, text: str, /) -> str:
        self._chunk = text
        return super()._feed(text)


def generator_session() -> Session:
    def run() -> Generator[str, str, None]:
        seen = ""
        shown = ""
        while True:
            chunk = yield shown
            seen += chunk
            shown = chunk

    class Running(HideSession):
        __slots__ = ("_send",)

        def __init__(self) -> None:
            super().__init__()
            running = run()
            next(running)
            self._send = running.send

        def _feed(self, text: str, /) -> str:
            return self._send(text)

    return Running()


@pytest.mark.parametrize(
    "t",
    [
        Stage(StoresHidden),
        Mask(make=HoldsEverything),
        Mask(make=RemembersWhatItSaw),
        Mask(make=KeepsTheChunk),
        Stage(generator_session),
    ],
    ids=["hidden block", "everything", "what it saw", "chunk", "frame of a generator"],
)
def test_a_state_that_grows_is_caught(t: Transformer) -> None:
    assert broken(t, Law.BOUNDED_STATE, [*TEXTS, *HIDDEN]).law is Law.BOUNDED_STATE


def test_more_pending_than_the_bounds_allow_is_caught() -> None:
    violation = broken(Stage(lambda: MaskSession("key", None), most=1), Law.BOUNDED_STATE)
    assert "2 characters are pending; bounds() allows 1" in violation.detail


def test_settings_shared_by_all_sessions_are_no_state() -> None:
    check_transformer(Mask("k" * 500), ["kk"], laws=[Law.BOUNDED_STATE], samples=2)


# --- law 8: linear time ----------------------------------------------------------------------


class Rescans(MaskSession):
    """Looks at all that was hidden for each character that comes."""

    __slots__ = ("_all",)

    def _feed(self, text: str, /) -> str:
        self._all = getattr(self, "_all", "") + text
        for character in self._all:
            if character == "(":
                break
        return super()._feed(text)


class Restarts(MaskSession):
    """Linear one character at a time; in one chunk every match starts again at the front."""

    def _feed(self, text: str, /) -> str:
        for stop in range(len(text)):
            for _ in range(stop):
                pass
        return super()._feed(text)


def test_linear_work_passes() -> None:
    check_linear(Mask(), lambda n: "ke" * (n // 2))
    check_linear(Stage(lambda: HideSession(20)), lambda n: "(" * n)


@pytest.mark.parametrize("make", [Rescans, Restarts])
def test_work_that_grows_with_the_square_is_caught(make: type[MaskSession]) -> None:
    with pytest.raises(LawViolation) as caught:
        check_linear(Mask(make=make), lambda n: "ke" * (n // 2), (50, 200))
    assert caught.value.law is Law.LINEAR_TIME


def test_counting_restores_the_trace_function() -> None:
    before = sys.gettrace()
    check_linear(Mask(), lambda n: "k" * n, (5, 20))
    assert sys.gettrace() is before


# --- law 9: fail closed ----------------------------------------------------------------------


class FailsOpen(MaskSession):
    """On an error it shows what it held."""

    def _flush(self, end: End, /) -> str:
        return self._held


def test_held_text_shown_on_an_error_breaks_fail_closed() -> None:
    with pytest.raises(LawViolation) as caught:
        check_transformer(Mask(make=FailsOpen), TEXTS, laws=[Law.FAIL_CLOSED], undecided_on_error="drop")
    assert "".join(caught.value.chunks) == "key"


def test_held_text_may_be_shown_on_an_error_where_that_is_allowed() -> None:
    t = Mask(make=FailsOpen)
    check_transformer(t, TEXTS, laws=[Law.FAIL_CLOSED])


class FailsWider(MaskSession):
    """On an error it shows more than at a normal end."""

    def _flush(self, end: End, /) -> str:
        return self._held + "!" * (end is End.ERROR)


def test_more_shown_on_an_error_than_at_the_end_breaks_fail_closed() -> None:
    with pytest.raises(LawViolation, match="shown after an error"):
        check_transformer(Mask(make=FailsWider), TEXTS, laws=[Law.FAIL_CLOSED])


class Driven(Mask):
    """A transformer with a driver of its own."""

    def transform_sync(
        self,
        source: Iterable[str],
        /,
        *,
        end: End | Callable[[], End] = End.COMPLETE,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> Generator[str, None, None]:
        return self.drive(source, self.session())

    def drive(self, source: Iterable[str], session: Session) -> Generator[str, None, None]:
        raise NotImplementedError


class LeavesOpen(Driven):
    def drive(self, source: Iterable[str], session: Session) -> Generator[str, None, None]:
        for chunk in source:
            yield session.feed(chunk)
        yield session.flush()


class Closing(Driven):
    def drive(self, source: Iterable[str], session: Session) -> Generator[str, None, None]:
        try:
            yield from self.run(source, session)
        finally:
            source.close()  # type: ignore[attr-defined]

    def run(self, source: Iterable[str], session: Session) -> Iterator[str]:
        raise NotImplementedError


class Swallows(Closing):
    def run(self, source: Iterable[str], session: Session) -> Iterator[str]:
        try:
            yield from map(session.feed, source)
        except Exception:
            yield session.flush(End.ERROR)


class Replaces(Closing):
    def run(self, source: Iterable[str], session: Session) -> Iterator[str]:
        try:
            yield from map(session.feed, source)
        except Exception as error:
            raise type(error) from error


class Completes(Closing):
    def run(self, source: Iterable[str], session: Session) -> Iterator[str]:
        try:
            yield from filter(None, map(session.feed, source))
        finally:
            if tail := session.flush(End.COMPLETE):
                yield tail


class YieldsEmpty(Closing):
    def run(self, source: Iterable[str], session: Session) -> Iterator[str]:
        yield from map(session.feed, source)


class ClosesAtTheEnd(Driven):
    def drive(self, source: Iterable[str], session: Session) -> Generator[str, None, None]:
        try:
            yield from filter(None, map(session.feed, source))
        except Exception:
            source.close()  # type: ignore[attr-defined]
            raise


@pytest.mark.parametrize(
    ("t", "detail"),
    [
        (LeavesOpen(), "the source that failed stays open"),
        (Swallows(), "the error of the source did not come out"),
        (Replaces(), "another error"),
        (Completes(), "'k' was shown before the error"),
        (YieldsEmpty(), "an empty chunk"),
        (ClosesAtTheEnd(), "abandoned iteration"),
    ],
)
def test_a_driver_that_fails_open_is_caught(t: Transformer, detail: str) -> None:
    assert detail in broken(t, Law.FAIL_CLOSED, ["k", "abc"]).detail


# --- anybody's filter ------------------------------------------------------------------------


def per_chunk(chunks: Iterable[str]) -> Iterator[str]:
    for chunk in chunks:
        yield chunk.replace("key", "")


def buffered(chunks: Iterable[str]) -> Iterator[str]:
    yield "".join(chunks).replace("key", "")


def counts_chunks(chunks: Iterable[str]) -> Iterator[str]:
    yield str(len(list(chunks)))


def test_a_filter_that_waits_for_everything_is_safe() -> None:
    assert_stream_safe(buffered, "my key is here", "key")
    assert_stream_safe(Mask().transform_sync, "my key is here", ["key", "ke"])


def test_a_filter_of_single_chunks_leaks() -> None:
    with pytest.raises(LawViolation, match="'key' is shown in 'my key!'") as caught:
        assert_stream_safe(per_chunk, "my key!", "key")
    assert caught.value.law is Law.PREFIX_SAFETY
    assert caught.value.chunks == ("my k", "ey!")


def leaks_late(chunks: Iterable[str]) -> Iterator[str]:
    held = list(chunks)
    yield "key" if held.count("e") and held.count("k") else "*"


def test_the_chunks_of_a_leak_are_joined_as_far_as_it_leaks() -> None:
    with pytest.raises(LawViolation) as caught:
        assert_stream_safe(leaks_late, "my key is here", "key")
    assert caught.value.chunks == ("my ", "k", "e", "y is here")


def test_a_filter_that_never_removes_is_caught_at_once() -> None:
    with pytest.raises(LawViolation) as caught:
        assert_stream_safe(iter, "my key", ("lock", "key"))
    assert caught.value.chunks == ("my key",)


def test_a_filter_that_depends_on_the_cut_is_caught() -> None:
    with pytest.raises(LawViolation) as caught:
        assert_stream_safe(counts_chunks, "abc", "key")
    assert caught.value.law is Law.CHUNK_INVARIANCE
    assert len(caught.value.chunks) == 2


def test_an_empty_forbidden_string_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        assert_stream_safe(buffered, "text", ["key", ""])


async def per_chunk_async(chunks: AsyncIterable[str]) -> AsyncIterator[str]:
    async for chunk in chunks:
        yield chunk.replace("key", "")


@pytest.mark.anyio
async def test_asynchronous_filters_are_checked_alike() -> None:
    await assert_stream_safe_async(Mask().transform, "my key is here", "key")
    with pytest.raises(LawViolation) as caught:
        await assert_stream_safe_async(per_chunk_async, "my key!", "key")
    assert caught.value.chunks == ("my k", "ey!")


# --- cuts and strategies ---------------------------------------------------------------------


def test_every_cut_of_a_short_text() -> None:
    assert list(every_cut("ab")) == [
        ["ab"],
        ["", "ab"],
        ["a", "b"],
        ["ab", ""],
        ["a", "b"],
        ["", "a", "", "b", ""],
    ]


@given(st.text(max_size=30), st.integers(0, 1000))
def test_cuts_joined_are_the_text(text: str, seed: int) -> None:
    cuts = list(random_cuts(text, seed=seed, n=5))
    assert len(cuts) == 5
    assert {"".join(cut) for cut in (*cuts, *every_cut(text))} == {text}
    assert cuts == list(random_cuts(text, seed=seed, n=5))


def test_random_cuts_cut_finely_and_coarsely_with_empty_chunks() -> None:
    cuts = list(random_cuts("some longer text", n=50))
    assert min(map(len, cuts)) == 2
    assert max(map(len, cuts)) > 8
    assert any("" in cut for cut in cuts)


@given(cuts_of("some text"))
def test_drawn_cuts_joined_are_the_text(cut: list[str]) -> None:
    assert "".join(cut) == "some text"


@given(chunked(texts(["k", "ke", "y", "ey"], max_fragments=6)))
def test_drawn_texts_collide_with_the_pattern(chunks: list[str]) -> None:
    assert set("".join(chunks)) <= set("key")
    t = Mask()
    assert "".join(t.transform_sync(chunks)) == t.scrub("".join(chunks))


def test_the_kit_needs_no_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    check_transformer(Mask(), ["key"])
    with pytest.raises(ImportError):
        cuts_of("text")


# --- the documentation -----------------------------------------------------------------------

DOCS = Path(__file__).parents[1] / "docs" / "testing.md"


def test_the_snippets_of_the_documentation_run() -> None:
    namespace: dict[str, object] = {"__name__": "docs"}
    snippets = re.findall(
        r"^```python\n(.*?)^```", DOCS.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    for snippet in snippets:
        exec(compile(snippet, str(DOCS), "exec"), namespace)  # noqa: S102
    tests = [value for name, value in namespace.items() if name.startswith("test_") and callable(value)]
    assert tests
    for test in tests:
        test()
