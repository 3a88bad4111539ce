"""The contract: sessions are used once, pipelines chain without I/O, settings stay settings."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from streamguard import (
    Bound,
    End,
    Finding,
    LimitExceededError,
    PatternError,
    Pipeline,
    Session,
    StreamClosedError,
    StreamGuardError,
    Transformer,
)
from streamguard.session import FindingHandler, HiddenHandler


class HoldSession(Session):
    """Holds the last character; at the end it shows it, its name and the reason."""

    __slots__ = ("_fed", "_held", "_name")

    def __init__(self, name: str, fed: list[str]) -> None:
        super().__init__()
        self._name = name
        self._held = ""
        self._fed = fed

    @property
    def pending(self) -> int:
        return len(self._held)

    def _feed(self, text: str, /) -> str:
        self._fed.append(text)
        if text == "limit":
            raise LimitExceededError("hold", self._name, 4)
        text = self._held + text
        self._held = text[-1:]
        return text[:-1]

    def _flush(self, end: End, /) -> str:
        if end is End.TRUNCATED:
            raise LimitExceededError("hold", self._name, 5)
        return f"{self._held}[{self._name} {end.value}]"


@dataclass(frozen=True)
class Hold(Transformer):
    name: str = "a"
    fed: list[str] = dataclasses.field(default_factory=list, compare=False)

    def session(
        self, *, on_finding: FindingHandler | None = None, on_hidden: HiddenHandler | None = None
    ) -> Session:
        if on_finding:
            on_finding(Finding("hold", self.name, "made", 0, 0))
        if on_hidden:
            on_hidden(self.name, "made")
        return HoldSession(self.name, self.fed)

    def bounds(self) -> tuple[Bound, ...]:
        return (Bound("hold", self.name, 1),)


# --- sessions --------------------------------------------------------------------------------


def test_a_session_returns_what_is_safe_and_counts_what_it_holds() -> None:
    session = Hold().session()
    assert session.pending == 0
    assert session.feed("xyz") == "xy"
    assert session.pending == 1
    assert session.feed("") == ""
    assert session.flush(End.TOOL_CALL) == "z[a tool_call]"


def test_flush_ends_a_complete_stream_by_default() -> None:
    assert Hold().session().flush() == "[a complete]"


@pytest.mark.parametrize("t", [Hold(), Hold() | Hold("b"), Pipeline()], ids=["stage", "two", "none"])
def test_a_flushed_session_refuses_everything(t: Transformer) -> None:
    session = t.session()
    session.feed("xyz")
    session.flush()
    for _ in range(2):
        with pytest.raises(StreamClosedError, match="feed"):
            session.feed("more")
        with pytest.raises(StreamClosedError, match="flush"):
            session.flush()


@pytest.mark.parametrize("chunk", [b"bytes", None, 1, ["x"], bytearray(b"x")], ids=repr)
@pytest.mark.parametrize("t", [Hold(), Hold() | Hold("b"), Pipeline()], ids=["stage", "two", "none"])
def test_a_chunk_that_is_no_text_ends_the_session(t: Transformer, chunk: Any) -> None:
    session = t.session()
    with pytest.raises(TypeError, match=f"must be str, not {type(chunk).__name__}"):
        session.feed(chunk)
    with pytest.raises(StreamClosedError):
        session.feed("text")
    with pytest.raises(StreamClosedError):
        session.flush()


@pytest.mark.parametrize("t", [Hold(), Hold() | Hold("b")], ids=["stage", "two"])
def test_a_session_that_raised_refuses_everything(t: Transformer) -> None:
    session = t.session()
    with pytest.raises(LimitExceededError):
        session.feed("limit")
    with pytest.raises(StreamClosedError):
        session.feed("text")
    with pytest.raises(StreamClosedError):
        session.flush()


@pytest.mark.parametrize("t", [Hold(), Hold() | Hold("b")], ids=["stage", "two"])
def test_a_flush_that_raised_is_not_repeated(t: Transformer) -> None:
    session = t.session()
    with pytest.raises(LimitExceededError):
        session.flush(End.TRUNCATED)
    with pytest.raises(StreamClosedError):
        session.flush()


def test_an_interrupted_feed_ends_the_session() -> None:
    class Interrupted(HoldSession):
        def _feed(self, text: str, /) -> str:
            raise KeyboardInterrupt

    session = Interrupted("a", [])
    with pytest.raises(KeyboardInterrupt):
        session.feed("x")
    with pytest.raises(StreamClosedError):
        session.flush()


def test_a_subclass_of_str_is_text() -> None:
    class Token(str):
        __slots__ = ()

    assert Hold().session().feed(Token("xy")) == "x"


def test_sessions_of_one_transformer_are_apart() -> None:
    one, other = Hold().session(), Hold().session()
    assert (one.feed("ab"), other.feed("cd"), one.feed("e"), other.feed("f")) == ("a", "c", "b", "d")


# --- pipelines -------------------------------------------------------------------------------


def test_pipelines_are_flattened() -> None:
    a, b, c = Hold("a"), Hold("b"), Hold("c")
    for pipeline in (
        (a | b) | c,
        a | (b | c),
        Pipeline(a, Pipeline(Pipeline(), b), c),
        Pipeline() | a | b | c,
    ):
        assert isinstance(pipeline, Pipeline)
        assert pipeline.stages == (a, b, c)


def test_pipelines_are_compared_by_their_stages() -> None:
    assert Hold("a") | Hold("b") == Pipeline(Hold("a"), Hold("b"))
    assert Hold("a") | Hold("b") != Hold("b") | Hold("a")
    assert hash(Hold("a") | Hold("b")) == hash(Pipeline(Hold("a"), Hold("b")))
    assert len({Pipeline(), Pipeline(Pipeline()), Pipeline(Hold())}) == 2
    assert Pipeline(Hold()) != Hold()


def test_a_pipeline_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Pipeline().stages = ()  # type: ignore[misc]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy], ids=["copy", "deepcopy"])
def test_a_copy_of_a_pipeline_is_equal(duplicate: Callable[[Pipeline], Pipeline]) -> None:
    assert duplicate(Hold("a") | Hold("b")) == Hold("a") | Hold("b")


def test_a_pipeline_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Pipeline())) == Pipeline()  # noqa: S301


@pytest.mark.parametrize("other", [None, "text", Hold, len])
def test_only_transformers_are_stages(other: Any) -> None:
    with pytest.raises(TypeError, match=f"must be a Transformer, not {type(other).__name__}"):
        Pipeline(Hold(), other)
    with pytest.raises(TypeError):
        Hold() | other
    with pytest.raises(TypeError):
        other | Hold()


def test_each_stage_is_fed_what_the_one_before_lets_through() -> None:
    a, b = Hold("a"), Hold("b")
    session = (a | b).session()
    assert session.feed("wxyz") == "wx"
    assert session.pending == 2
    assert (a.fed, b.fed) == (["wxyz"], ["wxy"])


def test_the_tail_of_each_stage_goes_through_the_later_ones() -> None:
    session = (Hold("a") | Hold("b") | Hold("c")).session()
    assert session.feed("wxyz") == "w"
    assert session.flush(End.ERROR) == "xyz[a error][b error][c error]"


def test_the_tail_a_stage_adds_is_held_and_shown_by_the_next() -> None:
    a, b = Hold("a"), Hold("b")
    assert (a | b).scrub("") == "[a complete][b complete]"
    assert b.fed == ["[a complete]"]


def test_a_later_stage_is_not_called_for_nothing() -> None:
    a, b = Hold("a"), Hold("b")
    session = (a | b).session()
    assert session.feed("x") == ""
    assert session.feed("") == ""
    assert b.fed == []


def test_an_empty_pipeline_lets_everything_through() -> None:
    t = Pipeline()
    session = t.session()
    assert session.feed("text") == "text"
    assert (session.pending, session.flush(), t.bounds()) == (0, "", ())


def test_the_bounds_of_a_pipeline_are_those_of_its_stages() -> None:
    assert (Hold("a") | Hold("b")).bounds() == (Bound("hold", "a", 1), Bound("hold", "b", 1))


def test_every_stage_gets_the_handlers() -> None:
    findings: list[Finding] = []
    hidden: list[tuple[str, str]] = []
    t = Hold("a") | Hold("b")
    t.session(on_finding=findings.append, on_hidden=lambda *piece: hidden.append(piece))
    assert [finding.rule for finding in findings] == ["a", "b"]
    assert hidden == [("a", "made"), ("b", "made")]


# --- scrub, transform, transform_sync --------------------------------------------------------


def test_scrub_is_the_whole_stream() -> None:
    assert Hold().scrub("text") == "text[a complete]"
    assert Hold().scrub("text", end=End.ERROR) == "text[a error]"


def test_every_way_in_hands_on_the_handlers() -> None:
    findings: list[Finding] = []
    hidden: list[str] = []

    def on_hidden(name: str, text: str) -> None:
        hidden.append(text)

    t = Hold()
    t.scrub("", on_finding=findings.append, on_hidden=on_hidden)
    t.transform_sync([], on_finding=findings.append, on_hidden=on_hidden)
    t.transform(tokens(), on_finding=findings.append, on_hidden=on_hidden)
    assert len(findings) == len(hidden) == 3


async def collect(stream: AsyncIterable[str], output: list[str]) -> None:
    async for text in stream:
        output.append(text)


async def tokens(*chunks: str) -> AsyncIterator[str]:
    for chunk in chunks:
        yield chunk


@pytest.mark.anyio
async def test_transform_guards_an_asynchronous_stream() -> None:
    output = [text async for text in Hold().transform(tokens("a", "", "b", "cd"), end=End.TOOL_CALL)]
    assert output == ["a", "bc", "d[a tool_call]"]


def test_transform_sync_guards_any_iterable() -> None:
    t = Hold()
    assert list(t.transform_sync(["a", "", "b", "cd"])) == ["a", "bc", "d[a complete]"]
    assert "".join(t.transform_sync("abcd", end=End.ERROR)) == "abcd[a error]"


@pytest.mark.anyio
async def test_the_end_is_asked_for_once_the_stream_has_ended() -> None:
    asked: list[int] = []
    drawn = 0

    async def source() -> AsyncIterator[str]:
        nonlocal drawn
        for chunk in ("x", "y"):
            drawn += 1
            yield chunk

    def end() -> End:
        asked.append(drawn)
        return End.TOOL_CALL

    assert [text async for text in Hold().transform(source(), end=end)] == ["x", "y[a tool_call]"]
    assert asked == [2]
    assert list(Hold().transform_sync(iter("x"), end=end)) == ["x[a tool_call]"]
    assert asked == [2, 2]


def failing() -> Iterator[str]:
    yield "xy"
    raise ConnectionError


def test_a_source_that_fails_ends_in_error_whatever_end_says() -> None:
    for end in (End.COMPLETE, lambda: pytest.fail("asked for the end of a stream that failed")):
        output: list[str] = []
        with pytest.raises(ConnectionError):
            output.extend(Hold().transform_sync(failing(), end=end))
        assert output == ["x", "y[a error]"]


@pytest.mark.anyio
async def test_an_asynchronous_source_that_fails_ends_in_error() -> None:
    async def source() -> AsyncIterator[str]:
        for chunk in failing():
            yield chunk

    output: list[str] = []
    with pytest.raises(ConnectionError):
        await collect(Hold().transform(source()), output)
    assert output == ["x", "y[a error]"]


@pytest.mark.parametrize("source", [None, 5, ["x"], "text", iter("x")], ids=lambda one: type(one).__name__)
def test_transform_refuses_at_once_what_is_not_asynchronous(source: Any) -> None:
    with pytest.raises(TypeError, match=rf"not {type(source).__name__}; see transform_sync"):
        Hold().transform(source)


@pytest.mark.parametrize("source", [None, 5, tokens("x")], ids=["None", "5", "async generator"])
def test_transform_sync_refuses_at_once_what_is_asynchronous(source: Any) -> None:
    with pytest.raises(TypeError, match=rf"not {type(source).__name__}; see transform\(\)"):
        Hold().transform_sync(source)


@pytest.mark.anyio
async def test_a_chunk_that_is_no_text_ends_the_stream() -> None:
    async def source() -> AsyncIterator[Any]:
        for chunk in ("xy", b"z"):
            yield chunk

    output: list[str] = []
    with pytest.raises(TypeError, match="must be str, not bytes"):
        output.extend(Hold().transform_sync(iter(["xy", b"z"])))  # type: ignore[list-item]
    assert output == ["x"]
    with pytest.raises(TypeError, match="must be str, not bytes"):
        await collect(Hold().transform(source()), output)
    assert output == ["x", "x"]


def test_a_limit_shows_nothing_that_was_held() -> None:
    output: list[str] = []
    with pytest.raises(LimitExceededError):
        output.extend(Hold().transform_sync(["xy", "limit", "z"]))
    assert output == ["x"]


# --- values and errors -----------------------------------------------------------------------


def test_the_ways_to_end() -> None:
    assert [end.value for end in End] == ["complete", "tool_call", "truncated", "error"]


def test_a_finding_says_where_and_never_what() -> None:
    names = [field.name for field in dataclasses.fields(Finding)]
    assert names == ["stage", "rule", "action", "offset", "length"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        Finding("stage", "rule", "hidden", 0, 1).offset = 2  # type: ignore[misc]


def test_a_bound_tells_how_much_and_what_then() -> None:
    assert str(Bound("redactor", "aws", 20)) == "redactor/aws: 20 characters"
    assert str(Bound("fence", "think", 64, "dropped")) == "fence/think: 64 characters, unbounded: dropped"


def test_errors_carry_data_and_share_a_base() -> None:
    error = LimitExceededError("fence", "think", 100)
    assert (error.stage, error.rule, error.limit) == ("fence", "think", 100)
    assert str(error) == "fence: a 'think' block is longer than 100 characters"
    assert issubclass(PatternError, ValueError)
    for kind in (StreamClosedError, LimitExceededError, PatternError):
        assert issubclass(kind, StreamGuardError)


def test_errors_of_a_session_do_not_show_the_text() -> None:
    session = Hold().session()
    with pytest.raises(TypeError) as refused:
        session.feed(b"a secret")  # type: ignore[arg-type]
    with pytest.raises(StreamClosedError) as closed:
        session.feed("a secret")
    assert "secret" not in str(refused.value) + str(closed.value)


def test_what_is_abstract_cannot_be_made() -> None:
    for kind in (Session, Transformer):
        with pytest.raises(TypeError):
            kind()  # type: ignore[abstract]
