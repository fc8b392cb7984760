"""`AgentCoreEngine`: one plain step, or a bound workflow; each run has its own state, and its graph can be seen."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from evonb.agents.conversation import value_of
from evonb.agents.models import ModelSet, use_model
from evonb.agents.runtime import Runtime
from evonb.agents.toolbox import as_toolbox
from evonb.agents.workflow import Workflow
from evonb.agents.workflow_graph import FLOW, to_builder
from evonb.errors import GraphError, StateError
from evonb.graph.builder import GraphBuilder
from evonb.graph.engine import GraphEngine
from evonb.graph.events import Detach, Listener
from evonb.graph.handle import run_in_loop_thread
from evonb.graph.nodes import is_async_callable
from evonb.tools import ToolRegistry

__all__ = ["AgentCoreEngine", "complete"]

_BINDINGS = ("workflow", "models", "tools", "state", "max_rounds", "timeout_s")


def complete(value: Any) -> dict[str, Any]:
    """What a step answers to end its run with this value."""
    return {"type": "complete", "value": value}


class AgentCoreEngine:
    """Runs steps and workflows. What is bound is bound once; a request brings only what differs.

    State belongs to a run: runs of one engine may overlap, and nothing leaks from one to the next.

    Args:
        workflow: What `run(state)` runs.
        models: Chat models by id, or a `ModelSet`; a request picks one by its id.
        tools: A registry, or tools and functions. Who may call what is decided by the registry's own hook.
        state: First values of every run; those of a request come before them.
        max_rounds: How many rounds one run may begin.
        timeout_s: The limit of each node.

    Attributes:
        origin: The engine that this one was forked from, or None.

    Raises:
        GraphError: The workflow's routes lead nowhere, or a binding isn't what it should be.

    Example:
        >>> AgentCoreEngine().run_sync(lambda: {"type": "complete", "value": "Hello, Core"})
        'Hello, Core'
    """

    origin: AgentCoreEngine | None = None

    def __init__(
        self,
        *,
        workflow: Workflow | None = None,
        models: ModelSet | Mapping[str, Any] | None = None,
        tools: Any = None,
        state: Mapping[str, Any] | None = None,
        max_rounds: int = 16,
        timeout_s: float | None = None,
    ) -> None:
        self._listeners: list[tuple[Listener, bool]] = []
        self._bind(
            {
                "workflow": workflow,
                "models": models,
                "tools": tools,
                "state": state,
                "max_rounds": max_rounds,
                "timeout_s": timeout_s,
            }
        )

    # --- binding -------------------------------------------------------------------------------

    def bind(self, **bindings: Any) -> AgentCoreEngine:
        """Bind more, or something else, for the runs to come; takes the arguments of the class.

        All of it or, on an error, nothing. Runs under way and forks keep what they had.

        Returns:
            This engine.
        """
        _known(bindings)
        self._bind({**self._bound, **bindings})
        return self

    def fork(self, **bindings: Any) -> AgentCoreEngine:
        """A new engine with everything that is bound here, but for what is given; its `origin` is this one."""
        _known(bindings)
        made = AgentCoreEngine(**{**self._bound, **bindings})
        made.origin = self
        return made

    @property
    def workflow(self) -> Workflow | None:
        """The bound workflow."""
        bound: Workflow | None = self._bound["workflow"]
        return bound

    @property
    def models(self) -> ModelSet | None:
        """The bound models."""
        return self._runtime.models

    @property
    def tools(self) -> ToolRegistry | None:
        """The bound tools."""
        return self._runtime.tools

    @property
    def graph(self) -> GraphEngine:
        """The graph of the bound workflow: show it, debug it, export it.

        Raises:
            GraphError: No workflow is bound.
        """
        if self._graph is None:
            raise GraphError(
                "No workflow is bound, so there is no graph and a state can't be run",
                where="AgentCoreEngine",
                fix="AgentCoreEngine(workflow=define_workflow(...)), or run a step: run(lambda: complete(...))",
            )
        return self._graph

    def attach(self, listener: Listener, *, live: bool = False) -> Detach:
        """Have a function called with every event of the runs that begin from now on; see `GraphEngine.attach`."""
        entry = (listener, live)
        self._listeners.append(entry)
        detach = self._graph.attach(listener, live=live) if self._graph is not None else lambda: None

        def remove() -> None:
            self._listeners[:] = [each for each in self._listeners if each is not entry]
            detach()

        return remove

    def _bind(self, bound: dict[str, Any]) -> None:
        models, tools, workflow = bound["models"], as_toolbox(bound["tools"]), bound["workflow"]
        if tools is not None and not isinstance(tools, ToolRegistry):
            raise GraphError(f"Tools are a registry or a list, found {type(tools).__name__}", where="AgentCoreEngine")
        if workflow is not None and not isinstance(workflow, Workflow):
            raise GraphError(
                f"A workflow was expected, found {type(workflow).__name__}",
                where="AgentCoreEngine",
                fix="make it by define_workflow(id, nodes)",
            )
        models = models if models is None or isinstance(models, ModelSet) else ModelSet(models)
        runtime = Runtime(models=models, tools=tools)
        graph = None
        if workflow is not None:
            graph = to_builder(workflow, runtime, max_rounds=bound["max_rounds"]).build(timeout=bound["timeout_s"])
            for listener, live in self._listeners:
                graph.attach(listener, live=live)
        # A list of tools has become a registry, which forks share.
        self._bound = {**bound, "models": models, "tools": tools}
        self._runtime, self._graph = runtime, graph

    # --- running ---------------------------------------------------------------------------------

    async def run(self, what: Callable[..., Any] | Mapping[str, Any] | None = None, *, model: str | None = None) -> Any:
        """Run one step, or the bound workflow from this state.

        Args:
            what: A step: a function without arguments or with the runtime, sync or async, that answers
                `complete(value)`. Or the values of the state that this request brings.
            model: The id of the model that this request wants.

        Returns:
            What the step completed with, or what the workflow delivered.

        Raises:
            NodeError: A node or the step failed; the cause is its own error, a `RoundLimit` for too many rounds.
            GraphError: There is nothing to run.
            EvonbError: There is no such model.
        """
        if model is not None:
            self._runtime.model(model)
        with use_model(model):
            return await (self._run_step(what) if callable(what) else self._run_workflow(what or {}))

    def run_sync(self, what: Callable[..., Any] | Mapping[str, Any] | None = None, *, model: str | None = None) -> Any:
        """As `run`, for plain code: blocks until the end of the run."""
        return run_in_loop_thread(self.run(what, model=model))

    async def _run_workflow(self, values: Mapping[str, Any]) -> Any:
        graph = self.graph
        state = await graph.run({**(self._bound["state"] or {}), **values})
        flow = {} if state is None else value_of(state, FLOW, graph.name)
        if "deliver" not in flow:
            raise StateError(
                "The run ended without a result", where=f"workflow {graph.name!r}", fix="graph.run tells why"
            )
        return value_of(state, flow["deliver"], graph.name)

    async def _run_step(self, step: Callable[..., Any]) -> Any:
        graph = _graph_of_step(step, self._runtime, self._bound["timeout_s"])
        for listener, live in self._listeners:
            graph.attach(listener, live=live)
        return (await graph.run({}))["value"]


def _graph_of_step(step: Callable[..., Any], runtime: Runtime, timeout_s: float | None) -> GraphEngine:
    name = _name(step)
    given = (runtime,) if _parameter_count(step) else ()

    async def awaited(_state: dict[str, Any]) -> dict[str, Any]:
        return {"value": _completed(await step(*given), name)}

    def plain(_state: dict[str, Any]) -> dict[str, Any]:
        return {"value": _completed(step(*given), name)}

    builder = GraphBuilder(state_schema=dict, name=name)
    builder.add_node(name, awaited if is_async_callable(step) else plain)
    builder.set_entry_point(name)
    return builder.build(timeout=timeout_s)


def _completed(answer: Any, name: str) -> Any:
    if isinstance(answer, Mapping) and answer.get("type") == "complete" and "value" in answer:
        return answer["value"]
    raise StateError(
        f"A step answers {{'type': 'complete', 'value': ...}}, found {answer!r:.80}",
        where=f"step {name!r}",
        fix="return complete(value)",
    )


def _name(step: Callable[..., Any]) -> str:
    name = getattr(step, "__name__", type(step).__name__)
    return name if name not in ("<lambda>", "start", "end") else "step"


def _parameter_count(step: Callable[..., Any]) -> int:
    needed = [each for each in inspect.signature(step).parameters.values() if each.default is inspect.Parameter.empty]
    return len([each for each in needed if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)])


def _known(bindings: Mapping[str, Any]) -> None:
    for name in bindings:
        if name not in _BINDINGS:
            near = difflib.get_close_matches(name, _BINDINGS, n=1)
            raise GraphError(
                f"An engine has no binding {name!r}",
                where="AgentCoreEngine",
                fix=f"did you mean {near[0]!r}?" if near else f"use {', '.join(_BINDINGS)}",
            )
