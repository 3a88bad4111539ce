"""The texts of a request: what the user and the application say to the model.

What a provider compares, counts or decodes passes: ids, signatures and the thinking they sign,
images, audio and files.
"""

from __future__ import annotations

import json
from typing import Any, cast

from streamguard import Transformer
from streamguard.adapting import LeafPolicy, Path, guard_object
from streamguard.session import FindingHandler, StreamGuardError
from streamguard_gateway.headers import Headers, value
from streamguard_gateway.refusals import Refusal

__all__ = ["guard_prompt", "wants_json"]

_MESSAGE = ("id", "role", "type", "name", "tool_call_id", "call_id", "encrypted_content", "status")
_PART = (
    "id", "type", "tool_use_id", "signature", "thinking", "data", "source", "image_url", "file", "file_data",
    "file_id", "input_audio", "cache_control", "encrypted_content",
)  # fmt: skip
_ASKING = (b'ormat"', b'esponseMimeType"', b'esponse_mime_type"')
"""How the names end by which JSON is asked for: `text.format`, `output_config.format`, ..."""
_TEXTS: dict[Path, LeafPolicy] = {
    **{(top, "*", name): "keep" for top in ("messages", "input") for name in _MESSAGE},
    **{(top, "*", "content", "*", name): "keep" for top in ("messages", "input") for name in _PART},
    **{("messages", "*", "content", "*", "content", "*", name): "keep" for name in _PART},
    ("messages", "*", "tool_calls", "*", "id"): "keep",
    ("messages", "*", "tool_calls", "*", "type"): "keep",
    ("messages", "*", "tool_calls", "*", "function", "arguments"): "json",
    ("input", "*", "arguments"): "json",
    **{(top,): "guard" for top in ("messages", "system", "prompt", "suffix", "input", "instructions")},
}


def guard_prompt(body: bytes, headers: Headers, guard: Transformer, on_finding: FindingHandler, /) -> bytes:
    """Guard the texts of a request of any of the protocols.

    Args:
        body: the request, JSON; an empty one passes.
        headers: its headers.
        guard: what each text goes through.
        on_finding: called with each finding.

    Returns:
        The body as it came if nothing changed, else written anew.

    Raises:
        Refusal: the body is not JSON, or is compressed, or the policy refuses it.
    """
    if not body:
        return body
    if value(headers, b"content-encoding") not in (b"", b"identity"):
        raise Refusal(415, "encoding", "compressed requests are not read")
    try:
        request = json.loads(body)
        safe = guard_object(request, guard, select=_TEXTS, on_finding=on_finding)
    except (ValueError, RecursionError):
        raise Refusal(400, "bad_request", "the request is not JSON") from None
    except StreamGuardError:
        raise Refusal(403, "blocked", "the request is blocked by the policy") from None
    return body if safe is request else json.dumps(safe, ensure_ascii=False).encode("utf-8", "surrogatepass")


def wants_json(body: bytes, /) -> bool:
    """Tell whether a request asks for a structured output, so that the content is JSON."""
    if not any(name in body for name in _ASKING):
        return False
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        return False
    places = (
        _field(request, "response_format"),
        _field(request, "output_format"),
        _field(_field(request, "text"), "format"),
        _field(_field(request, "output_config"), "format"),
    )
    kinds = [
        _field(_field(request, outer), inner)
        for outer in ("generationConfig", "generation_config")
        for inner in ("responseMimeType", "response_mime_type")
    ]
    return "application/json" in kinds or any(
        str(_field(place, "type")).startswith("json") for place in places
    )


def _field(value: Any, name: str) -> Any:
    return cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
