"""Errors of a model say nothing that the guard takes out, wherever an error may keep it."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk
from langchain_core.output_parsers import StrOutputParser
from pydantic import BaseModel, Field, ValidationError
from streamguard_langchain import GuardedCallbackHandler, GuardedModelError, guard_model, guard_runnable

from .paths import Listener, leaks
from .sources import GUARD, TEXT, Fake, chat_completion, openai_model, pieces


class Answer(BaseModel):
    """An answer."""

    note: str
    number: int


class Failing(Fake):
    """Fails with an error of its own, at once or behind its first chunk."""

    error: Any = Field(default=None, repr=False)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        raise self.error

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        yield from Fake(chunks=[AIMessageChunk(content="Hello ")])._stream(messages)
        raise self.error


LONG = json.dumps({"note": "a" * 60 + f" password: {'canarysecret77'} " + "b" * 60})


def unfit() -> Exception:
    with pytest.raises(ValidationError) as caught:
        Answer.model_validate_json(LONG)
    return caught.value


def quoting() -> Exception:
    try:
        json.loads(TEXT)
    except ValueError:
        return caused(ValueError("unreadable"), unfit())
    raise AssertionError


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def with_bytes() -> Exception:
    error = ConnectionError("gone")
    vars(error).update(body=TEXT.encode(), parts=[bytearray(TEXT.encode())])
    return error


ERRORS: dict[str, Callable[[], Exception]] = {
    "validation": unfit,
    "caused by validation": quoting,
    "validation in a group": lambda: ExceptionGroup("two", [unfit(), KeyError("x")]),
    "bytes": with_bytes,
    "not to be decoded": lambda: UnicodeDecodeError("utf-8", TEXT.encode(), 3, 4, "bad"),
    "not to be read": lambda: SyntaxError("bad", ("file", 1, 1, TEXT)),
}
WAYS: dict[str, Callable[[Any], Any]] = {
    "invoke": lambda model: model.invoke("x"),
    "stream": lambda model: list(model.stream("x")),
    "ainvoke": lambda model: asyncio.run(model.ainvoke("x")),
    "structured": lambda model: list((model | StrOutputParser()).stream("x")),
}


def told(error: BaseException) -> list[str]:
    """Everything an error says, its frames included."""
    whole = traceback.TracebackException.from_exception(error, capture_locals=True)
    said = [str(error), repr(error), repr(vars(error)), repr(error.args), "".join(whole.format())]
    said += [repr(getattr(error, name, None)) for name in ("object", "text", "doc")]
    if isinstance(error, ValidationError):
        said += [repr(error.errors()), error.json()]
    links = [error.__cause__, error.__context__, *getattr(error, "exceptions", ())]
    return said + [text for link in links if link is not None for text in told(link)]


def raised(way: str, model: Any) -> list[str]:
    try:
        WAYS[way](model)
    except Exception as error:
        return told(error)
    raise AssertionError


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("error", ERRORS)
def test_an_error_says_nothing_of_the_answer_anywhere(error: str, way: str) -> None:
    assert "canarysecret" in leaks(raised(way, Failing(error=ERRORS[error]())))
    assert leaks(raised(way, guard_model(Failing(error=ERRORS[error]()), GUARD))) == set()


def test_a_validation_error_stays_one_and_says_what_did_not_fit() -> None:
    with pytest.raises(ValidationError) as caught:
        guard_model(Failing(error=unfit()), GUARD).invoke("x")
    (line,) = caught.value.errors()
    assert (line["loc"], line["type"], line["input"]) == (("number",), "missing", None)


def test_a_structured_output_that_does_not_fit_is_not_quoted() -> None:
    def answer(request: dict[str, Any]) -> Any:
        made = chat_completion({})
        made["choices"][0]["message"] = {"role": "assistant", "content": LONG}
        if not request.get("stream"):
            return made
        head = {"id": "c", "created": 1, "model": "gpt-test", "object": "chat.completion.chunk"}
        deltas = [{"role": "assistant", "content": piece} for piece in pieces(LONG)]
        ends = [None] * len(deltas) + ["stop"]
        chunks = [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
            for delta, end in zip([*deltas, {}], ends, strict=True)
        ]
        return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode() + b"data: [DONE]\n\n"

    def made(wrap: Callable[[Any], Any]) -> Any:
        return wrap(openai_model(answer)).with_structured_output(Answer, method="json_schema")

    for way in ("invoke", "stream"):
        assert "canarysecret" in leaks(raised(way, made(lambda model: model)))
        assert leaks(raised(way, made(lambda model: guard_model(model, GUARD)))) == set()


def test_a_handler_and_a_chain_are_told_no_more() -> None:
    listener = Listener()
    with pytest.raises(ValidationError):
        Failing(error=unfit()).invoke("x", {"callbacks": [GuardedCallbackHandler(listener, GUARD)]})
    errors = [part for part in everything(listener.seen) if isinstance(part, ValidationError)]
    assert errors
    assert leaks([text for error in errors for text in told(error)]) == set()
    with pytest.raises(ValidationError) as caught:
        list((Failing(error=unfit()) | StrOutputParser() | guard_runnable(GUARD)).stream("x"))
    assert leaks([repr(caught.value.errors()), str(caught.value)]) == set()


def everything(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [part for item in value.values() for part in everything(item)]
    if isinstance(value, list | tuple):
        return [part for item in value for part in everything(item)]
    return [value]


def test_an_error_that_cannot_be_copied_is_replaced() -> None:
    with pytest.raises(GuardedModelError, match="UnicodeDecodeError") as caught:
        guard_model(Failing(error=ERRORS["not to be decoded"]()), GUARD).invoke("x")
    assert caught.value.error_type == "UnicodeDecodeError"
