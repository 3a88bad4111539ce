"""`guard_model`, and how a guard is put around the models inside of what LangChain builds of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar, cast, overload

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableParallel, RunnableSequence, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.configurable import (
    RunnableConfigurableAlternatives,
    RunnableConfigurableFields,
)

from streamguard import Transformer
from streamguard.adapting import ReasoningPolicy, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_langchain.model import GuardedChatModel
from streamguard_langchain.settings import Settings

__all__ = [
    "guard_by",
    "guard_model",
    "is_guarded",
    "models_in",
    "moved",
    "with_answers",
    "with_guarded_arguments",
]

R = TypeVar("R", bound=Runnable[Any, Any])
Wrap = Callable[[BaseChatModel], BaseChatModel]

_ADOPTED = (
    "cache",
    "callbacks",
    "custom_get_token_ids",
    "disable_streaming",
    "metadata",
    "output_version",
    "profile",
    "rate_limiter",
    "tags",
    "verbose",
)


@overload
def guard_model(
    model: BaseChatModel,
    guard: Transformer,
    *,
    tool_args: ToolArgsPolicy = ...,
    reasoning: ReasoningPolicy = ...,
    tool_guard: Transformer | None = ...,
    input_guard: Transformer | None = ...,
    on_finding: FindingHandler | None = ...,
) -> GuardedChatModel: ...


@overload
def guard_model(
    model: R,
    guard: Transformer,
    *,
    tool_args: ToolArgsPolicy = ...,
    reasoning: ReasoningPolicy = ...,
    tool_guard: Transformer | None = ...,
    input_guard: Transformer | None = ...,
    on_finding: FindingHandler | None = ...,
) -> R: ...


def guard_model(
    model: Runnable[Any, Any],
    guard: Transformer,
    *,
    tool_args: ToolArgsPolicy = "keep",
    reasoning: ReasoningPolicy = "guard",
    tool_guard: Transformer | None = None,
    input_guard: Transformer | None = None,
    on_finding: FindingHandler | None = None,
) -> Runnable[Any, Any]:
    """Guard a chat model on every path its text can take.

    Args:
        model: a chat model, or one with options bound to it (`bind`, `bind_tools`, `with_config`),
            retries, fallbacks or configurable fields: the models inside are guarded then.
        guard: what every text goes through.
        tool_args: what happens to the arguments of tools. They are kept by default: tools need
            what the model has written. Structured outputs are guarded nevertheless.
        reasoning: what happens to reasoning.
        tool_guard: what arguments of tools go through, if not `guard`. A `PreambleTrimmer` has
            no place there.
        input_guard: what the content of tool results and of human messages goes through before
            the model sees it.
        on_finding: called with each finding.

    Returns:
        A chat model like the given one. A model that is guarded in just this way is returned as it
        is; one that is guarded otherwise is guarded by both, by what it had first. Its text is what
        the guard makes of the text of the model inside, which its blocks of text are together,
        until one calls a tool; likewise its reasoning. Calls raise `StreamGuardError` where pieces of
        two such blocks come in turns.

    Raises:
        TypeError: it cannot be seen where in `model` the models are; the message says what to do.
        ValueError: a policy is unknown.

    *Delay*: that of the guard; each chunk of the model goes out at once, with what may be shown.
    *Memory*: that of the guard, and a part of a chunk for each open text.
    """
    return guard_by(
        Settings(guard, tool_args, reasoning, tool_guard, input_guard, on_finding),
        model,
    )


def guard_by(settings: Settings, model: Runnable[Any, Any], /) -> Runnable[Any, Any]:
    """Guard a model by settings made before."""
    made: Runnable[Any, Any] = _rebuilt(model, lambda inner: _wrapped(inner, settings), deep=False)
    return made


def moved(tree: R, onto: GuardedChatModel, /) -> R:
    """Put a guarded model in the place of the models inside, in what one of their methods has returned.

    Raises:
        TypeError: there is no model to be found in it.
    """
    count = 0

    def wrap(inner: BaseChatModel) -> BaseChatModel:
        nonlocal count
        count += 1
        return onto if inner is onto.inner else _like(onto, inner)

    made = _rebuilt(tree, wrap, deep=True)
    if not count:
        raise TypeError(
            f"what {type(onto.inner).__name__} returned hides its model; bind to the model before guarding it"
        )
    return cast("R", made)


def with_guarded_arguments(model: GuardedChatModel, /) -> GuardedChatModel:
    """The same model, but arguments of tools are not kept as they are."""
    if model.settings.tool_args != "keep":
        return model
    return model.model_copy(update={"settings": replace(model.settings, tool_args="guard")})


def with_answers(model: GuardedChatModel, names: Iterable[str], /) -> GuardedChatModel:
    """The same model, but arguments of these tools are structured outputs."""
    answers = model.settings.answers | frozenset(names)
    if answers == model.settings.answers:
        return model
    return model.model_copy(update={"settings": replace(model.settings, answers=answers)})


def is_guarded(runnable: Any, /) -> bool:
    """Tell whether every model that can be seen in a runnable is guarded."""
    return all(isinstance(model, GuardedChatModel) for model in models_in(runnable))


def models_in(runnable: Any, /) -> list[BaseChatModel]:
    """The chat models that can be seen in a runnable."""
    found: list[BaseChatModel] = []

    def note(model: BaseChatModel) -> BaseChatModel:
        found.append(model)
        return model

    _rebuilt(runnable, note, deep=True)
    return found


def _like(model: GuardedChatModel, inner: BaseChatModel) -> GuardedChatModel:
    """Guard a model that another inside has made of itself; what was set on the guarded one stays."""
    if type(inner) is not type(model.inner):
        return _wrapped(inner, model.settings)
    changed = {
        name: value
        for name in _ADOPTED
        if name in type(inner).model_fields and (value := getattr(inner, name)) != getattr(model.inner, name)
    }
    return model.model_copy(update={**changed, "inner": inner})


def _wrapped(inner: BaseChatModel, settings: Settings) -> GuardedChatModel:
    if isinstance(inner, GuardedChatModel) and _covers(inner.settings, settings):
        return inner
    adopted = {name: getattr(inner, name) for name in _ADOPTED if name in type(inner).model_fields}
    return GuardedChatModel(inner=inner, settings=settings, name=inner.get_name(), **adopted)


def _covers(held: Settings, settings: Settings) -> bool:
    """Tell whether a model that is guarded by some settings need not be guarded again by others."""
    return settings.answers <= held.answers and replace(held, answers=settings.answers) == settings


def _rebuilt(runnable: Any, wrap: Wrap, *, deep: bool) -> Any:
    """Put `wrap(model)` in the place of each model.

    Args:
        runnable: a model, or what LangChain has built of models.
        wrap: is given each model.
        deep: look into chains as well, and pass what is unknown instead of refusing it.
    """

    def again(part: Any) -> Any:
        return _rebuilt(part, wrap, deep=deep)

    kind: Any = runnable.__class__
    if issubclass(kind, BaseChatModel):
        return wrap(runnable)
    if issubclass(kind, RunnableBindingBase):  # retries are bindings too
        return _with(runnable, bound=again(runnable.bound))
    if issubclass(kind, RunnableWithFallbacks):
        return _with(
            runnable,
            runnable=again(runnable.runnable),
            fallbacks=[again(part) for part in runnable.fallbacks],
        )
    if issubclass(kind, RunnableConfigurableAlternatives):
        alternatives = {name: _alternative(part, again) for name, part in runnable.alternatives.items()}
        return _with(runnable, default=again(runnable.default), alternatives=alternatives)
    if issubclass(kind, RunnableConfigurableFields):
        default = again(runnable.default)
        if isinstance(default, GuardedChatModel):
            return default.configurable_fields(**runnable.fields)
        return _with(runnable, default=default)
    if deep and issubclass(kind, RunnableSequence):
        steps = [again(step) for step in runnable.steps]
        return _with(runnable, first=steps[0], middle=steps[1:-1], last=steps[-1])
    if deep and issubclass(kind, RunnableParallel):
        return _with(runnable, steps__={name: again(step) for name, step in runnable.steps__.items()})
    if deep:
        return runnable
    raise TypeError(_refusal(runnable))


def _alternative(part: Any, again: Callable[[Any], Any]) -> Any:
    if isinstance(part, Runnable):
        return again(part)
    return lambda: again(part())


def _with(part: Any, /, **changes: Any) -> Any:
    return part.model_copy(update=changes)


def _refusal(runnable: object) -> str:
    kind = type(runnable).__name__
    if isinstance(runnable, RunnableSequence):
        advice = "guard the model in it: prompt | guard_model(model, guard) | parser"
    elif kind == "_ConfigurableModel":
        advice = "name a model in init_chat_model(...) and guard what it returns"
    elif isinstance(runnable, Runnable):
        advice = "guard the chat model it is made of"
    else:
        advice = "guard a chat model of LangChain"
    return f"it cannot be seen where the chat models in a {kind} are; {advice}"
