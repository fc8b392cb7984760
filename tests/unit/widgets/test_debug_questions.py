"""Questions of a debugger's run in its panel: the form comes and goes with them, and answers are checked."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Literal

import pytest
import pytest_asyncio
from pydantic import BaseModel, Field

from evonb.agents import AnswerRefused, HumanInput, NoQuestion, ask, open_questions
from evonb.errors import EvonbError
from evonb.graph import GraphBuilder, GraphEngineDebugger
from evonb.graph import asking as questions
from evonb.protocol.debugging import DebugMessage, DebugState
from evonb.widgets.debug_commands import DebugCommands
from evonb.widgets.debug_feed import DebugFeed
from evonb.widgets.debugger_view import DebuggerView

pytestmark = pytest.mark.asyncio


class Desk:
    """A debugger of `begin > [nodes...]`, with its feed and a panel that waits for what it wants to see."""

    def __init__(self, path: Path | None = None, **nodes: Any) -> None:
        builder = GraphBuilder(state_schema=dict, name="desk")
        builder.add_node("begin", lambda state: None)
        builder.set_entry_point("begin")
        for name, each in nodes.items():
            builder.add_node(name, each)
            builder.add_edge("begin", name)
        store = {} if path is None else {"db_file_path": str(path)}
        self.debugger: GraphEngineDebugger = builder.build(graph_mode="debug", **store)
        self.feed = DebugFeed(self.debugger)
        self.commands = DebugCommands(self.feed)
        self.changed = asyncio.Event()
        self.seen: list[DebugState] = []
        self.feed.subscribe(self._take)

    def _take(self, message: DebugMessage) -> None:
        self.seen.append(message["state"])
        self.changed.set()

    @property
    def state(self) -> DebugState:
        return self.feed.state

    async def until(self, holds: Callable[[DebugState], bool]) -> DebugState:
        async with asyncio.timeout(10):
            while not holds(self.state):
                self.changed.clear()
                await self.changed.wait()
        return self.state

    async def asks(self, count: int = 1) -> list[Any]:
        return (await self.until(lambda state: len(state["questions"]) == count))["questions"]

    async def do(self, command: str, /, **fields: Any) -> Any:
        return await self.commands.answer({"type": command, "request_id": "1", **fields})


@pytest_asyncio.fixture
async def desk_of(tmp_path: Path) -> AsyncIterator[Callable[..., Desk]]:
    made: list[Desk] = []

    def make(path: Path | None = None, **nodes: Any) -> Desk:
        made.append(Desk(path, **nodes))
        return made[-1]

    yield make
    for desk in made:
        if desk.state["status"] in ("running", "pausing"):
            desk.debugger.stop()
            await desk.until(lambda state: state["status"] not in ("running", "pausing"))
        desk.feed.close()


class Refund(BaseModel):
    amount: int = Field(ge=1)
    reason: str = ""


async def test_a_question_is_in_the_state_while_it_is_open(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(person=HumanInput(question="Refund?", answer_type=Refund, default=Refund(amount=40)))
    handle = desk.debugger.start({})
    (asked,) = await desk.asks()
    (known,) = open_questions(desk.debugger.run_id)
    assert (asked["id"], asked["node"], asked["text"]) == (known.question_id, "person", "Refund?")
    assert asked["schema"]["properties"].keys() == {"amount", "reason"}
    assert asked["default"] == {"amount": 40, "reason": ""}
    assert desk.state["status"] == "running"
    await desk.do("answer", question=asked["id"], value={"amount": 12})
    assert (await handle)["answer"] == Refund(amount=12)
    assert (await desk.until(lambda state: state["status"] == "finished"))["questions"] == []


async def test_a_refused_answer_says_why_and_the_question_stays(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(person=HumanInput(question="Which?", answer_type=Literal["red", "blue"]))
    handle = desk.debugger.start({})
    (asked,) = await desk.asks()
    with pytest.raises(AnswerRefused, match="'red' or 'blue'"):
        await desk.do("answer", question=asked["id"], value="green")
    assert desk.state["questions"] == [asked]
    await desk.do("answer", question=asked["id"], value="blue")
    assert (await handle)["answer"] == "blue"
    with pytest.raises(NoQuestion, match="That question is closed"):
        await desk.do("answer", question=asked["id"], value="red")


async def test_an_unknown_question_is_named_as_closed_and_the_open_ones_are_told(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(person=HumanInput(question="Go on?"))
    desk.debugger.start({})
    await desk.asks()
    with pytest.raises(NoQuestion) as caught:
        await desk.do("answer", question="nonsense", value="x")
    assert caught.value.where == "open questions: person asks 'Go on?'"
    (asked,) = desk.state["questions"]
    with pytest.raises(EvonbError, match="at most 100,000"):
        await desk.do("answer", question=asked["id"], value="x" * 100_001)


async def test_a_question_inside_a_sub_graph_names_the_node_of_the_picture(desk_of: Callable[..., Desk]) -> None:
    inner = GraphBuilder(state_schema=dict, name="inner")
    inner.add_node("person", HumanInput(question="Go on?"))
    inner.set_entry_point("person")
    desk = desk_of(sub=inner.build())
    desk.debugger.start({})
    (asked,) = await desk.asks()
    assert asked["node"] in {node.id for node in desk.debugger.topology().nodes}


async def test_only_questions_of_the_own_run_are_shown(desk_of: Callable[..., Desk]) -> None:
    desk, other = desk_of(a=HumanInput(question="Mine?")), desk_of(a=HumanInput(question="Theirs?"))
    desk.debugger.start({})
    other.debugger.start({})
    assert [each["text"] for each in await desk.asks()] == ["Mine?"]
    assert [each["text"] for each in await other.asks()] == ["Theirs?"]


async def test_stopping_the_run_withdraws_the_form(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(person=HumanInput(question="Go on?"))
    desk.debugger.start({})
    await desk.asks()
    await desk.do("stop")
    state = await desk.until(lambda state: state["status"] == "finished")
    assert state["questions"] == []
    assert open_questions() == []
    assert desk.feed.feed.snapshot()["nodes"]["person"]["question"] == ""


async def test_a_time_limit_inside_the_node_withdraws_the_form_and_the_picture_asks_no_more(
    desk_of: Callable[..., Desk],
) -> None:
    goes_on = asyncio.Event()

    async def person(state: Any) -> dict[str, str]:
        asked = asyncio.create_task(ask("Go on?"))
        await asyncio.sleep(0)
        asked.cancel()
        await asyncio.wait([asked])
        await goes_on.wait()
        return {"answer": "nobody"}

    desk = desk_of(person=person)
    handle = desk.debugger.start({})
    await desk.until(lambda state: desk.feed.feed.snapshot()["nodes"]["person"]["stream"].endswith("not answered\n"))
    assert desk.state["questions"] == []
    assert desk.feed.feed.snapshot()["nodes"]["person"]["question"] == ""
    assert any(state["questions"] for state in desk.seen)
    goes_on.set()
    assert (await handle)["answer"] == "nobody"


async def test_an_answer_from_another_thread_takes_the_form_away(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(person=HumanInput(question="Go on?", answer_type=bool))
    handle = desk.debugger.start({})
    await desk.asks()
    (known,) = open_questions(desk.debugger.run_id)
    await asyncio.to_thread(known.answer, True)
    await desk.asks(0)
    assert (await handle)["answer"] is True


async def test_a_question_asked_on_a_thread_of_its_own_loop_shows(desk_of: Callable[..., Desk]) -> None:
    def person(state: Any) -> dict[str, Any]:
        return {"answer": asyncio.run(ask("From a thread?"))}

    desk = desk_of(person=person)
    handle = desk.debugger.start({})
    home = threading.get_ident()
    (asked,) = await desk.asks()
    assert threading.get_ident() == home
    await desk.do("answer", question=asked["id"], value="yes")
    assert (await handle)["answer"] == "yes"


async def test_what_travels_is_bounded(desk_of: Callable[..., Desk]) -> None:
    many = Literal[tuple(f"choice {number}" for number in range(3000))]  # type: ignore[valid-type]
    nodes: dict[str, Any] = {f"n{number}": HumanInput(question=f"{number}?") for number in range(21)}
    desk = desk_of(
        long=HumanInput(question="?" * 5000, answer_type=many, default="x" * 30_000),
        odd=HumanInput(question="?", answer_type=float, default=float("nan")),
        **nodes,
    )
    desk.debugger.start({})
    asked = await desk.asks(20)
    assert (len(asked[0]["text"]), asked[0]["schema"], "default" in asked[0]) == (2000, {}, False)
    assert asked[1].get("default") is None  # JSON has no NaN


async def test_other_tasks_are_stepped_by_the_panel_while_a_node_asks(desk_of: Callable[..., Desk]) -> None:
    async def other(state: Any) -> dict[str, int]:
        return {"other": 1}

    desk = desk_of(person=HumanInput(question="Go on?"), other=other)
    desk.debugger.set_breakpoint("other")
    handle = desk.debugger.start({})
    (asked,) = await desk.asks()
    await desk.until(lambda state: state["allowed"]["step_one"] == "")
    assert (desk.state["status"], desk.state["would_run"]) == ("running", ["other"])
    await desk.do("step_one", task=None)
    state = await desk.until(lambda state: [step["node"] for step in state["steps"]] == ["begin", "other"])
    assert state["questions"] == [asked]
    await desk.do("resume")
    await desk.do("answer", question=asked["id"], value="yes")
    assert await handle == {"other": 1, "answer": "yes"}


async def test_a_page_that_is_loaded_while_a_node_asks_finds_the_question(
    desk_of: Callable[..., Desk], comms: list[Any]
) -> None:
    desk = desk_of(person=HumanInput(question="Go on?"))
    view = DebuggerView(desk.debugger)
    desk.debugger.start({})
    (asked,) = await desk.asks()
    assert [each["id"] for each in view.debug["questions"]] == [asked["id"]]
    await desk.do("answer", question=asked["id"], value="yes")
    await desk.until(lambda state: state["status"] == "finished")
    assert view.debug["questions"] == []
    view.close()


VICTIM = """
import asyncio, sys
from evonb.agents import HumanInput
from evonb.graph import GraphBuilder

async def main():
    builder = GraphBuilder(state_schema=dict, name="desk")
    builder.add_node("begin", lambda state: None)
    builder.add_node("person", HumanInput(question="Go on?"))
    builder.set_entry_point("begin")
    builder.add_edge("begin", "person")
    debugger = builder.build(graph_mode="debug", db_file_path=sys.argv[1])
    handle = debugger.start({})
    await handle.question()
    print(debugger.run_id, flush=True)
    await handle

asyncio.run(main())
"""


async def test_a_run_that_was_killed_while_it_asked_asks_again_once_it_is_reopened(
    desk_of: Callable[..., Desk], tmp_path: Path
) -> None:
    store = tmp_path / "runs.db"
    victim = await asyncio.create_subprocess_exec(sys.executable, "-c", VICTIM, str(store), stdout=subprocess.PIPE)
    assert victim.stdout is not None
    run_id = (await victim.stdout.readline()).decode().strip()
    victim.kill()
    await victim.wait()
    desk = desk_of(store, person=HumanInput(question="Go on?"))
    desk.debugger.open_run(run_id)
    assert desk.feed.state["questions"] == []
    work = asyncio.ensure_future(desk.debugger.resume())
    (asked,) = await desk.asks()
    assert (asked["node"], asked["text"]) == ("person", "Go on?")
    await desk.do("answer", question=asked["id"], value="yes")
    assert (await work)["answer"] == "yes"
    assert [step.node for step in desk.debugger.history()] == ["begin", "person", "end"]


async def test_listening_for_questions_keeps_no_debugger_alive() -> None:
    before = len(questions._watchers)
    desk = Desk(person=HumanInput(question="Go on?"))
    assert len(questions._watchers) == before + 1
    gone = weakref.ref(desk.debugger)
    desk.feed._pace.stop()
    del desk
    gc.collect()
    assert gone() is None
    assert len(questions._watchers) == before
