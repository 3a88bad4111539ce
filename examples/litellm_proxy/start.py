"""Start a provider and LiteLLM's proxy in front of it, both on loopback, and ask one question.

It stays up until Ctrl-C; with `--once` it stops behind the answer.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from openai import OpenAI

HERE = Path(__file__).resolve().parent
PATIENCE = 180  # seconds; the proxy takes half a minute on an ordinary machine


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def wait(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(url, timeout=5).status_code == 200:
                return
        time.sleep(0.2)
    sys.exit("the proxy has not come up")


def main() -> None:
    upstream_port, port = free_port(), free_port()
    key = os.environ.get("LITELLM_MASTER_KEY") or "sk-" + secrets.token_hex(16)
    environment = {
        **os.environ,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MASTER_KEY": key,
        "UPSTREAM_PORT": str(upstream_port),
        "UPSTREAM_URL": f"http://127.0.0.1:{upstream_port}",
    }
    litellm = Path(sys.executable).with_name("litellm")
    proxy_command = [litellm, "--config", HERE / "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
    with contextlib.ExitStack() as stack:
        for command in ([sys.executable, HERE / "upstream.py"], proxy_command):
            process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)  # noqa: S603 - our own programs
            stack.callback(process.wait)
            stack.callback(process.terminate)
        url = f"http://127.0.0.1:{port}"
        wait(f"{url}/health/liveliness", process)
        print(f"The proxy listens on {url}/v1, its key is {key}\n")
        client = OpenAI(base_url=f"{url}/v1", api_key=key)
        question: Any = [{"role": "user", "content": "Who am I?"}]
        for chunk in client.chat.completions.create(model="demo", messages=question, stream=True):
            if chunk.choices:
                print(chunk.choices[0].delta.content or "", end="", flush=True)
        print()
        if "--once" not in sys.argv:
            with contextlib.suppress(KeyboardInterrupt):
                process.wait()


if __name__ == "__main__":
    main()
