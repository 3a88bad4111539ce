"""Asking what may fail, within some time."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest

from streamguard.context.asking import answer_of


@pytest.mark.anyio
async def test_an_answer_is_a_text(anyio_backend: str) -> None:
    async def echo(about: str) -> str:
        return about

    assert await answer_of(echo, "Hi", seconds=None) == ("Hi", "")


@pytest.mark.anyio
@pytest.mark.parametrize("answer", [None, 3, ["Hi"], b"Hi"])
async def test_what_is_no_text_is_a_failure(anyio_backend: str, answer: Any) -> None:
    async def other(about: str) -> object:
        return answer

    assert await answer_of(other, "", seconds=1) == ("", "TypeError")


@pytest.mark.anyio
async def test_what_cannot_be_awaited_is_a_failure(anyio_backend: str) -> None:
    def plain(about: str) -> Any:
        return about

    assert await answer_of(plain, "", seconds=1) == ("", "TypeError")


@pytest.mark.anyio
async def test_an_error_is_told_by_its_name(anyio_backend: str) -> None:
    async def broken(about: str) -> str:
        raise OSError(about)

    assert await answer_of(broken, "secret", seconds=1) == ("", "OSError")


@pytest.mark.anyio
async def test_it_ends_in_time(anyio_backend: str) -> None:
    async def never(about: str) -> str:
        await anyio.sleep_forever()
        return about

    with anyio.fail_after(10):
        assert await answer_of(never, "", seconds=0.01) == ("", "TimeoutError")


def test_a_cancellation_of_its_own_is_a_failure() -> None:
    async def given_up(about: str) -> str:
        raise asyncio.CancelledError

    assert asyncio.run(answer_of(given_up, "", seconds=1)) == ("", "CancelledError")


def test_a_cancellation_of_the_caller_goes_on() -> None:
    async def never(about: str) -> str:
        await asyncio.sleep(60)
        return about

    async def main() -> None:
        asked = asyncio.create_task(answer_of(never, "", seconds=None))
        await asyncio.sleep(0.01)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        with anyio.move_on_after(0.01) as scope:
            await answer_of(never, "", seconds=None)
        assert scope.cancelled_caught

    asyncio.run(main())
