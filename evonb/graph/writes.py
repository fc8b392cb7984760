"""Parallel branches that write one key: which write is kept, said beforehand.

What a node writes is read off the dicts that its text returns; a node that builds its answer otherwise isn't judged.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from evonb.graph.describe import user_function
from evonb.graph.nodes import GraphNodeSpec
from evonb.graph.shape import Shape, answers_of
from evonb.graph.topology import Finding

__all__ = ["lost_writes"]


def lost_writes(
    shape: Shape, nodes: Mapping[str, GraphNodeSpec], overwritten: frozenset[str], reached: set[str]
) -> Iterable[Finding]:
    """A finding for every join where branches come together that overwrite the same key.

    Args:
        shape: The graph.
        nodes: Its nodes.
        overwritten: The state keys without a strategy that keeps both writes.
        reached: The nodes that can be reached.
    """
    written = {name: _written(spec) & overwritten for name, spec in nodes.items()}
    told: set[tuple[str, str]] = set()
    for fork in shape.nodes:
        targets = [target for way in shape.outs[fork] if way.choice == "all" for target in way.targets]
        if fork not in reached or len(set(targets)) < 2:
            continue
        branches = {target: _before_joins(shape, target) for target in dict.fromkeys(targets)}
        for name in shape.nodes:
            if name in shape.joins:
                yield from _at_join(shape, name, branches, written, told)


def _before_joins(shape: Shape, start: str) -> set[str]:
    """What a branch runs before it comes to a join."""
    found: set[str] = set()
    left = [start]
    while left:
        name = left.pop()
        if name not in found and name not in shape.joins:
            found.add(name)
            left += shape.after(name)
    return found


def _at_join(
    shape: Shape,
    join: str,
    branches: Mapping[str, set[str]],
    written: Mapping[str, frozenset[str]],
    told: set[tuple[str, str]],
) -> Iterable[Finding]:
    arriving = [run for run in branches.values() if any(source in run for source in shape.before[join])]
    writers: dict[str, list[str]] = {}
    for at, run in enumerate(arriving):
        others: set[str] = set().union(*(other for index, other in enumerate(arriving) if index != at))
        for name in shape.nodes:
            if name in run - others:  # what both branches run doesn't run beside itself
                for key in sorted(written.get(name, ())):
                    writers.setdefault(key, []).append(name)
    for key, names in writers.items():
        if (join, key) not in told and _apart(names, arriving):
            told.add((join, key))
            listed = ", ".join(map(repr, names))
            yield Finding(
                "lost_write",
                "note",
                (join, *names),
                f"Parallel nodes {listed} write {key!r}; {join!r} gets the write of the last edge only",
                f"node {join!r}",
                f"give {key!r} an update strategy, such as Annotated[..., 'add'], or let one of them write another key",
            )


def _apart(names: list[str], arriving: list[set[str]]) -> bool:
    return sum(any(name in run for name in names) for run in arriving) > 1


def _written(spec: GraphNodeSpec) -> frozenset[str]:
    if getattr(spec.node, "function", None) is None:
        return frozenset()
    answers = answers_of(user_function(spec.node))
    keys = (key for answer in answers if isinstance(answer, ast.Dict) for key in answer.keys)
    return frozenset(key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
