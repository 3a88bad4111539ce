"""Errors of the SDK that carry the text of a model.

`parse` raises when an answer was cut off or does not fit its format. The one error has the whole
completion in it, the other quotes the text in its message. Errors of the API have what the
provider sent: some send what the model wrote.
"""

from __future__ import annotations

from streamguard.adapting import ErrorGuard, Settings
from streamguard_openai.shapes import has_fields
from streamguard_openai.whole import guard_whole

__all__ = ["CallErrors"]


class CallErrors(ErrorGuard):
    """Guards the errors of calls, as a context or called with one."""

    __slots__ = ("_settings",)

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.guard, on_finding=settings.on_finding)
        self._settings = settings

    def __call__(self, error: Exception, /) -> Exception:
        """Return an error of the same class that carries no text unguarded."""
        completion = getattr(error, "completion", None)
        if completion is None or not has_fields(completion):
            return super().__call__(error)
        error.completion = guard_whole(completion, self._settings)  # type: ignore[attr-defined]  # of the SDK, not imported
        return error
