"""The panel inside of a sub-graph: it stands where the debugger does, live and in the past; its commands go there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, TypedDict

import pytest
import pytest_asyncio

from evonb.errors import EvonbError
from evonb.graph import GraphBuilder, GraphEngineDebugger
from evonb.graph.debugging.points import SessionError
from evonb.protocol.debugging import INSIDE_SHOWN, DebugState, WireInner
from evonb.protocol.snapshot import Snapshot
from evonb.widgets.debug_commands import DebugCommands
from evonb.widgets.debug_feed import DebugFeed

pytestmark = pytest.mark.asyncio


class State(TypedDict, total=False):
    n: int
    topic: str


class Inner(TypedDict, total=False):
    n: int
    depth: float


class Sub:
    """`plan > research (x > y > z) > write`; y may be a graph itself, and x > y > z a loop."""

    def __init__(self, path: Path, *, deep: bool = False, rounds: int = 1) -> None:
        self.calls: list[str] = []
        self.path, self.deep, self.rounds = path / "runs.db", deep, rounds
        made: Any = self.builder().build(graph_mode="debug", db_file_path=str(self.path))
        self.show(made)

    def show(self, debugger: GraphEngineDebugger) -> None:
        self.debugger = debugger
        self.feed = DebugFeed(debugger)
        self.commands = DebugCommands(self.feed)

    def builder(self) -> GraphBuilder:
        parts = {"y": self._chain("deep", State, {}, "p", "q").build()} if self.deep else {}
        research = self._chain("sub", Inner, parts, "x", "y", "z", rounds=self.rounds).build()
        return self._chain("top", State, {"research": research}, "plan", "research", "write")

    def _chain(self, name: str, schema: Any, parts: Mapping[str, Any], *names: str, rounds: int = 1) -> GraphBuilder:
        builder = GraphBuilder(state_schema=schema, name=name)
        for each in names:
            builder.add_node(each, parts.get(each) or self._node(each))
        builder.set_entry_point(names[0])
        for one, other in pairwise(names):
            builder.add_edge(one, other)
        if rounds > 1:
            last = names[0]
            builder.add_condition_edge(
                names[-1], lambda state: last if state["n"] < 1 + 3 * rounds else "end", [last, "end"]
            )
        return builder

    def _node(self, name: str) -> Any:
        def work(state: Any) -> dict[str, Any]:
            self.calls.append(name)
            return {"n": (state.get("n") or 0) + 1}

        return work

    async def do(self, command: str, /, **fields: Any) -> Any:
        """Send a command; its result."""
        return await self.commands.answer({"type": command, "request_id": "1", **fields})

    async def enter(self) -> None:
        """Into research, before its first node."""
        self.debugger.set_breakpoint("research")
        await self.do("run", inputs={"n": 0})
        await self.do("step_into", task=None)

    @property
    def state(self) -> DebugState:
        return self.feed.message["state"]

    @property
    def picture(self) -> Snapshot:
        return self.feed.message["picture"] or self.feed.feed.snapshot()

    def nodes(self, status: str) -> list[str]:
        return [name for name, node in self.picture["nodes"].items() if node["status"] == status]

    def text(self, key: str) -> str:
        return next(each["value"]["text"] for each in self.state["state"] if each["key"] == key)


@pytest_asyncio.fixture
async def sub(tmp_path: Path) -> AsyncIterator[Sub]:
    made = Sub(tmp_path)
    yield made
    made.feed.close()
    made.debugger.store.close()


def told(steps: list[WireInner]) -> list[tuple[str, int]]:
    return [(step["node"], step["owner"]) for step in steps]


# --- live ------------------------------------------------------------------------------------------------


async def test_stepping_in_stands_inside_with_its_state(sub: Sub) -> None:
    await sub.enter()
    state = sub.state
    assert state["stopped_at"] == state["would_run"] == ["research › x"]
    assert state["reason"] == ""  # the breakpoint is at what is around it
    assert state["inside"] is not None
    assert state["inside"]["text"] == "inside research, before its first step"
    owner, first = state["waiting"]
    assert (owner["node"], owner["begun"], owner["enters"]) == ("research", True, False)
    assert (first["node"], first["begun"], first["reads"]) == ("research › x", False, ["n"])
    await sub.do("step_one", task=None)
    assert sub.calls == ["plan", "x"]
    assert sub.state["inside"] is not None
    assert sub.state["inside"]["text"] == "inside research, step 1 of 1"
    assert sub.state["inside"]["node"] == "research › x"
    assert sub.text("n") == "2"
    assert told(sub.state["inner"]) == [("research › x", 0)]
    assert sub.state["step"] == 1


async def test_a_task_that_waits_says_whether_it_can_be_entered_or_left(sub: Sub) -> None:
    sub.debugger.set_breakpoint("research")
    await sub.do("run", inputs={"n": 0})
    (waits,) = sub.state["waiting"]
    assert (waits["enters"], waits["begun"]) == (True, False)
    assert sub.state["allowed"]["step_into"] == ""
    assert sub.state["allowed"]["step_out"] == "Step out: nothing waits inside of a sub-graph"
    await sub.do("step_into", task=waits["task"])
    assert sub.state["allowed"]["step_into"] == "Step into: no sub-graph waits"
    assert sub.state["allowed"]["step_out"] == ""
    await sub.do("step_out", task=None)
    assert sub.state["stopped_at"] == ["write"]
    assert sub.state["inside"] is None
    assert [step["inside"] for step in sub.state["steps"]] == [0, 3]
    assert told(sub.state["inner"]) == [("research › x", 2), ("research › y", 2), ("research › z", 2)]


async def test_resume_stops_at_a_breakpoint_inside(sub: Sub) -> None:
    await sub.enter()
    await sub.do(
        "set_breakpoint", id=None, kind="node", node="research › z", edge=None, when="before", condition="", hit=None,
        log="", enabled=True,
    )  # fmt: skip
    await sub.do("resume")
    assert sub.state["stopped_at"] == ["research › z"]
    assert sub.state["reason"] == "breakpoint"
    await sub.do("resume")
    assert sub.state["status"] == "finished"
    assert sub.calls == ["plan", "x", "y", "z", "write"]


async def test_an_edit_inside_is_of_the_sub_graphs_own_keys(sub: Sub) -> None:
    await sub.enter()
    assert (await sub.do("edit", key="depth", text="2", task=None, check=True))["expects"] == "float"
    with pytest.raises(EvonbError):
        await sub.do("edit", key="depth", text="'deep'", task=None, check=True)
    await sub.do("edit", key="n", text="40", task=None, check=False)
    assert sub.text("n") == "40"
    assert sub.state["inside"] is not None
    assert sub.state["inside"]["text"] == "inside research, step 1 of 1"
    await sub.do("resume")
    assert sub.text("n") == "44"


# --- the past ----------------------------------------------------------------------------------------------


async def test_looking_back_inside_draws_and_tells_that_point(sub: Sub) -> None:
    await sub.enter()
    await sub.do("step_one", task=None)
    await sub.do("step_one", task=None)
    calls = list(sub.calls)
    await sub.do("step_back", count=1, branch=None)
    state = sub.state
    assert (state["looking"], sub.debugger.looking_inside) == (1, 2)
    assert state["inside"] is not None
    assert (state["inside"]["number"], state["inside"]["text"]) == (2, "inside research, step 1 of 2")
    assert state["would_run"] == ["research › y"]
    assert state["next_branch"] == "b2"
    assert sub.text("n") == "2"
    assert sub.nodes("done") == ["plan", "research › x"]
    assert sub.nodes("running") == ["research"]
    assert sub.nodes("queued") == ["research › y"]
    await sub.do("step_back", count=2, branch=None)
    assert sub.state["inside"] is None
    assert sub.nodes("queued") == ["research"]
    await sub.do("step_forward", count=1, branch=None)
    assert sub.state["inside"] is not None
    assert sub.state["inside"]["text"] == "inside research, before its first step"
    assert sub.nodes("queued") == ["research › x"]
    assert sub.calls == calls


async def test_going_on_from_inside_makes_a_branch_that_calls_nothing_again(sub: Sub) -> None:
    await sub.enter()
    await sub.do("step_out", task=None)
    await sub.do("goto", count=1, branch=None, inside=3)
    assert sub.state["inside"] is not None
    assert (sub.state["inside"]["owner"], sub.state["inside"]["text"]) == (2, "inside research, step 2 of 3")
    await sub.do("resume")
    assert sub.calls == ["plan", "x", "y", "z", "z", "write"]
    assert sub.state["status"] == "finished"
    assert [branch["name"] for branch in sub.state["branches"]] == ["main", "b2"]
    assert sub.state["next_branch"] == ""
    finished = {step["number"]: step["inside"] for step in sub.state["steps"] if step["node"] == "research"}
    assert finished == {2: 3, 3: 3}


async def test_the_recorded_picture_is_the_live_one(sub: Sub) -> None:
    await sub.enter()
    await sub.do("step_one", task=None)
    live = sub.feed.feed.snapshot()
    await sub.do("step_one", task=None)
    await sub.do("step_back", count=1, branch=None)
    then = sub.picture
    for name, node in live["nodes"].items():
        assert (then["nodes"][name]["status"], then["nodes"][name]["visits"]) == (node["status"], node["visits"]), name
    assert then["edges"] == live["edges"]
    await sub.do("live")
    await sub.do("resume")
    live = sub.feed.feed.snapshot()
    await sub.do("goto", count=4, branch=None)
    await sub.do("goto", count=3, branch=None)
    inner = [name for name in live["nodes"] if "›" in name]
    assert {name: sub.picture["nodes"][name]["visits"] for name in inner} == dict.fromkeys(inner, 1)
    assert sub.nodes("running") == []


async def test_a_value_inside_opens_with_what_it_was(sub: Sub) -> None:
    await sub.enter()
    await sub.do("step_one", task=None)
    opened = await sub.do("inspect_key", key="n", path=[])
    assert (opened["text"], opened["before"]["text"]) == ("2", "1")


async def test_why_answers_for_nodes_inside(sub: Sub) -> None:
    await sub.enter()
    say = {
        name: (await sub.do("why", node=name))["sentences"][0] for name in ("research", "research › x", "research › y")
    }
    assert say == {
        "research": "research was begun; inside of it research › x comes next.",
        "research › x": "research › x is ready and runs next.",
        "research › y": "research › y hasn't run: nothing went to it in research.",
    }
    await sub.do("step_out", task=None)
    assert (await sub.do("why", node="research › y"))["sentences"][0].startswith("research › y ran once so far")


# --- deeper, longer, opened again ------------------------------------------------------------------------------


async def test_a_sub_graph_in_a_sub_graph_is_entered_and_left(tmp_path: Path) -> None:
    sub = Sub(tmp_path, deep=True)
    await sub.enter()
    await sub.do("step_one", task=None)
    assert sub.state["would_run"] == ["research › y"]
    assert sub.state["waiting"][-1]["enters"]
    await sub.do("step_into", task=None)
    assert sub.state["would_run"] == ["research › y › p"]
    assert sub.state["inside"] is not None
    assert sub.state["inside"]["text"] == "inside research › y, before its first step"
    await sub.do("step_one", task=None)
    await sub.do("step_back", count=1, branch=None)
    assert sub.nodes("running") == ["research", "research › y"]
    await sub.do("live")
    await sub.do("step_out", task=None)
    assert sub.state["would_run"] == ["research › z"]
    await sub.do("resume")
    inner = sub.state["inner"]
    assert [step["node"] for step in inner][1:4] == ["research › y › p", "research › y › q", "research › y"]
    assert len({step["wave"] for step in inner}) == len(inner) == 5
    sub.feed.close()


async def test_what_is_sent_of_a_long_sub_graph_is_bounded(tmp_path: Path) -> None:
    sub = Sub(tmp_path, rounds=40)
    await sub.do("run", inputs={"n": 0})
    assert sub.state["status"] == "finished"
    assert sub.state["steps"][1]["inside"] == 120
    assert len(sub.state["inner"]) == INSIDE_SHOWN
    assert sub.state["inner"][-1]["node"] == "research › z"
    sub.feed.close()


async def test_an_opened_run_shows_what_was_inside(sub: Sub) -> None:
    await sub.enter()
    await sub.do("step_one", task=None)
    run_id = str(sub.debugger.run_id)
    sub.debugger.reset()
    sub.feed.close()
    sub.debugger.store.close()
    sub.show(GraphEngineDebugger.open(sub.path, run_id, graph=sub.builder()))
    assert sub.state["inside"] is not None
    assert sub.state["inside"]["text"] == "inside research, step 1 of 1"
    assert sub.state["would_run"] == ["research › y"]
    assert sub.nodes("done") == ["plan", "research › x"]
    assert sub.nodes("running") == ["research"]
    await sub.do("resume")
    assert sub.calls == ["plan", "x", "y", "z", "write"]


async def test_a_step_inside_that_was_never_made_is_refused_in_words(sub: Sub) -> None:
    await sub.enter()
    with pytest.raises(SessionError, match="no step 9 inside"):
        await sub.do("goto", count=1, branch=None, inside=9)
    with pytest.raises(EvonbError, match="Expected a number"):
        await sub.do("goto", count=1, branch=None, inside="2")
