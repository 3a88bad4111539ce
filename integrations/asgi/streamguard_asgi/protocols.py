"""Which provider's events these are, and the adapter that guards them.

An event of a known provider goes to that provider's adapter, one of no known shape to the
`PlainAdapter`: its strings may be pieces of texts, whatever the protocol is. Once a provider was
recognised, errors and events without such strings (`ping`, the usage) are taken for its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, cast

from streamguard_anthropic import MessagesAdapter
from streamguard_google import GenerateContentAdapter
from streamguard_openai.shapes import is_dict, is_list, text_of
from streamguard_openai.streams import StreamAdapter

from streamguard import End
from streamguard.adapting import Adapter, Settings
from streamguard_asgi.plain import PlainAdapter

__all__ = ["Events", "Family", "Parsed", "Shown", "StreamProtocol", "family_of", "parsed"]

StreamProtocol = Literal[
    "auto", "openai-chat", "openai-completions", "openai-responses", "anthropic", "google", "text"
]
"""What the events of a stream are; `"auto"` tells by their shape, event by event."""

Family = Literal["openai", "anthropic", "google"]

_ANTHROPIC = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    }
)
_MOST = 64  # responses at the same time, each under a name of its own
_GOOGLE = ("candidates", "promptFeedback", "usageMetadata")


class Parsed(dict[str, Any]):
    """An event as it came. What an adapter makes of it is a dictionary of the ordinary kind.

    Attributes:
        source: what it was parsed from, given back where the event is shown unchanged.
    """

    __slots__ = ("source",)

    def __init__(self, value: dict[str, Any], source: Any) -> None:
        super().__init__(value)
        self.source = source

    def __copy__(self) -> dict[str, Any]:
        return dict(self)


Shown = tuple[str, Any]
"""The name of an event, empty if it has none or that of its type, and the event."""


def parsed(value: Any, source: Any) -> Any:
    """Note what an event was parsed from, if it is an object."""
    return Parsed(value, source) if is_dict(value) else value


def family_of(event: Any) -> Family | None:
    """Tell whose event this is by its shape."""
    if not is_dict(event):
        return None
    kind = text_of(event, "type")
    if is_list(event.get("choices")) or kind.startswith("response."):
        return "openai"
    if kind in _ANTHROPIC or (kind == "error" and isinstance(event.get("error"), dict)):
        return "anthropic"
    if not kind and any(name in event for name in _GOOGLE):
        return "google"
    return None


def family_of_protocol(protocol: StreamProtocol) -> Family | None:
    """Tell whose protocol this is; `None` where the events have to say it."""
    if protocol in ("anthropic", "google"):
        return cast("Family", protocol)
    return "openai" if protocol.startswith("openai-") else None


def _is_error(event: dict[str, Any]) -> bool:
    return bool(event.get("error")) or event.get("type") == "error"


class Events:
    """The JSON events of one stream. It does no I/O.

    Attributes:
        family: whose stream it is: by the protocol, else by the last event that was known.
    """

    __slots__ = ("_adapters", "_fixed", "_known", "_plain", "_settings", "family")

    def __init__(
        self, settings: Settings, protocol: StreamProtocol, text_fields: frozenset[str] | None = None
    ) -> None:
        self._settings = settings
        self._fixed: Family | None = family_of_protocol(protocol)
        every = self._fixed is not None and text_fields is None
        self._plain = PlainAdapter(settings, text_fields, every=every)
        self._adapters: dict[tuple[Family, str], Adapter[Any]] = {}  # by the name of their events
        self._known: Family | None = self._fixed  # whose event came last, of those that are known
        self.family: Family | None = self._fixed

    def event(self, event: Any, name: str = "") -> Iterable[Shown]:
        """Take the next event and return what may be shown now.

        Args:
            event: a `Parsed`, or JSON that is no object.
            name: the name it came under.
        """
        if not isinstance(event, Parsed):
            return self._plain.event(event, name)
        family = family_of(event)
        if family is None and (_is_error(event) or not self._plain.has_pieces(event)):
            family = self._known
        if family is None:
            return self._plain.event(event, name)
        self._known = family
        self.family = self._fixed or family
        if name == event.get("type") or len(self._adapters) >= _MOST:
            name = ""
        adapter = self._adapters.get((family, name))
        if adapter is None:
            adapter = self._adapters[family, name] = self._make(family)
        return [(name, shown) for shown in adapter.event(event)]

    def end(self, end: End) -> list[Shown]:
        """Return what was held and may be shown."""
        held = [(name, shown) for (_, name), adapter in self._adapters.items() for shown in adapter.end(end)]
        self._adapters.clear()
        return held + self._plain.end(end)

    def _make(self, family: Family) -> Adapter[Any]:
        chosen = self._settings
        if family == "openai":
            return StreamAdapter(chosen)
        make: Any = MessagesAdapter if family == "anthropic" else GenerateContentAdapter
        adapter: Adapter[Any] = make(
            chosen.guard,
            **chosen.options,
        )
        return adapter
