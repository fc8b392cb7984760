"""Runs a piece of code in a process of its own, for limits and rights that this one can't give up."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

BEGIN = """
import os, sys, time, warnings
from pathlib import Path
from evonb.persistence import SqliteStore, StoreError
from tests.unit.persistence.samples import header, step
path = Path(sys.argv[1])
problems = []
store = SqliteStore(path, notify=problems.append)
"""

WITHOUT_RIGHTS = """
import shutil, tempfile
Path("/").as_uri()  # what is imported late may lie where only root can read
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)  # root may write anywhere
"""


def start(code: str, path: Path) -> subprocess.Popen[str]:
    """Start a child whose code comes after `BEGIN`; its streams are pipes."""
    command = [sys.executable, "-c", BEGIN + textwrap.dedent(code), str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, **pipes)  # type: ignore[call-overload,no-any-return]


def run(code: str, path: Path) -> str:
    """What a child printed; its failure is ours."""
    with start(code, path) as child:
        out, err = child.communicate()
    assert child.returncode == 0, err
    return out


def until(condition: Callable[[], object], timeout_s: float = 30.0) -> None:
    """Wait until a condition holds."""
    end, pause = time.monotonic() + timeout_s, threading.Event()
    while not condition():
        assert time.monotonic() < end, "the condition never held"
        pause.wait(0.01)
