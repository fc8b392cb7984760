"""What is measured, in which sizes, and how much slower than the bare work it may be."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from bench.flows import END, Flow

Check = Callable[[Any], bool]
Message = Callable[[str], Any]
SLOW_S = 0.2


@dataclass(frozen=True)
class Workload:
    """One kind of work.

    Attributes:
        make: `(size, message) -> (flow, check)`; the check looks at the final state, so that skipped work shows.
        sizes: From small to large.
        most: How many times the bare work the largest size may take.
        growth: The largest allowed exponent of time over size; None where size isn't work.
        what: In words.
    """

    make: Callable[[int, Message], tuple[Flow, Check]]
    sizes: tuple[int, ...]
    most: float
    growth: float | None
    what: str


async def _step(state: Any) -> dict[str, Any]:
    return {"count": state["count"] + 1}


def _step_sync(state: Any) -> dict[str, Any]:
    return {"count": state["count"] + 1}


async def _nothing(state: Any) -> dict[str, Any]:
    return {}


def _line(length: int, node: Callable[[Any], Any], **initial: Any) -> Flow:
    names = [f"n{at}" for at in range(length)]
    edges = list(zip(names, [*names[1:], END], strict=True))
    return Flow(dict.fromkeys(names, node), edges, {"count": 0, **initial})


def chain(size: int, message: Message) -> tuple[Flow, Check]:
    return _line(size, _step), lambda state: bool(state["count"] == size)


def chain_sync(size: int, message: Message) -> tuple[Flow, Check]:
    return _line(size, _step_sync), lambda state: bool(state["count"] == size)


def loop(size: int, message: Message) -> tuple[Flow, Check]:
    async def other(state: Any) -> dict[str, Any]:
        return {"seen": state["count"]}

    route = (lambda state: END if state["count"] >= size else "a", ["a", END])
    flow = Flow({"a": _step, "b": other}, [("a", "b")], {"count": 0, "seen": 0}, {"b": route})
    return flow, lambda state: bool(state["count"] == state["seen"] == size)


def fan(size: int, message: Message) -> tuple[Flow, Check]:
    async def branch(state: Any) -> dict[str, Any]:
        return {"count": 1}

    names = [f"w{at}" for at in range(size)]
    edges = [("begin", name) for name in names] + [(name, "join") for name in names] + [("join", END)]
    nodes = {"begin": _nothing, **dict.fromkeys(names, branch), "join": _nothing}
    flow = Flow(nodes, edges, {"count": 0}, join="join", sums=frozenset({"count"}))
    return flow, lambda state: bool(state["count"] == size)


def messages(size: int, message: Message) -> tuple[Flow, Check]:
    text = "lorem ipsum dolor sit amet, " * 7

    async def talk(state: Any) -> dict[str, Any]:
        turn = state["count"] + 1
        return {"count": turn, "messages": [message(f"{turn}: {text}")]}

    route = (lambda state: END if state["count"] >= size else "talk", ["talk", END])
    flow = Flow({"talk": talk}, [], {"count": 0, "messages": []}, {"talk": route}, appends=frozenset({"messages"}))
    return flow, lambda state: len(state["messages"]) == state["count"] == size


def bigstate(size: int, message: Message) -> tuple[Flow, Check]:
    row = {"id": 100000, "score": 0.123456, "tags": ["red", "green"], "text": "x" * 40}
    rows = [{**row, "id": at, "tags": ["red", "green"]} for at in range(size * 1000 // len(json.dumps(row)))]
    return _line(50, _step, payload=rows), lambda state: state["count"] == 50 and len(state["payload"]) == len(rows)


def slow_branch(size: int, message: Message) -> tuple[Flow, Check]:
    def sleeper(seconds: float) -> Callable[[Any], Any]:
        async def node(state: Any) -> dict[str, Any]:
            await asyncio.sleep(seconds)
            return {"count": 1}

        return node

    short = [f"s{at}" for at in range(size)]
    nodes = {
        "begin": _nothing,
        "long": sleeper(SLOW_S),
        **dict.fromkeys(short, sleeper(SLOW_S / size)),
        "join": _nothing,
    }
    edges = [("begin", "long"), ("begin", short[0]), *pairwise(short)]
    edges += [("long", "join"), (short[-1], "join"), ("join", END)]
    flow = Flow(nodes, edges, {"count": 0}, join="join", sums=frozenset({"count"}))
    return flow, lambda state: bool(state["count"] == size + 1)


WORKLOADS = {
    "chain": Workload(chain, (10, 100, 1000), 25, 1.1, "N async nodes in a row"),
    "chain_sync": Workload(chain_sync, (10, 100, 1000), 25, 1.1, "N sync nodes in a row"),
    "loop": Workload(loop, (10, 100, 1000), 35, 1.1, "two nodes, N turns through a router"),
    "fan": Workload(fan, (10, 100, 1000), 6, 1.2, "one node, N branches, one join"),
    "messages": Workload(messages, (10, 100, 1000), 100, 1.1, "N turns, one message more each"),
    "bigstate": Workload(bigstate, (10, 100, 1000, 10000), 30, 0.1, "50 nodes, N kB that nobody touches"),
    "debug_persist": Workload(chain_sync, (10, 100, 1000), 40, 1.05, "N sync nodes, each kept in SQLite"),
    "slow_branch": Workload(slow_branch, (4,), 1.03, None, "0.2 s beside N pieces of 0.2/N s"),
}

SIZES: dict[str, tuple[int, ...]] = {
    **{name: workload.sizes for name, workload in WORKLOADS.items()},
    "stream": (10_000,),
    "import": (0,),
    "memory": (1000,),
}
"""Everything that is measured, with its sizes."""

BOUNDS: dict[str, tuple[str, float, float | None]] = {
    **{name: (workload.what, workload.most, workload.growth) for name, workload in WORKLOADS.items()},
    "stream": ("N chunks from one node", 8, None),
    "import": ("importing", 3, None),
    "memory": ("peak of `messages`, history kept", 4, None),
}
"""In words, how many times the bare work it may take, and the largest growth."""
