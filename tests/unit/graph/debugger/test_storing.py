"""A session goes on in another process where it stood: what is written, what is read, what is refused."""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from evonb.errors import NodeError
from evonb.graph import GraphBuilder, GraphEngineDebugger, GraphWarning
from evonb.graph.debugging.points import SessionError
from evonb.persistence import SqliteStore
from evonb.typing import UserMessage

pytestmark = pytest.mark.asyncio


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "runs.db")


def reopened(graphs: Any, graph: Any, path: str, builder: GraphBuilder) -> GraphEngineDebugger:
    """As after the process had ended: another store on the same file."""
    graph.store.close()
    graphs.calls.clear()
    return GraphEngineDebugger.open(path, graph.run_id, graph=builder)


class Counting:
    """A store that counts what is read from it."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.read: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def step(self, run_id: str, number: int) -> Any:
        self.read.append(number)
        return self._store.step(run_id, number)

    def steps(self, run_id: str, **options: Any) -> Any:
        for step in self._store.steps(run_id, **options):
            self.read.append(step.number)
            yield step


async def test_it_goes_on_at_a_half_arrived_join_and_runs_nothing_twice(graphs: Any, path: str) -> None:
    builder = graphs.builder(("ab", "ac", "bd", "cd", "de"), "d")
    graph = graphs.debugging(builder, path)
    graph.set_breakpoint("c")
    graph.add_breakpoint("e", condition="n > 1")
    await graph.debug({"n": 0})
    again = reopened(graphs, graph, path, builder)
    assert again.waiting() == graph.waiting()
    assert again.status == "paused"
    assert [str(each) for each in again.breakpoints()] == ["before c", "before e if n > 1"]
    assert graphs.calls == []
    await again.step_over(again.find("c"))
    await again.resume()
    assert graphs.calls == ["c", "d"]
    assert [each.node_name for each in again.waiting()] == ["e"]
    again.clear_all_breakpoint()
    assert await again.resume() == {"log": ["a", "b", "c", "d", "e"], "n": 4}


async def test_history_states_branches_and_names_come_back(graphs: Any, path: str) -> None:
    builder = graphs.builder()
    graph = graphs.debugging(builder, path)
    await graph.debug({"n": 0})
    graph.goto(2)
    graph.edit("n", 40)
    await graph.resume()
    graph.name_branch(1, "forty")
    again = reopened(graphs, graph, path, builder)
    assert again.history() == graph.history()
    assert again.branches() == graph.branches()
    assert [again.state(at) for at in range(10)] == [graph.state(at) for at in range(10)]
    assert again.compare("main", "forty") == graph.compare(0, 1)
    assert again.who_wrote("n") == graph.who_wrote("n")
    assert graphs.calls == []


async def test_what_was_taken_back_is_still_taken_back(graphs: Any, path: str) -> None:
    builder = graphs.builder()
    graph = graphs.debugging(builder, path)
    await graph.debug({"n": 0})
    graph.restore_step()
    graph.restore_step()
    again = reopened(graphs, graph, path, builder)
    assert [each.node_name for each in again.waiting()] == ["d"]
    assert (await again.resume())["n"] == 4
    assert [branch.from_step for branch in again.branches()] == [0, 3]


async def test_after_a_kill_nothing_that_finished_is_lost(graphs: Any, path: str) -> None:
    """No pause is written: the file is read while the run goes on, as it would be after a kill."""
    seen: list[Any] = []
    builder = graphs.builder()

    async def look(state: Any) -> dict[str, Any]:
        other = graphs.debugging(builder, path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the run is open elsewhere, and says so
            other.open_run(graph.run_id)
            seen.append(([step.node for step in other.history()], [each.node_name for each in other.waiting()]))
        return {"n": 1}

    builder = graphs.builder(c=look)
    graph = graphs.debugging(builder, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        await graph.debug({"n": 0})
    assert seen == [(["a", "b"], ["c"])]


async def test_routers_filters_and_merge_strategies_are_not_asked_again(graphs: Any, path: str) -> None:
    asked: list[str] = []

    def router(state: Any) -> list[Any]:
        asked.append("router")
        return [("c", lambda s: {**s, "n": 10}), ("d", None), ("d", None)]

    def merge(states: list[Any]) -> Any:
        asked.append("merge")
        return {"log": ["merged"], "n": sum(state["n"] for state in states)}

    builder = graphs.builder(("ab", "ac", "ad"))
    builder._edges["a"].clear()
    builder._edges.pop("b", None)
    builder.add_condition_edge("a", router, ["c", "d"])
    builder.add_node("j", graphs.node("j"), action_mode="all", multi_input_merge_strategy={"all": merge})
    builder.add_edge("c", "j")
    builder.add_edge("d", "j")
    builder.add_node("z", graphs.node("z"))
    builder.add_edge("j", "z")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        graph = graphs.debugging(builder, path)
        graph.set_breakpoint("z")
        await graph.debug({"n": 0})
        before = list(asked)
        again = reopened(graphs, graph, path, builder)
        assert again.history() == graph.history()
        steps = [step.number for step in again.history()]
        assert [again.state(step) for step in steps] == [graph.state(step) for step in steps]
        assert again.state(uuid=again.find("z")) == graph.state(uuid=graph.find("z"))
        assert asked == before
        again.clear_all_breakpoint()
        assert await again.resume() == await builder.build().run({"n": 0})


async def test_a_failed_node_waits_for_its_retry_with_its_error(graphs: Any, path: str) -> None:
    def broken(state: Any) -> Any:
        raise ValueError("no")

    graph = graphs.debugging(graphs.builder(c=broken), path)
    with pytest.raises(NodeError):
        await graph.debug({"n": 0})
    again = reopened(graphs, graph, path, graphs.builder())
    assert again.status == "failed"
    assert [each.failed for each in again.waiting()] == [True]
    assert again.history()[-1].error is not None
    assert again.history()[-1].error.what == "no"
    assert (await again.resume())["n"] == 4


async def test_going_on_reads_a_bounded_part_of_a_long_session(graphs: Any, path: str) -> None:
    def builder(rounds: int) -> GraphBuilder:
        made = graphs.builder(("ab",))
        made.add_condition_edge("b", lambda state: "a" if state["n"] < rounds else "end", ["a", "end"])
        return made

    counts = {}
    for rounds in (40, 400):
        graph = graphs.debugging(builder(rounds), path)
        graph.add_breakpoint("a", condition=f"n >= {rounds - 2}")
        await graph.debug({"n": 0})
        store = Counting(graph.store)
        again = graphs.debugging(builder(rounds))
        again.use_store(store)
        again.open_run(graph.run_id)
        assert len(store.read) <= 1
        assert [each.node_name for each in again.waiting()] == ["a"]
        assert await again.step_over() is None
        counts[rounds] = len(store.read)
        final = await again.resume()
        assert (final["n"], len(final["log"])) == (rounds, rounds)
        assert [step.visit for step in again.history()][-3:-1] == [rounds // 2, rounds // 2]
        assert len(again.history()) == rounds + 1
    assert counts[400] < 120
    assert counts[400] < counts[40] + 100


async def test_a_changed_graph_says_what_differs(graphs: Any, path: str) -> None:
    graph = graphs.debugging(graphs.builder(), path)
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    with pytest.raises(SessionError, match="node 'd' is gone; edge from 'c' to 'd' is gone") as caught:
        reopened(graphs, graph, path, graphs.builder(("ab", "bc")))
    assert graph.run_id in str(caught.value)


async def test_functions_as_conditions_come_back_switched_off_and_say_so(graphs: Any, path: str) -> None:
    builder = graphs.builder()
    graph = graphs.debugging(builder, path)
    graph.add_breakpoint("b", condition=lambda state: state["n"] > 0)
    graph.add_breakpoint("c", condition="__import__('os').getcwd() and n")
    await graph.debug({"n": 0})
    again = reopened(graphs, graph, path, builder)
    assert [each.enabled for each in again.breakpoints()] == [False, False]
    assert "function can't be kept" in again.breakpoints()[0].problem
    assert "__import__" in again.breakpoints()[1].problem


async def test_messages_and_pins_come_back_with_their_types(graphs: Any, path: str) -> None:
    class Chat(TypedDict):
        messages: Annotated[list, "append_messages"]

    def say(state: Any) -> dict[str, Any]:
        return {"messages": [{"role": "assistant", "content": str(len(state["messages"]))}]}

    builder = graphs.builder(("ab", "bc"), schema=Chat, a=say, b=say, c=say)
    graph = graphs.debugging(builder, path)
    graph.pin("c", {"messages": [{"role": "user", "content": "pinned"}]})
    graph.set_breakpoint("c")
    await graph.debug({"messages": [UserMessage(content="hello")]})
    graph.pin("c", {"messages": [{"role": "user", "content": "pinned", "msg_id": "1"}]})
    again = reopened(graphs, graph, path, builder)
    assert again.state()["messages"] == graph.state()["messages"]
    state = await again.step_over() or await again.resume()
    assert [message.content for message in state["messages"]] == ["hello", "1", "2", "pinned"]


async def test_a_value_that_can_not_be_kept_costs_a_warning_and_no_session(graphs: Any, path: str) -> None:
    class Odd:
        __slots__ = ()

        def __reduce__(self) -> Any:
            raise TypeError("not me")

    builder = graphs.builder(("ab", "bc"), schema=dict, b=lambda state: {"odd": {"list": [Odd()]}})
    graph = graphs.debugging(builder, path)
    with pytest.warns(UserWarning, match="odd") as caught:
        state = await graph.debug({"n": 0})
    assert state["log"] == ["c"]
    assert len(caught) == 1
    assert [step.node for step in graph.history()] == ["a", "b", "c", "end"]


async def test_runs_are_listed_and_stay_after_a_reset(graphs: Any, path: str) -> None:
    graph = graphs.debugging(graphs.builder(), path)
    await graph.debug({"n": 0})
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    graph.reset()
    assert [(run.status, run.steps) for run in graph.runs()] == [("paused", 2), ("finished", 6)]
    assert graph.status == "idle"
    graph.open_run(graph.runs()[1].run_id)
    assert graph.state()["n"] == 4


async def test_any_engine_of_the_graph_will_do(graphs: Any, path: str) -> None:
    builder = graphs.builder()
    graph = graphs.debugging(builder, path)
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    run_id = graph.run_id
    graph.store.close()
    again = GraphEngineDebugger.open(path, run_id, graph=builder.build())
    again.clear_all_breakpoint()
    assert (await again.resume())["n"] == 4


async def test_a_store_of_ones_own_can_be_used(graphs: Any) -> None:
    store = SqliteStore(":memory:")
    graph = graphs()
    graph.use_store(store)
    await graph.debug({"n": 0})
    assert [run.run_id for run in store.runs()] == [graph.run_id]


async def test_a_run_that_was_killed_before_its_first_step_can_be_opened_again_and_again(
    graphs: Any, path: str
) -> None:
    builder = graphs.builder()
    graph = graphs.debugging(builder, path)
    graph.set_breakpoint("a")
    await graph.debug({"n": 0})
    graph.store.drop_steps(graph.run_id, [0], {"position": None})  # killed between the two transactions
    for name in "abc":
        graph = reopened(graphs, graph, path, builder)
        assert [each.node_name for each in graph.waiting()] == [name]
        await graph.step_over()
    assert (await reopened(graphs, graph, path, builder).resume())["log"] == ["a", "b", "c", "d"]


def routed(graphs: Any, asked: list[int], asking: asyncio.Event | None = None) -> GraphBuilder:
    """A graph whose start has a router, and a filter on the way."""

    async def route(state: Any) -> list[Any]:
        asked.append(state["n"])
        if asking is not None:
            asking.set()
        await asyncio.sleep(0)
        return [("b", lambda state: {**state, "n": 10})]

    builder: GraphBuilder = graphs.builder(("ac", "bc"))
    builder._edges["start"].clear()
    builder.add_condition_edge("start", route, ["a", "b"])
    return builder


@pytest.mark.parametrize("act", ["resume", "step_over", "run_to", "the start alone"])
async def test_a_run_killed_before_its_starts_router_had_answered_is_asked_again(
    graphs: Any, path: str, act: str
) -> None:
    asked: list[int] = []
    builder = routed(graphs, asked)
    graph = graphs.debugging(builder, path)
    graph.set_breakpoint("b")
    await graph.debug({"n": 1})
    graph.store.drop_steps(graph.run_id, [0], {"position": None})  # as if it had been killed before
    asked.clear()
    for _ in range(2):  # looking, and being killed again, changes nothing
        graph = reopened(graphs, graph, path, builder)
        assert (graph.status, [each.node_name for each in graph.waiting()]) == ("paused", ["start"])
        assert (graph.state(), graph.history(), asked) == ({"log": [], "n": 1}, [], [])
        assert graph.allowed()["edit"].startswith("Edit: the start hasn't chosen")
        graph.clear_all_breakpoint()
        graph.set_breakpoint("c")
        graph.save_status_to_db()
    if act == "step_over":
        await graph.step_over()
    elif act == "run_to":
        await graph.run_to("c")
    elif act == "the start alone":
        await graph.step_over(graph.find("start"))
        assert [each.node_name for each in graph.waiting()] == ["b"]
    graph = reopened(graphs, graph, path, builder)
    graph.clear_all_breakpoint()
    assert await graph.resume() == {"log": ["b", "c"], "n": 12}
    assert asked == [1]
    assert [(step.number, step.node) for step in graph.history()] == [(1, "b"), (2, "c"), (3, "end")]
    assert graph.history() == reopened(graphs, graph, path, builder).history()


async def test_a_start_that_is_asked_again_may_be_stopped_or_fail_and_still_waits(graphs: Any, path: str) -> None:
    asking = asyncio.Event()
    builder = routed(graphs, [], asking)
    graph = graphs.debugging(builder, path)
    await graph.debug({"n": 1})
    asking.clear()
    graph.store.drop_steps(graph.run_id, [0, 1, 2, 3], {"position": None})
    graph = reopened(graphs, graph, path, builder)
    seen: list[Any] = []
    graph.attach(seen.append)
    resuming = asyncio.ensure_future(graph.resume())
    await asking.wait()
    graph.stop()
    assert await resuming is None
    assert [type(each).__name__ for each in seen] == ["RunStarted", "RunPaused"]
    assert [each.node_name for each in graph.waiting()] == ["start"]
    assert (await graph.resume())["log"] == ["b", "c"]


async def test_a_filter_on_the_way_from_the_start_is_asked_again_too(graphs: Any, path: str) -> None:
    builder = graphs.builder()
    builder._edges["start"].clear()
    builder.add_edge("start", "a", state_filter=lambda state: {**state, "n": 10})
    graph = graphs.debugging(builder, path)
    graph.set_breakpoint("a")
    await graph.debug({"n": 1})
    graph.store.drop_steps(graph.run_id, [0], {"position": None})
    graph = reopened(graphs, graph, path, builder)
    graph.clear_all_breakpoint()
    assert (await graph.resume())["n"] == 14


async def test_what_can_not_be_made_again_is_said_before_it_goes_on(graphs: Any, path: str) -> None:
    import dataclasses
    import sys
    import types

    shop = types.ModuleType("shop_of_this_test")
    order = dataclasses.make_dataclass("Order", [("item", str)], namespace={"__module__": shop.__name__})
    shop.Order = order  # type: ignore[attr-defined]
    sys.modules[shop.__name__] = shop
    builder = graphs.builder(schema=dict, a=lambda state: {"order": [order("tea")]}, b=lambda state: {})
    graph = graphs.debugging(builder, path)
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    del sys.modules[shop.__name__]
    again = reopened(graphs, graph, path, builder)
    with pytest.warns(GraphWarning, match=r"order\[0\] \(shop_of_this_test:Order: .*edit\(key, value\)"):
        await again.step_over()
    assert again.state()["order"][0].item == "tea"


async def test_the_stream_of_a_reopened_run_begins_with_its_start(graphs: Any, path: str) -> None:
    builder = graphs.builder()
    for act in (lambda again: again.edit("n", 7), lambda again: again.skip(again.find("b")), None):
        graph = graphs.debugging(builder, path)
        graph.set_breakpoint("b")
        await graph.debug({"n": 5})
        again = reopened(graphs, graph, path, builder)
        events: list[Any] = []
        again.attach(events.append)
        again.waiting()
        assert events == []
        if act is not None:
            act(again)
        await again.step_over()
        assert [type(each).__name__ for each in events].count("RunStarted") == 1
        assert type(events[0]).__name__ == "RunStarted"
        assert events[0].inputs == {"n": 5}
        assert len(events) > 2
        again.store.close()


async def test_a_pause_late_in_a_long_session_keeps_the_way_back_short(graphs: Any, path: str) -> None:
    def long(state: Any) -> dict[str, Any]:
        return {"log": ["x" * 2000], "n": state["n"] + 1}

    builder = graphs.builder(("ab",), a=long, b=long)
    builder.add_condition_edge("b", lambda state: "a" if state["n"] < 4000 else "end", ["a", "end"])
    graph = graphs.debugging(builder, path)
    for n in (300, 400):
        graph.clear_all_breakpoint()
        graph.add_breakpoint("a", condition=f"n >= {n}")
        await (graph.resume() if graph.status == "paused" else graph.debug({"n": 0}))
    store = Counting(graph.store)
    again = graphs.debugging(builder)
    again.use_store(store)
    again.open_run(graph.run_id)
    assert store.read == []  # its newest step holds a whole state, which opening doesn't need
    assert await again.step_over() is None
    assert len(store.read) <= 3


class Refusing:
    """A store that fails when a step is to be kept."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def append(self, *_: Any) -> None:
        raise OSError("no store today")


async def test_every_session_that_is_not_kept_says_so_at_the_users_line(graphs: Any) -> None:
    graph = graphs.debugging(graphs.builder())
    graph.use_store(Refusing(SqliteStore(":memory:")))
    graph.pin("a", {"n": 1})
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        warnings.simplefilter("default")  # under which a line of code warns once only
        for _ in range(2):
            assert (await graph.debug({"n": 0}))["n"] == 4
            graph.pin("d", {"n": object()})
            graph.unpin("d")
    begin = ["The session of graph 'graph' isn't kept", "The pin of node 'd' isn't kept with the "]
    assert [str(each.message)[:39] for each in caught] == 2 * [each[:39] for each in begin]
    assert {each.filename for each in caught} == {__file__}


def open_without_a_loop(path: str, run_id: str, builder: GraphBuilder) -> list[str]:
    """What waits and was done, asked where no loop runs."""
    again = GraphEngineDebugger.open(path, run_id, graph=builder)
    found = [*(step.node for step in again.history()), *(each.node_name for each in again.waiting())]
    again.edit("n", 7)
    again.clear_all_breakpoint()
    assert again.run_sync({"n": 0})["n"] == 4
    return [*found, str(asyncio.run(again.resume())["n"])]


async def test_a_run_is_opened_in_plain_code_too(graphs: Any, path: str) -> None:
    builder = graphs.builder()
    graph = graphs.debugging(builder, path)
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    graph.store.close()
    assert await asyncio.to_thread(open_without_a_loop, path, graph.run_id, builder) == ["a", "b", "10"]
