from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from streamguard.cli import sources
from streamguard.cli.exits import Failure
from streamguard.cli.sources import STDIN, open_source


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TypedBytes(io.BytesIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def big(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sources, "_BIG", 4)
    path = tmp_path / "big.log"
    path.write_bytes(b"0123456789")
    return path


def read(name: str, *, progress: bool = False) -> bytes:
    with open_source(name, progress=progress) as chunks:
        return b"".join(chunks)


def test_a_big_file_shows_a_bar_on_a_terminal(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    assert read(str(big), progress=True) == b"0123456789"
    assert "10/10 bytes" in screen.getvalue()


@pytest.mark.parametrize("progress", [True, False])
def test_no_bar_is_shown_elsewhere(
    big: Path, progress: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not progress:
        monkeypatch.setattr(sys, "stderr", Terminal())
    assert read(str(big), progress=progress) == b"0123456789"
    assert capsys.readouterr() == ("", "")


def test_a_terminal_is_told_how_to_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(TypedBytes(b"typed")))
    assert read(STDIN) == b"typed"
    assert capsys.readouterr().err == "streamguard: reading what you type; end with Ctrl-D\n"


def test_a_closed_standard_input_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(Failure, match="standard input is closed"):
        read(STDIN)


def test_a_file_that_has_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(str(tmp_path / "gone"))
