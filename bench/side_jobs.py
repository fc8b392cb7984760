"""Measurements that aren't a flow: chunks through the stream writer, importing, peak memory."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

from bench.flows import Run, bare, bare_message, graph, graph_message
from bench.workloads import messages
from evonb.graph import GraphBuilder, set_streaming_handler

CHUNKS = 10_000
TURNS = 1000


def stream_pair() -> tuple[Run, Run]:
    """Chunks handed to a function: called plainly, and put into a writer by a node."""

    def produce() -> Any:
        for _ in range(CHUNKS):
            yield {"content": "token "}

    seen = 0

    def handler(message: Any) -> None:
        nonlocal seen
        seen += 1

    async def plain() -> None:
        for chunk in produce():
            handler(chunk)

    async def emit(state: Any, stream_writer: Any) -> dict[str, int]:
        for chunk in produce():
            stream_writer.put(chunk)
        return {"count": 1}

    builder = GraphBuilder(dict)
    builder.add_node("emit", emit)
    builder.set_entry_point("emit")
    engine = builder.build()

    async def through_graph() -> None:
        nonlocal seen
        seen = 0
        set_streaming_handler(handler)
        await engine.run({"count": 0})
        assert seen == CHUNKS

    return plain, through_graph


def import_pair() -> tuple[float, float]:
    """Processor seconds for importing asyncio and sqlite3, and evonb; with bytecode, best of some."""
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONPATH": os.pathsep.join(sys.path)}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        floor, ours = (_import_s(names, env) for names in ("asyncio, sqlite3", "evonb.graph, evonb.typing"))
    return floor, ours


def _import_s(names: str, env: dict[str, str]) -> float:
    code = f"import time; t = time.process_time(); import {names}; print(time.process_time() - t)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True).stdout)
        for _ in range(6)
    ]
    return min(runs[1:])


def memory_pair() -> tuple[float, float]:
    """Peak MB of the messages workload, bare and as a graph, each in a process of its own."""
    code = "from bench.side_jobs import peak_mb; print(peak_mb({kind!r}))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])}
    floor, ours = (
        float(
            subprocess.run(
                [sys.executable, "-c", code.format(kind=kind)], env=env, check=True, capture_output=True, text=True
            ).stdout
        )
        for kind in ("bare", "graph")
    )
    return floor, ours


def peak_mb(kind: str) -> float:
    """Peak of traced memory in one run, after a first one has loaded everything."""
    make, message = (bare, bare_message) if kind == "bare" else (graph, graph_message)
    asyncio.run(_awaited(make(messages(1, message)[0])))
    run = make(messages(TURNS, message)[0])
    tracemalloc.start()
    asyncio.run(_awaited(run))
    return tracemalloc.get_traced_memory()[1] / 2**20


async def _awaited(run: Run) -> Any:
    return await run()


def timed(run: Run, *, cpu: bool) -> float:
    """Seconds of one run on a fresh loop."""
    clock = time.process_time if cpu else time.perf_counter

    async def main() -> float:
        began = clock()
        await run()
        return clock() - began

    return asyncio.run(main())
