"""What the `>>` language has been told, and how it becomes a builder: names resolved, faults gathered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evonb.errors import EvonbError, GraphError
from evonb.graph.edges import StateFilterLike
from evonb.graph.near import near_names
from evonb.typing import DEFAULT_EDGE_GROUP, SpecialNode

if TYPE_CHECKING:
    from evonb.graph.builder import GraphBuilder
    from evonb.graph.dsl import NodeFunction, RouterFunction

__all__ = ["Collection", "EdgeOptions", "Ref"]

_START, _END = SpecialNode.START.value, SpecialNode.END.value


@dataclass(frozen=True, slots=True)
class EdgeOptions:
    """What `edge(...)` says about an edge."""

    group: str = DEFAULT_EDGE_GROUP
    filter: StateFilterLike | None = None
    label: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Ref:
    """One node in a chain: by name, with what it is if that is known already."""

    name: str
    node: NodeFunction | None = None
    router: RouterFunction | None = None


@dataclass(slots=True)
class Collection:
    """Nodes and edges as they were said."""

    declared: list[NodeFunction] = field(default_factory=list)
    links: list[tuple[Ref, Ref, EdgeOptions]] = field(default_factory=list)

    def declare(self, node: NodeFunction) -> None:
        """Note a node that was defined."""
        self.declared.append(node)

    def connect(self, source: Ref, target: Ref, options: EdgeOptions) -> None:
        """Note an edge."""
        self.links.append((source, target, options))

    def to_builder(self, state_schema: Any, name: str = "graph") -> GraphBuilder:
        """A builder of everything.

        Raises:
            GraphError: All faults at once: unknown names, names used for two nodes, no way in, wrong options.
        """
        from evonb.graph.builder import GraphBuilder

        builder = GraphBuilder(state_schema, name=name)
        self.fill(builder, whole=True)
        return builder

    def fill(self, builder: GraphBuilder, *, whole: bool = False) -> None:
        """Add everything to a builder; nothing is added if there is a fault.

        Args:
            builder: May hold nodes already; they can be named.
            whole: Whether this must be a whole graph.

        Raises:
            GraphError: All faults at once.
        """
        faults: list[str] = []
        nodes = self._nodes(builder, faults)
        self._check_names(builder, nodes, faults)
        if whole and not any(source.name == _START for source, _, _ in self.links):
            faults.append("Nothing leaves START. Say where a run begins: START >> first_node")
        if not faults:
            added, edges = dict(builder._nodes), {key: list(value) for key, value in builder._edges.items()}
            self._add(builder, nodes, faults)
            if faults:
                builder._nodes, builder._edges = added, edges
        if faults:
            raise _all_of(faults, builder.name)

    def _nodes(self, builder: GraphBuilder, faults: list[str]) -> dict[str, NodeFunction]:
        """Every node by name, in the order of definition; later ones in the order of use."""
        found: dict[str, NodeFunction] = {}
        used = [ref.node for link in self.links for ref in link[:2] if ref.node is not None]
        for node in [*self.declared, *used]:
            known = found.setdefault(node.node_name, node)
            if SpecialNode.is_special_node(node.node_name):
                faults.append(f"The node name {node.node_name!r} is reserved. Choose another: @node(name=...)")
            elif known.function is not node.function:
                faults.append(f"Two nodes are called {node.node_name!r}. Rename one, or say @node(name=...)")
        faults += [
            f"There is a node called {name!r} in the graph already. Rename one"
            for name in found
            if name in builder._nodes
        ]
        return found

    def _check_names(self, builder: GraphBuilder, nodes: dict[str, NodeFunction], faults: list[str]) -> None:
        known = {**nodes, **builder._nodes}
        wanted: list[tuple[str, str]] = []
        for source, target, options in self.links:
            if source.name == _END and source.node is None:
                faults.append(f"END leads nowhere, but an edge goes from it to {target.name!r}. Turn it round")
            elif source.name != _START or source.node is not None:
                wanted.append((source.name, "a chain"))
            if target.router is not None:
                wanted += [(name, f"router {target.name!r}") for name in target.router.targets]
                if options.filter is not None:
                    faults.append(f"edge(filter=...) stands before router {target.name!r}. Answer (target, filter)")
            elif target.name == _START and target.node is None:
                faults.append(f"Nothing can lead to START, but {source.name!r} does. Turn it round")
            else:
                wanted.append((target.name, "a chain"))
        for name, where in dict.fromkeys(wanted):
            if name not in known and name != _END:
                near = near_names(name, [*known, _END], n=1)
                hint = f"Did you mean {near[0]!r}?" if near else f"Define it: @node def {name}(state): ..."
                faults.append(f"{where.capitalize()} names {name!r}, which is no node. {hint}")

    def _add(self, builder: GraphBuilder, nodes: dict[str, NodeFunction], faults: list[str]) -> None:
        for name, node in nodes.items():
            _try(faults, lambda name=name, node=node: builder.add_node(name, node.function, **node.options))
        refused = {name for name in nodes if name not in builder._nodes}  # said already: no fault of their edges
        for source, target, options in self.links:
            if refused.isdisjoint([source.name, *(target.router.targets if target.router else [target.name])]):
                _try(faults, lambda s=source, t=target, o=options: _add_edge(builder, s, t, o))


def _add_edge(builder: GraphBuilder, source: Ref, target: Ref, options: EdgeOptions) -> None:
    router = target.router
    if router is None:
        builder.add_edge(source.name, target.name, options.group, options.filter, label=options.label)
        return
    builder.add_condition_edge(
        source.name, router.function, router.targets, options.group, routes=router.routes, labels=_labels(router)
    )


def _labels(router: RouterFunction) -> dict[str, str]:
    """The text of each target: the answers that lead to it."""
    texts: dict[str, list[str]] = {}
    for label, target in router.routes.items():
        texts.setdefault(target, []).append(label)
    return {target: ", ".join(labels) for target, labels in texts.items()}


def _try(faults: list[str], action: Any) -> None:
    try:
        action()
    except EvonbError as error:
        faults.append(f"{error.what}. {error.fix}" if error.fix else error.what)


def _all_of(faults: list[str], name: str) -> GraphError:
    unique = list(dict.fromkeys(faults))
    if len(unique) == 1:
        what, _, fix = unique[0].partition(". ")
        return GraphError(what, where=f"graph {name!r}", fix=fix)
    listed = "\n".join(f"  - {fault}" for fault in unique)
    return GraphError(f"The graph has {len(unique)} faults:\n{listed}", where=f"graph {name!r}", fix="mend each")
