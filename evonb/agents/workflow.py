"""Workflows: nodes with routes, put together into new workflows without changing the old ones.

A thin face over `GraphBuilder`: what a workflow means is the graph that it makes, in `workflow_graph`.
"""

from __future__ import annotations

import difflib
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, overload

from evonb.agents.routes import Route
from evonb.errors import GraphError
from evonb.typing import SpecialNode

__all__ = ["Workflow", "WorkflowNode", "define_workflow", "workflow", "workflow_node"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowNode:
    """One node. It stays callable as the function that it was; on a class it is a method, bound by its instance.

    Attributes:
        id: Unique in its workflow.
        run: `(state) -> what it changes`, or `(state, runtime) -> ...`; may be async.
        description: What it is for.
        starts_round: Whether a round begins here; an engine allows so many rounds, which bounds every loop.
        routes: Where to go on; the first whose condition holds is taken.
    """

    id: str
    run: Callable[..., Any]
    description: str = ""
    starts_round: bool = False
    routes: tuple[Route, ...] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.run(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> WorkflowNode:
        return self if instance is None else replace(self, run=types.MethodType(self.run, instance))


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """Nodes that belong together; a run begins with the first. It never changes.

    Attributes:
        id: Its name, in pictures and errors too.
        nodes: In order.
        state: The schema of the state; dict takes any keys.
        origin: The workflow that this one was made of, or None.
    """

    id: str
    nodes: tuple[WorkflowNode, ...]
    state: Any = dict
    origin: Workflow | None = None

    def add(self, *nodes: Any, id: str | None = None, replacing: bool = False) -> Workflow:
        """A new workflow with these nodes behind the others; this one stays as it is.

        Args:
            nodes: Nodes, mappings of their fields, or whole workflows.
            id: The new one's name; this one's if None.
            replacing: Whether a node takes the place of one with the same id.

        Raises:
            GraphError: An id is taken, or something is no node.
        """
        more = [made for node in nodes for made in (node.nodes if isinstance(node, Workflow) else [_node(node)])]
        kept = {node.id: node for node in self.nodes}
        if replacing:
            kept.update((node.id, node) for node in more if node.id in kept)
            more = [node for node in more if node.id not in kept]
        return _checked(Workflow(id=id or self.id, nodes=(*kept.values(), *more), state=self.state, origin=self))

    def node(self, node_id: str) -> WorkflowNode:
        """The node with this id.

        Raises:
            GraphError: There is none; near ids are named.
        """
        for node in self.nodes:
            if node.id == node_id:
                return node
        near = difflib.get_close_matches(node_id, [node.id for node in self.nodes], n=1)
        raise GraphError(
            f"There is no node {node_id!r}",
            where=f"workflow {self.id!r}",
            fix=f"did you mean {near[0]!r}?" if near else f"add it: workflow.add({{'id': {node_id!r}, ...}})",
        )


def define_workflow(id: str, nodes: Iterable[Any], *, state: Any = dict) -> Workflow:
    """A workflow of these nodes; routes are looked at when it is bound to an engine, so others may be added first.

    Args:
        id: Its name.
        nodes: `WorkflowNode`s, or mappings with their fields.
        state: The schema of the state.

    Raises:
        GraphError: Everything that is wrong about ids and fields, all at once.

    Example:
        >>> from evonb.agents import define_workflow, route
        >>> greeting = define_workflow("greeting", [{
        ...     "id": "greet", "description": "Greet somebody by name", "starts_round": True,
        ...     "run": lambda state: {"answer": "Hello, " + state["name"]},
        ...     "routes": [route.deliver("answer")],
        ... }])
        >>> greeting.nodes[0].id
        'greet'
    """
    return _checked(Workflow(id=id, nodes=tuple(_node(node) for node in nodes), state=state))


@overload
def workflow_node(target: Callable[..., Any], /, **settings: Any) -> WorkflowNode: ...
@overload
def workflow_node(**settings: Any) -> Callable[[Any], WorkflowNode]: ...
def workflow_node(target: Any = None, /, **settings: Any) -> Any:
    """Make a function, a method or a class a workflow node.

    A class is instantiated without arguments, and its `run` is the node; a method is bound by the instance that it is
    taken from: `nodes=[desk.greet]`. The result is what `define_workflow` takes, nothing else.

    Args:
        target: What is decorated.
        settings: The fields of `WorkflowNode`; id and description are the name and docstring if not given.

    Raises:
        GraphError: The class can't be made without arguments, or there is nothing to run.
    """

    def make(target: Any) -> WorkflowNode:
        name = getattr(target, "__name__", type(target).__name__)
        about = (getattr(target, "__doc__", None) or "").strip()
        return _node({"id": name, "description": about, **settings, "run": _runnable(target)})

    return make if target is None else make(target)


def workflow(id: str, *, state: Any = dict) -> Callable[[type], Workflow]:
    """Make a class whose methods are workflow nodes a workflow: `@workflow("desk")`. It is instantiated once.

    Raises:
        GraphError: The class can't be made without arguments, or has no nodes.
    """

    def make(cls: type) -> Workflow:
        names = [name for base in reversed(cls.__mro__) for name in vars(base)]
        found = [name for name in dict.fromkeys(names) if isinstance(getattr(cls, name, None), WorkflowNode)]
        if not found:
            raise GraphError(
                f"The class {cls.__name__} has no nodes",
                where=f"workflow {id!r}",
                fix="decorate methods: @workflow_node",
            )
        instance = _instance(cls)
        return define_workflow(id, [getattr(instance, name) for name in found], state=state)

    return make


# --- checking ------------------------------------------------------------------------------------


def _node(given: Any) -> WorkflowNode:
    if isinstance(given, WorkflowNode):
        return replace(given, routes=_routes(given.routes, given.id))
    if not isinstance(given, Mapping):
        raise GraphError(
            f"A workflow node is a mapping or made by @workflow_node, found {type(given).__name__}",
            fix='write {"id": "greet", "run": greet, "routes": [route.deliver("answer")]}',
        )
    known = [field.name for field in fields(WorkflowNode)]
    where = f"workflow node {given.get('id', '?')!r}"
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
            fix = f"did you mean {near[0]!r}?" if near else f"use {', '.join(known)}"
            raise GraphError(f"A workflow node has no field {name!r}", where=where, fix=fix)
    missing = [name for name in ("id", "run") if name not in given]
    if missing or not callable(given["run"]):
        found = f"no {' and no '.join(missing)}" if missing else f"{given['run']!r:.60} as its run"
        raise GraphError(f"A workflow node needs an id and a function, found {found}", where=where, fix="add run=...")
    return WorkflowNode(**{**given, "routes": _routes(given.get("routes", ()), given["id"])})


def _routes(routes: Any, node_id: str) -> tuple[Route, ...]:
    listed = (routes,) if isinstance(routes, Route) else tuple(routes or ())
    for each in listed:
        if not isinstance(each, Route):
            raise GraphError(
                f"{each!r:.60} isn't a route",
                where=f"workflow node {node_id!r}",
                fix='write route.to("node") or route.deliver("key")',
            )
    return listed


def _runnable(target: Any) -> Callable[..., Any]:
    made = _instance(target) if isinstance(target, type) else target
    run = getattr(made, "run", made)
    if callable(run):
        return run  # type: ignore[no-any-return]
    raise GraphError(f"{target!r:.60} has no method run", fix="give it `def run(self, state): ...`")


def _instance(cls: type) -> Any:
    try:
        return cls()
    except TypeError as error:
        raise GraphError(
            f"The class {cls.__name__} can't be made without arguments: {error}",
            fix="make an instance yourself and take its methods: nodes=[instance.step]",
        ) from error


def _checked(made: Workflow) -> Workflow:
    ids = [node.id for node in made.nodes]
    faults = [f"{each!r} isn't a name" for each in ids if not isinstance(each, str) or not each]
    faults += [f"{each!r} is reserved" for each in ids if isinstance(each, str) and SpecialNode.is_special_node(each)]
    faults += [f"{each!r} is there twice" for each in dict.fromkeys(ids) if ids.count(each) > 1]
    faults += [] if ids else ["it has no nodes"]
    if faults:
        raise GraphError(
            f"The workflow can't be made: {'; '.join(faults)}",
            where=f"workflow {made.id!r}",
            fix="give every node an id of its own, or add(..., replacing=True)",
        )
    return made
