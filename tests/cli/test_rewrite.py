from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamguard.cli.rewrite import rewrite


def only(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_the_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"old")
    path.chmod(0o640)
    assert rewrite(path, [b"n", b"ew"])
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o7777 == 0o640
    assert only(tmp_path) == ["a.log"]


def test_a_reader_sees_the_old_file_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"old")

    def content() -> Iterator[bytes]:
        yield b"new, first half"
        assert path.read_bytes() == b"old"
        yield b"second half"

    with path.open("rb") as reader:
        assert rewrite(path, content())
        assert reader.read() == b"old"


@pytest.mark.parametrize("failure", [OSError("disk"), KeyboardInterrupt()])
def test_a_failure_leaves_the_file_and_nothing_beside_it(tmp_path: Path, failure: BaseException) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"old")

    def content() -> Iterator[bytes]:
        yield b"new"
        raise failure

    with pytest.raises(type(failure)):
        rewrite(path, content())
    assert path.read_bytes() == b"old"
    assert only(tmp_path) == ["a.log"]


def test_content_that_does_not_change_leaves_the_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"same")
    inode = path.stat().st_ino
    assert not rewrite(path, [b"same"])
    assert path.stat().st_ino == inode
    assert only(tmp_path) == ["a.log"]


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    path = tmp_path / "real" / "a.log"
    path.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(path)
    assert rewrite(link, [b"new"])
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert only(tmp_path / "real") == ["a.log"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes anywhere")
def test_a_directory_that_is_read_only_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"old")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            rewrite(path, [b"new"])
    finally:
        tmp_path.chmod(0o700)
    assert path.read_bytes() == b"old"
