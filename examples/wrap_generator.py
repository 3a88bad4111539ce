"""Guard an async generator of your own: one line around the stream you have."""

import asyncio
from collections.abc import AsyncIterator

from streamguard import FenceScrubber, Finding, Redactor

guard = FenceScrubber("memory-context", "think") | Redactor()


async def model() -> AsyncIterator[str]:
    """Stand in for a model: the pieces are cut where it hurts."""
    key = "sk-proj-" + "FakeKey0" * 6
    text = (
        f"<memory-context>\nlikes tea\n</memory-context>\nYour key is {key}, <think>hm</think>keep it safe.\n"
    )
    for start in range(0, len(text), 5):
        yield text[start : start + 5]


async def main() -> None:
    findings: list[Finding] = []
    async for text in guard.transform(model(), on_finding=findings.append):
        print(text, end="", flush=True)
    for found in findings:
        print(f"# {found.stage}: {found.rule} {found.action} at {found.offset}, {found.length} characters")


asyncio.run(main())
