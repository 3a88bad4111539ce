from __future__ import annotations

import time

import pytest
from click.testing import CliRunner
from rich.console import Console

from streamguard.cli.app import app
from streamguard.cli.demo.scenes import Scene, fake_secret, load_scenes
from streamguard.cli.demo.screen import play_live

SCENES = load_scenes()


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses the demo makes; none is slept."""
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    return pauses


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.title)
def test_a_scene_hides_exactly_what_is_marked(scene: Scene) -> None:
    session = scene.guard.session()
    shown = "".join(session.feed(piece.text) for piece in scene.pieces) + session.flush(scene.end)
    placeholder = "[REDACTED:"
    if placeholder in shown:
        start = shown.index(placeholder)
        shown = shown[:start] + shown[shown.index("]", start) + 1 :]
    assert shown.rstrip() == "".join(piece.text for piece in scene.pieces if not piece.hidden).rstrip()
    assert any(piece.hidden for piece in scene.pieces)


def test_no_chunk_alone_gives_a_scene_away() -> None:
    for scene in SCENES:
        for piece in scene.pieces:
            assert scene.guard.scrub(piece.text).strip() == piece.text.strip(), scene.title


def test_lines_without_a_terminal_and_no_waiting(naps: list[float]) -> None:
    done = CliRunner().invoke(app, ["demo"])
    assert done.exit_code == 0
    assert not any(naps)
    assert "\x1b" not in done.output
    for scene in SCENES:
        assert scene.title in done.output
    lines = done.output.splitlines()
    guarded = [line for line in lines if line.startswith("  with streamguard:")]
    assert len(guarded) == len(SCENES)
    assert "divorce" not in "".join(guarded)
    assert lines[-1].startswith("What no reader saw: fence/memory-context (")


def test_a_speed_that_is_given_counts_everywhere(naps: list[float]) -> None:
    assert CliRunner().invoke(app, ["demo", "--speed", "2"]).exit_code == 0
    assert set(naps) == {0.055}


@pytest.mark.parametrize("speed", ["0", "-1", "fast"])
def test_a_speed_that_is_none_is_refused(speed: str) -> None:
    done = CliRunner().invoke(app, ["demo", "--speed", speed])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("width", [40, 100])
def test_columns_on_a_terminal(naps: list[float], width: int) -> None:
    for scene in SCENES:
        console = Console(
            force_terminal=True, width=width, height=40, color_system=None, _environ={"TERM": "xterm"}
        )
        with console.capture() as capture:
            findings = play_live(scene, console, 0.1)
        assert findings
        screen = capture.get()
        assert "─ what the model" in screen
        assert "held)" in screen
        assert "…" not in screen
    assert naps


def test_credentials_are_drawn_not_stored() -> None:
    assert fake_secret("github") == fake_secret("github")
    assert fake_secret("github") != fake_secret("github", seed=8)
    assert "FAKE" in fake_secret("github")
