"""Nodes: the four kinds, the conversion of callables, and the specification of a node in a graph."""

from __future__ import annotations

import asyncio
import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Annotated, Any
from uuid import uuid4

from pydantic import BeforeValidator, Field, PrivateAttr, SkipValidation

from evonb.errors import GraphError
from evonb.graph.component import BaseComponent
from evonb.graph.message_log import clean_messages
from evonb.graph.streaming import StreamCtx, StreamWriter, get_stream_writer, stream_writer_env
from evonb.typing import MISSING, NodeActionMode, StateBaseMessage

__all__ = [
    "AsyncNode",
    "AsyncStreamNode",
    "GraphNodeSpec",
    "NodeBase",
    "SyncNode",
    "SyncStreamNode",
    "callable_to_node",
    "is_async_callable",
    "must_take_state",
    "wants_writer",
]


class NodeBase(BaseComponent, ABC):
    """What can be a node. Subclass one of the four kinds below; declare settings as pydantic fields.

    A class may have a method `describe(self) -> str`: its text stands on the node's card, in place of docstring and
    source.
    """


class SyncNode(NodeBase):
    """A node that is called with the state and returns what it changes."""

    @abstractmethod
    def __call__(self, state: Any) -> Any:
        """Do the node's work.

        Args:
            state: A copy that is this node's own.

        Returns:
            A dict of the keys to change, or None.
        """


class AsyncNode(NodeBase):
    """A node whose work is awaited."""

    @abstractmethod
    async def __call__(self, state: Any) -> Any:
        """Do the node's work; see `SyncNode`."""


class SyncStreamNode(NodeBase):
    """A node that streams while it works."""

    @abstractmethod
    def __call__(self, state: Any, stream_writer: StreamWriter) -> Any:
        """Do the node's work; see `SyncNode`. `stream_writer.put(...)` sends a chunk."""


class AsyncStreamNode(NodeBase):
    """A node that streams and whose work is awaited."""

    @abstractmethod
    async def __call__(self, state: Any, stream_writer: StreamWriter) -> Any:
        """Do the node's work; see `SyncStreamNode`."""


def callable_to_node(callable_obj: Any) -> NodeBase:
    """The node that a callable makes: by whether it is async and whether it has a parameter `stream_writer`.

    Functions, methods, partials, callable instances and whole engines will do; a node is given back as it is.

    Raises:
        GraphError: It can't be called, or not with a state. A `ValueError`.
    """
    if isinstance(callable_obj, NodeBase):
        return callable_obj
    if hasattr(callable_obj, "node_name") and hasattr(callable_obj, "function"):
        return callable_to_node(callable_obj.function)  # made by @node
    as_node = getattr(callable_obj, "_as_node", None)
    if as_node is not None and not isinstance(callable_obj, type):
        node: NodeBase = as_node()
        return node
    if not callable(callable_obj):
        raise GraphError(
            f"A node must be callable, found {type(callable_obj).__name__}: {callable_obj!r:.80}",
            fix="pass a function such as `def node(state): return {...}`, or an instance of a NodeBase subclass",
        )
    must_take_state(callable_obj, "node", stream_writer=None)
    from evonb.graph.function_nodes import KINDS  # four classes that importing evonb needn't make

    return KINDS[is_async_callable(callable_obj), wants_writer(callable_obj)](function=callable_obj)  # type: ignore[call-arg]


def must_take_state(function: Any, role: str, **more: Any) -> None:
    """Check that a function can be called with a state alone, or with `more` by keyword where it has such parameters.

    Raises:
        GraphError: It can't.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some C functions don't tell
        return
    try:
        signature.bind(None, **{name: value for name, value in more.items() if name in signature.parameters})
    except TypeError as error:
        name = getattr(function, "__name__", type(function).__name__)
        raise GraphError(
            f"A {role} is called with the state alone, but {name}{signature} can't be: {error}",
            where=f"{role} {name!r}",
            fix=f"write def {name if name.isidentifier() else 'function'}(state): ...",
        ) from None


def is_async_callable(function: Any) -> bool:
    """Whether calling it gives something to await: partials, methods and `async __call__` included."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or (
        not inspect.isroutine(function)
        and not isinstance(function, type)
        and inspect.iscoroutinefunction(getattr(type(function), "__call__", None))  # noqa: B004 - the method itself
    )


def wants_writer(function: Any) -> bool:
    """Whether it has a parameter called `stream_writer`."""
    try:
        return "stream_writer" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some C functions don't tell
        return False


class Activity:
    """How many executions of a node are under way, over all runs."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class GraphNodeSpec(BaseComponent):
    """A node as a graph knows it.

    Attributes:
        node: What runs; a callable is converted.
        node_name: Unique in its graph.
        action_mode: Whether it runs once per arriving predecessor, or when all of an edge group have arrived.
        stream_writer: The writer it gets; None for the shared one.
        multi_input_merge_strategy: By edge group, `(states) -> state` for the inputs of an "all" node.
        node_id: Unique id.
        effect: Whether running it does something outside of the state; replays ask before they repeat it.
        run_in: Where a sync node runs; None lets the engine choose.
        timeout: Seconds for one execution; None takes the engine's.
        retry: What to do when it fails.
    """

    node: Annotated[NodeBase, BeforeValidator(callable_to_node)]
    node_name: str
    action_mode: NodeActionMode = NodeActionMode.ALL
    stream_writer: StreamWriter | None = None
    multi_input_merge_strategy: dict[str, Callable[[list[Any]], Any]] | None = None
    node_id: str = Field(default_factory=lambda: uuid4().hex)
    effect: bool = False
    run_in: str | None = None
    timeout: float | None = None
    retry: SkipValidation[Any] = None
    _activity: Activity = PrivateAttr(default_factory=Activity)
    _locks: dict[Any, asyncio.Lock] = PrivateAttr(default_factory=dict)

    @property
    def is_active(self) -> bool:
        """Whether an execution is under way, in any run."""
        return self._activity.count > 0

    async def __call__(self, state: Any, **kwargs: Any) -> Any:
        """Run the node once, in its streaming context.

        Engines run nodes by themselves; this is for code that calls a node directly. Messages in what it returns
        get the node's name.
        """
        name = self.node_name
        async with self._lock():
            self._activity.count += 1
            try:
                with stream_writer_env(StreamCtx(node_name=name, call_id=uuid4().hex)):
                    node: Any = self.node
                    if wants_writer(node):
                        kwargs.setdefault("stream_writer", self.stream_writer or get_stream_writer())
                    answer = node(state, **kwargs)
                    delta = await answer if inspect.isawaitable(answer) else answer
            finally:
                self._activity.count -= 1
        return {key: _attributed(value, name) for key, value in delta.items()} if isinstance(delta, dict) else delta

    def _lock(self) -> asyncio.Lock:
        # A lock belongs to the loop that it first waited on; one spec may be called from several loops in turn.
        loop = asyncio.get_running_loop()
        for old in [known for known in self._locks if known.is_closed()]:
            del self._locks[old]
        return self._locks.setdefault(loop, asyncio.Lock())


def _attributed(value: Any, name: str) -> Any:
    if isinstance(value, list) and any(isinstance(item, StateBaseMessage) for item in value):
        return clean_messages(value, MISSING, name)
    return value
