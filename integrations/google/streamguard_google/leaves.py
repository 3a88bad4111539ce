"""Objects that come whole: which of their fields are texts."""

from __future__ import annotations

from typing import Any

from streamguard.adapting import LeafPolicy, Path, Settings, guard_object

__all__ = ["guard_leaves"]

_KEPT = frozenset(
    name.replace("_", "")
    for name in (
        "id",
        "name",
        "role",
        "model_version",
        "response_id",
        "mime_type",
        "outcome",
        "language",
        "language_code",
        "tool_type",
        "scheduling",
        "thought_signature",
        "data",
        "sdk_blob",
        "license",
        "publication_date",
        "media_id",
        "google_maps_widget_context_token",
    )
)

_FREE = frozenset({"args", "response", "partmetadata", "custommetadata"})
"""Names of objects the user has shaped: nothing below is known to be harmless."""


def guard_leaves(obj: Any, settings: Settings) -> Any:
    """Guard an object leaf by leaf, but for names, ids and what is opaque."""
    return guard_object(obj, settings.guard, select=_select, on_finding=settings.on_finding)


def _select(path: Path) -> LeafPolicy:
    for part in path:
        name = part.replace("_", "").lower() if isinstance(part, str) else ""
        if name in _FREE:
            return "guard"
        if name in _KEPT:
            return "keep"
    return "guard"
