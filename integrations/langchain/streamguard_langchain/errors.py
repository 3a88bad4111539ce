"""Errors of a model that quote its text.

LangChain hands an error to its caller, to callbacks and to tracers, which print it with the
errors that led to it. Some quote the answer (`ValidationError`, `JSONDecodeError`), some carry the
response it came in, which tracing reads.
"""

from __future__ import annotations

import copy
from typing import Any

from pydantic import ValidationError

from streamguard import StreamGuardError
from streamguard.adapting import guard_error as guard_any_error
from streamguard_langchain.free import FreeData
from streamguard_langchain.settings import Settings

__all__ = ["GuardedModelError", "guard_error"]

_OBJECTS = (
    "object",
    "text",
)  # what could not be decoded or read, which `UnicodeError` and `SyntaxError` keep
_FIRST_FAILURE = 400  # status; below it the body of a response is the model's answer


class GuardedModelError(StreamGuardError):
    """Stands for an error of the model that quotes what the guard takes out.

    Attributes:
        error_type: name of the error's class.
    """

    def __init__(self, error_type: str) -> None:
        super().__init__(f"the model failed with {error_type}; its message quotes what must not be shown")
        self.error_type = error_type


def guard_error(error: Exception, settings: Settings, /) -> Exception:
    """Return the error itself if it quotes nothing that the guard takes out, else one that does not.

    The one that does not is of the same class where that can be copied, otherwise it is a
    `GuardedModelError`. pydantic's `ValidationError`, which quotes what did not fit, always comes back
    without that. The error given is not changed. Another one stands alone: it has neither the traceback,
    whose frames hold the first, nor what that was raised from.
    """
    if isinstance(error, ValidationError):
        return guard_any_error(error, settings.guard)
    if not any(_speaks(link, settings) for link in _chain(error)):
        return error
    made = _group(error, settings) if _is_group(error) else _copy(error, settings)
    if made is None or _speaks(made, settings):  # it keeps its text elsewhere
        made = GuardedModelError(type(error).__name__)
    made.__cause__ = made.__context__ = made.__traceback__ = None
    return made


def _chain(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    todo: list[BaseException | None] = [error]
    while todo:
        link = todo.pop()
        if link is None or any(link is known for known in chain):
            continue
        chain.append(link)
        todo += [link.__cause__, link.__context__]
        todo += getattr(link, "exceptions", ()) if _is_group(link) else ()
    return chain


def _speaks(error: BaseException, settings: Settings) -> bool:
    """Tell whether an error says what the guard takes out."""
    if _answer(error) is not None or isinstance(error, ValidationError):
        return True
    try:
        texts = [str(error), *(getattr(error, "__notes__", None) or ())]
    except Exception:
        return True
    if any(settings.guard.scrub(text) != text for text in texts):
        return True
    values = {"args": error.args, **vars(error), **{name: getattr(error, name, None) for name in _OBJECTS}}
    free = FreeData(settings.guard)
    return any(free.guarded(value, name) is not value for name, value in values.items())


def _answer(error: BaseException) -> Any:
    """Return the response that an error carries, if that is an answer of the model."""
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None)
    return response if isinstance(status, int) and status < _FIRST_FAILURE else None


def _is_group(error: object) -> bool:
    return isinstance(error, BaseExceptionGroup)


def _group(group: Any, settings: Settings) -> Exception | None:
    """Make a group again, of guarded errors."""
    inside = [guard_error(each, settings) for each in group.exceptions]
    try:
        made: Exception = type(group)(settings.guard.scrub(group.message), inside)
        if notes := getattr(group, "__notes__", None):
            made.__notes__ = [settings.guard.scrub(str(note)) for note in notes]
    except Exception:
        return None
    return made


def _copy(error: Exception, settings: Settings) -> Exception | None:
    try:
        made = copy.copy(error)
        free = FreeData(settings.guard)
        made.args = free.guarded(error.args, "args")
        for name, value in vars(error).items():
            if name == "response" and _answer(error) is not None:
                delattr(made, name)
            elif name != "__notes__":
                setattr(made, name, free.guarded(value, name))
    except Exception:
        return None
    return made if type(made) is type(error) else None
