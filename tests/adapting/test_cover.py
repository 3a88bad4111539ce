"""An object that passes for another."""

from __future__ import annotations

import copy

import pytest

from streamguard.adapting import Cover


class Client:
    """What is covered."""

    def __init__(self) -> None:
        self.name = "canary"
        self.raw = "unguarded"


class Guarded(Cover):
    """What covers it."""

    _refused = frozenset({"raw"})


def test_a_cover_passes_for_what_it_covers_and_refuses_what_it_cannot_guard() -> None:
    client = Client()
    cover: Client = Guarded(client, None)  # type: ignore[assignment]
    assert isinstance(cover, Client)
    assert cover.name == "canary"
    cover.name = "other"
    assert client.name == "other"
    assert "name" in dir(cover)
    assert "raw" not in dir(cover)
    with pytest.raises(AttributeError, match="raw is not guarded"):
        _ = cover.raw
    assert copy.copy(cover).name == "other"
