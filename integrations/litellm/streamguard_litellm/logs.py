"""What LiteLLM hands to loggers: the details of a call, in a dictionary.

The answer stands in it several times over, as objects, dictionaries and texts. Each is guarded;
if that cannot be done, because a rule blocks, nothing of its text is left.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from streamguard_openai.shapes import has_fields, is_dict
from streamguard_openai.texts import Settings, is_kept

from streamguard import End
from streamguard.adapting import LeafPolicy, Path, guard_object
from streamguard.session import StreamGuardError
from streamguard_litellm.blocked import WITHHELD
from streamguard_litellm.errors import guard_error_in_place
from streamguard_litellm.options import Options
from streamguard_litellm.sealed import unsealed
from streamguard_litellm.whole import guard_any

__all__ = ["guard_answer", "guard_call", "guard_failure", "guard_result"]

_ANSWERS = ("async_complete_streaming_response", "complete_streaming_response", "complete_response")
_INPUTS = ("messages", "input", "prompt", "optional_params", "additional_args")
_FAILURES = ("error_str", "error_information")


def guard_call(kwargs: Mapping[str, Any], options: Options) -> dict[str, Any]:
    """Return the details of a call of which those that carry text are guarded copies."""
    safe = dict(kwargs)
    settings = options.silent
    for name in _ANSWERS:
        if safe.get(name) is not None:
            safe[name] = guard_answer(safe[name], settings)
    if safe.get("original_response") is not None:
        safe["original_response"] = _original(safe["original_response"], settings)
    if safe.get("served_output_texts") is not None:
        safe["served_output_texts"] = _leaves(safe["served_output_texts"], settings)
    for name, guard in _TABLES.items():
        if is_dict(table := safe.get(name)):
            safe[name] = guard(table, options, settings)
    if options.inputs:
        for name in _INPUTS:
            if safe.get(name) is not None:
                safe[name] = _leaves(safe[name], settings)
    return safe


def guard_answer(answer: Any, settings: Settings) -> Any:
    """Guard an answer; of one that is blocked no text is left."""
    if not has_fields(answer) and not isinstance(answer, str | list):
        return answer
    try:
        return guard_any(answer, settings)
    except StreamGuardError:
        return guard_any(answer, replace(settings, guard=WITHHELD, tool_guard=None))


def guard_result(result: Any, kwargs: Mapping[str, Any], options: Options) -> Any:
    """Guard the result of a call.

    Some loggers get every piece of a stream, when they come and not in order. A piece of a secret
    is no secret, so a piece loses its text; the whole comes to them, guarded, among the details.
    """
    settings = options.silent
    if kwargs.get("stream") and all(kwargs.get(name) is not result for name in _ANSWERS):
        settings = replace(settings, guard=WITHHELD, tool_guard=None)
    return guard_answer(result, settings)


def guard_failure(kwargs: dict[str, Any], options: Options) -> None:
    """Guard the details of a call that failed, where they stand: there is no hook before loggers."""
    error = kwargs.get("exception")
    if isinstance(error, Exception):
        guard_error_in_place(error, options.silent)
    kwargs.update(guard_call(kwargs, options))
    if isinstance(trace := kwargs.get("traceback_exception"), str):
        kwargs["traceback_exception"] = _text(trace, options.silent)


def _standard(standard: dict[str, Any], options: Options, settings: Settings) -> dict[str, Any]:
    safe = dict(standard)
    if safe.get("response") is not None:
        safe["response"] = guard_answer(safe["response"], settings)
    names = (*_FAILURES, "messages", "model_parameters") if options.inputs else _FAILURES
    for name in names:
        if safe.get(name) is not None:
            safe[name] = _leaves(safe[name], settings)
    return safe


def _params(params: dict[str, Any], options: Options, settings: Settings) -> dict[str, Any]:
    """Guard what of a call's settings says something of its answer, or of its request."""
    safe = dict(params)
    for name in ("metadata", "litellm_metadata"):
        metadata = params.get(name)
        if is_dict(metadata) and metadata.get("hidden_params") is not None:
            safe[name] = {**metadata, "hidden_params": _leaves(metadata["hidden_params"], settings)}
    request = params.get("proxy_server_request")
    if options.inputs and is_dict(request):
        safe["proxy_server_request"] = {**request, "body": _leaves(request.get("body"), settings)}
    return safe


def _passed(payload: dict[str, Any], options: Options, settings: Settings) -> dict[str, Any]:
    """Guard what is logged of a pass-through route."""
    safe = dict(payload)
    if safe.get("response_body") is not None:
        safe["response_body"] = guard_answer(safe["response_body"], settings)
    if options.inputs and safe.get("request_body") is not None:
        safe["request_body"] = _leaves(safe["request_body"], settings)
    return safe


_TABLES = {
    "litellm_params": _params,
    "passthrough_logging_payload": _passed,
    "standard_logging_object": _standard,
}


def _original(answer: Any, settings: Settings) -> Any:
    """Guard what the provider has sent: mostly JSON, in a text."""
    if not isinstance(answer, str):
        return guard_answer(answer, settings)
    try:
        parsed = json.loads(answer)
    except ValueError:
        return _text(answer, settings)
    safe = guard_answer(parsed, settings)
    return answer if safe is parsed else json.dumps(safe, ensure_ascii=False)


def _text(text: str, settings: Settings) -> str:
    try:
        return settings.guard.scrub(text, end=End.TRUNCATED)
    except StreamGuardError:
        return ""


def _leaves(value: Any, settings: Settings) -> Any:
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
