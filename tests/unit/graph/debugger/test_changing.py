"""Edits keep types and refuse what doesn't fit; skipping, pinning, new code."""

from __future__ import annotations

import asyncio
from datetime import date
from enum import Enum
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel

from evonb.errors import GraphError, NodeError, StateError
from evonb.graph import GraphBuilder
from evonb.graph.debugging.points import SessionError
from evonb.typing import AssistantMessage, UserMessage

pytestmark = pytest.mark.asyncio


class Level(Enum):
    LOW = "low"
    HIGH = "high"


class Ticket(BaseModel):
    title: str
    level: Level = Level.LOW


class Fields(BaseModel):
    ticket: Ticket = Ticket(title="first")
    due: date = date(2026, 1, 1)
    pair: tuple[int, str] = (1, "a")
    tags: Annotated[list[str], "extend"] = []
    messages: Annotated[list, "append_messages"] = []


class Dictionary(TypedDict):
    ticket: Ticket
    due: date
    pair: tuple[int, str]
    tags: Annotated[list[str], "extend"]
    messages: Annotated[list, "append_messages"]


@pytest.fixture(params=[Fields, Dictionary])
def typed(request: Any, graphs: Any) -> Any:
    """Stopped before b, whose state can be edited."""
    seen: list[Any] = []

    def keep(state: Any) -> dict[str, Any]:
        seen.append(state)
        return {"tags": ["b"]}

    graph = graphs(("ab",), schema=request.param, a=lambda state: {"tags": ["a"]}, b=keep)
    graph.set_breakpoint("b")
    return graph, seen


INPUTS = {"ticket": Ticket(title="one"), "due": date(2026, 1, 1), "pair": (1, "a")}


def field(state: Any, name: str) -> Any:
    return state[name] if isinstance(state, dict) else getattr(state, name)


@pytest.mark.parametrize(
    ("key", "given", "taken"),
    [
        ("ticket", {"title": "two", "level": "high"}, Ticket(title="two", level=Level.HIGH)),
        ("due", "2026-11-30", date(2026, 11, 30)),
        ("pair", [2, "b"], (2, "b")),
        ("tags", ["new"], ["new"]),
    ],
)
async def test_an_edit_keeps_the_types_of_the_schema(typed: Any, key: str, given: Any, taken: Any) -> None:
    graph, seen = typed
    await graph.debug(INPUTS)
    graph.edit(key, given)
    await graph.step_over()
    assert field(seen[0], key) == taken
    assert isinstance(field(graph.state(2), key), type(taken))


@pytest.mark.parametrize(("key", "value"), [("ticket", {"level": "none"}), ("due", "soon"), ("pair", [1])])
async def test_an_edit_that_does_not_fit_is_refused_and_changes_nothing(typed: Any, key: str, value: Any) -> None:
    graph, seen = typed
    await graph.debug(INPUTS)
    before = len(graph.history())
    with pytest.raises(StateError, match=key):
        graph.edit(key, value)
    assert len(graph.history()) == before
    await graph.resume()
    await graph.step_over()
    assert field(seen[0], key) == INPUTS[key]


async def test_messages_can_be_replaced_as_a_whole(typed: Any) -> None:
    graph, seen = typed
    await graph.debug({**INPUTS, "messages": [UserMessage(content="hello")]})
    graph.edit("messages", [{"role": "user", "content": "bye"}])
    await graph.step_over()
    assert [(type(each), each.content) for each in field(seen[0], "messages")] == [(UserMessage, "bye")]


async def test_change_output_works_for_every_key_and_keeps_the_strategy(typed: Any) -> None:
    graph, seen = typed
    graph.clear_all_breakpoint()
    graph.set_breakpoint("a")
    await graph.debug({**INPUTS, "tags": ["in"]})
    a = graph.find("a")
    await graph.step_over(a)
    graph.change_output(a, graph.find("b"), "tags", ["changed"])
    graph.change_output(a, graph.find("b"), "messages", [AssistantMessage(content="hi")])
    await graph.step_over()
    assert field(seen[0], "tags") == ["in", "changed"]
    assert field(seen[0], "messages")[0].content == "hi"


async def test_unknown_keys_are_named(graphs: Any) -> None:
    graph = graphs()
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    with pytest.raises(SessionError, match="no key 'logs'") as caught:
        graph.edit("logs", [])
    assert "log" in caught.value.fix


async def test_an_edit_before_a_join_reaches_the_joined_state(graphs: Any) -> None:
    graph = graphs.diamond()
    graph.set_breakpoint("d")
    await graph.debug({"n": 0})
    graph.edit("log", ["mine"])
    assert graph.state(uuid=graph.find("d"))["log"] == ["mine"]
    await graph.step_over()
    assert (await graph.resume())["log"] == ["mine", "d", "e"]


async def test_one_of_several_waiting_tasks_has_to_be_named(graphs: Any) -> None:
    graph = graphs.diamond()
    graph.set_breakpoint("b")
    graph.set_breakpoint("c")
    await graph.debug({"n": 0})
    with pytest.raises(SessionError, match="Which task"):
        graph.edit("n", 5)
    graph.edit("n", 5, graph.find("c"))
    assert graph.state(uuid=graph.find("b"))["n"] == 1
    assert graph.state(uuid=graph.find("c"))["n"] == 5


async def test_taking_back_an_edit_is_as_if_it_had_not_been_made(graphs: Any) -> None:
    graph = graphs()
    graph.set_breakpoint("c")
    await graph.debug({"n": 0})
    before = (graph.waiting(), graph.state(uuid=graph.find("c")))
    graph.edit("n", 50)
    graph.restore_step()
    assert (graph.waiting(), graph.state(uuid=graph.find("c"))) == before


async def test_a_skipped_node_does_not_run_and_its_router_is_asked(graphs: Any) -> None:
    builder = graphs.builder(("ab", "bc", "bd"))
    builder._edges["b"].clear()
    builder.add_condition_edge("b", lambda state: "c" if state["n"] < 10 else "d", ["c", "d"])
    graph = graphs.debugging(builder)
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    with pytest.raises(StateError, match="'n'"):
        graph.skip(graph.find("b"), {"n": "many"})
    graph.skip(graph.find("b"), {"n": 40})
    assert (await graph.resume()) == {"log": ["a", "d"], "n": 41}
    assert graphs.calls == ["a", "d"]
    assert graph.history()[1].status == "skipped"


class Asked:
    """A graph whose node b has a router that waits until it may answer."""

    def __init__(self, graphs: Any) -> None:
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()
        self.builder = graphs.builder(("ab", "bc", "bd"))
        self.builder._edges["b"].clear()
        self.builder.add_condition_edge("b", self.route, ["c", "d"])

    async def route(self, state: Any) -> str:
        self.asked.set()
        await self.may_answer.wait()
        if state["n"] > 100:
            raise ValueError("too many")
        return "c" if state["n"] < 10 else "d"

    async def at_b(self, graphs: Any) -> Any:
        graph = graphs.debugging(self.builder)
        graph.set_breakpoint("b")
        await graph.debug({"n": 0})
        return graph


async def test_a_skipped_nodes_asynchronous_router_is_awaited(graphs: Any) -> None:
    asked = Asked(graphs)
    graph = await asked.at_b(graphs)
    with pytest.raises(SessionError, match=r"await skip_async\(uuid, delta\)"):
        graph.skip(graph.find("b"), {"n": 40})
    asked.asked.clear()
    skipping = asyncio.ensure_future(graph.skip_async(graph.find("b"), {"n": 40}))
    await asked.asked.wait()
    with pytest.raises(SessionError, match="it runs"):
        graph.edit("n", 5)
    graph.goto(0)  # looking is allowed meanwhile, and changes nothing of it
    asked.may_answer.set()
    await skipping
    assert graph.looking_at == 0
    graph.live()
    assert (await graph.resume()) == {"log": ["a", "d"], "n": 41}
    assert [(step.node, step.status) for step in graph.history()][:2] == [("a", "done"), ("b", "skipped")]
    assert len(graph.branches()) == 1


async def test_a_skip_that_comes_to_nothing_leaves_the_session_as_it_was(graphs: Any) -> None:
    asked = Asked(graphs)
    graph = await asked.at_b(graphs)
    before = graph.waiting()
    skipping = asyncio.ensure_future(graph.skip_async(graph.find("b")))
    await asked.asked.wait()
    skipping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await skipping
    asked.may_answer.set()
    with pytest.raises(NodeError, match="too many"):
        await graph.skip_async(graph.find("b"), {"n": 101})
    with pytest.raises(StateError, match="'n'"):
        await graph.skip_async(graph.find("b"), {"n": "many"})
    assert (graph.waiting(), graph.status, len(graph.history())) == (before, "paused", 1)


async def test_stopping_while_a_router_is_asked_ends_the_session(graphs: Any) -> None:
    asked = Asked(graphs)
    graph = await asked.at_b(graphs)
    skipping = asyncio.ensure_future(graph.skip_async(graph.find("b")))
    await asked.asked.wait()
    graph.stop()
    await skipping
    assert (graph.status, graph.history()[-1].status) == ("finished", "stopped")


async def test_a_pinned_node_gives_its_pin_until_it_is_unpinned(graphs: Any) -> None:
    graph = graphs()
    graph.pin("b", {"log": ["pinned"], "n": 20})
    assert (await graph.debug({"n": 0}))["log"] == ["a", "pinned", "c", "d"]
    assert graph.history()[1].status == "pinned"
    assert graph.pins() == {"b": {"log": ["pinned"], "n": 20}}
    graph.unpin("b")
    assert (await graph.debug({"n": 0}))["log"] == ["a", "b", "c", "d"]
    with pytest.raises(GraphError, match="no node"):
        graph.pin("x", {})


async def test_replacing_a_node_keeps_history_and_breakpoints_and_runs_the_new_code(graphs: Any, names: Any) -> None:
    graph = graphs()
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})

    async def better(state: Any) -> dict[str, Any]:
        return {"log": ["better"]}

    graph.replace_node("b", better)
    assert names(graph) == ["b"]
    await graph.step_over()
    assert (await graph.resume())["log"] == ["a", "better", "c", "d"]
    assert graphs.calls == ["a", "c", "d"]
    assert (await graph.run({"n": 0}))["log"] == ["a", "better", "c", "d"]
    with pytest.raises(GraphError, match="callable"):
        graph.replace_node("b", 3)


async def test_the_code_of_a_cell_that_was_run_again_is_taken_over(graphs: Any) -> None:
    graph = graphs.diamond()
    graph.set_breakpoint("d")
    await graph.debug({"n": 0})
    again = graphs.builder(("ab", "ac", "bd", "cd", "de"), "d", d=graphs.node("new")).build()
    assert graph.adopt(again) == []
    await graph.step_over()
    assert (await graph.resume())["log"] == ["a", "b", "c", "new", "e"]


async def test_a_graph_of_another_shape_is_not_taken_over_and_says_what_differs(graphs: Any) -> None:
    graph = graphs()
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    other = GraphBuilder(dict)
    for name in "abcx":
        other.add_node(name, graphs.node("other"), action_mode="all" if name == "c" else "any")
    for source, target in ("ab", "bc", "cx"):
        other.add_edge(source, target)
    other.set_entry_point("a")
    found = graph.adopt(other.build())
    assert {
        "node 'd' is gone",
        "node 'x' is new",
        "node 'c' was 'any' and is 'all'",
        "edge from 'c' to 'd' is gone",
        "edge from 'c' to 'x' is new",
        "state key 'n' is gone",
    } <= set(found)
    graph.clear_all_breakpoint()
    assert (await graph.resume())["log"] == ["a", "b", "c", "d"]


async def test_a_key_edited_in_one_branch_counts_the_shared_past_once_at_the_join(graphs: Any) -> None:
    graph = graphs.diamond()
    graph.add_breakpoint("a", when="after")
    await graph.debug({"n": 0})
    graph.edit("log", ["A"], graph.find("b"))
    graph.clear_all_breakpoint()
    assert (await graph.resume())["log"] == ["A", "b", "c", "d", "e"]


async def test_of_two_edits_before_a_join_the_later_branch_wins_and_each_branch_keeps_its_own(graphs: Any) -> None:
    graph = graphs.diamond()
    graph.add_breakpoint("a", when="after")
    await graph.debug({"n": 0})
    graph.edit("log", ["A"], graph.find("b"))
    graph.edit("log", ["B"], graph.find("c"))
    graph.set_breakpoint("d")
    graph.clear_all_breakpoint()
    assert (await graph.resume())["log"] == ["B", "b", "c", "d", "e"]
