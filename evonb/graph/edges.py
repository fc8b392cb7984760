"""Edges: plain, conditional, and what a router may answer."""

from __future__ import annotations

import inspect
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic import Field, PrivateAttr, SkipValidation, field_validator
from pydantic_core import core_schema

from evonb.errors import GraphError, RouterError
from evonb.graph.component import BaseComponent
from evonb.graph.near import near_names
from evonb.typing import DEFAULT_EDGE_GROUP

__all__ = ["ConditionEdgeSpec", "EdgeSpec", "EdgeSpecBase", "Send", "StateFilterLike", "Targets", "cast_edge"]

StateFilterLike = Callable[[Any], Any]
"""A function from state to state, put on an edge."""
Targets = list[tuple[str, StateFilterLike | None]]
_declared = itertools.count()


class Send:
    """A router's answer that starts a target on a state changed for it alone.

    Return a list of them to map a node over items: each runs by itself, and an "all" node behind them waits for all
    and takes their results in the order of the list.

    Example:
        >>> Send("summarise", page="one")
        Send('summarise', page='one')
    """

    __slots__ = ("changes", "target")

    def __init__(self, target: str, **changes: Any) -> None:
        self.target = target
        self.changes = changes

    def __call__(self, state: Any) -> Any:
        """The state with the changes, as a state filter."""
        fields = state if isinstance(state, dict) else state.__dict__
        return {**fields, **self.changes}

    def __repr__(self) -> str:
        changes = "".join(f", {key}={value!r}" for key, value in self.changes.items())
        return f"Send({self.target!r}{changes})"


class EdgeSpecBase(ABC, BaseComponent):
    """What edges have in common.

    Attributes:
        source: The node it leaves.
        group: Its group; an "all" node waits for every edge of one group.
        edge_type: Tells kinds apart in saved graphs.
    """

    source: str
    group: str = DEFAULT_EDGE_GROUP
    edge_type: Literal["base"] = "base"
    _order: int = PrivateAttr(default_factory=lambda: next(_declared))

    @abstractmethod
    def get_targets(self, state: Any) -> Targets:
        """Where to go from this state, each target with the filter for its state or None."""

    @abstractmethod
    def get_possible_targets(self) -> list[str]:
        """Every target that `get_targets` may answer."""

    def as_data(self) -> dict[str, Any]:
        """The edge as plain data; functions as `GraphBuilder.dumps` writes them.

        Raises:
            GraphError: A function can't be saved.
        """
        data = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: _as_data(value, f"edge from {self.source!r}") for name, value in data.items()}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        # What `model_serializer` does, whose module would make importing evonb slower.
        schema: core_schema.CoreSchema = handler(source)
        handler.resolve_ref_schema(schema)["serialization"] = core_schema.plain_serializer_function_ser_schema(
            lambda edge: edge.as_data(), return_schema=core_schema.dict_schema()
        )
        return schema


class EdgeSpec(EdgeSpecBase):
    """An edge to one target.

    Attributes:
        target: Where it leads.
        state_filter: Makes the state that the target gets of the source's; None leaves it as it is.
        label: Text for the picture.
    """

    edge_type: Literal["edge"] = "edge"  # type: ignore[assignment]
    target: str
    state_filter: SkipValidation[StateFilterLike | None] = None
    label: str = ""

    def get_targets(self, state: Any) -> Targets:
        """The target with the filter."""
        return [(self.target, self.state_filter)]

    def get_possible_targets(self) -> list[str]:
        """The target."""
        return [self.target]


class ConditionEdgeSpec(EdgeSpecBase):
    """An edge whose router chooses among declared targets.

    Attributes:
        router: `(state) -> answer`, may be async in a graph. It answers a target name, a pair (name, filter), a
            `Send`, or a list of these; an empty list ends the branch.
        possible_targets: What it may answer; anything else is an error.
        labels: Texts for the picture, by target.
        routes: What the router may answer instead of a target's name, and the target that it means.
        multiple: Whether it may answer several targets at once, for `check`; None lets its text tell.
    """

    edge_type: Literal["conditional"] = "conditional"  # type: ignore[assignment]
    router: SkipValidation[Callable[[Any], Any]]
    possible_targets: list[str]
    labels: dict[str, str] = Field(default_factory=dict)
    routes: dict[str, str] = Field(default_factory=dict)
    multiple: bool | None = None

    @field_validator("router", mode="after")
    @classmethod
    def _callable(cls, router: Any) -> Any:
        if not callable(router):
            raise ValueError(f"a router must be callable, found {type(router).__name__}")
        return router

    @field_validator("possible_targets", mode="before")
    @classmethod
    def _listed(cls, targets: Any) -> Any:
        return sorted(targets) if isinstance(targets, set | frozenset) else targets

    def get_targets(self, state: Any) -> Targets:
        """Ask the router.

        Raises:
            RouterError: It answered something that isn't declared. A `ValueError`.
        """
        answer = self.router(state)
        if inspect.iscoroutine(answer):
            answer.close()
            raise RouterError("An async router is asked by the engine only", fix="await engine.run(...)")
        return self.read_answer(answer)

    def get_possible_targets(self) -> list[str]:
        """The declared targets."""
        return list(self.possible_targets)

    def read_answer(self, answer: Any) -> Targets:
        """A router's answer as targets.

        Raises:
            RouterError: It isn't one of the documented forms, or names an undeclared target.
        """
        items = answer if isinstance(answer, list) else [answer]
        return [self._one(item) for item in items]

    def _one(self, item: Any) -> tuple[str, StateFilterLike | None]:
        if isinstance(item, Send):
            return self._declared(item.target), item
        if isinstance(item, tuple) and len(item) == 2 and (item[1] is None or callable(item[1])):
            return self._declared(item[0]), item[1]
        return self._declared(item), None

    def _declared(self, name: Any) -> str:
        if not isinstance(name, str):  # END, SpecialNode.END or a node function stand for their names
            name = self.routes.get(str(name)) or getattr(name, "node_name", None) or getattr(name, "value", name)
        elif name in self.routes:
            name = self.routes[name]
        if isinstance(name, str) and name in self.possible_targets:
            return name
        known = list(self.routes or self.possible_targets)
        near = near_names(name, dict.fromkeys([*known, *self.possible_targets]), n=1)
        if name is None:
            fix = "return one of these whatever the state is, or [] to end the branch"
        else:
            fix = f"answer {near[0]!r}" if near else f"answer one of these, or declare {name!r} for the router"
        raise RouterError(
            f"Router {_name_of(self.router)!r} answered {name!r}, which isn't one of its "
            f"{'answers' if self.routes else 'targets'}: {', '.join(map(repr, known))}",
            where=f"router {_name_of(self.router)!r} of node {self.source!r}",
            fix=fix,
        )


def _as_data(value: Any, place: str) -> Any:
    if not callable(value):
        return value
    from evonb.graph.serialize import dump_function

    return dump_function(value, place)


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


def cast_edge(v: Mapping[str, Any], *, trust: bool = False) -> EdgeSpecBase:
    """The edge that a dict describes, told apart by `edge_type`.

    Functions in it may be real ones, or in the form that `model_dump` and `GraphBuilder.dumps` give them; the latter
    are loaded under the rules of `GraphBuilder.loads`.

    Raises:
        ValueError: The type is unknown, or fields are missing or wrong.
    """
    kinds: dict[str, type[EdgeSpecBase]] = {"edge": EdgeSpec, "conditional": ConditionEdgeSpec}
    if not isinstance(v, Mapping) or v.get("edge_type") not in kinds:
        found = v.get("edge_type") if isinstance(v, Mapping) else type(v).__name__
        raise GraphError(
            f"An edge of type {found!r} isn't known, expected one of {', '.join(map(repr, kinds))}",
            fix="set 'edge_type'",
        )
    data = {key: value for key, value in v.items() if key != "order"}
    for key in ("router", "state_filter"):
        if isinstance(data.get(key), Mapping):
            from evonb.graph.serialize import load_function

            data[key] = load_function(data[key], f"edge from {v.get('source')!r}", trust=trust)
    return kinds[v["edge_type"]](**data)
