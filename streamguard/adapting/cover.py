"""An object that passes for another: what adapters put over a client."""

from __future__ import annotations

from typing import Any

__all__ = ["Cover"]


class Cover:
    """Passes for the object behind it, to `isinstance` as well.

    An adapter's own class overrides what is guarded, and names in `_refused` what cannot be;
    everything else is the object's own.

    Args:
        inner: the object behind it.
        settings: what the adapter's methods need to know.
    """

    __slots__ = ("_inner", "_settings")

    _inner: Any
    _settings: Any
    _refused: frozenset[str] = frozenset()

    def __init__(self, inner: Any, settings: Any) -> None:
        object.__setattr__(self, "_inner", inner)
        object.__setattr__(self, "_settings", settings)

    @property  # type: ignore[misc]  # it answers for the class behind it
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._inner.__class__

    def __getattr__(self, name: str) -> Any:
        if name in Cover.__slots__:  # not set yet: this one is being copied
            raise AttributeError(name)
        if name in self._refused:
            raise AttributeError(f"{name} is not guarded: use it on the client that was given to wrap()")
        return getattr(self._inner, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in Cover.__slots__:
            object.__setattr__(self, name, value)
        else:
            setattr(self._inner, name, value)

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._inner) if name not in self._refused]
