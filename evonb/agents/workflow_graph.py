"""The graph of a workflow: nodes and routes as a `GraphBuilder`, with the rounds counted."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import BaseModel, Field, create_model

from evonb.agents.conversation import value_of
from evonb.agents.routes import Route
from evonb.agents.runtime import Runtime
from evonb.agents.workflow import Workflow, WorkflowNode
from evonb.agents.workflow_check import faults_of
from evonb.errors import EvonbError, GraphError, StateError
from evonb.graph.builder import GraphBuilder
from evonb.graph.nodes import is_async_callable

__all__ = ["FLOW", "RoundLimit", "to_builder"]

FLOW = "flow"
"""The state key that a workflow adds: `{"rounds": how many have begun, "deliver": the key that was delivered}`."""
_END = "end"


class RoundLimit(EvonbError, RuntimeError):
    """A workflow began more rounds than its engine allows."""


def to_builder(workflow: Workflow, runtime: Runtime, *, max_rounds: int = 16) -> GraphBuilder:
    """The builder of a workflow's graph.

    Raises:
        GraphError: Everything that is wrong about its routes, all at once.
    """
    if faults := list(faults_of(workflow)):
        raise GraphError(
            "The workflow's routes lead nowhere:\n" + "\n".join(f"- {fault}" for fault, _ in faults),
            where=f"workflow {workflow.id!r}",
            fix=faults[0][1],
        )
    builder = GraphBuilder(state_schema=_with_flow(workflow.state), name=workflow.id)
    for node in workflow.nodes:
        builder.add_node(node.id, _step(node, runtime, max_rounds, workflow.id))
    builder.set_entry_point(workflow.nodes[0].id)
    for node in workflow.nodes:
        targets = list(dict.fromkeys(_target(each) for each in node.routes))
        builder.add_condition_edge(node.id, _router(node, workflow.id), targets, labels=_labels(node), multiple=False)
    return builder


# --- nodes ---------------------------------------------------------------------------------------


def _step(node: WorkflowNode, runtime: Runtime, max_rounds: int, workflow_id: str) -> Callable[..., Any]:
    """The node's function with the counting of rounds around it; sync stays sync, so it may go to a thread."""
    extra = (runtime,) if takes_runtime(node.run) else ()

    def begin(state: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        flow = dict(_values(state).get(FLOW) or {})
        if node.starts_round:
            flow["rounds"] = flow.get("rounds", 0) + 1
            if flow["rounds"] > max_rounds:
                raise _too_many(node, workflow_id, max_rounds)
        return node.run(state, *extra, **options), flow

    @functools.wraps(_innermost(node.run), updated=())
    def step(state: Any, **options: Any) -> Any:
        answer, flow = begin(state, options)
        return _finish(answer, flow) if inspect.isawaitable(answer) else _delta(answer, flow)

    @functools.wraps(_innermost(node.run), updated=())
    async def async_step(state: Any, **options: Any) -> Any:
        answer, flow = begin(state, options)
        return _delta(await answer if inspect.isawaitable(answer) else answer, flow)

    made: Any = async_step if is_async_callable(node.run) else step
    # Source and docstring of the user's function are shown; its runtime isn't the graph's business.
    streams = "stream_writer" in _parameters(node.run)
    made.__signature__ = inspect.signature(_streaming_step if streams else _plain_step)
    step_function: Callable[..., Any] = made
    return step_function


def _plain_step(state: Any) -> Any: ...
def _streaming_step(state: Any, stream_writer: Any) -> Any: ...


async def _finish(answer: Awaitable[Any], flow: dict[str, Any]) -> Any:
    return _delta(await answer, flow)


def _delta(answer: Any, flow: dict[str, Any]) -> Any:
    if answer is None:
        return {FLOW: flow}
    return {**answer, FLOW: flow} if isinstance(answer, Mapping) else answer  # the graph says what is wrong with it


def takes_runtime(function: Callable[..., Any]) -> bool:
    """Whether a function takes a runtime after the state."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [name for name, each in _parameters(function).items() if each.kind in kinds]
    return len([name for name in positional if name != "stream_writer"]) > 1


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # some C functions don't tell
        return {}


def _innermost(function: Any) -> Any:
    return getattr(function, "__func__", function)


def _too_many(node: WorkflowNode, workflow_id: str, max_rounds: int) -> RoundLimit:
    return RoundLimit(
        f"Round {max_rounds + 1} would begin, and at most {max_rounds} are allowed",
        where=f"workflow {workflow_id!r} > node {node.id!r}",
        fix="let a route leave the loop earlier, or allow more: AgentCoreEngine(max_rounds=...)",
    )


# --- routes --------------------------------------------------------------------------------------


def _router(node: WorkflowNode, workflow_id: str) -> Callable[[Any], Any]:
    where = f"workflow {workflow_id!r} > node {node.id!r}"

    def choose(state: Any) -> Any:
        chosen = next((each for each in node.routes if each.holds(state)), None)
        if chosen is None:
            listed = ", ".join(f"{each.kind} {each.name!r}" for each in node.routes)
            raise StateError(
                f"No route's condition holds, of: {listed}", where=where, fix="add a last route without a condition"
            )
        if chosen.kind == "to":
            return chosen.name
        value_of(state, chosen.name, f"{where} > route.deliver({chosen.name!r})")
        return _END, lambda before: _delivering(before, chosen.name)

    choose.__name__ = f"routes of {node.id}"
    return choose


def _delivering(state: Any, key: str) -> dict[str, Any]:
    values = dict(_values(state))
    return {**values, FLOW: {**(values.get(FLOW) or {}), "deliver": key}}


def _target(each: Route) -> str:
    return _END if each.kind == "deliver" else each.name


def _labels(node: WorkflowNode) -> dict[str, str]:
    labels: dict[str, list[str]] = {}
    for each in node.routes:
        labels.setdefault(_target(each), []).append(each.label)
    return {target: " / ".join(texts) for target, texts in labels.items() if any(texts)}


# --- the state -----------------------------------------------------------------------------------


def _values(state: Any) -> Mapping[str, Any]:
    return state if isinstance(state, Mapping) else vars(state)


def _with_flow(schema: Any) -> Any:
    """The schema with the key of the workflow added; a schema that takes any key stays as it is."""
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        if FLOW in schema.model_fields:
            return schema
        return create_model(schema.__name__, __base__=schema, flow=(dict[str, Any], Field(default_factory=dict)))
    if not hasattr(schema, "__annotations__") or FLOW in schema.__annotations__ or not hasattr(schema, "__total__"):
        return schema

    class WithFlow(schema, total=False):  # type: ignore[misc, call-arg]
        flow: dict[str, Any]

    WithFlow.__name__ = WithFlow.__qualname__ = schema.__name__
    return WithFlow
