"""The compiled graph: what a run looks at, worked out once and never changed.

Nodes know where they lead, joins know whom they wait for. No run keeps anything here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evonb.errors import GraphError
from evonb.graph.edges import ConditionEdgeSpec, EdgeSpec, EdgeSpecBase
from evonb.graph.nodes import Activity, GraphNodeSpec, is_async_callable, wants_writer
from evonb.graph.reads import Reads
from evonb.graph.schema import CompiledSchema
from evonb.graph.streaming import get_stream_writer
from evonb.typing import NodeActionMode, SpecialNode

__all__ = ["EdgePlan", "JoinPlan", "NodePlan", "Plan", "compile_plan", "edge_ids"]

START, END = SpecialNode.START.value, SpecialNode.END.value


class JoinPlan:
    """One edge group of an "all" node.

    Attributes:
        bits: A bit for each predecessor, by node index, in edge order.
        full: All of them.
        sources: Their names, in edge order.
        strategy: The user's merge strategy for this group, or None.
    """

    __slots__ = ("bits", "full", "group", "sources", "strategy")

    def __init__(self, group: str, sources: Sequence[NodePlan], strategy: Callable[[list[Any]], Any] | None) -> None:
        self.group = group
        self.bits = {source.index: bit for bit, source in enumerate(sources)}
        self.full = (1 << len(sources)) - 1
        self.sources = tuple(source.name for source in sources)
        self.strategy = strategy


class EdgePlan:
    """One declared edge.

    Attributes:
        targets: The nodes that it may lead to, by name.
        ids: Their edge ids in the picture.
        plain: The only target of an ordinary edge, else None.
        reads: What the router can see of the state; None where it isn't known.
    """

    __slots__ = ("group", "ids", "index", "plain", "reads", "router", "source", "spec", "targets")

    def __init__(
        self,
        index: int,
        spec: EdgeSpecBase,
        nodes: Mapping[str, NodePlan],
        ids: Mapping[str, str],
        schema: CompiledSchema,
    ) -> None:
        self.index = index
        self.spec = spec
        self.source = spec.source
        self.group = spec.group
        self.targets = {name: nodes[name] for name in spec.get_possible_targets()}
        self.ids = dict(ids)
        self.plain = nodes[spec.target] if type(spec) is EdgeSpec else None
        # A subclass that answers by itself is asked; a router is awaited when it is async.
        own_answer = type(spec).get_targets is not ConditionEdgeSpec.get_targets
        self.router = spec.router if isinstance(spec, ConditionEdgeSpec) and not own_answer else None
        self.reads = None if self.router is None else Reads(self.router, schema.model, schema.fields)


class NodePlan:
    """One node as a run sees it.

    Attributes:
        call: `(state) -> delta` or a coroutine of it.
        quick: Whether an async `call` can be awaited as it is: no timeout, retry, lock or sub-graph concerns it.
        next: The successor when the only edge out is an ordinary one without filter to an "any" node, else None.
        joins: By edge group, when the node waits for all; None for an "any" node.
        reads: What it can see of its state.
    """

    __slots__ = (
        "activity", "call", "index", "is_async", "is_end", "joins", "name", "next", "next_edge",
        "outs", "quick", "reads", "retry", "run_in", "spec", "subgraph", "timeout",
    )  # fmt: skip

    def __init__(
        self, index: int, name: str, spec: GraphNodeSpec | None, timeout: float | None, schema: CompiledSchema
    ) -> None:
        self.index = index
        self.name = name
        self.spec = spec
        self.is_end = name == END
        self.joins: dict[str, JoinPlan] | None = None
        self.outs: tuple[EdgePlan, ...] = ()
        self.next: NodePlan | None = None
        self.next_edge = -1
        self.activity = Activity() if spec is None else spec._activity
        self.timeout = timeout if spec is None or spec.timeout is None else spec.timeout
        self.retry = None if spec is None else spec.retry
        self.run_in = None if spec is None else spec.run_in
        self.subgraph = None if spec is None else getattr(spec.node, "_subgraph", None)
        self.call: Callable[[Any], Any]
        self.is_async: bool
        self.reads: Reads
        self.call, self.is_async, self.reads = _called(spec, schema)
        self.quick = self.timeout is None and self.retry is None and self.subgraph is None

    @property
    def function(self) -> Any:
        """What the user gave as the node; None for the start and the end."""
        node = None if self.spec is None else self.spec.node
        return getattr(node, "function", node)


class Plan:
    """A whole graph."""

    __slots__ = ("by_name", "edges", "end", "name", "nodes", "schema", "start")

    def __init__(self, name: str, nodes: list[NodePlan], edges: list[EdgePlan], schema: CompiledSchema) -> None:
        self.name = name
        self.nodes = nodes
        self.edges = edges
        self.schema = schema
        self.by_name = {node.name: node for node in nodes}
        self.start = self.by_name[START]
        self.end = self.by_name[END]


def _nothing(_state: Any) -> None:
    return None


def _called(spec: GraphNodeSpec | None, schema: CompiledSchema) -> tuple[Callable[[Any], Any], bool, Reads]:
    """What to call with the state, whether it is async, and what it can see."""
    node: Any = None if spec is None else spec.node
    function: Any = _nothing if spec is None else getattr(node, "function", None) or node.__call__
    is_async = is_async_callable(function)
    reads = Reads(function, schema.model, schema.fields)
    if spec is None or not wants_writer(function):
        return function, is_async, reads
    writer = spec.stream_writer or get_stream_writer()
    return (lambda state: function(state, stream_writer=writer)), is_async, reads


def edge_ids(edges: Sequence[EdgeSpecBase]) -> list[dict[str, str]]:
    """For each edge the picture's id of each of its targets: "a>b", and "a>b#1" for a further edge of that pair."""
    seen: dict[str, int] = {}
    ids = []
    for edge in edges:
        mine: dict[str, str] = {}
        for target in dict.fromkeys(edge.get_possible_targets()):
            pair = f"{edge.source}>{target}"
            count = seen.get(pair, 0)
            seen[pair] = count + 1
            mine[target] = f"{pair}#{count}" if count else pair
        ids.append(mine)
    return ids


def in_order(edges: Mapping[str, Sequence[EdgeSpecBase]]) -> list[EdgeSpecBase]:
    """All edges in the order in which they were declared."""
    return sorted((edge for of_source in edges.values() for edge in of_source), key=lambda edge: edge._order)


def compile_plan(
    name: str,
    specs: Mapping[str, GraphNodeSpec],
    edges: Mapping[str, Sequence[EdgeSpecBase]],
    schema: CompiledSchema,
    timeout: float | None,
) -> Plan:
    """The plan of a graph.

    Raises:
        GraphError: An edge names an unknown node, nothing leaves the start, or an "all" node waits
            for itself.
    """
    names = [START, *(each for each in specs if each not in (START, END)), END]
    nodes = [NodePlan(index, each, specs.get(each), timeout, schema) for index, each in enumerate(names)]
    by_name = {node.name: node for node in nodes}
    ordered = in_order(edges)
    _check_ends(name, ordered, by_name)
    plans = [
        EdgePlan(index, edge, by_name, ids, schema)
        for index, (edge, ids) in enumerate(zip(ordered, edge_ids(ordered), strict=True))
    ]
    for node in nodes:
        node.outs = tuple(edge for edge in plans if edge.source == node.name)
    for node in nodes:
        if node.spec is not None and node.spec.action_mode is NodeActionMode.ALL:
            node.joins = _joins(node, plans, by_name)
    for node in nodes:
        _shortcut(node)
    return Plan(name, nodes, plans, schema)


def _check_ends(name: str, edges: Sequence[EdgeSpecBase], nodes: Mapping[str, NodePlan]) -> None:
    for edge in edges:
        for target in (edge.source, *edge.get_possible_targets()):
            if target not in nodes:
                raise GraphError(f"An edge names the unknown node {target!r}", where=f"graph {name!r}")
    if not any(edge.source == START for edge in edges):
        raise GraphError("The graph has no entry point", where=f"graph {name!r}", fix="call set_entry_point(name)")


def _joins(node: NodePlan, edges: Sequence[EdgePlan], nodes: Mapping[str, NodePlan]) -> dict[str, JoinPlan]:
    groups: dict[str, list[NodePlan]] = {}
    for edge in edges:
        if node.name in edge.targets:
            sources = groups.setdefault(edge.group, [])
            if nodes[edge.source] not in sources:
                sources.append(nodes[edge.source])
    for group, sources in groups.items():
        if node in sources and len(sources) > 1:
            raise GraphError(
                f"Node {node.name!r} waits for itself: its group {group!r} has an edge from it and others",
                where=f"node {node.name!r}",
                fix=f"give the edge from {node.name!r} to itself a group of its own",
            )
    strategies = (node.spec.multi_input_merge_strategy if node.spec is not None else None) or {}
    return {group: JoinPlan(group, sources, strategies.get(group)) for group, sources in groups.items()}


def _shortcut(node: NodePlan) -> None:
    if len(node.outs) == 1 and (target := node.outs[0].plain) is not None:
        spec = node.outs[0].spec
        if not target.is_end and target.joins is None and isinstance(spec, EdgeSpec) and spec.state_filter is None:
            node.next, node.next_edge = target, node.outs[0].index
