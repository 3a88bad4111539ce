"""Errors of LiteLLM that carry the text of a model.

`MidStreamFallbackError` has all that was generated, `JSONSchemaValidationError` quotes the
answer in its message, and the body of an error of the provider's can hold anything.
"""

from __future__ import annotations

from typing import Any

from streamguard_openai.texts import Settings

from streamguard import End
from streamguard.session import StreamGuardError

__all__ = ["guard_error"]

_TEXTS = ("message", "generated_content", "raw_response", "litellm_debug_info")


def guard_error(error: BaseException, settings: Settings) -> None:
    """Guard the texts of an error where it stands, and of those it was raised from."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        if not isinstance(error, StreamGuardError):
            _guard(error, settings)
        following: Any = getattr(error, "original_exception", None) or error.__cause__ or error.__context__
        if not isinstance(following, BaseException):
            return
        error = following


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
        return "(withheld)"
