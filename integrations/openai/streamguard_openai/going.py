"""A text that goes on: the next event is like the last one but for its text."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from streamguard.adapting import Path, Usual

__all__ = ["Going", "going"]


@dataclass(slots=True)
class Going:
    """What is known of the text that the last event was a piece of.

    Attributes:
        like: what the event is like.
        key: the lane of the text.
        feed: feeds the lane.
        path: leads to the text.
        template: an event of the lane, which nobody else has.
        speaks: an event of which no text is left is sent all the same.
    """

    like: Usual
    key: Path
    feed: Callable[[str], str]
    path: Path
    template: Any
    speaks: bool


def going(
    event: Any,
    path: Path,
    key: Path,
    feed: Callable[[str], str] | None,
    template: Any,
    *,
    free: Collection[str],
    owned: bool,
    speaks: bool = False,
) -> Going | None:
    """Note what an event is like, if it is of a kind that `Usual` takes and its text is guarded.

    Args:
        event: has been guarded; besides the text at the end of the path it says nothing.
        path: leads to the text.
        key: the lane of the text.
        feed: feeds the lane; `None` if it is not guarded.
        template: an event of the lane, which nobody else has.
        free: names of fields that may differ from event to event.
        owned: the events are nobody else's.
        speaks: an event of which no text is left is sent all the same.
    """
    if feed is None:
        return None
    try:
        like = Usual(event, path, free=free, owned=owned)
    except ValueError:
        return None
    return Going(like, key, feed, path, template, speaks)
