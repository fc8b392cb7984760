"""Burr. It has no parallel edges: a fork becomes one action that runs each branch as an application of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import pairwise
from typing import Any

from bench.engines.base import Engine
from bench.flows import END, Flow, Run

__all__ = ["Burr"]


class Burr(Engine):
    """Its state is immutable; actions declare what they read and write."""

    modules = "burr.core, burr.core.graph, burr.core.persistence, burr.core.parallelism"

    def __init__(self) -> None:
        self.core, self.graphs, self.stores, self.parallelism = map(import_module, self.modules.split(", "))
        self.action = import_module("burr.core.action")

    def run_of(self, flow: Flow, persister: Any = None) -> Run:
        """A run of a new application, as each needs one."""
        graph, last = self._graph(flow)

        async def run() -> Any:
            builder = self.core.ApplicationBuilder().with_graph(graph).with_entrypoint(flow.entry)
            builder = builder.with_state(**flow.initial)
            if persister is not None:
                builder = builder.with_state_persister(persister)
            if flow.is_async:
                return (await (await builder.abuild()).arun(halt_after=[last]))[2]
            return builder.build().run(halt_after=[last])[2]

        return run

    def stream_of(self, produce: Callable[[], Iterable[Any]], handler: Callable[[Any], None]) -> Run:
        """A streaming action."""

        async def emit(state: Any) -> Any:
            for chunk in produce():
                yield chunk, None
            yield {}, state.update(count=1)

        action = self.action.streaming_action(reads=["count"], writes=["count"])(emit)
        graph = self._made({"emit": action}, [])

        async def run() -> None:
            builder = self.core.ApplicationBuilder().with_graph(graph).with_entrypoint("emit").with_state(count=0)
            _, result = await (await builder.abuild()).astream_result(halt_after=["emit"])
            async for chunk in result:
                handler(chunk)

        return run

    def persisted(self, flow: Flow, file: str) -> Run:
        """With the SQLite persister."""
        persister = self.stores.SQLitePersister(file, connect_kwargs={"check_same_thread": False})
        persister.initialize()
        return self.run_of(flow, persister)

    # --- building --------------------------------------------------------------------------

    def _made(self, actions: dict[str, Any], transitions: list[Any]) -> Any:
        return self.graphs.GraphBuilder().with_actions(**actions).with_transitions(*transitions).build()

    def _graph(self, flow: Flow) -> tuple[Any, str]:
        """The graph, and the name of its last action."""
        actions: dict[str, Any] = {}
        transitions: list[Any] = []
        after = flow.successors()
        inside: set[str] = set()
        for name, node in flow.nodes.items():
            if name in inside:
                continue
            actions[name] = self._action(flow, node)
            if len(after[name]) > 1:
                branches = [_branch(after, target, flow.join) for target in after[name]]
                inside.update(*branches)
                actions["fork"] = self._fork(flow, branches)
                transitions += [(name, "fork"), ("fork", flow.join)]
            else:
                transitions += [(name, target) for target in after[name] if target != END]
        last = next((source for source, target in flow.edges if target == END), None)
        if last is None:
            last, actions["finish"] = "finish", self._action(flow, lambda state: {})
        for source, (router, targets) in flow.routes.items():
            transitions += [self._route(flow, source, router, target, last) for target in targets]
        return self._made(actions, transitions), last

    def _route(self, flow: Flow, source: str, router: Any, target: str, last: str) -> Any:
        condition = self.action.Condition(list(flow.initial), lambda state: router(state) == target, name=target)
        return (source, last if target == END else target, condition)

    def _action(self, flow: Flow, node: Callable[[Any], Any]) -> Any:
        keys = list(flow.initial)

        def update(state: Any, delta: dict[str, Any]) -> Any:
            for key, value in delta.items():
                if key in flow.sums:
                    state = state.increment(**{key: value})
                elif key in flow.appends:
                    state = state.extend(**{key: value})
                else:
                    state = state.update(**{key: value})
            return state

        async def awaited(state: Any) -> Any:
            return update(state, await node(state))

        def called(state: Any) -> Any:
            return update(state, node(state))

        return self.action.action(reads=keys, writes=keys)(awaited if inspect.iscoroutinefunction(node) else called)

    def _fork(self, flow: Flow, branches: list[list[str]]) -> Any:
        def graph_of(branch: list[str]) -> Any:
            graph = self._made({name: self._action(flow, flow.nodes[name]) for name in branch}, list(pairwise(branch)))
            return self.parallelism.RunnableGraph(graph=graph, entrypoint=branch[0], halt_after=[branch[-1]])

        graphs, parallelism = [graph_of(branch) for branch in branches], self.parallelism

        keys = list(flow.initial)

        class Fork(parallelism.TaskBasedParallelAction):  # type: ignore[name-defined, misc]
            reads = writes = keys

            def is_async(self) -> bool:
                return True

            def tasks(self, state: Any, context: Any, inputs: Any) -> Any:
                for at, graph in enumerate(graphs):
                    name = f"{context.app_id}-{at}"
                    yield parallelism.SubGraphTask(graph=graph, inputs={}, state=state, application_id=name)

            async def reduce(self, state: Any, states: Any) -> Any:
                base = {key: state[key] for key in flow.sums}
                async for branch in states:
                    state = state.increment(**{key: branch[key] - base[key] for key in flow.sums})
                return state

        return Fork()


def _branch(after: dict[str, list[str]], first: str, join: str | None) -> list[str]:
    branch = []
    name = first
    while name != join:
        branch.append(name)
        name = after[name][0]
    return branch
