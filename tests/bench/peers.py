"""The libraries streamguard is compared with.

Each is optional. `hermes-agent` pins dozens of dependencies that its two scrubbers do not use: its wheel is
downloaded, and the two modules are taken out of it and loaded with stand-ins for what they import.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from zipfile import BadZipFile, ZipFile

__all__ = ["Peers"]

HERMES = "hermes-agent==0.19.0 --hash=sha256:bd0bac012aee38a60894781f4597dc29ee7bedb3448540249921f10d3bef327f"
SCRUBBERS = {"memory_manager": "StreamingContextScrubber", "think_scrubber": "StreamingThinkScrubber"}
STAND_INS = {
    "agent": (),
    "agent.memory_provider": ("MemoryProvider",),
    "agent.skill_commands": ("extract_user_instruction_from_skill_message",),
    "tools": (),
    "tools.registry": ("tool_error",),
}
TAGS = ("memory-context", "think")

Make = Callable[[], Callable[[str], object]]


class Peers:
    """What could be loaded.

    Attributes:
        streaming: by name, a function that makes the `feed` of a new stream.
        scrub: llm-scrub's function from a text to a text, if it is installed.
        absent: why the others are missing.
    """

    def __init__(self, cache: Path) -> None:
        self.streaming: dict[str, Make] = {}
        self.scrub: Callable[[str], str] | None = None
        self.absent: list[str] = []
        loaders = {
            "hermes-agent": self._hermes,
            "llm-stream-guards": self._stream_guards,
            "llm-scrub": self._llm_scrub,
        }
        for name, load in loaders.items():
            try:
                load(cache)
            except (ImportError, AttributeError, OSError, BadZipFile, subprocess.SubprocessError) as error:
                self.absent.append(f"Left out, since it cannot be had: {name} ({type(error).__name__})")

    def _hermes(self, cache: Path) -> None:
        wheel = next(cache.glob("hermes_agent-*.whl"), None) or _download(HERMES, cache)
        for module, scrubber in SCRUBBERS.items():
            found: type = getattr(_take_out(wheel, f"agent/{module}.py", cache), scrubber)
            self.streaming[f"hermes-agent {scrubber}"] = _feed_of(found)

    def _stream_guards(self, _cache: Path) -> None:
        from llm_stream_guards import TagStream

        self.streaming["llm-stream-guards TagStream"] = _feed_of(lambda: TagStream(TAGS))

    def _llm_scrub(self, _cache: Path) -> None:
        from llm_scrub import scrub

        self.scrub = scrub


def _feed_of(make: Callable[[], object]) -> Make:
    def feed() -> Callable[[str], object]:
        bound: Callable[[str], object] = make().feed  # type: ignore[attr-defined]
        return bound

    return feed


def _download(requirement: str, folder: Path) -> Path:
    (folder / "requirements.txt").write_text(requirement)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    command += ["--only-binary", ":all:", "--dest", str(folder), "-r", str(folder / "requirements.txt")]
    subprocess.run(command, check=True, capture_output=True, timeout=300)  # noqa: S603
    return next(folder.glob("hermes_agent-*.whl"))


def _take_out(wheel: Path, member: str, folder: Path) -> ModuleType:
    """Load one module of a wheel, with nothing behind its imports."""
    name = f"hermes_{Path(member).stem}"
    with ZipFile(wheel) as archive:
        (folder / f"{name}.py").write_bytes(archive.read(member))
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = {stand_in: sys.modules.get(stand_in) for stand_in in STAND_INS}
    for stand_in, names in STAND_INS.items():
        sys.modules[stand_in] = ModuleType(stand_in)
        vars(sys.modules[stand_in]).update(dict.fromkeys(names, object))
    try:
        spec.loader.exec_module(module)
    finally:
        for stand_in, real in before.items():
            del sys.modules[stand_in]
            if real is not None:
                sys.modules[stand_in] = real
    return module
