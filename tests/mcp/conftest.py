"""Real MCP servers: one as a child process over its standard streams, others on free ports of the loopback."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evonb.typing import SseLink, StdioLink, StreamableHttpLink

SERVER = Path(__file__).with_name("server.py")
# Long limits: the machine that runs the tests may be busy, and none of them waits for a limit to pass.
LONG_S = 60.0


@pytest.fixture
def stdio_link() -> StdioLink:
    return StdioLink(command=sys.executable, args=[str(SERVER), "stdio"], read_time_out=LONG_S)


@pytest.fixture
def small_link() -> StdioLink:
    return StdioLink(command=sys.executable, args=[str(SERVER.with_name("small_server.py"))], read_time_out=LONG_S)


@pytest.fixture
def crashing_link() -> StdioLink:
    return StdioLink(command=sys.executable, args=[str(SERVER), "crash"], read_time_out=LONG_S)


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[[str], tuple[subprocess.Popen[bytes], int]]]:
    """Start a server of a kind, wait until it listens, give its process and port; all are killed at the end."""
    started: list[subprocess.Popen[bytes]] = []

    def start(kind: str, port: int = 0) -> tuple[subprocess.Popen[bytes], int]:
        port = port or free_port()
        with (tmp_path / f"{kind}.log").open("ab") as log:
            process = subprocess.Popen([sys.executable, str(SERVER), kind, str(port)], stdout=log, stderr=log)
        started.append(process)
        wait_until_listening(process, port)
        return process, port

    yield start
    for process in started:
        process.kill()
        process.wait(LONG_S)


@pytest.fixture
def link_of() -> Callable[[str, int], SseLink | StreamableHttpLink]:
    def make(kind: str, port: int) -> SseLink | StreamableHttpLink:
        if kind == "sse":
            return SseLink(url=f"http://127.0.0.1:{port}/sse")
        return StreamableHttpLink(url=f"http://127.0.0.1:{port}/mcp")

    return make


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_listening(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + LONG_S
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the server ended with {process.returncode}"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)  # a condition of another process: there is nothing to be told by
        else:
            return
    raise AssertionError("the server doesn't listen")


@pytest.fixture
def a_free_port() -> int:
    return free_port()
