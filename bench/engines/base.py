"""What an adapter offers, and the adapter for no engine at all: plain calls on one dict."""

from __future__ import annotations

import asyncio
import inspect
import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from bench.flows import END, Flow, Run

__all__ = ["Bare", "Engine", "Unsupported"]


class Unsupported(Exception):
    """The engine can't do this kind of work."""


class Engine(ABC):
    """Turns a flow into an async function that runs it once and gives the final state.

    Attributes:
        modules: What a user imports to build and run a graph.
    """

    modules: str

    def message(self, text: str) -> Any:
        """A message of a conversation."""
        return {"role": "user", "content": text}

    @abstractmethod
    def run_of(self, flow: Flow) -> Run:
        """The flow as a graph."""

    def stream_of(self, produce: Callable[[], Iterable[Any]], handler: Callable[[Any], None]) -> Run:
        """One node that hands each thing produced to the handler, by the engine's stream."""
        raise Unsupported("no stream")

    def persisted(self, flow: Flow, file: str) -> Run:
        """The flow, kept in SQLite after each node."""
        raise Unsupported("no SQLite")


class Bare(Engine):
    """Plain calls and `asyncio.gather` on one dict: no isolation, no history, no checks."""

    modules = "asyncio, sqlite3"

    def run_of(self, flow: Flow, after_node: Callable[[str, Any], None] | None = None) -> Run:
        """The flow as plain calls; `after_node(name, state)` follows each."""
        after = flow.successors()
        merge = flow.merge if flow.sums or flow.appends else dict.update
        plan = {
            name: (node, inspect.iscoroutinefunction(node), after[name], flow.routes.get(name, (None,))[0])
            for name, node in flow.nodes.items()
        }

        async def walk(name: str | None, state: dict[str, Any], stop: str | None) -> None:
            while name is not None and name != stop:
                node, is_async, targets, router = plan[name]
                merge(state, await node(state) if is_async else node(state))
                if after_node is not None:
                    after_node(name, state)
                if router is not None:
                    name = router(state)
                elif len(targets) == 1:
                    name = targets[0]
                else:
                    await asyncio.gather(*(walk(target, state, flow.join) for target in targets))
                    name = flow.join

        async def run() -> Any:
            state = flow.start()
            await walk(flow.entry, state, END)
            return state

        return run

    def stream_of(self, produce: Callable[[], Iterable[Any]], handler: Callable[[Any], None]) -> Run:
        """Calls the handler."""

        async def run() -> None:
            for chunk in produce():
                handler(chunk)

        return run

    def persisted(self, flow: Flow, file: str) -> Run:
        """Writes and commits a row after each call, as durable as the engines are."""
        connection = sqlite3.connect(file)
        connection.execute("pragma journal_mode=wal")
        connection.execute("pragma synchronous=normal")
        connection.execute("create table steps (node text, state text)")

        def save(name: str, state: Any) -> None:
            connection.execute("insert into steps values (?, ?)", (name, json.dumps(state)))
            connection.commit()

        return self.run_of(flow, save)
