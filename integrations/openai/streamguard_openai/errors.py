"""Errors of the SDK that carry the text of a model.

`parse` raises when an answer was cut off or does not fit its format. The one error has the whole
completion in it, the other quotes the text in its message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamguard_openai.shapes import has_fields
from streamguard_openai.texts import Settings
from streamguard_openai.whole import guard_whole

__all__ = ["guard_error"]


def guard_error(error: Exception, settings: Settings) -> Exception:
    """Return an error of the same class that carries no text unguarded."""
    completion = getattr(error, "completion", None)
    if completion is not None and has_fields(completion):
        error.completion = guard_whole(completion, settings)  # type: ignore[attr-defined]  # of the SDK, not imported
    rebuild = getattr(type(error), "from_exception_data", None)
    errors = getattr(error, "errors", None)
    if callable(rebuild) and callable(errors):
        return _without_input(error, rebuild, errors)
    return error


def _without_input(error: Exception, rebuild: Callable[..., Any], errors: Callable[..., Any]) -> Exception:
    """Make pydantic's `ValidationError` again, without what did not fit."""
    title = getattr(error, "title", "response")
    try:
        lines = [
            {"type": line["type"], "loc": line["loc"], "ctx": line.get("ctx", {}), "input": None}
            for line in errors(include_url=False, include_input=False)
        ]
        made: Exception = rebuild(title, lines, hide_input=True)
    except (KeyError, TypeError, ValueError):
        return ValueError(f"{title}: the answer does not fit its format")
    return made
