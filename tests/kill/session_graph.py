"""The graph that is debugged while somebody kills its process: a fan-out, an `all` join and a loop around both. One of
the branches is a graph that has such a join too.

    start > plan > a, b, c > join > plan ... end        c: start > c.x, c.y > c.z > end

Every call of a node leaves a line in a file, which survives the process.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

from evonb.graph import GraphBuilder

NAME = "victims"
ROUNDS = 10
STEPS = 5 * ROUNDS + 1
INPUTS: dict[str, Any] = {"n": 1}
BRANCHES = ("a", "b", "c")
CALLS = 7 * ROUNDS
"""The nodes of a whole run, those inside of the graph in it included, and not that graph itself."""
TOGETHER = (frozenset({"a", "b", "c.x", "c.y"}), frozenset({"a", "b", "c.z"}), frozenset({"plan"}), frozenset({"join"}))
"""What may run at once."""


class State(TypedDict):
    """What the nodes write; the body makes some rows so large that writing them takes many pages."""

    n: int
    log: Annotated[list, "extend"]
    found: Annotated[dict, "merge"]
    body: bytes


def builder(calls: Path | None = None) -> GraphBuilder:
    """The graph.

    Args:
        calls: The file that each call is noted in.
    """
    note = noting(calls)

    async def plan(state: State) -> dict[str, Any]:
        n = state["n"] + 1
        note("plan", n)
        return {"n": n, "log": [f"plan {n}"], "body": random.Random(n).randbytes(200_000 if n % 3 == 0 else 500)}

    def branch(name: str) -> Callable[[State], Any]:
        async def work(state: State) -> dict[str, Any]:
            note(name, state["n"])
            await asyncio.sleep(0)
            return {"log": [f"{name} {state['n']}"], "found": {f"{name}{state['n']}": (name, state["n"])}}

        return work

    def inside() -> GraphBuilder:
        inner = GraphBuilder(State, name="inside")
        for name in ("x", "y"):
            inner.add_node(name, branch(f"c.{name}"))
        inner.add_node("z", branch("c.z"), action_mode="all")
        inner.add_edge("start", "x")
        inner.add_edge("start", "y")
        inner.add_edge("x", "z")
        inner.add_edge("y", "z")
        inner.add_edge("z", "end")
        return inner

    async def join(state: State) -> dict[str, Any]:
        note("join", state["n"])
        return {"log": [f"join of {len(state['found'])}"]}

    made = GraphBuilder(State, name=NAME)
    made.add_node("plan", plan)
    for name in BRANCHES:
        made.add_node(name, inside().build() if name == "c" else branch(name))
    made.add_node("join", join, action_mode="all")
    for name in BRANCHES:
        made.add_edge("plan", name)
        made.add_edge(name, "join")
    made.add_condition_edge("join", lambda state: "plan" if state["n"] <= ROUNDS else "end", ["plan", "end"])
    made.set_entry_point("plan")
    return made


def noting(calls: Path | None) -> Callable[[str, int], None]:
    """Writes a line for each call."""

    def note(name: str, n: int) -> None:
        if calls is not None:
            file = os.open(calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(file, f"{name} {n}\n".encode())
            os.close(file)

    return note


def called(calls: Path) -> list[str]:
    """The calls that were noted."""
    return calls.read_text().splitlines() if calls.exists() else []
