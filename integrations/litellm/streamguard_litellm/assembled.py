"""Answers that LiteLLM has put together from the pieces of a stream, for its loggers.

Of several choices it joins all texts as they came: in that mixture a secret of one stands in
pieces between those of others, and no guard finds it. So no text of it is left. Where a
provider has not said why it ends, it says `stop` all the same: so what such an answer ends with
counts as broken off.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from streamguard_openai.shapes import fields, is_dict, is_list, with_fields

from streamguard_litellm.options import Answers, Options

__all__ = ["answers_of", "choices_asked_for", "with_reasons", "without_doubtful_reasons"]

_COUNTS = ("n", "candidate_count", "candidateCount")
_REQUESTS = ("additional_args", "complete_input_dict", "extra_body", "generationConfig", "optional_params")


def choices_asked_for(request: Mapping[str, Any]) -> int:
    """Return how many choices a request asks for; a completion has some for each prompt."""
    counts = [count for name in _COUNTS if isinstance(count := request.get(name), int) and count > 0]
    prompt = request.get("prompt")
    prompts = len(prompt) if is_list(prompt) and not all(isinstance(token, int) for token in prompt) else 1
    return max(counts, default=1) * prompts


def answers_of(details: Mapping[str, Any], options: Options) -> Options:
    """Return the options for the answers of one call, by what its details say of it."""
    if not details.get("stream"):
        return options
    return options.answering(Answers.MIXED if _several(details) else Answers.JOINED)


def _several(request: Mapping[str, Any]) -> bool:
    if choices_asked_for(request) > 1:
        return True
    return any(is_dict(inner := request.get(name)) and _several(inner) for name in _REQUESTS)


def without_doubtful_reasons(answer: Any) -> Any:
    """Take out of an answer the finish reasons that LiteLLM may have made up."""
    choices = fields(answer).get("choices")
    if not (is_list(choices) and any(map(_is_doubtful, choices))):
        return answer
    news = [
        with_fields(choice, {"finish_reason": None}) if _is_doubtful(choice) else choice for choice in choices
    ]
    return with_fields(answer, {"choices": news})


def with_reasons(answer: Any, came: Any) -> Any:
    """Put the finish reasons that an answer came with into what is left of it."""
    pairs = zip(fields(answer)["choices"], fields(came)["choices"], strict=True)
    choices = [with_fields(new, {"finish_reason": fields(old).get("finish_reason")}) for new, old in pairs]
    return with_fields(answer, {"choices": choices})


def _is_doubtful(choice: Any) -> bool:
    match fields(choice).get("finish_reason"):
        case "stop":
            return True
        case "tool_calls" | "function_call":
            return not all(map(_is_json, _arguments(fields(choice).get("message"))))
        case _:
            return False


def _arguments(message: Any) -> list[Any]:
    own = fields(message)
    calls = [fields(call).get("function") for call in own.get("tool_calls") or ()]
    return [fields(call).get("arguments") for call in (*calls, own.get("function_call"))]


def _is_json(arguments: Any) -> bool:
    try:
        json.loads(arguments or "{}")
    except (TypeError, ValueError):
        return False
    return True
