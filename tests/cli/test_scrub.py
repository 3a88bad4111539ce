from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streamguard.cli.app import app
from streamguard.cli.demo.scenes import fake_secret

TOKEN = fake_secret("github")
NEEDS_SIGNALS = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


def scrub(*arguments: str, text: str | bytes = "", **environ: str) -> Result:
    return CliRunner().invoke(
        app, ["scrub", *arguments], input=text, env={"STREAMGUARD_KEY": None, **environ}
    )


@contextmanager
def running(*arguments: str) -> Generator[subprocess.Popen[bytes], None, None]:
    """Run `streamguard scrub` with pipes to talk through.

    Tests block on what they read and never wait by the clock; the timer only ends a test that failed.
    """
    command = [sys.executable, "-m", "streamguard", "scrub", *arguments]
    process = subprocess.Popen(  # noqa: S603 - our own program
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )
    guard = threading.Timer(60, process.kill)
    guard.start()
    try:
        yield process
    finally:
        guard.cancel()
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def test_hides_memory_reasoning_and_secrets_by_default() -> None:
    text = f"<think>hm</think>Hi <memory-context>\nAnna\n</memory-context>there, token = '{TOKEN}'\n"
    done = scrub(text=text)
    assert done.exit_code == 0
    assert done.stderr == ""
    assert done.stdout.startswith("Hi there, token = '[REDACTED:")
    for hidden in ("hm", "Anna", TOKEN, TOKEN[4:]):
        assert hidden not in done.stdout


def test_text_is_shown_before_more_is_written() -> None:
    with running() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"first line\n<th")
        assert process.stdout.read(len(b"first line\n")) == b"first line\n"
        process.stdin.write(b"ink>hidden</think>second line\n")
        assert process.stdout.read(len(b"second line\n")) == b"second line\n"
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(timeout=60) == 0


def test_bytes_that_are_not_utf8_are_kept() -> None:
    data = b"a\xff\xfe<think>x\xff</think>\xe4 z\x00\r\n"
    assert scrub(text=data).stdout_bytes == b"a\xff\xfe\xe4 z\x00\r\n"


def test_flags_choose_the_stages() -> None:
    text = f"<think>T</think><plan>P</plan><memory-context>M</memory-context>{TOKEN}"
    assert scrub("--fence", "plan", text=text).stdout.startswith("[REDACTED:")
    assert scrub("--no-redact", text=text).stdout == f"<plan>P</plan>{TOKEN}"
    assert scrub("--no-default-fences", "--fence", "plan", "--no-redact", text=text).stdout == (
        f"<think>T</think><memory-context>M</memory-context>{TOKEN}"
    )


def test_preamble_flag_trims_tool_talk() -> None:
    text = "The flight is on Friday. Let me check the calendar."
    assert scrub(text=text).stdout == text
    assert scrub("--preamble", text=text).stdout.rstrip() == "The flight is on Friday."


def test_roleplay_flag_removes_scaffolding() -> None:
    text = 'He nods.\n```json\n[{"op": "set", "path": "/hp", "value": 3}]\n```\n'
    assert '"op"' in scrub(text=text).stdout
    assert '"op"' not in scrub("--roleplay", text=text).stdout


def test_the_key_comes_from_the_environment_and_changes_the_placeholder() -> None:
    plain, keyed = scrub(text=TOKEN).stdout, scrub(text=TOKEN, STREAMGUARD_KEY="pepper").stdout
    assert plain != keyed
    assert scrub(text=TOKEN, STREAMGUARD_KEY="pepper").stdout == keyed


def test_an_empty_key_is_an_error() -> None:
    done = scrub(text=TOKEN, STREAMGUARD_KEY="")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "the environment variable STREAMGUARD_KEY is empty" in done.stderr


def test_a_policy_file_names_the_stages(tmp_path: Path) -> None:
    policy = tmp_path / "streamguard.toml"
    policy.write_text('[[stage]]\ntype = "fence"\nfences = ["plan"]\n')
    assert scrub("--policy", str(policy), text="<plan>x</plan><think>y</think>").stdout == "<think>y</think>"


def test_a_broken_policy_is_told_line_by_line(tmp_path: Path) -> None:
    policy = tmp_path / "streamguard.toml"
    policy.write_text('[[stage]]\ntype = "fence"\nfences = ["plan"]\nwere = "anywhere"\n')
    done = scrub("--policy", str(policy))
    assert done.exit_code == 2
    assert done.stderr.startswith(f"streamguard: {policy}: stage[0].were: unknown key; did you mean where?")
    assert done.stderr.count("\n") == 1


def test_several_files_are_texts_of_their_own(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("one <think>never closed")
    two.write_text("two\n")
    assert scrub(str(one), str(two)).stdout == "one two\n"
    assert scrub("-", str(two), text="in ").stdout == "in two\n"


def test_in_place_rewrites_whole_files(tmp_path: Path) -> None:
    path, clean = tmp_path / "a.log", tmp_path / "b.log"
    path.write_bytes(b"\xff<think>x</think>shown\r\n")
    clean.write_bytes(b"clean")
    path.chmod(0o640)
    before = clean.stat().st_mtime_ns
    done = scrub("--in-place", str(path), str(clean))
    assert (done.exit_code, done.output) == (0, "")
    assert path.read_bytes() == b"\xffshown\r\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert clean.stat().st_mtime_ns == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.log", "b.log"]


def test_reports_count_and_never_show_values() -> None:
    done = scrub("--report", "json", text=f"<think>T</think>{TOKEN} {TOKEN}")
    assert done.exit_code == 0
    report = json.loads(done.stderr)
    assert report["findings"] == 3
    (source,) = report["sources"]
    assert source["source"] == "standard input"
    assert {(row["stage"], row["action"], row["count"]) for row in source["findings"]} == {
        ("fence", "hidden", 1),
        ("redactor", "redacted", 2),
    }
    assert TOKEN not in done.stderr
    text = scrub("--report", "text", text=TOKEN).stderr
    assert text.startswith("standard input: 1 finding\n")
    assert TOKEN not in text


def test_fail_on_findings_exits_with_1_and_still_guards() -> None:
    assert scrub("--fail-on-findings", text="clean").exit_code == 0
    done = scrub("--fail-on-findings", text=f"x {TOKEN}")
    assert done.exit_code == 1
    assert done.stdout.startswith("x [REDACTED:")


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(f'{{"id": 1,  "message": {{"content": "token {TOKEN}"}}, "raw": "{TOKEN}"}}\nno json\n')
    done = scrub("--jsonl", "--pointer", "/message/content", str(path))
    first = json.loads(done.stdout.splitlines()[0])
    assert first["message"]["content"].startswith("token [REDACTED:")
    assert first["raw"] == TOKEN
    assert done.stdout.startswith('{"id": 1,  "message"')
    assert done.stderr == f"streamguard: {path}: lines that were not JSON, guarded as plain text: 1\n"
    assert TOKEN not in scrub("--jsonl", str(path)).stdout


def sse(*texts: str) -> str:
    events = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in texts]
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events)


def test_a_recorded_stream_shows_its_guarded_answer() -> None:
    data = sse("It is ", TOKEN[:9], TOKEN[9:20], TOKEN[20:], ".") + "data: [DONE]\n\n"
    done = scrub("--from", "sse", text=data)
    assert done.exit_code == 0
    assert done.stdout.startswith("It is [REDACTED:")
    assert done.stdout.endswith("].")


def test_answers_of_several_recordings_stand_on_lines_of_their_own(tmp_path: Path) -> None:
    one, two = tmp_path / "1.sse", tmp_path / "2.sse"
    one.write_text(sse("One."))
    two.write_text(sse("Two."))
    assert scrub("--from", "sse", str(one), str(two)).stdout == "One.\nTwo."


def test_a_recording_with_broken_events_says_so() -> None:
    done = scrub("--from", "sse", text=sse("Hello.") + 'data: {"cho')
    assert done.stdout == "Hello."
    assert done.stderr == "streamguard: standard input: events that were not JSON, left out: 1\n"


def test_a_recording_of_json_lines() -> None:
    line = json.dumps({"candidates": [{"content": {"parts": [{"text": "Hello."}]}, "finishReason": "STOP"}]})
    assert scrub("--from", "jsonl", "--provider", "gemini", text=line).stdout == "Hello."


def test_what_is_no_recording_is_an_error() -> None:
    done = scrub("--from", "sse", text="hello\n")
    assert done.exit_code == 2
    assert done.stderr == "streamguard: standard input: no event of any known provider in it\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nowhere.txt"], "Invalid value for '[FILES]...': File 'nowhere.txt' does not exist."),
        (["--policy", "nowhere.toml"], "nowhere.toml: no such file or directory"),
        (["--pointer", "/a"], "--pointer needs --jsonl"),
        (["--jsonl", "--pointer", "a"], "Invalid value for '--pointer': a JSON pointer begins with /"),
        (["--jsonl", "--from", "sse"], "--jsonl guards records, --from shows an answer; give one of them"),
        (["--reasoning"], "--reasoning needs --from"),
        (["--provider", "gemini"], "--provider needs --from"),
        (["--in-place"], "--in-place needs files"),
        (["--in-place", "-"], "--in-place needs files"),
        (
            ["--policy", "x", "--no-redact", "--fence", "a"],
            "--policy names all stages; leave out --fence, --no-redact",
        ),
        (["--no-redact", "--no-default-fences"], "these flags leave no stage to guard with"),
        (["--person"], "No such option"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(arguments: list[str], line: str) -> None:
    done = scrub(*arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert line in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_recording_is_not_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "a.sse"
    path.write_text(sse("x"))
    done = scrub("--in-place", "--from", "sse", str(path))
    assert done.exit_code == 2
    assert path.read_text() == sse("x")


def test_a_reader_that_leaves_is_no_error() -> None:
    with running() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(b"nobody reads this\n" * 9000)
        process.stdin.close()
        assert process.wait(timeout=60) == 141
        assert process.stderr.read() == b""


@NEEDS_SIGNALS
def test_an_interrupt_is_quiet_and_shows_nothing_held() -> None:
    with running() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"shown\n<memory-context")
        assert process.stdout.read(6) == b"shown\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stdout.read() == b""
        assert process.stderr.read() == b""


@NEEDS_SIGNALS
def test_a_named_pipe_streams_like_standard_input(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with running(str(fifo)) as process:
        assert process.stdout is not None
        # Open for both: opening for writing alone would wait for a program that failed to start.
        writer = os.open(fifo, os.O_RDWR)
        try:
            os.write(writer, b"at once ")
            assert process.stdout.read(8) == b"at once "
        finally:
            os.close(writer)
