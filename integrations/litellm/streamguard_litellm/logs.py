"""What LiteLLM hands to loggers: the details of a call, in a dictionary.

The answer stands in it several times over, as objects, dictionaries and texts. Each is guarded;
if that cannot be done, because a rule blocks, nothing of its text is left.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from streamguard_openai.shapes import has_fields, is_dict
from streamguard_openai.texts import is_kept

from streamguard import End
from streamguard.adapting import LeafPolicy, Path, Settings, guard_object
from streamguard.session import StreamGuardError
from streamguard_litellm.assembled import answers_of, with_reasons, without_doubtful_reasons
from streamguard_litellm.blocked import WITHHELD
from streamguard_litellm.errors import guard_error_in_place
from streamguard_litellm.options import Answers, Options
from streamguard_litellm.sealed import unsealed
from streamguard_litellm.whole import guard_any

__all__ = ["ANSWERS", "guard_answer", "guard_detail", "guard_in_place", "guard_result"]

ANSWERS = ("async_complete_streaming_response", "complete_streaming_response", "complete_response")
"""The details that are the answer as it was assembled."""

_FAILURES = ("error_str", "error_information", "response_cost_failure_debug_info")
_OWN = frozenset({"api_key", "standard_callback_dynamic_params", "user"})  # of those who are to be logged in
_BODY = ("contents", "extra_body", "input", "instructions", "messages", "prompt", "suffix", "system", "tools")


def guard_detail(name: str, value: Any, options: Options) -> Any:
    """Guard a detail of a call, by its name."""
    if value is None:
        return None
    if name in ANSWERS:
        return _answer(value, options)
    if (guard := _TABLES.get(name)) is not None:
        return guard(value, options) if is_dict(value) else value
    match name, value:
        case "original_response", _:
            return _original(value, options)
        case "served_output_texts", _:
            return _leaves(
                value, _withheld(options.silent) if options.answers is Answers.MIXED else options.silent
            )
        case "exception", Exception():
            guard_error_in_place(value, options.silent)
            return value
        case "traceback_exception", str():
            return _text(value, options.silent)
        case "response_cost_failure_debug_information", _:
            return _leaves(value, options.silent)
        case _, str() | list() | dict() if options.inputs and name not in _OWN and not is_kept((name,)):
            return _leaves(value, options.silent)
        case _:
            return value


def guard_answer(answer: Any, settings: Settings) -> Any:
    """Guard an answer; of one that is blocked no text is left."""
    if not has_fields(answer) and not isinstance(answer, str | list):
        return answer
    try:
        return guard_any(answer, settings)
    except StreamGuardError:
        return guard_any(answer, _withheld(settings))


def _answer(answer: Any, options: Options) -> Any:
    """Guard an answer, by how it came."""
    settings = options.silent
    if options.answers is Answers.MIXED:
        return guard_answer(answer, _withheld(settings))
    if options.answers is Answers.WHOLE:
        return guard_answer(answer, settings)
    cut = without_doubtful_reasons(answer)
    safe = guard_answer(cut, settings)
    if safe is cut:
        return answer
    return safe if cut is answer else with_reasons(safe, answer)


def _withheld(settings: Settings) -> Settings:
    """The settings by which no text is left."""
    return replace(settings, guard=WITHHELD, tool_guard=None)


def guard_result(result: Any, options: Options, *, piece: bool) -> Any:
    """Guard the result of a call.

    Some loggers get every piece of a stream, when they come and not in order. A piece of a secret
    is no secret, so a piece loses its text; the whole comes to them, guarded, among the details.
    """
    return guard_answer(result, _withheld(options.silent)) if piece else _answer(result, options)


def guard_in_place(kwargs: dict[str, Any], options: Options) -> None:
    """Guard the details of a call where they stand: where LiteLLM has no hook before loggers."""
    options = answers_of(kwargs, options)
    for name, value in list(kwargs.items()):
        if (safe := guard_detail(name, value, options)) is not value:
            kwargs[name] = safe


def _standard(standard: dict[str, Any], options: Options) -> dict[str, Any]:
    names = (*_FAILURES, "messages", "model_parameters") if options.inputs else _FAILURES
    safe = _with_leaves(standard, names, options)
    return _with(safe, {"response": _answer(safe.get("response"), options)})


def _params(params: dict[str, Any], options: Options) -> dict[str, Any]:
    """Guard what of a call's settings says something of its answer, or of its request."""
    notes = ("hidden_params", "raw_request") if options.inputs else ("hidden_params",)
    safe = _within(params, "metadata", notes, options)
    safe = _within(safe, "litellm_metadata", notes, options)
    if options.inputs:
        safe = _within(safe, "proxy_server_request", ("body",), options)
        safe = _with_leaves(safe, _BODY, options)
    return safe


def _passed(payload: dict[str, Any], options: Options) -> dict[str, Any]:
    """Guard what is logged of a pass-through route."""
    safe = _with_leaves(payload, ("request_body",) if options.inputs else (), options)
    return _with(safe, {"response_body": guard_answer(safe.get("response_body"), options.silent)})


def _within(table: dict[str, Any], name: str, names: Iterable[str], options: Options) -> dict[str, Any]:
    inner = table.get(name)
    return _with(table, {name: _with_leaves(inner, names, options)}) if is_dict(inner) else table


def _with_leaves(table: dict[str, Any], names: Iterable[str], options: Options) -> dict[str, Any]:
    return _with(table, {name: _leaves(table.get(name), options.silent) for name in names})


def _with(table: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return a copy with what has changed; others hold the table too."""
    new = {name: value for name, value in changes.items() if value is not table.get(name)}
    return {**table, **new} if new else table


_TABLES = {
    "litellm_params": _params,
    "passthrough_logging_payload": _passed,
    "standard_logging_object": _standard,
}


def _original(answer: Any, options: Options) -> Any:
    """Guard what the provider has sent: mostly JSON, in a text. What is still to come is not shown."""
    if not isinstance(answer, str):
        return _answer(answer, options) if _is_data(answer) else None
    try:
        parsed = json.loads(answer)
    except ValueError:
        return _text(
            answer, _withheld(options.silent) if options.answers is Answers.MIXED else options.silent
        )
    safe = _answer(parsed, options)
    return answer if safe is parsed else json.dumps(safe, ensure_ascii=False)


def _is_data(value: Any) -> bool:
    return isinstance(value, dict | list) or callable(getattr(value, "model_dump", None))


def _text(text: str, settings: Settings) -> str:
    try:
        return settings.guard.scrub(text, end=End.TRUNCATED)
    except StreamGuardError:
        return ""


def _leaves(value: Any, settings: Settings) -> Any:
    if value is None:
        return None
    try:
        value = unsealed(value, settings)
        return guard_object(value, settings.guard, select=_leaf)
    except StreamGuardError:
        value = unsealed(value, replace(settings, guard=WITHHELD))
        return guard_object(value, WITHHELD, select=_leaf)


def _leaf(path: Path) -> LeafPolicy:
    if path and path[-1] == "arguments":
        return "json"
    return "keep" if is_kept(path) else "guard"
