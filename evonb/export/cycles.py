"""Which edges run against the flow, and in which order a reader expects the nodes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence


def back_edges(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> set[int]:
    """Indices of the edges that close a loop, found depth first from the nodes in their order.

    Turned round, these leave a graph without loops, in which everything that the author wrote downwards runs
    downwards. Self-loops aren't among them.
    """
    out: dict[str, list[tuple[int, str]]] = {node: [] for node in nodes}
    for index, (source, target) in enumerate(edges):
        if source != target:
            out.setdefault(source, []).append((index, target))
    open_, closed, back = set[str](), set[str](), set[int]()
    for root in nodes:
        if root in closed:
            continue
        open_.add(root)
        stack = [(root, iter(out[root]))]
        while stack:
            node, rest = stack[-1]
            for index, target in rest:
                if target in open_:
                    back.add(index)
                elif target not in closed:
                    open_.add(target)
                    stack.append((target, iter(out.get(target, ()))))
                    break
            else:
                stack.pop()
                open_.discard(node)
                closed.add(node)
    return back


def siblings(edges: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pairs of targets of one node that follow each other in declaration order."""
    targets: dict[str, list[str]] = {}
    for source, target in edges:
        known = targets.setdefault(source, [])
        if target not in known and target != source:
            known.append(target)
    return [pair for found in targets.values() for pair in itertools.pairwise(found)]
