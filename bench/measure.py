"""Measuring one engine against the bare work, in turns: what `python -m bench.measure ENGINE WORKLOAD` prints.

It runs in the engine's own environment, so it needs nothing but the standard library and what the adapter imports.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.engines import engine_named
from bench.engines.base import Bare, Engine, Unsupported
from bench.flows import Run
from bench.workloads import WORKLOADS, Check

__all__ = ["CHUNKS", "TURNS", "Pair", "measure"]

CHUNKS = 10_000
TURNS = 1000
Pair = tuple[float, float]
"""What the bare work took, and the engine's."""


def measure(name: str, workload: str, size: int, repeats: int, *, cpu: bool) -> Pair:
    """Medians of both.

    Raises:
        Unsupported: The engine can't do it.
        AssertionError: Its result is wrong.
    """
    special = {"import": import_pair, "memory": memory_pair}.get(workload)
    if special is not None:
        return special(name, repeats)
    makers = [_maker(engine, workload, size) for engine in (Bare(), engine_named(name))]
    cpu = cpu and workload != "slow_branch"  # sleeping takes no processor time
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(repeats + 1):
        for maker, samples in zip(makers, times, strict=True):
            seconds = maker(cpu)
            if turn:  # the first time warms up
                samples.append(seconds)
    return statistics.median(times[0]), statistics.median(times[1])


def _maker(engine: Engine, workload: str, size: int) -> Callable[[bool], float]:
    """A function that takes one sample."""
    if workload == "stream":
        return _sampling(_counted(engine), lambda count: bool(count == CHUNKS))
    flow, check = WORKLOADS[workload].make(size, engine.message)
    if workload != "debug_persist":
        return _sampling(engine.run_of(flow), check)

    def sample(cpu: bool) -> float:
        with tempfile.TemporaryDirectory() as folder, _inside(folder):
            taken = _sampling(engine.persisted(flow, str(Path(folder) / "kept.db")), check)(cpu)
            assert any(file.read_bytes()[:6] == b"SQLite" for file in Path(folder).iterdir()), "nothing was kept"
            return taken

    return sample


class _inside:
    """Some engines ignore the path that they are given and write beside themselves."""

    def __init__(self, folder: str) -> None:
        self.folder, self.before = folder, os.getcwd()

    def __enter__(self) -> None:
        os.chdir(self.folder)

    def __exit__(self, *_: object) -> None:
        os.chdir(self.before)


def _sampling(run: Run, check: Check) -> Callable[[bool], float]:
    async def main(clock: Callable[[], float]) -> float:
        began = clock()
        result = await run()
        taken = clock() - began
        assert check(result), "wrong final state"
        return taken

    def sample(cpu: bool) -> float:
        gc.collect()
        return asyncio.run(main(time.process_time if cpu else time.perf_counter))

    return sample


def _counted(engine: Engine) -> Run:
    seen = 0

    def handler(message: Any) -> None:
        nonlocal seen
        seen += 1

    def produce() -> Any:
        for _ in range(CHUNKS):
            yield {"content": "token "}

    run = engine.stream_of(produce, handler)

    async def counted() -> int:
        nonlocal seen
        seen = 0
        await run()
        return seen

    return counted


# --- in processes of their own ------------------------------------------------------------------------------


def import_pair(name: str, repeats: int) -> Pair:
    """Processor seconds of importing, with bytecode, best of some; both in turns."""
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        lines = "import time; t = time.process_time(); import {}; print(time.process_time() - t)"
        codes = [lines.format(modules) for modules in (Bare.modules, _modules(name))]
        pairs = [[_printed(code, env) for code in codes] for _ in range(max(repeats, 5) + 1)][1:]
    floor, ours = (min(column) for column in zip(*pairs, strict=True))
    return floor, ours


def _modules(name: str) -> str:
    return engine_named(name).modules


def memory_pair(name: str, repeats: int) -> Pair:
    """Peak MB of the messages workload."""
    code = "from bench.measure import peak_mb; print(peak_mb({!r}))"
    floor, ours = (_printed(code.format(each), dict(os.environ)) for each in ("", name))
    return floor, ours


def peak_mb(name: str) -> float:
    """Peak of traced memory in one run, after a first one has loaded everything; the bare work without a name."""
    engine = engine_named(name) if name else Bare()

    def run_of(turns: int) -> Run:
        return engine.run_of(WORKLOADS["messages"].make(turns, engine.message)[0])

    _sampling(run_of(1), lambda _: True)(True)
    sample = _sampling(run_of(TURNS), lambda _: True)
    tracemalloc.start()
    sample(True)
    return tracemalloc.get_traced_memory()[1] / 2**20


def _printed(code: str, env: dict[str, str]) -> float:
    env = {**env, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])}
    done = subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def main() -> None:
    """Print one JSON object: `floor` and `ours`, or `error`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("engine")
    parser.add_argument("workload")
    parser.add_argument("size", type=int)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--wall", action="store_true")
    args = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what an engine prints must not mix with the answer
    try:
        floor, ours = measure(args.engine, args.workload, args.size, args.repeats, cpu=not args.wall)
        answer: dict[str, Any] = {"floor": floor, "ours": ours}
    except Unsupported as error:
        answer = {"error": str(error)}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:80]}
    print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
