"""`check`: what looks wrong about a graph before anybody runs it. Everything at once, each with what, where, fix.

Only what is sure enough to be worth reading is said: where a router's answer can't be known, the graph gets the
benefit of the doubt.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from evonb.graph.covering import can_cover
from evonb.graph.edges import ConditionEdgeSpec, EdgeSpecBase
from evonb.graph.near import near_names
from evonb.graph.nodes import GraphNodeSpec
from evonb.graph.plan import END, START, in_order
from evonb.graph.schema import CompiledSchema
from evonb.graph.shape import Shape, answers_of, shape_of
from evonb.graph.topology import Finding, node_id
from evonb.graph.writes import lost_writes

if TYPE_CHECKING:
    from evonb.graph.engine import GraphEngine

__all__ = ["check_engine", "check_graph", "check_shape"]

Level = Literal["error", "warning", "note"]


def check_engine(engine: GraphEngine) -> list[Finding]:
    """The findings of an engine, those of its sub-graphs included."""
    own = check_graph(engine.name, engine.nodes, in_order(engine.edges), engine._plan.schema)
    return _with_inner(own, engine.nodes)


def _with_inner(findings: list[Finding], nodes: Mapping[str, GraphNodeSpec]) -> list[Finding]:
    for name, spec in nodes.items():
        inner: GraphEngine | None = getattr(spec.node, "_subgraph", None)
        if inner is not None:
            findings += [_inside(name, finding) for finding in check_engine(inner)]
    return findings


def _inside(name: str, finding: Finding) -> Finding:
    nodes = tuple(node_id((name,), node) for node in finding.nodes)
    where = f"sub-graph {name!r} > {finding.where}"
    return Finding(finding.code, finding.level, nodes, finding.what, where, finding.fix)


def check_graph(
    name: str, nodes: Mapping[str, GraphNodeSpec], edges: Sequence[EdgeSpecBase], schema: CompiledSchema
) -> list[Finding]:
    """The findings of one graph, without what its sub-graphs hold."""
    shape = shape_of(nodes, edges)
    overwritten = frozenset(key for key, field in schema.fields.items() if field.overwrites)
    return [
        *check_shape(shape, f"graph {name!r}"),
        *_undeclared(edges),
        *lost_writes(shape, nodes, overwritten, shape.reachable([START])),
    ]


def check_shape(shape: Shape, where: str) -> list[Finding]:
    """The findings that follow from the shape alone."""
    reached = shape.reachable([START])
    return [
        *_unreachable(shape, reached, where),
        *_dead_ends(shape, reached, where),
        *_endless_loops(shape, reached, where),
        *_joins(shape, reached),
        *_repeated(shape, reached),
    ]


def _finding(code: str, level: Level, nodes: Iterable[str], what: str, where: str, fix: str) -> Finding:
    return Finding(code, level, tuple(nodes), what, where, fix)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


# --- getting there ---------------------------------------------------------------------------


def _unreachable(shape: Shape, reached: set[str], where: str) -> Iterable[Finding]:
    for name in shape.nodes:
        if name not in reached and name != END:
            what = f"No way leads from the start to node {name!r}, so it never runs"
            yield _finding("unreachable", "error", [name], what, where, f"add an edge to {name!r}, or remove it")


def _dead_ends(shape: Shape, reached: set[str], where: str) -> Iterable[Finding]:
    for name in shape.nodes:
        if name in reached and name not in (START, END) and not shape.outs[name]:
            what = f"Nothing leads on from node {name!r}, and it doesn't lead to the end: its result is lost"
            yield _finding("dead_end", "warning", [name], what, where, f"add_edge({name!r}, 'end')")


def _endless_loops(shape: Shape, reached: set[str], where: str) -> Iterable[Finding]:
    ways_out = [name for name in shape.nodes if name == END or not shape.outs[name]]
    can_leave = shape.reachable(ways_out, backwards=True)
    trapped = [name for name in shape.nodes if name in reached and name not in can_leave and name != START]
    looping = set().union(*shape.loops()) if trapped else set()
    loop = [name for name in trapped if name in looping]
    if loop:
        what = f"No way leads out of the loop of {_listed(loop)}: once there, a run never ends"
        fix = "let a router in the loop lead to 'end', or build with max_turn"
        yield _finding("loop_without_exit", "warning", loop, what, where, fix)


# --- joins -----------------------------------------------------------------------------------


def _joins(shape: Shape, reached: set[str]) -> Iterable[Finding]:
    for name in shape.nodes:
        if name in shape.joins and name in reached:
            yield from _join(shape, name)


def _groups(shape: Shape, name: str) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for way in shape.ways:
        if name in way.targets and way.source not in groups.setdefault(way.group, []):
            groups[way.group].append(way.source)
    return groups


def _join(shape: Shape, name: str) -> Iterable[Finding]:
    groups = {group: sources for group, sources in _groups(shape, name).items() if len(sources) > 1}
    alone = len(_groups(shape, name)) > len(groups)  # some group needs one predecessor only: the node can run
    firing = {group for group, sources in groups.items() if can_cover(shape, name, sources, several=True)}
    for group, sources in groups.items():
        where = f"node {name!r}, group {group!r}"
        released = alone or bool(firing - {group})
        if group not in firing and not (released and can_cover(shape, None, sources, several=True)):
            yield _never_fires(shape, name, sources, where)
        elif not can_cover(shape, None if released else name, sources, several=False):
            what = f"Node {name!r} waits for {_listed(sources)}, but a router may choose only some of them"
            fix = 'use action_mode="any", or let the router always choose all of them'
            yield _finding("join_may_starve", "warning", [name], what, where, fix)


def _never_fires(shape: Shape, name: str, sources: list[str], where: str) -> Finding:
    behind = [source for source in sources if not _reached_without(shape, source, name)]
    if behind:
        what = f"Node {name!r} waits for {_listed(behind)}, which can only come after {name!r} itself has run"
        fix = f"give the edge from {behind[0]!r} a group of its own"
    else:
        what = f"Node {name!r} waits for all of {_listed(sources)}, but a router chooses only one of the ways there"
        fix = 'use action_mode="any"'
    return _finding("join_never_fires", "error", [name], what, where, fix)


def _reached_without(shape: Shape, target: str, avoided: str) -> bool:
    found, left = {START}, [START]
    while left:
        for name in shape.after(left.pop()):
            if name not in found and name != avoided:
                found.add(name)
                left.append(name)
    return target in found


# --- parallel branches meeting -----------------------------------------------------------------


def _repeated(shape: Shape, reached: set[str]) -> Iterable[Finding]:
    told: set[str] = set()
    for fork in shape.nodes:
        if fork in reached:
            for name in _meetings(shape, fork):
                if name not in told:
                    told.add(name)
                    what = f"Parallel branches from {fork!r} meet in {name!r}, which runs once for each of them"
                    fix = f'action_mode="all" lets {name!r} wait for all; leave it if running several times is meant'
                    yield _finding("repeated_any", "warning", [name], what, f"node {name!r}", fix)


def _meetings(shape: Shape, fork: str) -> list[str]:
    """The "any" nodes where branches that part at `fork` first come together."""
    first = _branches(shape, fork)
    if len(first) < 2:
        return []
    marks = _marks(shape, fork, first)
    arriving: dict[str, set[int]] = {}
    for bit, targets in enumerate(first):
        for target in targets:
            arriving.setdefault(target, set()).add(1 << bit)
    for name, mark in marks.items():
        for target in shape.after(name) if name != fork else ():
            arriving.setdefault(target, set()).add(mark)
    return [name for name in arriving if name != END and name not in shape.joins and _parted(arriving[name])]


def _branches(shape: Shape, fork: str) -> list[tuple[str, ...]]:
    """Where each parallel branch may begin."""
    branches: list[tuple[str, ...]] = []
    for way in shape.outs[fork]:
        branches += [(target,) for target in way.targets] if way.choice == "some" else [way.targets]
    return branches


def _marks(shape: Shape, fork: str, first: Sequence[tuple[str, ...]]) -> dict[str, int]:
    """For each node, which of the branches can get there without coming back to the fork, as bits."""
    marks: dict[str, int] = {}
    left: list[str] = []
    for bit, targets in enumerate(first):
        for target in targets:
            marks[target] = marks.get(target, 0) | 1 << bit
            left.append(target)
    while left:
        name = left.pop()
        if name == fork:
            continue
        for target in shape.after(name):
            if marks[name] & ~marks.get(target, 0):
                marks[target] = marks.get(target, 0) | marks[name]
                left.append(target)
    return marks


def _parted(arriving: Iterable[int]) -> bool:
    marks = list(arriving)
    return any(one & ~other and other & ~one for at, one in enumerate(marks) for other in marks[:at])


# --- routers ------------------------------------------------------------------------------------


def _undeclared(edges: Sequence[EdgeSpecBase]) -> Iterable[Finding]:
    """Names that a router's text answers and that aren't declared; only constants are looked at."""
    for edge in edges:
        if not isinstance(edge, ConditionEdgeSpec):
            continue
        known = [*edge.possible_targets, *edge.routes]
        for answer in answers_of(edge.router):
            for name in _constants(answer):
                if name not in known:
                    near = near_names(name, known, n=1)
                    what = f"The router of node {edge.source!r} answers {name!r}, which isn't declared"
                    fix = f"answer {near[0]!r}, or declare {name!r}" if near else f"add {name!r} to its targets"
                    yield _finding("undeclared_target", "warning", [edge.source], what, f"node {edge.source!r}", fix)


def _constants(answer: ast.expr) -> Iterable[str]:
    if isinstance(answer, ast.Constant) and isinstance(answer.value, str):
        yield answer.value
    elif isinstance(answer, ast.List):
        for item in answer.elts:
            yield from _constants(item)
    elif isinstance(answer, ast.Tuple) and len(answer.elts) == 2:
        yield from _constants(answer.elts[0])
