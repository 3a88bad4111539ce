"""The command itself; what the gateway does is tested beside its package."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("uvicorn")

import httpx

from streamguard.cli import app as commands
from streamguard.cli.app import app
from streamguard.cli.serve import serve

SECRET = "hunter2-" + "blue9"
MESSAGE = {"role": "assistant", "content": f'password = "{SECRET}"'}
BODY = json.dumps({"choices": [{"index": 0, "message": MESSAGE}]}).encode()


class Handler(BaseHTTPRequestHandler):
    release = threading.Event()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/v1/responses":
            assert self.release.wait(30)
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
        del format, args


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    server: HTTPServer = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@contextmanager
def gateway(*arguments: str, key: str = "k") -> Iterator[tuple[str, subprocess.Popen[str]]]:
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "streamguard", "serve", "--port", "0", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "STREAMGUARD_KEY": key},
    )
    assert process.stderr
    try:
        lines: list[str] = []
        for line in process.stderr:
            lines.append(line)
            if found := re.search(r"(http://127\.0\.0\.1:\d+) guards", line):
                yield found[1], process
                break
        else:
            pytest.fail("".join(lines))
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_it_serves_what_the_policy_says_with_the_key_of_the_environment(
    upstream: str, tmp_path: Path
) -> None:
    policy = tmp_path / "streamguard.toml"
    policy.write_text('[[stage]]\ntype = "redactor"\n')
    shown: list[str] = []
    for key in ("one", "two"):
        with gateway("--upstream", upstream, "--policy", str(policy), key=key) as (url, _):
            got = httpx.post(url + "/v1/chat/completions", json={}, timeout=20)
            shown.append(got.json()["choices"][0]["message"]["content"])
    assert all(re.fullmatch(r'password = "\[REDACTED:secret-literal:[0-9a-f]{8}\]"', text) for text in shown)
    assert shown[0] != shown[1]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_told_to_stop_it_finishes_what_has_begun(upstream: str) -> None:
    Handler.release.clear()
    with gateway("--upstream", upstream) as (url, process):
        got: list[httpx.Response] = []

        def ask() -> None:
            got.append(httpx.post(url + "/v1/responses", json={}, timeout=20))

        asking = threading.Thread(target=ask)
        asking.start()
        while "streamguard_streams_active 1.0" not in httpx.get(url + "/metrics").text:
            pass
        process.send_signal(signal.SIGTERM)
        Handler.release.set()
        asking.join(20)
        assert got[0].status_code == 200
        assert SECRET not in got[0].text
        assert process.stderr
        log = process.stderr.read()
        assert process.wait(20) == -signal.SIGTERM
    assert "responses: complete" in log
    assert "Traceback" not in log
    assert SECRET not in log


def test_its_defaults_are_those_of_the_package() -> None:
    from streamguard_gateway import Limits

    given = {option.name: option.default for option in serve.params}
    limits = Limits()
    assert (given["connect_timeout"], given["read_timeout"]) == (limits.connect, limits.read)
    assert (given["idle_timeout"], given["max_streams"]) == (limits.idle, limits.streams)
    assert (given["max_body"], given["max_event"]) == (limits.body, limits.event)


def test_a_missing_package_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ModuleNotFoundError(f"No module named {name!r}", name="starlette")

    monkeypatch.setattr("streamguard.cli.serve.importlib.import_module", missing)
    monkeypatch.setattr(commands._App, "get_command", lambda *_: serve)
    done = CliRunner().invoke(app, ["serve", "--upstream", "http://localhost"])
    assert done.exit_code == 2
    assert done.stderr == "streamguard: serve needs starlette: pip install 'streamguard-llm[cli,gateway]'\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Missing option '--upstream'."),
        (["--upstream", "nowhere"], "Invalid value for --upstream: the upstream must be a URL"),
        (["--upstream", "http://x", "--max-body", "0"], "Invalid value for '--max-body'"),
        (["--upstream", "http://x", "--read-timeout", "0"], "Invalid value for '--read-timeout'"),
        (["--upstream", "http://x", "--policy", "none.toml"], "none.toml"),
        (["--upstream", "http://x", "--request-policy", "none.toml"], "none.toml"),
    ],
)
def test_what_cannot_be_served_is_told_in_one_line(arguments: list[str], told: str) -> None:
    done = CliRunner().invoke(app, ["serve", *arguments])
    assert done.exit_code == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_port_that_is_taken_is_told_in_one_line(upstream: str) -> None:
    port = upstream.rpartition(":")[2]
    done = CliRunner().invoke(app, ["serve", "--upstream", "http://x", "--port", port])
    assert done.exit_code == 2
    assert "address already in use" in done.stderr
