"""`GraphBuilder`: collects nodes and edges, refuses what can't be, and builds the engine."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from pydantic import PrivateAttr, SkipValidation

from evonb.errors import GraphError
from evonb.graph.annotations import is_schema
from evonb.graph.arguments import check_options, is_retry, member_of, positive, targets_listed
from evonb.graph.component import BaseComponent
from evonb.graph.edges import ConditionEdgeSpec, EdgeSpec, EdgeSpecBase, StateFilterLike
from evonb.graph.engine import GraphEngine
from evonb.graph.near import near_names, wrong_kind
from evonb.graph.nodes import GraphNodeSpec, callable_to_node, must_take_state
from evonb.graph.plan import END, START, in_order
from evonb.graph.schema import compile_schema, no_schema
from evonb.graph.warned import warn
from evonb.typing import DEFAULT_EDGE_GROUP, GraphMode, NodeActionMode, SpecialNode

if TYPE_CHECKING:
    from evonb.graph.topology import Finding

__all__ = ["GraphBuilder"]


class GraphBuilder(BaseComponent):
    """Builds a graph.

    Example:
        >>> from typing import TypedDict
        >>> class State(TypedDict):
        ...     count: int
        >>> builder = GraphBuilder(state_schema=State)
        >>> builder.add_node("add", lambda state: {"count": state["count"] + 1})
        >>> builder.set_entry_point("add")
        >>> builder.build().run_sync({"count": 1})
        {'count': 2}

    Attributes:
        state_schema: A TypedDict, a pydantic model class, or dict.
        name: What the graph is called in pictures and errors.
        strict: Whether state keys that the schema doesn't declare are errors instead of warnings.
    """

    state_schema: SkipValidation[Any]
    name: str = "graph"
    strict: bool = False
    _nodes: dict[str, GraphNodeSpec] = PrivateAttr(default_factory=dict)
    _edges: dict[str, list[EdgeSpecBase]] = PrivateAttr(default_factory=dict)
    _version: int = PrivateAttr(default=0)  # grows with each change
    _block: AbstractContextManager[GraphBuilder] | None = PrivateAttr(default=None)

    def __init__(self, state_schema: Any = None, **fields: Any) -> None:
        if not is_schema(state_schema):
            raise no_schema(state_schema)
        check_options(type(self).model_fields, fields)
        super().__init__(**{"state_schema": state_schema, **fields})

    # --- nodes and edges ---------------------------------------------------------------------

    def add_node(
        self,
        name: str,
        node: Any,
        action_mode: NodeActionMode | str = "any",
        multi_input_merge_strategy: dict[str, Callable[[list[Any]], Any]] | None = None,
        *,
        effect: bool = False,
        run_in: str | None = None,
        timeout: float | None = None,
        retry: Any = None,
    ) -> None:
        """Add a node.

        Args:
            name: Unique in the graph; not "start" or "end".
            node: A callable, a node instance, or an engine as a sub-graph.
            action_mode: "any" runs it for each predecessor that arrives, "all" once all of an edge group have.
            multi_input_merge_strategy: By edge group, `(states) -> state` for the inputs of an "all" node.
            effect: Whether it does something outside of the state that a replay shouldn't repeat.
            run_in: "loop" or "thread" for a sync node; None lets the engine choose.
            timeout: Seconds for one execution; None takes the graph's.
            retry: A `RetryPolicy`, or how many executions there may be.

        Raises:
            GraphError: The name is reserved or taken, the node can't be called, or an option is unknown.
        """
        self._check_name(name)
        mode = member_of(NodeActionMode, action_mode, "action_mode")
        if run_in not in (None, "loop", "thread"):
            raise GraphError(
                f"run_in is {run_in!r}, expected 'loop' or 'thread'", where=f"node {name!r}", fix='run_in="thread"'
            )
        if not (retry is None or is_retry(retry)):
            raise GraphError(
                f"retry is {retry!r}, expected a RetryPolicy or a number above 0",
                where=f"node {name!r}",
                fix="retry=3 executes a failing node up to three times",
            )
        self._version += 1
        self._nodes[name] = GraphNodeSpec(
            node=callable_to_node(node),
            node_name=name,
            action_mode=mode,
            multi_input_merge_strategy=multi_input_merge_strategy,
            effect=effect,
            run_in=run_in,
            timeout=positive(timeout, "timeout"),
            retry=retry,
        )

    def add_edge(
        self,
        source: str,
        target: str,
        group: str = DEFAULT_EDGE_GROUP,
        state_filter: StateFilterLike | None = None,
        *,
        label: str = "",
    ) -> None:
        """Add an edge between two nodes that were added before; "end" is a target too.

        Args:
            source, target: Node names.
            group: An "all" node waits for every edge of one group.
            state_filter: Makes the state that the target gets; siblings get theirs unchanged.
            label: Text for the picture.

        Raises:
            GraphError: A node is unknown.
        """
        source, target = self._source(source), self._target(target)
        if state_filter is not None:
            must_take_state(state_filter, "state filter")
        self._put(EdgeSpec(source=source, target=target, group=group, state_filter=state_filter, label=label))

    def add_condition_edge(
        self,
        source: str,
        router: Callable[..., Any],
        possible_targets: list[str] | set[str],
        group: str = DEFAULT_EDGE_GROUP,
        *,
        labels: Mapping[str, str] | None = None,
        routes: Mapping[str, str] | None = None,
        multiple: bool | None = None,
    ) -> None:
        """Add an edge whose router chooses where to go.

        Args:
            source: Node name.
            router: `(state) -> target`, or a list of targets, or pairs (target, filter); may be async.
            possible_targets: Everything that it may answer.
            group: An "all" node waits for every edge of one group.
            labels: Texts for the picture, by target.
            routes: What the router may answer instead of a target's name, and the target that it means.
            multiple: Whether it may answer several targets at once, for `check`; None lets its text tell.

        Raises:
            GraphError: A node is unknown, or the router can't be called.
        """
        source = self._source(source)
        targets = [self._target(target) for target in targets_listed(possible_targets, source)]
        if not callable(router):
            raise wrong_kind(
                GraphError,
                "A router must be callable",
                router,
                where=f"router of node {source!r}",
                fix="pass a function such as `def router(state): return 'end'`",
            )
        must_take_state(router, "router")
        edge = ConditionEdgeSpec(
            source=source,
            router=router,
            possible_targets=targets,
            group=group,
            labels=dict(labels or {}),
            routes=dict(routes or {}),
            multiple=multiple,
        )
        self._put(edge)

    def set_entry_point(self, entry_name: str) -> None:
        """Set the node that a run begins with; the last call wins.

        Raises:
            GraphError: The node is unknown.
        """
        edge = EdgeSpec(source=START, target=self._known(entry_name))
        self._edges[START] = [edge]

    def __enter__(self) -> GraphBuilder:
        """Collect what the `>>` language says in the block; see `evonb.graph.dsl`."""
        from evonb.graph.dsl import collecting

        self._block = collecting(self)
        return self._block.__enter__()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Add it, all or nothing.

        Raises:
            GraphError: All faults at once.
        """
        block, self._block = self._block, None
        if block is not None:
            block.__exit__(kind, error, trace)

    # --- building ------------------------------------------------------------------------------

    def build(
        self,
        auto_conn_end: bool = True,
        max_turn: int | None = None,
        timeout: float | None = None,
        graph_mode: GraphMode | str = GraphMode.RUN,
        db_file_path: str = "./.storage.db",
        db_name: str = "evofabric",
    ) -> GraphEngine:
        """An engine of what was added. The builder may go on and build again; engines don't change.

        Args:
            auto_conn_end: Whether nodes without a successor lead to the end.
            max_turn: How many node executions one run may have.
            timeout: Seconds for one node execution.
            graph_mode: "run", or "debug" for an engine with breakpoints and steps.
            db_file_path, db_name: Where a debugger stores its snapshots.

        Raises:
            GraphError: There is no entry point, nothing leads to the end, or an option is wrong.
            StateError: The schema isn't usable.
        """
        mode = member_of(GraphMode, graph_mode, "graph_mode")
        fields: dict[str, Any] = {
            "nodes": dict(self._nodes),
            "edges": self._edges_for(auto_conn_end=auto_conn_end),
            "state_schema": self.state_schema,
            "max_turn": positive(max_turn, "max_turn"),
            "timeout": positive(timeout, "timeout"),
            "name": self.name,
            "strict": self.strict,
        }
        if mode is GraphMode.DEBUG:
            from evonb.graph.debugger import GraphEngineDebugger

            engine: GraphEngine = GraphEngineDebugger(db_file_path=db_file_path, db_name=db_name, **fields)
        else:
            engine = GraphEngine(**fields)
        self._tell(engine)
        engine._built_from = (weakref.ref(self), self._version)
        return engine

    def check(self, auto_conn_end: bool = True) -> list[Finding]:
        """Everything that looks wrong about the graph so far, all at once; builds and runs nothing.

        Args:
            auto_conn_end: As it will be given to `build`.
        """
        from evonb.graph.check import check_graph

        edges = self._connected(auto_conn_end=auto_conn_end)
        return check_graph(self.name, self._nodes, in_order(edges), compile_schema(self.state_schema))

    def _tell(self, engine: GraphEngine) -> None:
        """Findings that make the graph useless are told at build; the others are shown by `check` and the picture."""
        errors = [finding for finding in engine.check() if finding.level == "error"]
        if not errors:
            return
        text = "\n".join(f"- {finding.what}. {finding.fix}" for finding in errors)
        if self.strict:
            raise GraphError(f"The graph has faults:\n{text}", where=f"graph {self.name!r}", fix=errors[0].fix)
        warn(f"Graph {self.name!r}:\n{text}")

    def _edges_for(self, *, auto_conn_end: bool) -> dict[str, list[EdgeSpecBase]]:
        if not self._edges.get(START):
            raise GraphError(
                "The graph has no entry point", where=f"graph {self.name!r}", fix="call set_entry_point(name)"
            )
        edges = self._connected(auto_conn_end=auto_conn_end)
        if not auto_conn_end and not any(
            END in edge.get_possible_targets() for of_source in edges.values() for edge in of_source
        ):
            raise GraphError(
                "No edge leads to the end, so the graph could never give a result",
                where=f"graph {self.name!r}",
                fix="add_edge(last_node, 'end'), or build(auto_conn_end=True)",
            )
        return edges

    def _connected(self, *, auto_conn_end: bool) -> dict[str, list[EdgeSpecBase]]:
        edges = {source: list(of_source) for source, of_source in self._edges.items()}
        if auto_conn_end:
            for name in self._nodes:
                if not edges.get(name):
                    edges[name] = [EdgeSpec(source=name, target=END)]
        return edges

    # --- saving --------------------------------------------------------------------------------

    def dumps(self, graph_name: str = "graph", version: str = "1.0") -> dict[str, Any]:
        """The graph as plain data, ready for JSON.

        Functions are kept by their import name; those without one as signed source.

        Raises:
            GraphError: Something can't be kept; all of it is named.
        """
        from evonb.graph.serialize import dump_builder

        return dump_builder(self, graph_name, version)

    def dump(self, save_path: str, graph_name: str = "graph", version: str = "1.0") -> None:
        """Write `dumps` to a file as JSON; an existing file is replaced whole or not at all."""
        from evonb.graph.serialize import write_json

        write_json(save_path, self.dumps(graph_name, version))

    @classmethod
    def load(cls, file_path: str, *, trust: bool = False) -> GraphBuilder:
        """The builder that `dump` wrote to a file; see `loads`."""
        from evonb.graph.serialize import read_json

        return cls.loads(read_json(file_path), trust=trust)

    @classmethod
    def loads(cls, data: Mapping[str, Any], *, trust: bool = False) -> GraphBuilder:
        """The builder that `dumps` described.

        Args:
            data: What `dumps` gave.
            trust: Whether code that wasn't signed by this user may be run. Only for data that you know.

        Raises:
            GraphError: The data are incomplete, or hold code that isn't trusted; the nodes concerned are named.
        """
        from evonb.graph.serialize import load_builder

        return load_builder(cls, data, trust=trust)

    # --- names -----------------------------------------------------------------------------------

    def _put(self, edge: EdgeSpecBase) -> None:
        self._version += 1
        self._edges.setdefault(edge.source, []).append(edge)

    def _check_name(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise GraphError(
                f"A node name must be a text that isn't empty, found {name!r:.80}",
                where=f"graph {self.name!r}",
                fix='add_node("name", function)',
            )
        if SpecialNode.is_special_node(name):
            raise GraphError(
                f"The node name {name!r} is reserved", where=f"graph {self.name!r}", fix="choose another name"
            )
        if name in self._nodes:
            raise GraphError(
                f"There is a node called {name!r} already", where=f"graph {self.name!r}", fix="choose another name"
            )

    def _source(self, name: Any) -> str:
        name = getattr(name, "value", name)
        return START if name == START else self._known(name)

    def _target(self, name: Any) -> str:
        name = getattr(name, "value", name)
        return END if name == END else self._known(name)

    def _known(self, name: Any) -> str:
        if isinstance(name, str) and name in self._nodes:
            return name
        if not isinstance(name, str):
            raise wrong_kind(
                GraphError,
                "A node is named by a text",
                name,
                where=f"graph {self.name!r}",
                fix="add_edge(source, target), once for each pair of names",
            )
        near = near_names(name, self._nodes, n=1)
        raise GraphError(
            f"There is no node called {name!r}",
            where=f"graph {self.name!r}",
            fix=f"did you mean {near[0]!r}?" if near else f"add it first: add_node({name!r}, ...)",
        )
