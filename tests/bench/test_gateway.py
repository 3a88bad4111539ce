"""What the gateway adds to the time to the first token, over a proxy that only passes."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest

from .report import Report

pytestmark = pytest.mark.bench
ROUNDS = 300
REQUEST = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 15\r\n\r\n" + b'{"stream":true}'


def _start(stack: ExitStack, kind: str, *upstream: str) -> int:
    script = Path(__file__).with_name("proxies.py")
    server = subprocess.Popen(  # noqa: S603 - our own script
        [sys.executable, str(script), kind, *upstream], stdout=subprocess.PIPE, text=True
    )
    stack.callback(server.wait)
    stack.callback(server.kill)
    assert server.stdout
    stack.callback(server.stdout.close)
    return int(server.stdout.readline())


def _asking(stack: ExitStack, port: int) -> Callable[[], tuple[float, float]]:
    """Ask over one connection; gives the seconds until the first token, and until the last."""
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))

    def ask() -> tuple[float, float]:
        begin = perf_counter()
        connection.sendall(REQUEST)
        got = b""
        first = 0.0
        while not got.endswith(b"0\r\n\r\n"):
            got += connection.recv(65536)
            if not first and b"delta" in got:
                first = perf_counter() - begin
        return first, perf_counter() - begin

    return ask


def test_time_to_the_first_token(report: Report) -> None:
    with ExitStack() as stack:
        upstream = _start(stack, "upstream")
        ports = {"upstream": upstream} | {
            kind: _start(stack, kind, f"http://127.0.0.1:{upstream}") for kind in ("bare", "gateway")
        }
        asking = {kind: _asking(stack, port) for kind, port in ports.items()}
        times: dict[str, list[tuple[float, float]]] = {kind: [] for kind in asking}
        for number in range(ROUNDS + 20):
            for kind, ask in asking.items():
                taken = ask()
                if number >= 20:
                    times[kind].append(taken)
    rows = report.table(
        "Milliseconds until the first token and the last, medians of streams of thirty events",
        "through",
        "first token",
        "last token",
        "first token, times that of the bare proxy",
    )
    bare = median(first for first, _ in times["bare"])
    for kind, taken in times.items():
        first, last = (median(pair[at] for pair in taken) for at in (0, 1))
        rows.append((kind, f"{first * 1e3:.2f}", f"{last * 1e3:.2f}", f"{first / bare:.2f}"))
    added = median(first for first, _ in times["gateway"]) - bare
    report.target("milliseconds the gateway adds to the first token", added * 1e3, most=5)
