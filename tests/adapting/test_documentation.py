"""The adapter in the documentation is short, and exact for every cut."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from streamguard import FenceScrubber, Redactor
from streamguard.adapting import guard_events, guard_events_sync
from streamguard.testing import every_cut

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[2] / "docs" / "adapters.md"
SNIPPETS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
GUARD = FenceScrubber("think") | Redactor()
TEXT = "a<think>x</think> <th"
ARGS = '{"password": "hunter2hunter", "b": ["\\u00e9<think>x</think>\\u00e9"]}'


def adapter(**options: Any) -> Any:
    namespace: dict[str, Any] = {"__name__": "snippet"}
    exec(SNIPPETS[0], namespace)  # noqa: S102 - our own documentation
    return namespace["ExampleAdapter"](GUARD, **options)


def events(text: list[str], args: list[str]) -> list[dict[str, object]]:
    return [
        {"type": "start", "id": "r"},
        *({"type": "text", "block": 0, "delta": part} for part in text),
        {"type": "stop", "block": 0},
        *({"type": "args", "block": 1, "delta": part} for part in args),
        {"type": "stop", "block": 1},
        {"type": "done", "reason": "tool"},
    ]


def told(shown: list[Any]) -> tuple[str, str, list[Any]]:
    text = "".join(event["delta"] for event in shown if event["type"] == "text")
    args = "".join(event["delta"] for event in shown if event["type"] == "args")
    return text, args, [event for event in shown if "delta" not in event]


def test_an_adapter_takes_under_sixty_lines() -> None:
    assert SNIPPETS[0].count("\n") < 60


def test_it_comes_to_the_same_for_every_cut() -> None:
    whole = told(list(guard_events_sync(events([TEXT], [ARGS]), adapter())))
    assert whole[0] == "a <th"
    assert "hunter2" not in whole[1]
    assert whole[1].endswith('"b": ["\\u00e9\\u00e9"]}')
    for cut in every_cut(TEXT):
        assert told(list(guard_events_sync(events(cut, [ARGS]), adapter()))) == whole
    for cut in every_cut(ARGS):
        assert told(list(guard_events_sync(events([TEXT], cut), adapter()))) == whole


def test_arguments_may_be_kept_or_dropped() -> None:
    assert told(list(guard_events_sync(events([], [ARGS]), adapter(tool_args="keep"))))[1] == ARGS
    assert told(list(guard_events_sync(events([], [ARGS]), adapter(tool_args="drop"))))[1] == ""


async def test_a_stream_that_breaks_off_shows_nothing_undecided() -> None:
    async def source() -> Any:
        for event in events(["ok "], ['{"password": "h'])[:4]:
            yield event
        raise OSError

    shown: list[Any] = []
    with pytest.raises(OSError):  # noqa: PT011, PT012 - what was shown before counts
        async for event in guard_events(source(), adapter()):
            shown.append(event)
    assert told(shown)[:2] == ("ok ", '{"password": "')
    assert shown[-1] == {"type": "stop", "block": 0}
