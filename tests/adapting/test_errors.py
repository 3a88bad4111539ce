"""Errors that quote the text of a model."""

from __future__ import annotations

import json
import traceback
from typing import Annotated, Any

import pydantic
import pytest

from streamguard import FenceScrubber, Redactor, StreamGuardError
from streamguard.adapting import ErrorGuard, guard_error, guard_events, guard_events_sync

httpx = pytest.importorskip("httpx")

TOKEN = "ghp_" + "aB3dEf6hIj9kLm2nOp5q" + "Rs8tUv1wXy4zAb3d"
GUARD = FenceScrubber("think") | Redactor()
BODY = {"error": {"message": f"bad {TOKEN}\nx", "code": 7, "more": [f"<think>a</think>{TOKEN}"]}}


class APIError(Exception):
    """As SDKs write them: arguments other than those of the class, a body, a response."""

    def __init__(self, message: str, *, response: Any, body: Any) -> None:
        super().__init__(message)
        self.message = message
        self.response = response
        self.body = body
        self.status_code = 400


def failed(body: Any = BODY) -> APIError:
    response = httpx.Response(400, json=body, request=httpx.Request("POST", "http://x"))
    return APIError(f"Error code: 400 - {body}", response=response, body=body)


def raised(error: Exception, cause: Exception | None = None) -> Exception:
    try:
        try:
            raise cause or KeyError("other")
        except Exception:
            raise error  # noqa: B904 - the first is to be its context
    except Exception as caught:
        return caught


def shown(error: BaseException) -> str:
    everything = [str(error), repr(error), repr(vars(error)), *traceback.format_exception(error)]
    link: Any = error
    while link is not None:
        everything += [repr(link), repr(vars(link)), repr(getattr(link, "args", ()))]
        response = getattr(link, "response", None)
        everything.append("" if response is None else response.text)
        link = link.__cause__ or link.__context__
    return "\n".join(everything)


def test_an_error_that_quotes_gives_way_to_one_of_its_class() -> None:
    error = raised(failed())
    made: Any = guard_error(error, GUARD)
    assert type(made) is APIError
    assert TOKEN in shown(error)
    assert TOKEN not in shown(made)
    assert "<think>" not in shown(made)
    assert made.status_code == 400
    assert made.body["error"]["code"] == 7
    assert made.message == str(made) == f"Error code: 400 - {made.body}"
    assert made.response.status_code == 400
    assert made.response.json() == made.body
    assert (made.__cause__, made.__context__, made.__traceback__) == (None, None, None)


def test_an_error_that_quotes_nothing_is_left_alone() -> None:
    for error in (failed({"error": {"message": "busy <"}}), KeyError("x"), StreamGuardError(TOKEN)):
        assert guard_error(error, GUARD) is error
    error = failed({"error": {}})
    error.response = httpx.Response(200, stream=iter(()))  # a stream that was never read
    assert guard_error(error, GUARD) is error


def test_what_an_error_was_raised_from_counts() -> None:
    plain = APIError("failed", response=None, body=None)
    made = guard_error(raised(plain, json.JSONDecodeError("Expecting value", TOKEN, 0)), GUARD)
    assert type(made) is APIError
    assert str(made) == "failed"
    assert TOKEN not in shown(made)


def test_errors_of_the_language_keep_their_attributes() -> None:
    broken = json.JSONDecodeError("Expecting value", f'{{"a": {TOKEN}', 6)
    broken.add_note(f"in {TOKEN}")
    made: Any = guard_error(broken, GUARD)
    assert type(made) is json.JSONDecodeError
    assert made.pos == 6
    assert TOKEN not in shown(made)
    assert "REDACTED" in made.doc
    assert TOKEN not in str(guard_error(OSError(5, f"bad {TOKEN}"), GUARD))


def test_what_cannot_be_made_again_keeps_its_class() -> None:
    class StubbornError(Exception):
        """Says what it has been told to, whatever becomes of its arguments."""

        code = 4

        def __str__(self) -> str:
            return f"bad {TOKEN}"

    assert str(guard_error(StubbornError(), GUARD)) == "StubbornError: (withheld)"

    class LockedError(Exception):
        """Keeps its text where nobody looks."""

        def __init__(self) -> None:
            super().__init__()
            self.status, self.body, self._told = 5, {"a": TOKEN}, {TOKEN}

        def __str__(self) -> str:
            return next(iter(getattr(self, "_told", {"(withheld)"})))

    made: Any = guard_error(LockedError(), GUARD)
    assert type(made) is LockedError
    assert made.status == 5
    assert TOKEN not in shown(made)


def test_a_group_is_made_again_of_guarded_errors() -> None:
    class Answer(pydantic.BaseModel):
        n: int

    with pytest.raises(pydantic.ValidationError) as caught:
        Answer.model_validate({"n": TOKEN})
    group = ExceptionGroup(f"bad {TOKEN}", [caught.value, ExceptionGroup("more", [failed(), KeyError("x")])])
    group.add_note(f"in {TOKEN}")
    made: Any = guard_error(raised(group), GUARD)
    assert [type(each) for each in made.exceptions] == [pydantic.ValidationError, ExceptionGroup]
    assert [type(each) for each in made.exceptions[1].exceptions] == [APIError, KeyError]
    assert TOKEN not in shown(made)
    assert all(TOKEN not in shown(each) for each in (*made.exceptions, *made.exceptions[1].exceptions))
    assert TOKEN not in repr(made.exceptions[0].errors())
    plain = ExceptionGroup("two", [KeyError("x"), ValueError("y")])
    assert guard_error(plain, GUARD) is plain


def test_a_response_of_another_kind_is_left_out() -> None:
    class Response:
        content = json.dumps(BODY).encode()

    made: Any = guard_error(APIError("x", response=Response(), body=BODY), GUARD)
    assert made.response is None


def test_a_validation_error_quotes_nothing() -> None:
    class Answer(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid")
        n: int
        word: str = ""

        @pydantic.field_validator("word")
        @classmethod
        def check(cls, word: str) -> str:
            raise ValueError(f"not {word}")

    def of(text: str) -> Any:
        with pytest.raises(pydantic.ValidationError) as caught:
            Answer.model_validate_json(text)
        return guard_error(caught.value, GUARD)

    made = of(json.dumps({"n": TOKEN, "word": TOKEN, TOKEN: 1}))
    assert type(made) is pydantic.ValidationError
    assert TOKEN not in str(made)
    assert TOKEN not in repr(made.errors())
    assert [line["loc"][0] for line in made.errors()][:2] == ["n", "word"]
    assert made.__context__ is None


def test_a_validation_error_of_the_applications_own_kind() -> None:
    from pydantic_core import PydanticCustomError

    def check(value: Any) -> Any:
        raise PydanticCustomError("own", "bad {word}", {"word": value})

    own: Any = pydantic.TypeAdapter(Annotated[str, pydantic.AfterValidator(check)])
    with pytest.raises(pydantic.ValidationError) as caught:
        own.validate_python(TOKEN)
    made = guard_error(caught.value, GUARD)
    assert type(made) is pydantic.ValidationError
    assert TOKEN not in str(made)


def test_a_context_raises_the_guarded_error_alone() -> None:
    with pytest.raises(APIError) as caught, ErrorGuard(GUARD):
        raise failed() from ValueError(TOKEN)
    assert TOKEN not in shown(caught.value)
    assert caught.value.__context__ is caught.value.__cause__ is None
    plain = KeyError("x")
    with pytest.raises(KeyError) as same, ErrorGuard(GUARD):
        raise plain
    assert same.value is plain
    with ErrorGuard(GUARD):
        pass
    with pytest.raises(KeyboardInterrupt), ErrorGuard(GUARD):
        raise KeyboardInterrupt


class Adapter:
    def event(self, event: str, /) -> list[str]:
        return [event]

    def end(self, end: object, /) -> list[str]:
        return ["end"]


def test_errors_of_a_stream_are_guarded() -> None:
    def source() -> Any:
        yield "a"
        raise failed() from ValueError(TOKEN)

    seen: list[str] = []
    with pytest.raises(APIError) as caught:
        seen.extend(guard_events_sync(source(), Adapter(), on_error=ErrorGuard(GUARD)))
    assert TOKEN not in shown(caught.value)
    assert caught.value.__context__ is caught.value.__cause__ is None


@pytest.mark.anyio
async def test_errors_of_an_asynchronous_stream_are_guarded() -> None:
    async def source() -> Any:
        yield "a"
        raise failed() from ValueError(TOKEN)

    seen: list[str] = []
    with pytest.raises(APIError) as caught:  # noqa: PT012 - the loop is what raises
        async for event in guard_events(source(), Adapter(), on_error=ErrorGuard(GUARD)):
            seen.append(event)
    assert seen == ["a", "end"]
    assert TOKEN not in shown(caught.value)
    assert caught.value.__context__ is caught.value.__cause__ is None


def test_a_guard_that_raises_withholds() -> None:
    guard = FenceScrubber("think", max_block=2, on_limit="raise")
    made: Any = guard_error(failed({"m": "<think>too long"}), guard)
    assert type(made) is APIError
    assert "too long" not in shown(made)
