"""Careless calls of the public API: each is refused with one error that says what, where and how to mend it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, TypedDict, cast

import pytest

from evonb.errors import EvonbError
from evonb.graph import (
    GraphBuilder,
    GraphEngine,
    GraphEngineDebugger,
    RetryPolicy,
    set_streaming_handler,
    stream_writer_env,
)
from evonb.graph.events import Event


class State(TypedDict):
    n: int


def builder() -> GraphBuilder:
    made = GraphBuilder(State, name="g")
    made.add_node("a", lambda state: {"n": state["n"] + 1})
    made.add_node("b", lambda state: {"n": 5})
    made.add_edge("a", "b")
    made.set_entry_point("a")
    return made


def refusal(call: Callable[[], Any]) -> EvonbError:
    with pytest.raises(EvonbError) as caught:
        call()
    return caught.value


async def events_of(stream: Any) -> list[Event]:
    return [event async for event in stream]


def end(state: Any) -> str:
    return "end"


NO_INPUTS = "The inputs of a run are a dict of state keys"
OF_ENGINE: list[tuple[Callable[[Any], Any], str, str]] = [
    (lambda graph: graph.run_sync(None), f"{NO_INPUTS}, found NoneType None", "run({'n': ...})"),
    (lambda graph: graph.run_sync("x"), f"{NO_INPUTS}, found str 'x'", "run({'n': ...})"),
    (lambda graph: asyncio.run(events_of(graph.stream())), f"{NO_INPUTS}, none were given", "stream({'n': ...})"),
    (lambda graph: asyncio.run(events_of(graph.stream(5))), f"{NO_INPUTS}, found int 5", "stream({'n': ...})"),
    (lambda graph: graph.start({}), "start() needs a running loop", "run_sync(inputs)"),
    (lambda graph: asyncio.run(graph.run_many(5)), "inputs of each run in a list, found int 5", "run_many([{...}])"),
    (lambda graph: asyncio.run(graph.run_many({"n": 1})), "in a list, found dict", "run_many([{...}])"),
    (lambda graph: asyncio.run(graph.run_many([], concurrency="x")), "concurrency is 'x'", "concurrency=8"),
    (lambda graph: graph.attach(5), "called with each event, found int 5", "attach(print)"),
]


@pytest.mark.parametrize(("call", "what", "fix"), OF_ENGINE)
def test_a_wrong_call_of_an_engine(call: Callable[[GraphEngine], Any], what: str, fix: str) -> None:
    engine = builder().build()
    error = refusal(lambda: call(engine))
    assert what in error.what
    assert error.where
    assert fix in error.fix


OF_BUILDER: list[tuple[Callable[[Any], Any], str, str]] = [
    (lambda made: GraphBuilder(State, nmae="x"), "no option 'nmae'", "did you mean 'name'?"),
    (lambda made: GraphBuilder(State, name=5), "name of a graph is a text, found int 5", 'name="triage"'),
    (lambda made: made.add_edge(5, "a"), "named by a text, found int 5", "add_edge(source, target)"),
    (lambda made: made.add_edge("a", ["b"]), "named by a text, found list ['b']", "add_edge(source, target)"),
    (lambda made: made.set_entry_point(None), "named by a text, found NoneType None", "for each pair"),
    (
        lambda made: made.add_condition_edge("a", end, "end"),
        "a list of node names, found str 'end'",
        "possible_targets=[",
    ),
    (lambda made: made.add_condition_edge("a", end, 5), "a list of node names, found int 5", "possible_targets=["),
    (lambda made: made.add_condition_edge("a", 5, ["end"]), "must be callable, found int 5", "def router(state)"),
    (lambda made: made.add_node("c", end, run_in="process"), "run_in is 'process'", 'run_in="thread"'),
    (lambda made: made.add_node("c", end, timeout="x"), "timeout is 'x'", "timeout=10"),
    (lambda made: made.build(max_turn="x"), "max_turn is 'x'", "max_turn=10"),
    (lambda made: RetryPolicy(cast(Any, "x")), "attempts is 'x'", "RetryPolicy(attempts=3"),
    (lambda made: RetryPolicy(delay_s=-1), "delay_s is -1", "RetryPolicy(attempts=3"),
    (
        lambda made: set_streaming_handler(cast(Any, 5)),
        "with each message, found int 5",
        "set_streaming_handler(print)",
    ),
    (
        lambda made: stream_writer_env(cast(Any, 5)).__enter__(),
        "takes a StreamCtx, found int 5",
        "StreamCtx(node_name=...)",
    ),
]


@pytest.mark.parametrize(("call", "what", "fix"), OF_BUILDER)
def test_a_wrong_call_while_building(call: Callable[[GraphBuilder], Any], what: str, fix: str) -> None:
    error = refusal(lambda: call(builder()))
    assert what in error.what
    assert error.where
    assert fix in error.fix


OF_DEBUGGER: list[tuple[Callable[[Any], Any], str, str]] = [
    (lambda graph: graph.debug(5), f"{NO_INPUTS}, found int 5", "debug({'n': ...})"),
    (lambda graph: graph.debug(None), f"{NO_INPUTS}, found NoneType None", "debug({'n': ...})"),
    (lambda graph: graph.debug(), f"{NO_INPUTS}, none were given", "debug({'n': ...})"),
    (lambda graph: graph.start(5), f"{NO_INPUTS}, found int 5", "start({'n': ...})"),
    (lambda graph: graph.set_breakpoint(3), "no node called 3", "it has 'a', 'b'"),
    (lambda graph: graph.set_breakpoint(), "needs a node", "set_breakpoint(node_name)"),
    (lambda graph: graph.add_breakpoint(3), "no node called 3", "it has 'a', 'b'"),
    (lambda graph: graph.add_breakpoint(["a", 3]), "no node called ['a', 3]", "it has 'a', 'b'"),
    (lambda graph: graph.add_breakpoint(edge=("a", 3)), "no edge ('a', 3)", "a>b"),
    (lambda graph: graph.add_breakpoint("a", hit="x"), "hit='x'", "hit=2"),
    (lambda graph: graph.add_breakpoint("a", when="then"), "when='then'", "when='after'"),
    (lambda graph: graph.add_breakpoint(tool=3), "tool's name, found int 3", "tool='refund'"),
    (lambda graph: graph.step_over(3), "No task has the id 3", "graph.find(node_name)"),
    (lambda graph: graph.step_over("b"), "No task has the id 'b'", "graph.find('b')"),
    (lambda graph: graph.resume(["b"]), "running_queue is a list of tasks, found list ['b']", "step_over"),
    (lambda graph: graph.run_one_step(5), "running_queue is a list of tasks, found int 5", "step_over"),
    (lambda graph: graph.goto("x"), "no step 'x'", "steps go from 0"),
    (lambda graph: graph.step_back("x"), "number of steps, found str 'x'", "step_back(2)"),
    (lambda graph: graph.step_forward(-1), "number of steps, found int -1", "step_forward(2)"),
    (lambda graph: graph.skip(graph.find("b"), 5), "dict of the keys to change, found int 5", "{} changes nothing"),
    (lambda graph: graph.pin("a", 5), "dict of the keys to change, found int 5", "{} changes nothing"),
    (lambda graph: graph.find(3), "No task of node 3", "waiting now: b"),
    (lambda graph: graph.who_wrote(3), "no key 3", "it has 'n'"),
    (lambda graph: graph.back_until("n > 1"), "function of the state, found str 'n > 1'", "back_until"),
    (lambda graph: graph.watch(3), "without arguments, found int 3", "watch"),
    (lambda graph: graph.adopt(3), "takes a built engine, found int 3", "builder.build()"),
    (lambda graph: graph.open_run(3), "id is a text, found int 3", "runs()"),
]


async def finished(answer: Any) -> Any:
    return await answer if inspect.isawaitable(answer) else answer


@pytest.mark.parametrize(("call", "what", "fix"), OF_DEBUGGER)
def test_a_wrong_call_of_a_debugger_leaves_the_session_as_it_was(
    call: Callable[[GraphEngineDebugger], Any], what: str, fix: str, tmp_path: Any
) -> None:
    async def session() -> EvonbError:
        await debugger.debug({"n": 1})
        with pytest.raises(EvonbError) as caught:
            await finished(call(debugger))
        return caught.value

    debugger = GraphEngineDebugger.of(builder(), str(tmp_path / "runs.db"))
    debugger.set_breakpoint("b")
    error = asyncio.run(session())
    assert what in error.what
    assert fix in error.fix
    assert [task.node_name for task in debugger.waiting()] == ["b"]
    assert [step.node for step in debugger.history()] == ["a"]


def test_a_breakpoint_itself_names_it_as_its_id_does(tmp_path: Any) -> None:
    debugger = GraphEngineDebugger.of(builder(), str(tmp_path / "runs.db"))
    made = debugger.add_breakpoint("b")
    assert not debugger.disable_breakpoint(made).enabled
    assert debugger.enable_breakpoint(made).enabled
    debugger.remove_breakpoint(made)
    assert debugger.breakpoints() == []
