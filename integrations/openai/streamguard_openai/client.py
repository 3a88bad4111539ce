"""A client whose answers are guarded: one changed line.

The client and the resources that answer are copied, and the copies are given classes derived
from their own, so `isinstance` and everything else stays. Only methods that answer with text of
a model are other ones: they call the original, and guard what it returns.

Resources that would hand out bodies unguarded refuse to.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_origin

from streamguard import Transformer
from streamguard.adapting import ReasoningPolicy, Settings, ToolArgsPolicy
from streamguard.session import FindingHandler, StreamGuardError
from streamguard_openai.errors import CallErrors
from streamguard_openai.helpers import GuardedManager
from streamguard_openai.shapes import is_dict
from streamguard_openai.streams import guarded
from streamguard_openai.whole import guard_whole

__all__ = ["UnguardedAccessError", "for_call", "wrap"]

C = TypeVar("C")

_ANSWERING = ("create", "parse", "stream", "retrieve", "update", "cancel", "compact")
_REFUSED = ("with_raw_response", "with_streaming_response", "connect")
_FORMATS = ("response_format", "text_format", "parse_as")
_Branches = Mapping[str, Any]  # the resources below a resource; None where one answers itself
_BRANCHES: _Branches = {
    "chat": {"completions": None},
    "completions": None,
    "responses": None,
    "beta": {"chat": {"completions": None}, "responses": None},
}


class UnguardedAccessError(StreamGuardError):
    """What was asked for would hand out the text of a model unguarded."""


class _Refused:
    """Stands where unguarded access would be; says so when it is used."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *args: object, **kwargs: object) -> Any:
        raise self._error()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._error()

    def _error(self) -> UnguardedAccessError:
        return UnguardedAccessError(
            f"{self._name} hands out bodies unguarded; use the client that was wrapped for it"
        )


def wrap(
    client: C,
    guard: Transformer,
    /,
    *,
    tool_args: ToolArgsPolicy = "guard",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    on_finding: FindingHandler | None = None,
) -> C:
    """Guard a client of the OpenAI SDK.

    `chat.completions`, `completions` and `responses` (and those under `beta`) answer guarded:
    `create`, `parse`, `stream`, `retrieve`, `update`, `cancel`, `compact`, streaming or not, with
    the errors they raise. `with_options` and `copy` keep the guard. `with_raw_response` and
    `with_streaming_response` refuse. Everything else is the client's own, and not guarded.
    Content that was asked for as JSON is guarded as JSON.

    Args:
        client: an `OpenAI` or `AsyncOpenAI` client, or one derived from them.
        guard: what every text goes through.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to reasoning.
        tool_guard: what arguments go through, if not `guard`.
        on_finding: called with each finding.

    Returns:
        A guarded client that shares the connections of the given one. That one is not changed.

    Raises:
        TypeError: the guard is no `Transformer`.
        ValueError: a policy is unknown.
    """
    settings = Settings(guard, tool_args, reasoning, tool_guard, on_finding=on_finding)
    result: C = _guarded(client, settings, _BRANCHES, top=True)
    return result


def _guarded(target: Any, settings: Settings, branches: _Branches | None, *, top: bool = False) -> Any:
    """Copy a client or a resource, with a class that guards."""
    kind = target.__class__
    members: dict[str, Any] = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    for name in _REFUSED:
        if hasattr(kind, name):
            members[name] = property(_refuser(f"{kind.__name__}.{name}"))
    for name, below in (branches or {}).items():
        if hasattr(kind, name):
            members[name] = property(_branch(target, name, settings, below))
    if top:
        for name in ("copy", "with_options"):
            if hasattr(kind, name):
                members[name] = _copier(getattr(kind, name), target, settings)
    if branches is None:
        for name in _ANSWERING:
            if callable(getattr(kind, name, None)):
                members[name] = _answering(getattr(kind, name), target, settings)
    result = copy.copy(target)
    result.__class__ = type(kind.__name__, (kind,), members)
    return result


def _refuser(name: str) -> Callable[[Any], _Refused]:
    def refuse(self: Any) -> _Refused:
        return _Refused(name)

    return refuse


def _branch(target: Any, name: str, settings: Settings, below: _Branches | None) -> Callable[[Any], Any]:
    made: list[Any] = []

    def branch(self: Any) -> Any:
        if not made:
            made.append(_guarded(getattr(target, name), settings, below))
        return made[0]

    return branch


def _copier(method: Callable[..., Any], target: Any, settings: Settings) -> Callable[..., Any]:
    @functools.wraps(method)
    def copied(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _guarded(method(target, *args, **kwargs), settings, _BRANCHES, top=True)

    return copied


def _answering(method: Callable[..., Any], target: Any, settings: Settings) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(inspect.unwrap(method)):

        @functools.wraps(method)
        async def later(self: Any, *args: Any, **kwargs: Any) -> Any:
            chosen = for_call(settings, kwargs)
            with CallErrors(chosen):
                return _answer(await method(target, *args, **kwargs), chosen)

        return later

    @functools.wraps(method)
    def now(self: Any, *args: Any, **kwargs: Any) -> Any:
        chosen = for_call(settings, kwargs)
        with CallErrors(chosen):
            return _answer(method(target, *args, **kwargs), chosen)

    return now


def _answer(answer: Any, settings: Settings) -> Any:
    if hasattr(answer, "__anext__") or hasattr(answer, "__next__"):
        return guarded(answer, settings)
    if hasattr(answer, "__aenter__") or hasattr(answer, "__enter__"):
        return GuardedManager(answer, settings)
    return guard_whole(answer, settings)


def for_call(settings: Settings, kwargs: Mapping[str, Any]) -> Settings:
    """Where JSON was asked for, the content is JSON."""
    text = kwargs.get("text")
    asked = [kwargs.get(name) for name in _FORMATS] + [text.get("format") if is_dict(text) else None]
    if not any(_is_json(form) for form in asked):
        return settings
    return Settings(
        settings.guard,
        settings.tool_args,
        settings.reasoning,
        settings.tool_guard,
        json_content=True,
        on_finding=settings.on_finding,
    )


def _is_json(form: Any) -> bool:
    if isinstance(form, type) or get_origin(form) is not None:
        return True  # a class to be parsed into; the SDK's marks for "not given" are instances
    return is_dict(form) and form.get("type") in ("json_object", "json_schema")
