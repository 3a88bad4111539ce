"""Processes of LiteLLM's proxy on loopback. They take half a minute to start."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from .support import POLICY
from .upstream import Upstream

START, LOGGED = 180.0, 20.0
"""Seconds a proxy has to start, and to hand a call to its loggers."""

_MODELS = {
    "gpt": ("openai/gpt-4o", "/v1"),
    "instruct": ("text-completion-openai/gpt-3.5-turbo-instruct", "/v1"),
    "claude": ("anthropic/claude-sonnet-4-20250514", ""),
    "gemini": ("gemini/gemini-2.0-flash", ""),
}


@dataclass
class Proxy:
    """A proxy that runs."""

    url: str
    key: str
    recorded: Path
    log: Path
    process: subprocess.Popen[bytes]

    def post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.post(self.url + path, json=body, headers=headers, timeout=60)

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.url + path, headers={"Authorization": f"Bearer {self.key}"}, timeout=60)

    def logged(self, token: str) -> list[Any]:
        """Everything its loggers got of a call, once it was told to have succeeded."""
        return self.logged_as(token, "async_success")

    def logged_as(self, token: str, event: str) -> list[Any]:
        deadline = time.monotonic() + LOGGED
        while time.monotonic() < deadline:
            text = self.recorded.read_text() if self.recorded.exists() else ""
            whole = text[: text.rfind("\n") + 1]  # the last line may still be written
            lines = [json.loads(line) for line in whole.splitlines() if token in line]
            if any(line["event"] == event for line in lines):
                return lines
            time.sleep(0.05)
        raise AssertionError(f"no {event} was logged")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def configuration(upstream: Upstream, *, guardrails: list[Any], retries: int = 0) -> dict[str, Any]:
    return {
        "model_list": [
            {
                "model_name": name,
                "litellm_params": {"model": model, "api_base": upstream.url + base, "api_key": "k"},
            }
            for name, (model, base) in _MODELS.items()
        ],
        "litellm_settings": {"callbacks": "recorder.recorder", "num_retries": retries},
        "guardrails": guardrails,
    }


def guardrail(name: str = "streamguard", **more: Any) -> dict[str, Any]:
    params = {
        "guardrail": "streamguard_litellm.StreamGuardGuardrail",
        "mode": "post_call",
        "default_on": True,
        "streamguard": {"policy": POLICY},
        **more,
    }
    return {"guardrail_name": name, "litellm_params": params}


@contextlib.contextmanager
def started(
    directory: Path, configuration: dict[str, Any], files: Mapping[str, str] | None = None
) -> Iterator[Proxy]:
    """Start a proxy; it may not be up yet. `up` waits for it."""
    directory.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("recorder.py"), directory)
    for name, text in (files or {}).items():
        (directory / name).write_text(text)
    (directory / "config.yaml").write_text(json.dumps(configuration))  # JSON is YAML
    port, key = free_port(), "sk-" + secrets.token_hex(8)
    recorded, log = directory / "recorded.jsonl", directory / "log"
    environment = {
        **os.environ,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MASTER_KEY": key,
        "RECORDED": str(recorded),
    }
    command = Path(sys.executable).with_name("litellm")
    arguments = [command, "--config", directory / "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
    with log.open("w") as output:
        process = subprocess.Popen(  # noqa: S603 - of this environment
            arguments, env=environment, cwd=directory, stdout=output, stderr=output
        )
    try:
        yield Proxy(f"http://127.0.0.1:{port}", key, recorded, log, process)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def up(proxy: Proxy) -> Proxy:
    """Wait until a proxy is up."""
    deadline = time.monotonic() + START
    while time.monotonic() < deadline and proxy.process.poll() is None:
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(f"{proxy.url}/health/liveliness", timeout=5).status_code == 200:
                return proxy
        time.sleep(0.2)
    raise AssertionError(proxy.log.read_text()[-4000:])
