"""pydantic-graph: its state is one shared object that nodes change, and its steps are always async."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.engines.base import Engine
from bench.flows import END, Flow, Run

__all__ = ["PydanticGraph"]


class PydanticGraph(Engine):
    """It has neither a stream of chunks nor SQLite."""

    modules = "pydantic_graph"

    def __init__(self) -> None:
        self.graph = import_module(self.modules)

    def run_of(self, flow: Flow) -> Run:
        """A run of the built graph."""
        builder = self.graph.GraphBuilder(state_type=dict)
        steps = {name: builder.step(_step(flow, name, node), node_id=name) for name, node in flow.nodes.items()}
        entries: dict[str, Any] = {**steps, END: builder.end_node}
        if flow.join is not None:
            gate = builder.join(self.graph.reduce_null, initial=None, node_id=f"{flow.join}_gate")
            entries[flow.join] = gate
            builder.add(builder.edge_from(gate).to(steps[flow.join]))
        builder.add(builder.edge_from(builder.start_node).to(entries[flow.entry]))
        for source, targets in flow.successors().items():
            if targets:
                builder.add(builder.edge_from(steps[source]).to(*(entries[target] for target in targets)))
        for source, (_, targets) in flow.routes.items():
            choice = builder.decision()
            for target in targets:
                matches = builder.match(str, matches=lambda value, wanted=target: value == wanted)
                choice = choice.branch(matches.to(entries[target]))
            builder.add(builder.edge_from(steps[source]).to(choice))
        graph = builder.build()

        async def run() -> Any:
            state = flow.start()
            await graph.run(state=state)
            return state

        return run


def _step(flow: Flow, name: str, node: Callable[[Any], Any]) -> Any:
    merge = flow.merge if flow.sums or flow.appends else dict.update
    router = flow.routes[name][0] if name in flow.routes else None
    is_async = inspect.iscoroutinefunction(node)

    async def call(ctx: Any) -> Any:
        merge(ctx.state, await node(ctx.state) if is_async else node(ctx.state))
        return router(ctx.state) if router else None

    return call
