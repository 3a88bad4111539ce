"""Engines: by name, and the base class."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from streamguard.context import (
    Compaction,
    ContextCompressor,
    ContextEngine,
    Message,
    engine_names,
    load_engine,
)


class Halving(ContextEngine):
    async def count(self, messages: Sequence[Message], /) -> int:
        return len(messages)

    def due(self, tokens: int, /) -> bool:
        return tokens > 4

    async def compact(
        self, messages: Sequence[Message], /, *, focus: str = "", overhead: int = 0
    ) -> Compaction:
        half = list(messages[len(messages) // 2 :])
        return Compaction(half, "pruned", len(messages), len(half), fits=True)


def install(directory: Path, monkeypatch: pytest.MonkeyPatch, **points: str) -> None:
    """Lay out a distribution that offers engines, as pip does."""
    info = directory / "engines-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: engines\nVersion: 1.0\n")
    lines = [f"{name} = {value}" for name, value in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[streamguard.context_engines]", *lines]))
    (directory / "engines_for_test.py").write_text(
        "from streamguard.context import ContextEngine\n\n\nclass Mine(ContextEngine): pass\nNOT_ONE = dict\n"
    )
    monkeypatch.syspath_prepend(str(directory))
    importlib.invalidate_caches()


def test_ours_is_there_without_installing_anything() -> None:
    assert load_engine("compressor") is ContextCompressor
    assert "compressor" in engine_names()


def test_others_are_entry_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, mine="engines_for_test:Mine", wrong="engines_for_test:NOT_ONE")
    assert load_engine("mine").__name__ == "Mine"
    assert set(engine_names()) >= {"compressor", "mine", "wrong"}
    with pytest.raises(TypeError, match="no ContextEngine"):
        load_engine("wrong")
    with pytest.raises(LookupError, match="no engine has this name; installed: compressor"):
        load_engine("other")


def test_one_that_takes_our_name_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, compressor="engines_for_test:Mine")
    assert load_engine("compressor") is ContextCompressor


def test_a_conversation_is_prepared_only_when_that_is_due() -> None:
    messages: list[Message] = [{"role": "user", "content": str(at)} for at in range(4)]
    prepared = asyncio.run(Halving().prepare(messages))
    assert prepared == Compaction(messages, "none", 4, 4, fits=True)
    assert len(asyncio.run(Halving().prepare(messages, overhead=1)).messages) == 2
