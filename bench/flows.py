"""The work that is measured, described once: as plain calls on a dict, which is the floor, and as a graph."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, create_model

from evonb.graph import GraphBuilder
from evonb.typing import StateMessage, UserMessage

END = "end"
Run = Callable[[], Awaitable[Any]]


@dataclass
class Flow:
    """A graph; node functions read `state["key"]` and return changes.

    Attributes:
        nodes: By name; the first one is the entry.
        edges: Pairs of names.
        initial: The inputs.
        routes: Routers by source, with their targets.
        join: The node that waits for all its predecessors.
        sums, appends: Keys that add up, keys that are lists of messages; the others are overwritten.
    """

    nodes: dict[str, Callable[[Any], Any]]
    edges: list[tuple[str, str]]
    initial: dict[str, Any]
    routes: dict[str, tuple[Callable[[Any], str], list[str]]] = field(default_factory=dict)
    join: str | None = None
    sums: frozenset[str] = frozenset()
    appends: frozenset[str] = frozenset()


def bare(flow: Flow) -> Run:
    """The flow as plain calls and `asyncio.gather` on one dict: no isolation, no history, no checks."""
    after: dict[str, list[str]] = {name: [] for name in flow.nodes}
    for source, target in flow.edges:
        after[source].append(target)
    merge = _merging(flow)
    plan = {
        name: (node, inspect.iscoroutinefunction(node), after[name], flow.routes.get(name, (None,))[0])
        for name, node in flow.nodes.items()
    }

    async def walk(name: str | None, state: dict[str, Any], stop: str | None) -> None:
        while name is not None and name != stop:
            node, is_async, targets, router = plan[name]
            merge(state, await node(state) if is_async else node(state))
            if router is not None:
                name = router(state)
            elif len(targets) == 1:
                name = targets[0]
            else:
                await asyncio.gather(*(walk(target, state, flow.join) for target in targets))
                name = flow.join

    async def run() -> Any:
        state = {key: list(value) if key in flow.appends else value for key, value in flow.initial.items()}
        await walk(next(iter(flow.nodes)), state, END)
        return state

    return run


def _merging(flow: Flow) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    if not flow.sums and not flow.appends:
        return dict.update

    def merge(state: dict[str, Any], delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            if key in flow.sums:
                state[key] += value
            elif key in flow.appends:
                state[key].extend(value)
            else:
                state[key] = value

    return merge


class Readable(BaseModel):
    """A model state that is read as the bare dict is."""

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)


def graph(flow: Flow) -> Run:
    """The flow as a graph of evonb."""
    builder = GraphBuilder(_schema(flow))
    for name, node in flow.nodes.items():
        builder.add_node(name, node, action_mode="all" if name == flow.join else "any")
    for edge in flow.edges:
        builder.add_edge(*edge)
    for source, (router, targets) in flow.routes.items():
        builder.add_condition_edge(source, router, targets)
    builder.set_entry_point(next(iter(flow.nodes)))
    engine = builder.build()
    return lambda: engine.run(dict(flow.initial))


def _schema(flow: Flow) -> type[BaseModel]:
    def declared(key: str, value: Any) -> Any:
        if key in flow.appends:
            return Annotated[list[StateMessage], "append_messages"], []
        return Annotated[type(value), "add" if key in flow.sums else "overwrite"], type(value)()

    fields = {key: declared(key, value) for key, value in flow.initial.items()}
    return create_model("BenchState", __base__=Readable, **fields)


def bare_message(text: str) -> Any:
    """A message as plain data."""
    return {"role": "user", "content": text}


def graph_message(text: str) -> Any:
    """A message of the graph."""
    return UserMessage(content=text)
