"""A session that waits for a person: it says so, other tasks can be stepped meanwhile, and it can be stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from evonb.errors import NodeError
from evonb.graph import GraphBuilder, GraphEngineDebugger
from evonb.graph.asking import ask, open_questions, watch_questions
from evonb.graph.debugging.effects import EffectRepeats
from evonb.graph.debugging.points import SessionError

pytestmark = pytest.mark.asyncio
Node = Callable[[Any], Awaitable[Any] | Any]


async def person(state: Any) -> dict[str, str]:
    return {"answer": await ask("Go on?")}


class Calls(list[str]):
    def node(self, name: str) -> Node:
        async def work(state: Any) -> dict[str, bool]:
            self.append(name)
            return {name: True}

        return work


def debugger_of(*chain: str, calls: Calls, more: dict[str, Node] | None = None) -> GraphEngineDebugger:
    """`begin > person > last` beside `begin > the chain`."""
    builder = GraphBuilder(state_schema=dict, name="desk")
    builder.add_node("begin", calls.node("begin"))
    builder.add_node("person", person)
    builder.add_node("last", calls.node("last"))
    builder.set_entry_point("begin")
    builder.add_edge("begin", "person")
    builder.add_edge("person", "last")
    before = "begin"
    for name in chain:
        builder.add_node(name, (more or {}).get(name) or calls.node(name))
        builder.add_edge(before, name)
        before = name
    return builder.build(graph_mode="debug")


async def asking(debugger: GraphEngineDebugger) -> None:
    """Until the session only waits for answers."""
    await until(debugger, lambda: debugger.only_asks)


async def until(debugger: GraphEngineDebugger, holds: Callable[[], bool]) -> None:
    moved = asyncio.Event()
    loop = asyncio.get_running_loop()
    leave = [watch_questions(lambda *_: loop.call_soon_threadsafe(moved.set)), debugger.watch(moved.set)]
    async with asyncio.timeout(10):
        while not holds():
            moved.clear()
            await moved.wait()
    for each in leave:
        each()


async def stepped_to_the_question(debugger: GraphEngineDebugger) -> asyncio.Task[Any]:
    """`begin` has run; the wave after it is under way and only `person` is left of it."""
    for name in ("person", "a"):
        debugger.set_breakpoint(name)
    await debugger.debug({})
    work = asyncio.create_task(debugger.step_over())
    await asking(debugger)
    return work


async def test_a_session_that_only_waits_for_an_answer_says_so() -> None:
    debugger = debugger_of("a", calls=Calls())
    assert debugger.questions() == []
    handle = debugger.start({})
    await asking(debugger)
    assert [each.text for each in debugger.questions()] == ["Go on?"]
    assert debugger.status == "running"
    assert debugger.allowed()["resume"] == "Resume: it waits for an answer"
    debugger.questions()[0].answer("yes")
    assert (await handle)["answer"] == "yes"
    assert not debugger.only_asks
    assert debugger.questions() == []


async def test_a_session_in_which_something_else_runs_does_not_only_ask() -> None:
    started, gate = asyncio.Event(), asyncio.Event()

    async def slow(state: Any) -> None:
        started.set()
        await gate.wait()

    debugger = debugger_of("slow", calls=Calls(), more={"slow": slow})
    handle = debugger.start({})
    await started.wait()
    await until(debugger, lambda: bool(debugger.questions()))
    assert not debugger.only_asks
    assert debugger.allowed()["step_over"] == "Step: it runs"
    gate.set()
    await asking(debugger)
    debugger.questions()[0].answer("yes")
    await handle


async def test_steps_elsewhere_go_on_beside_the_question() -> None:
    calls = Calls()
    debugger = debugger_of("a", "b", "c", calls=calls)
    debugger.set_breakpoint("a")
    work = debugger.start({})
    await asking(debugger)
    assert calls == ["begin"]
    assert debugger.allowed()["step_over"] == ""
    await debugger.step_over(debugger.find("a"))
    await debugger.step_over()
    assert calls == ["begin", "a", "b"]
    assert debugger.only_asks
    debugger.questions()[0].answer("yes")
    await until(debugger, lambda: debugger.status == "paused")  # before c: its turn hasn't come
    assert calls == ["begin", "a", "b", "last"]
    assert (await debugger.resume())["c"] is True
    assert (await work)["answer"] == "yes"


async def test_resuming_beside_the_question_runs_the_rest() -> None:
    calls = Calls()
    debugger = debugger_of("a", "b", calls=calls)
    work = await stepped_to_the_question(debugger)
    assert calls == ["begin", "a"]
    await debugger.resume()
    assert calls == ["begin", "a", "b"]
    debugger.questions()[0].answer("yes")
    await work
    assert calls == ["begin", "a", "b", "last"]
    assert debugger.status == "finished"


async def test_going_on_equals_a_run_that_never_stopped() -> None:
    stepped = debugger_of("a", "b", calls=Calls())
    work = await stepped_to_the_question(stepped)
    await stepped.step_over()
    stepped.questions()[0].answer("yes")
    await work
    straight = debugger_of("a", "b", calls=Calls())
    handle = straight.start({})
    await asking(straight)
    straight.questions()[0].answer("yes")
    assert await stepped.resume() == await handle


async def test_a_pause_while_it_asks_holds_what_follows_the_answer() -> None:
    calls = Calls()
    debugger = debugger_of("a", calls=calls)
    handle = debugger.start({})
    await asking(debugger)
    debugger.pause()
    assert debugger.status == "pausing"
    debugger.questions()[0].answer("yes")
    await until(debugger, lambda: debugger.status != "pausing")
    assert (debugger.status, calls) == ("paused", ["begin", "a"])
    await debugger.resume()
    assert (await handle)["last"] is True


async def test_a_stop_while_it_asks_withdraws_the_question() -> None:
    debugger = debugger_of("a", calls=Calls())
    work = await stepped_to_the_question(debugger)
    debugger.stop()
    await work
    assert debugger.status == "finished"
    assert open_questions() == []


async def test_from_the_past_nothing_is_stepped_beside_a_question() -> None:
    calls = Calls()
    debugger = debugger_of("a", "b", calls=calls)
    work = await stepped_to_the_question(debugger)
    debugger.step_back()
    with pytest.raises(SessionError, match="go back to live first"):
        await debugger.step_over()
    debugger.live()
    debugger.questions()[0].answer("yes")
    await work
    assert "b" not in calls


async def test_a_task_that_fails_beside_a_question_fails_the_session_and_withdraws_it() -> None:
    def broken(state: Any) -> None:
        raise KeyError("socre")

    debugger = debugger_of("a", "b", calls=Calls(), more={"b": broken})
    work = await stepped_to_the_question(debugger)
    await debugger.step_over()
    with pytest.raises(NodeError, match="socre"):
        await work
    assert debugger.status == "failed"
    assert open_questions() == []
    assert {each.node_name for each in debugger.waiting()} == {"person", "b"}


async def test_an_effect_beside_a_question_asks_before_it_acts_again() -> None:
    calls = Calls()
    builder = GraphBuilder(state_schema=dict, name="desk")
    builder.add_node("begin", calls.node("begin"))
    builder.add_node("person", person)
    builder.add_node("mail", calls.node("mail"), effect=True)
    builder.set_entry_point("begin")
    builder.add_edge("begin", "person")
    builder.add_edge("begin", "mail")
    debugger = builder.build(graph_mode="debug")
    debugger.set_breakpoint("person")
    await debugger.debug({})
    assert calls == ["begin", "mail"]
    debugger.goto(1)
    debugger.edit("begin", "edited", debugger.find("mail"))
    work = asyncio.create_task(debugger.step_over(debugger.find("person")))
    await asking(debugger)
    with pytest.raises(EffectRepeats):
        await debugger.step_over()
    assert calls.count("mail") == 1
    await debugger.step_over(rerun_effects=True)
    assert calls.count("mail") == 2
    debugger.questions()[0].answer("yes")
    await work
