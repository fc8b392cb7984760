"""The debugger's commands about breakpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evonb.errors import GraphError
from evonb.graph.debugging.breakpoints import Breakpoint, When
from evonb.graph.debugging.expressions import Condition, python_condition
from evonb.graph.debugging.face import Face
from evonb.graph.near import near_names, wrong_kind
from evonb.graph.plan import Plan
from evonb.graph.topology import PATH_SEPARATOR, node_id

__all__ = ["Breaking"]


class Breaking(Face):
    """Set, list, switch and clear breakpoints; allowed at any time."""

    def add_breakpoint(
        self,
        node: str | Sequence[str] | None = None,
        *,
        when: When = "before",
        edge: str | tuple[str, str] | None = None,
        condition: Any = None,
        predicate: Any = None,
        hit: int | None = None,
        on_exception: bool = False,
        tool: str | None = None,
        log: Any = None,
    ) -> Breakpoint:
        """Add a breakpoint. It holds the tasks it concerns; other branches run on.

        Conditions are functions of the state, Python expressions over its keys, or what `compile_condition` made.

        Args:
            node: The node; inside of a sub-graph its id in the picture ("sub › inner") or the names that lead to it.
            when: Before the node runs, or after: before whatever follows from it.
            edge: An edge by its id in the picture ("a>b", "sub › a>b"), or as (source, target).
            condition: Holds only where it is true.
            predicate: Without a node: holds what follows from the step that makes it true. It is about the session's
                state, so steps inside of sub-graphs, which have states of their own, aren't asked.
            hit: Holds on the n-th time only.
            on_exception: A failure (of `node`, or of any) pauses the session instead of raising.
            tool: A tool's name: holds its calls.
            log: Prints this expression into the session's log and doesn't hold.

        Returns:
            The breakpoint, with its id.

        Raises:
            GraphError: There is no such node or edge, a condition isn't one, or the options don't go together.
        """
        place = None if node is None else self._node(_joined(node, PATH_SEPARATOR))
        anywhere = [edge, predicate, tool, on_exception or None]
        if sum(each is not None for each in anywhere) + (place is not None and not on_exception) != 1:
            raise GraphError(
                "A breakpoint needs exactly one place",
                fix="give a node, an edge, a predicate, a tool, or on_exception=True (which may have a node too)",
            )
        if when not in ("before", "after") or not (hit is None or (isinstance(hit, int) and hit > 0)):
            raise GraphError(
                f"when is 'before' or 'after', and hit is 1 or more; found when={when!r}, hit={hit!r}",
                where=f"graph {self.name!r}",
                fix="when='after', hit=2",
            )
        if not (tool is None or isinstance(tool, str)):
            raise wrong_kind(
                GraphError, "tool is a tool's name", tool, where=f"graph {self.name!r}", fix="tool='refund'"
            )
        made = self._session.breakpoints.add(
            node=place,
            when=when,
            edge=None if edge is None else self._edge(edge),
            condition=_condition(condition),
            predicate=_condition(predicate),
            hit=hit,
            on_exception=on_exception,
            tool=tool,
            log=_condition(log),
        )
        self._session.changed()
        self._keep()
        return made

    def breakpoints(self) -> list[Breakpoint]:
        """All breakpoints, in the order in which they were set."""
        return list(self._session.breakpoints)

    def enable_breakpoint(self, breakpoint_id: str | Breakpoint) -> Breakpoint:
        """Switch a breakpoint on.

        Raises:
            SessionError: There is none with this id.
        """
        return self._changed(self._session.breakpoints.change(breakpoint_id, enabled=True, problem=""))

    def disable_breakpoint(self, breakpoint_id: str | Breakpoint) -> Breakpoint:
        """Switch a breakpoint off; it keeps its place and its hits.

        Raises:
            SessionError: There is none with this id.
        """
        return self._changed(self._session.breakpoints.change(breakpoint_id, enabled=False))

    def remove_breakpoint(self, breakpoint_id: str | Breakpoint) -> None:
        """Take a breakpoint away.

        Raises:
            SessionError: There is none with this id.
        """
        gone = self._session.breakpoints.get(breakpoint_id)
        self._session.breakpoints.remove(breakpoint_id)
        self._changed(gone)

    def _changed(self, each: Breakpoint) -> Breakpoint:
        self._session.changed()
        self._keep()
        return each

    def _keep(self) -> None:
        session = self._session
        if session.keeper is not None and not session.busy:
            session.keeper.pause()

    # --- as documented ---------------------------------------------------------------------------------

    def set_breakpoint(self, node_name_bp: str | None = None, condition_bp: Any = None, condition: Any = None) -> None:
        """Hold the tasks of a node before they run; replaces such a breakpoint of the node.

        Args:
            node_name_bp: The node.
            condition_bp: Not used.
            condition: `(state) -> bool`, or a Python expression over the state's keys: holds only when it is true.

        Raises:
            RuntimeError: No node is named.
            GraphError: There is no such node, or the condition is neither.
        """
        node, made = self._node(node_name_bp), _condition(condition)
        for each in self._session.breakpoints.of_node(node):
            self._session.breakpoints.remove(each.id)
        self.add_breakpoint(node, condition=made)

    def clear_breakpoint(
        self, node_name_bp: str | None = None, condition_bp: Any = None, condition: Any = None
    ) -> None:
        """Hold the tasks of a node no more; does nothing if there is no breakpoint before it.

        Raises:
            RuntimeError: No node is named.
        """
        for each in self._session.breakpoints.of_node(self._node(node_name_bp)):
            self.remove_breakpoint(each.id)

    def clear_all_breakpoint(self) -> None:
        """Remove every breakpoint."""
        self._session.breakpoints.clear()
        self._session.changed()
        self._keep()

    def _edge(self, edge: str | tuple[str, str]) -> str:
        wanted: str = _edge_id(edge)
        known = list(_edges(self._session.plan, ()))
        if wanted not in known:
            near = near_names(wanted, known)
            raise GraphError(
                f"There is no edge {wanted!r}",
                where=f"graph {self.name!r}",
                fix=f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}",
            )
        return wanted


def _joined(names: Any, separator: str) -> Any:
    """One name of several; anything else as it is, to be refused as a name that isn't known."""
    several = isinstance(names, list | tuple) and all(isinstance(each, str) for each in names)
    return separator.join(names) if several else names


def _edge_id(edge: Any) -> Any:
    """As `_joined`; both ends inside of a sub-graph may be named by their ids in the picture."""
    joined = _joined(edge, ">")
    if joined is edge or len(edge) != 2:
        return joined
    source, target = edge
    path, separator, _ = source.rpartition(PATH_SEPARATOR)
    around = path + separator
    return f"{source}>{target.removeprefix(around)}" if separator and target.startswith(around) else joined


def _edges(plan: Plan, path: tuple[str, ...]) -> Iterator[str]:
    """The ids of all edges, those inside of sub-graphs included."""
    for edge in plan.edges:
        yield from (node_id(path, each) for each in edge.ids.values())
    for node in plan.nodes:
        if node.subgraph is not None:
            yield from _edges(node.subgraph._plan, (*path, node.name))


def _condition(condition: Any) -> Condition | None:
    return None if condition is None else python_condition(condition)
