"""Which fields of a dictionary are no texts, by what its shape says that it is.

A name alone says nothing: `data`, `name` or `status` are what a tool or a state calls them. So a
field is kept only in a block of a kind that is known, where it is an identifier, encoded, or sealed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from streamguard_langchain.shapes import is_dict, is_list

__all__ = ["comes_whole", "is_identifier", "is_kept_in", "is_opaque", "is_repeated"]

_KNOWN = re.compile(
    r"text|image|image_url|audio|video|file|document|refusal|reasoning|thinking|redacted_thinking|citation"
    r"|search_result|non_standard|text-plain|base64|input_(?:text|image|audio|file)|output_text|function"
    r"|message|media|container_upload"
    r"|[a-z_]+_(?:call|call_chunk|call_output|use|result|error|delta|location|citation|output|text|content"
    r"|thinking)"
    r"|[a-z]+-(?:delta|fields)"
)
_NAMED = re.compile(r"reasoning|function|message|[a-z_]*_(?:call|call_chunk|call_output|use|result)")
_WHOLE = re.compile(
    r"(?!function_call$)[a-z_]+_(?:call|call_output|result|output|error|citation|location|path|list_tools"
    r"|approval_request)|citation"
)
_MEDIA = frozenset(
    {"audio", "base64", "document", "file", "image", "input_audio", "input_image", "media", "video"}
)
_ENCODED = frozenset({"b64_json", "base64", "data"})
_SEALED = frozenset({"signature", "thought_signature"})
_IDENTIFIERS = frozenset(
    {
        "created",
        "created_at",
        "finish_reason",
        "id",
        "index",
        "mime_type",
        "model",
        "model_name",
        "model_provider",
        "object",
        "output_version",
        "phase",
        "role",
        "service_tier",
        "source_type",
        "stop_reason",
        "system_fingerprint",
        "type",
    }
)
_REPEATED = frozenset({"id", "index", "model_provider", "output_version", "role", "type"})
_OPAQUE = re.compile(r"[\w+/=-]*", re.ASCII)
_CALLS = frozenset({"function", "function_call", "tool_calls"})


def is_identifier(name: str) -> bool:
    """Tell whether a field of this name comes in one piece: an identifier, a kind, a version."""
    return name in _IDENTIFIERS or name.endswith("_id")


def comes_whole(kind: object) -> bool:
    """Tell whether a block of this kind comes in one piece: what servers call, what tools return, citations.

    Providers give these when they are done, with fields that only one piece may have: LangChain joins
    what a second one says of `status` or `tool_call_id`, and cannot read one that has no `id`.
    """
    return isinstance(kind, str) and _WHOLE.fullmatch(kind) is not None


def is_repeated(name: str) -> bool:
    """Tell whether each chunk says all of a field of this name; LangChain joins what others say."""
    return name in _REPEATED


def is_opaque(value: object) -> bool:
    """Tell whether a value has the form of signatures and of encrypted data, which nobody can read."""
    if is_dict(value):
        return all(is_opaque(item) for item in value.values())
    if is_list(value):
        return all(is_opaque(item) for item in value)
    return not isinstance(value, str) or _OPAQUE.fullmatch(value) is not None


def is_kept_in(block: Mapping[str, Any], name: str, where: tuple[object, ...] = ()) -> bool:
    """Tell whether a field is no text that a model or a tool writes freely.

    Args:
        block: the dictionary it stands in.
        name: of the field.
        where: the way to the dictionary.
    """
    kind = block.get("type")
    known = isinstance(kind, str) and _KNOWN.fullmatch(kind) is not None
    if name in _ENCODED:
        return _is_encoded(block, kind) or (name == "data" and where[-1:] == ("audio",))
    if name in _SEALED or name.startswith("encrypted_") or name.endswith(("_signature", "signatures__")):
        return known
    in_call = not _CALLS.isdisjoint(where)
    if name in ("name", "status"):
        return in_call or (known and _NAMED.fullmatch(str(kind)) is not None)
    return (is_identifier(name) or name == "media_type") and (known or in_call)


def _is_encoded(block: Mapping[str, Any], kind: object) -> bool:
    """Tell whether the data of a block cannot be read."""
    media = block.get("media_type") or block.get("mime_type")
    if isinstance(media, str):
        return not media.startswith(("text", "application/json", "application/xml")) and (
            kind in _MEDIA or kind is None
        )
    return kind in _MEDIA or kind == "redacted_thinking"
