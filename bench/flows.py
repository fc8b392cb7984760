"""The work that is measured, described once and independently of any engine."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

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

    nodes: Mapping[str, Callable[[Any], Any]]
    edges: list[tuple[str, str]]
    initial: dict[str, Any]
    routes: dict[str, tuple[Callable[[Any], str], list[str]]] = field(default_factory=dict)
    join: str | None = None
    sums: frozenset[str] = frozenset()
    appends: frozenset[str] = frozenset()

    @property
    def entry(self) -> str:
        """The first node."""
        return next(iter(self.nodes))

    @property
    def is_async(self) -> bool:
        """Whether its nodes are."""
        return inspect.iscoroutinefunction(self.nodes[self.entry])

    def successors(self) -> dict[str, list[str]]:
        """The targets of each node's edges."""
        after: dict[str, list[str]] = {name: [] for name in self.nodes}
        for source, target in self.edges:
            after[source].append(target)
        return after

    def start(self) -> dict[str, Any]:
        """The inputs, with lists of their own where messages are appended in place."""
        return {key: list(value) if key in self.appends else value for key, value in self.initial.items()}

    def merge(self, state: dict[str, Any], delta: dict[str, Any]) -> None:
        """Apply changes in place, for who has no merging of their own."""
        for key, value in delta.items():
            if key in self.sums:
                state[key] += value
            elif key in self.appends:
                state[key].extend(value)
            else:
                state[key] = value
