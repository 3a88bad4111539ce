"""Errors of an SDK that quote the text of a model.

An SDK puts what the provider sent into the message of its error, its attributes and the
response it carries, and raises it from others that do the same. So an error that says anything
the guard takes out gives way to another of its class, which stands alone: it has neither the
traceback, whose frames hold the first, nor what that was raised from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import TracebackType
from typing import Any, cast

from streamguard.adapting.objects import guard_object
from streamguard.session import FindingHandler, StreamGuardError, Transformer

__all__ = ["ErrorGuard", "guard_error"]

_WITHHELD = "(withheld)"
_ENCODED = frozenset({"content-encoding", "content-length", "transfer-encoding"})  # of the body as it came


def guard_error(
    error: Exception, guard: Transformer, /, *, on_finding: FindingHandler | None = None
) -> Exception:
    """Guard an error: its texts, its attributes leaf by leaf, the body of the response it carries.

    Args:
        error: whatever was raised; it is not changed.
        guard: what each text goes through. Where it raises, the text is withheld.
        on_finding: called with each finding.

    Returns:
        The error itself if neither it nor those it was raised from say anything the guard takes
        out, else an error of the same class, not raised yet. pydantic's `ValidationError`, which
        quotes what did not fit, always comes back without that. A group is made again of guarded errors.
    """
    if isinstance(error, StreamGuardError):
        return error
    if _is_validation(error):
        return _without_input(error, guard)
    if not any(_speaks(link, guard) for link in _chain(error)):
        return error
    return _Made(guard, on_finding).of(error)


class ErrorGuard:
    """A context in which errors are guarded: `with ErrorGuard(guard): client.create(...)`."""

    __slots__ = ("_guard", "_on_finding")

    def __init__(self, guard: Transformer, /, *, on_finding: FindingHandler | None = None) -> None:
        """Make a context; it may be entered any number of times, and stands for one guard.

        Args:
            guard: what each text of an error goes through.
            on_finding: called with each finding.
        """
        self._guard = guard
        self._on_finding = on_finding

    def __call__(self, error: Exception, /) -> Exception:
        """Guard an error, as `guard_error` does."""
        return guard_error(error, self._guard, on_finding=self._on_finding)

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not isinstance(error, Exception):
            return
        made = self(error)
        if made is error:
            return
        try:
            raise made
        finally:
            made.__context__ = None  # it is the error itself, which is being handled


def _chain(error: BaseException) -> list[BaseException]:
    """The error and all it was raised from or while handling."""
    chain: list[BaseException] = []
    todo: list[BaseException | None] = [error]
    while todo:
        link = todo.pop()
        if link is not None and not any(link is known for known in chain):
            chain.append(link)
            todo += (link.__cause__, link.__context__, *_inside(link))
    return chain


def _inside(error: BaseException) -> tuple[BaseException, ...]:
    """The errors of a group."""
    inside: Any = getattr(error, "exceptions", ())
    return inside if isinstance(error, BaseExceptionGroup) else ()


def _speaks(error: BaseException, guard: Transformer) -> bool:
    """Tell whether an error says what the guard takes out."""
    if _is_validation(error):
        return True
    try:
        texts = [str(error), *_notes(error)]
        body = _body(vars(error).get("response"))
        values = (error.args, dict(_values(error)), _parsed(body))
        return any(guard.scrub(text) != text for text in texts) or any(
            guard_object(value, guard) is not value for value in values
        )
    except Exception:  # also of the guard
        return True


class _Made:
    """Makes errors again, of what the guard lets through."""

    def __init__(self, guard: Transformer, on_finding: FindingHandler | None) -> None:
        self._guard = guard
        self._on_finding = on_finding
        self._pairs: list[tuple[str, str]] = []

    def of(self, error: Exception) -> Exception:
        if _inside(error):
            return self._group(error)
        attributes = dict(vars(error))
        for name, value in _values(error):
            if isinstance(value, str):
                continue
            attributes[name] = safe = self._object(value)
            if safe is not value:
                # Messages that print a body are to say what is left of it.
                self._pairs.append((str(value), str(safe)))
        for name, value in _values(error):
            if isinstance(value, str):
                attributes[name] = self._object({name: self._replaced(value)}, report=False)[name]
        if "response" in attributes:
            attributes["response"] = self._response(attributes["response"])
        if "__notes__" in attributes:
            attributes["__notes__"] = [self._text(note) for note in _notes(error)]
        args = tuple(
            self._text(part) if isinstance(part, str) else self._object(part, report=False)
            for part in error.args
        )
        kind = type(error)
        try:
            made: Exception = kind.__new__(kind, *args)
            made.args = args
            vars(made).update(attributes)
            if _speaks(made, self._guard):
                raise ValueError  # it keeps its text elsewhere
        except Exception:
            return _withheld(error, self._guard)
        return made

    def _group(self, group: Any) -> Exception:
        """Make a group again, of a plain kind: what one of another kind has besides may be anything."""
        inside = [guard_error(each, self._guard, on_finding=self._on_finding) for each in group.exceptions]
        made = ExceptionGroup(self._text(group.message), inside)
        for note in _notes(group):
            made.add_note(self._text(note))
        return made

    def _replaced(self, text: str) -> str:
        for old, new in self._pairs:
            text = text.replace(old, new)
        return text

    def _text(self, text: str) -> str:
        try:
            return self._guard.scrub(self._replaced(text))
        except StreamGuardError:
            return _WITHHELD

    def _object(self, value: Any, *, report: bool = True) -> Any:
        try:
            return guard_object(value, self._guard, on_finding=self._on_finding if report else None)
        except (StreamGuardError, RecursionError):
            return None

    def _response(self, response: Any) -> Any:
        """Make the response again with a guarded body; `None` where that cannot be done."""
        try:
            body = _body(response)
            if body is None:
                return response if _is_unread(response) else None
            safe = self._object(parsed := _parsed(body), report=False)
            if safe is parsed:
                return response
            text = safe if isinstance(safe, str) else json.dumps(safe, ensure_ascii=False)
            headers = [
                (name, value) for name, value in response.headers.multi_items() if name not in _ENCODED
            ]
            return type(response)(
                response.status_code,
                headers=headers,
                content=text.encode("utf-8", "replace"),
                request=response.request,
            )
        except Exception:
            return None


def _values(error: BaseException) -> Iterator[tuple[str, Any]]:
    """The attributes that are data. Requests, responses and clients are not gone through."""
    for name, value in vars(error).items():
        model = callable(getattr(value.__class__, "model_copy", None))
        if name != "__notes__" and (model or isinstance(value, str | dict | list | tuple)):
            yield name, value


def _notes(error: BaseException) -> list[str]:
    return [str(note) for note in getattr(error, "__notes__", ())]


def _body(response: Any) -> bytes | None:
    """The body of a response, if it is there."""
    try:
        body = response.content
    except Exception:  # it was streamed, or was never read
        return None
    return body if isinstance(body, bytes) else None


def _is_unread(response: Any) -> bool:
    """Tell whether there is no response, or one whose body is not kept."""
    if response is None:
        return True
    try:
        response.content  # noqa: B018 - reading it is what fails
    except Exception:
        return True
    return False


def _parsed(body: bytes | None) -> Any:
    if body is None:
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")


def _withheld(error: Exception, guard: Transformer) -> Exception:
    """Make an error of a class that cannot be made of what it had: all but its numbers is left out."""
    kind = type(error)
    try:
        made: Exception = kind.__new__(kind, _WITHHELD)
        made.args = (_WITHHELD,)
        vars(made).update({name: value for name, value in vars(error).items() if isinstance(value, int)})
        if not _speaks(made, guard):
            return made
    except Exception:  # noqa: S110 - then it is an error of another class
        pass
    return RuntimeError(f"{kind.__name__}: {_WITHHELD}")


def _is_validation(error: BaseException) -> bool:
    return callable(getattr(type(error), "from_exception_data", None)) and callable(
        getattr(error, "errors", None)
    )


def _without_input(error: Exception, guard: Transformer) -> Exception:
    """Make pydantic's `ValidationError` again, without what did not fit."""
    told = cast("Any", error)
    safe = _Made(guard, None)
    title = str(getattr(error, "title", "response"))
    lines: list[Any] = []
    try:
        for line in told.errors(include_url=False, include_input=False):
            place = tuple(safe._text(part) if isinstance(part, str) else part for part in line["loc"])
            context = {
                name: safe._text(str(value)) if isinstance(value, Exception) else safe._object(value)
                for name, value in line.get("ctx", {}).items()
            }
            lines.append({"type": line["type"], "loc": place, "ctx": context, "input": None})
        try:
            return cast("Exception", told.from_exception_data(title, lines, hide_input=True))
        except (KeyError, TypeError, ValueError):  # a kind of error that the application has made up
            context = {"error": "the answer does not fit its format"}
            for line in lines:
                line |= {"type": "value_error", "ctx": context}
            return cast("Exception", told.from_exception_data(title, lines, hide_input=True))
    except Exception:
        return ValueError(f"{title}: the answer does not fit its format")
