"""Asking what may fail: a summarizer, or a hook of others, for a text within some time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

__all__ = ["answer_of"]

_T = TypeVar("_T")


async def answer_of(
    ask: Callable[[_T], Awaitable[object]], about: _T, *, seconds: float | None
) -> tuple[str, str]:
    """Ask for a text.

    Args:
        ask: what is asked.
        about: what it is given.
        seconds: after which it counts as failed; `None` is never.

    Returns:
        The answer, and the name of the error for which there is none. An answer that is no text
        is a `TypeError`; a cancellation that is not the caller's is an error like any other.
    """
    try:
        with anyio.fail_after(seconds):
            answer = await ask(about)
    except asyncio.CancelledError as error:
        await checkpoint_if_cancelled()
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return "", type(error).__name__
    except Exception as error:
        return "", type(error).__name__
    return (answer, "") if isinstance(answer, str) else ("", TypeError.__name__)
