"""Other engines, each in an environment of its own under build/peers, measured in child processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from bench.engines import PEERS
from bench.workloads import SIZES

__all__ = ["environments", "ratio"]

_ROOT = Path(__file__).parents[1]
_LIMIT_S = 60  # for one engine and workload
Answer = float | str
"""A ratio to the bare work, or why there is none."""


def environments() -> dict[str, Path]:
    """The Python of each peer; missing environments are made.

    Raises:
        subprocess.CalledProcessError: A package can't be installed.
    """
    found = {}
    for name, packages in PEERS.items():
        folder = _ROOT / "build" / "peers" / name
        python = folder / "bin" / "python"
        ready = folder / ".ready"
        if not ready.exists():
            print(f"installing {name} ...", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages]
            subprocess.run(install, check=True)
            ready.touch()
        found[name] = python
    return found


def version(name: str, python: Path) -> str:
    """The installed version."""
    package = PEERS[name][0]
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def ratio(name: str, python: Path, workload: str, repeats: int, *, cpu: bool) -> Answer:
    """How many times the bare work a peer takes, at the largest size; or an error in words."""
    command = [str(python), "-m", "bench.measure", name, workload, str(SIZES[workload][-1]), f"--repeats={repeats}"]
    try:
        done = subprocess.run(
            [*command, *([] if cpu else ["--wall"])], cwd=_ROOT, capture_output=True, text=True, timeout=_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return f"over {_LIMIT_S} s"
    try:
        answer = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return f"ended with code {done.returncode}"
    return answer["ours"] / answer["floor"] if "ours" in answer else str(answer["error"])
