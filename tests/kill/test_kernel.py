"""A real Jupyter kernel is killed with -9 while a node runs; a new kernel opens the run and goes on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager

ROOT = Path(__file__).resolve().parents[2]

CALLED = ("a 2", "c.x 2", "c.y 2", "c.z 2", "plan 2")
"""What the killed kernel has done of the first round."""

GRAPH = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from evonb.graph import GraphEngineDebugger
from tests.kill import session_graph

builder = session_graph.builder(Path({calls!r}))
"""

KILLED = """
import asyncio

async def last(state):
    # Its sister branches are recorded by then, one of them a graph of its own, and the join has got both.
    while len(graph.history()) < 3:
        await asyncio.sleep(0)
    os.kill(os.getpid(), signal.SIGKILL)

graph = GraphEngineDebugger.of(builder, {path!r}, "kernels")
graph.replace_node("b", last)
await graph.debug(session_graph.INPUTS)
"""

OPENED = """
graph = GraphEngineDebugger.of(builder, {path!r}, "kernels")
graph.open_run(graph.runs()[0].run_id)
join = next(each for each in graph.waiting() if each.node_name == "join")
state = await graph.resume()
print(join.arrived, join.missing, state == await session_graph.builder().build().run(session_graph.INPUTS))
"""


@contextmanager
def kernel() -> Iterator[tuple[KernelManager, Any]]:
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client = manager.blocking_client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=120)
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def test_a_killed_kernels_run_goes_on_in_a_new_kernel_at_its_half_arrived_join(tmp_path: Path) -> None:
    calls, path = tmp_path / "calls", str(tmp_path / "runs.db")
    graph = GRAPH.format(root=str(ROOT), calls=str(calls))
    with kernel() as (manager, client):
        client.execute(graph + KILLED.format(path=path))
        assert manager.provisioner is not None
        assert manager.provisioner.process.wait(120) == -signal.SIGKILL
    made = calls.read_text().split("\n")
    assert sorted(made) == ["", *CALLED]
    said: list[str] = []
    with kernel() as (_, client):
        client.execute_interactive(
            graph + OPENED.format(path=path),
            timeout=120,
            output_hook=lambda message: said.append(str(message["content"].get("text", message["content"]))),
        )
    assert "('a', 'c') ('b',) True" in "".join(said), said
    made = calls.read_text().split("\n")
    assert [made.count(each) for each in (*CALLED, "b 2")] == [1] * 6
