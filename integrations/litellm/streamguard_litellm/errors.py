"""Errors of LiteLLM that carry the text of a model.

`MidStreamFallbackError` has all that was generated, `JSONSchemaValidationError` quotes the
answer in its message, and the body of an error of the provider's can hold anything.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from streamguard import End
from streamguard.adapting import ErrorGuard, Settings
from streamguard.adapting import guard_error as guard_whole_error
from streamguard.session import StreamGuardError

__all__ = ["CallErrors", "guard_error", "guard_error_in_place"]

_TEXTS = ("message", "generated_content", "raw_response", "litellm_debug_info")
_ORIGINAL = "original_exception"
_WITHHELD = "(withheld)"


class CallErrors(ErrorGuard):
    """Guards the errors of calls, as a context or called with one."""

    __slots__ = ("_settings",)

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.guard, on_finding=settings.on_finding)
        self._settings = settings

    def __call__(self, error: Exception, /) -> Exception:
        """Return an error of the same class that carries no text unguarded."""
        return guard_error(error, self._settings)


def guard_error(error: Exception, settings: Settings) -> Exception:
    """Guard an error: its texts, its attributes, its response, and what it was raised from.

    Returns:
        The error itself if there was nothing to take out, else one of its class that stands
        alone. Texts that were cut off lose what is not decided where they stand.
    """
    _guard_chain(error, settings)
    safe = guard_whole_error(error, settings.guard, on_finding=settings.on_finding)
    original = getattr(safe, _ORIGINAL, None)
    if isinstance(original, Exception) and original is not error:
        inner = guard_whole_error(original, settings.guard)
        if inner is not original:
            with suppress(AttributeError):
                setattr(safe, _ORIGINAL, inner)
    return safe


def guard_error_in_place(error: Exception, settings: Settings) -> None:
    """Guard an error that others hold already: what it carries is changed where it stands."""
    safe = guard_error(error, settings)
    if safe is error:
        return
    if type(safe) is type(error):
        vars(error).clear()
        vars(error).update(vars(safe))
        error.args = safe.args
    else:  # it could not be made again
        error.args = (_WITHHELD,)
        for name, value in vars(error).items():
            if value is not None and not isinstance(value, int):
                setattr(error, name, _WITHHELD if isinstance(value, str) else None)
    error.__cause__ = error.__context__ = error.__traceback__ = None


def _guard_chain(error: BaseException, settings: Settings) -> None:
    seen: set[int] = set()
    todo: list[Any] = [error]
    while todo:
        link = todo.pop()
        if not isinstance(link, BaseException) or id(link) in seen:
            continue
        seen.add(id(link))
        if not isinstance(link, StreamGuardError):
            _guard(link, settings)
        todo += (getattr(link, _ORIGINAL, None), link.__cause__, link.__context__)


def _guard(error: BaseException, settings: Settings) -> None:
    for name in _TEXTS:
        text = getattr(error, name, None)
        if isinstance(text, str) and (safe := _scrub(text, settings)) != text:
            setattr(error, name, safe)
    args = tuple(_scrub(part, settings) if isinstance(part, str) else part for part in error.args)
    if args != error.args:
        error.args = args


def _scrub(text: str, settings: Settings) -> str:
    try:
        return settings.guard.scrub(text, end=End.ERROR)
    except StreamGuardError:
        return _WITHHELD
