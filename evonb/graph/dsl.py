"""The `>>` language: `START >> classify >> by_topic`, `[billing, tech] >> review >> END`.

    with GraphBuilder(State) as graph:
        START >> first >> edge(group="left") >> second >> END

`>>` only notes what is said; names are resolved and all faults reported together when the block ends. `a >> b` is a
plain edge, `a >> router` a conditional one, and a list on either side means every one of it. `[a, b] >> [c, d]` is
Python's own TypeError, since lists can't be taught: write `[a, b] >> c` and `[a, b] >> d`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, overload

from evonb.errors import GraphError
from evonb.graph.collection import Collection, EdgeOptions, Ref
from evonb.graph.edges import StateFilterLike
from evonb.graph.near import near_names
from evonb.typing import DEFAULT_EDGE_GROUP, SpecialNode

if TYPE_CHECKING:
    from evonb.graph.builder import GraphBuilder
    from evonb.graph.engine import GraphEngine

__all__ = ["END", "START", "Chain", "NodeFunction", "RouterFunction", "collect", "collecting", "edge", "node", "router"]

_open: list[Collection] = []
"""The collections that are open, innermost last. Global: a cell may go on in another task after an `await`."""


class _Chainable:
    """Gives `>>` to what stands in a chain."""

    __slots__ = ()

    def __rshift__(self, other: Any) -> Chain:
        return _link(self, other)

    def __rrshift__(self, other: Any) -> Chain:
        return _link(other, self)


class Chain(_Chainable):
    """What `a >> b` gives: it can be continued, or stand in a list."""

    __slots__ = ("_heads", "_options", "_tails")

    def __init__(self, heads: list[Ref], tails: list[Ref], options: EdgeOptions | None = None) -> None:
        self._heads = heads
        self._tails = tails
        self._options = options

    def __repr__(self) -> str:
        return f"<chain from {_names(self._heads)} to {_names(self._tails)}>"


class Point(_Chainable):
    """The start or the end in a chain. `value` is its name, as in `SpecialNode`."""

    __slots__ = ("value",)

    def __init__(self, kind: SpecialNode) -> None:
        self.value: str = kind.value

    def __repr__(self) -> str:
        return self.value.upper()


START = Point(SpecialNode.START)
"""Where a run begins: `START >> first`."""
END = Point(SpecialNode.END)
"""Where a run ends: `last >> END`."""


class _Function(_Chainable):
    """A function that stays one: same name, doc, signature and source, and `>>` besides."""

    def __init__(self, function: Any, name: str | None) -> None:
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self.node_name: str = name or getattr(function, "name", None) or _name_of(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self.function, instance)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.node_name!r}>"


class NodeFunction(_Function):
    """What `@node` makes."""

    def __init__(self, function: Any, name: str | None, options: dict[str, Any]) -> None:
        super().__init__(function, name)
        self.options = options


class RouterFunction(_Function):
    """What `@router` makes.

    Attributes:
        targets: Names of the possible targets, in the order given.
        routes: Label to target, for routers that answer labels.
    """

    def __init__(self, function: Any, targets: list[str], routes: dict[str, str]) -> None:
        super().__init__(function, None)
        self.targets = targets
        self.routes = routes


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


@overload
def node(function: Callable[..., Any] | GraphEngine, /, *, name: str | None = None, **options: Any) -> NodeFunction: ...
@overload
def node(*, name: str | None = None, **options: Any) -> Callable[[Callable[..., Any]], NodeFunction]: ...
def node(function: Any = None, /, *, name: str | None = None, **options: Any) -> Any:
    """Make a function a node: `@node`, or `@node(action_mode="all", ...)`.

    Works on engines and node instances too: `sub = node(engine, name="sub")`.

    Args:
        function: The function.
        name: The node's name; the function's own if None.
        options: action_mode, multi_input_merge_strategy, effect, run_in, timeout, retry, as `GraphBuilder.add_node`.
    """
    _check_options("node", options, _NODE_OPTIONS)

    def make(function: Any) -> NodeFunction:
        made = NodeFunction(function, name, options)
        if _open:
            _open[-1].declare(made)
        return made

    return make if function is None else make(function)


_NODE_OPTIONS = ("action_mode", "multi_input_merge_strategy", "effect", "run_in", "timeout", "retry")


def router(*targets: Any) -> Callable[[Callable[..., Any]], RouterFunction]:
    """Make a function a router: `@router("billing", "tech")`, or `@router({"yes": "send", "no": "end"})`.

    Args:
        targets: Names of the possible targets (or the nodes themselves), or one mapping from what the function answers
            to targets; its keys are the labels in the picture.

    Raises:
        GraphError: There are no targets, or one is neither a name nor a node.
    """
    if len(targets) == 1 and callable(targets[0]) and not isinstance(targets[0], _Chainable):
        raise GraphError("@router needs its targets", fix='write @router("billing", "tech")')
    routes: dict[str, str] = {}
    if len(targets) == 1 and isinstance(targets[0], Mapping):
        routes = {str(label): _target_name(target) for label, target in targets[0].items()}
        targets = tuple(dict.fromkeys(routes.values()))
    names = [_target_name(target) for target in targets]
    if not names:
        raise GraphError("@router needs at least one target", fix='write @router("billing", "tech")')
    return lambda function: RouterFunction(function, names, routes)


def _target_name(target: Any) -> str:
    name = getattr(target, "node_name", None) or getattr(target, "value", target)
    if not isinstance(name, str):
        raise GraphError(f"A router's target must be a name or a node, found {target!r}")
    return name


class _EdgeMark(EdgeOptions, _Chainable):
    """What `edge(...)` makes: it stands between two nodes."""


def edge(*, group: str = DEFAULT_EDGE_GROUP, filter: StateFilterLike | None = None, label: str = "") -> _EdgeMark:
    """Options for the edge that it stands on: `a >> edge(group="left") >> b`.

    Args:
        group: The edge's group; an "all" node waits for every edge of one group.
        filter: Makes the state that the target gets.
        label: Text for the picture.
    """
    return _EdgeMark(group=group, filter=filter, label=label)


def _check_options(word: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in given:
        if name not in known:
            near = near_names(name, known, n=1)
            raise GraphError(
                f"{word} has no option {name!r}", fix=f"did you mean {near[0]!r}?" if near else f"use one of {known}"
            )


# --- linking ------------------------------------------------------------------------------------


def _link(left: Any, right: Any) -> Chain:
    if not _open:
        raise GraphError(
            "There is no graph that `>>` could add an edge to",
            fix="write it inside `with GraphBuilder(State) as graph:`, or in a %%evograph cell",
        )
    collection = _open[-1]
    options = left._options if isinstance(left, Chain) else None
    if isinstance(left, _EdgeMark):
        raise GraphError("edge(...) stands between two nodes", fix='write a >> edge(group="left") >> b')
    sources = _refs(left, as_source=True)
    for ref in sources:
        if ref.router is not None:
            raise GraphError(
                f"Nothing can follow the router {ref.name!r}: it names its targets itself",
                fix=f"write [{', '.join(ref.router.targets)}] >> ... in a line of its own",
            )
    heads = left._heads if isinstance(left, Chain) else sources
    if isinstance(right, _EdgeMark):
        return Chain(heads, sources, right)
    targets = _refs(right, as_source=False)
    for source in sources:
        for target in targets:
            collection.connect(source, target, options or EdgeOptions())
    return Chain(heads, right._tails if isinstance(right, Chain) else targets)


def _refs(thing: Any, *, as_source: bool) -> list[Ref]:
    """What one side of `>>` names."""
    if isinstance(thing, Chain):
        return thing._tails if as_source else thing._heads
    if isinstance(thing, list | tuple | set | frozenset):
        return [ref for item in thing for ref in _refs(item, as_source=as_source)]
    if isinstance(thing, RouterFunction):
        return [Ref(thing.node_name, router=thing)]
    if isinstance(thing, Point):
        return [Ref(thing.value)]
    if isinstance(thing, str):
        return [Ref(thing)]
    if isinstance(thing, NodeFunction):
        return [Ref(thing.node_name, node=thing)]
    if callable(thing) or hasattr(thing, "_as_node"):
        return [Ref(_plain_name(thing), node=NodeFunction(thing, _plain_name(thing), {}))]
    raise GraphError(
        f"A chain can't hold {type(thing).__name__}: {thing!r:.60}", fix="use nodes, names, START, END and lists"
    )


def _plain_name(thing: Any) -> str:
    name = getattr(thing, "name", None) if hasattr(thing, "_as_node") else None
    return name if isinstance(name, str) else _name_of(thing)


def _names(refs: list[Ref]) -> str:
    return ", ".join(ref.name for ref in refs)


# --- collecting -----------------------------------------------------------------------------------


@contextmanager
def collect() -> Iterator[Collection]:
    """Collect what is said by `>>`, `@node` and `@router` in the block.

    The answer's `to_builder(state_schema, name)` makes a builder of it, or raises all faults at once.
    """
    collection = Collection()
    _open.append(collection)
    try:
        yield collection
    finally:
        # By identity: an inner block that was abandoned must not take ours with it.
        _open[:] = [each for each in _open if each is not collection]


@contextmanager
def collecting(builder: GraphBuilder) -> Iterator[GraphBuilder]:
    """`with GraphBuilder(State) as graph:` - what was said in the block is added when it ends without an error."""
    with collect() as collection:
        yield builder
    collection.fill(builder)
