"""What is wrong about the routes of a workflow. Pure; runs nothing."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from evonb.agents.workflow import Workflow, WorkflowNode

__all__ = ["faults_of"]


def faults_of(workflow: Workflow) -> Iterator[tuple[str, str]]:
    """Each fault in words, and what to do about it."""
    ids = {node.id: node for node in workflow.nodes}
    for node in workflow.nodes:
        if not node.routes:
            yield f"node {node.id!r} has no routes", f'add routes=[route.deliver("...")] to {node.id!r}'
        for each in node.routes:
            if each.kind == "to" and each.name not in ids:
                near = difflib.get_close_matches(each.name, ids, n=1)
                fix = f"did you mean {near[0]!r}?" if near else f"add a node {each.name!r}, or name another"
                yield f"node {node.id!r} leads to {each.name!r}, which isn't there", fix
    if not any(each.kind == "deliver" for node in workflow.nodes for each in node.routes):
        yield "no route delivers a result", 'end with route.deliver("key")'
    for loop in _uncounted_loops(ids):
        path = " > ".join([*loop, loop[0]])
        yield (
            f"the loop {path} has no node that starts a round, so nothing bounds it",
            f"set starts_round on {loop[0]!r}",
        )


def _uncounted_loops(nodes: Mapping[str, WorkflowNode]) -> Iterator[list[str]]:
    """One loop for each back edge, among the nodes that start no round."""
    after = {
        node.id: [each.name for each in node.routes if each.kind == "to" and each.name in nodes]
        for node in nodes.values()
        if not node.starts_round
    }
    done: set[str] = set()
    for root in after:
        path: list[str] = []
        stack: list[tuple[str, Iterator[str]]] = []
        ahead: str | None = root
        while ahead is not None or stack:
            if ahead is not None and ahead in path:
                yield path[path.index(ahead) :]
            elif ahead is not None and ahead in after and ahead not in done:
                path.append(ahead)
                stack.append((ahead, iter(after[ahead])))
            ahead = next(stack[-1][1], None) if stack else None
            if ahead is None and stack:
                done.add(stack.pop()[0])
                path.pop()
