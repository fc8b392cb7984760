"""What touched the world isn't done again behind anybody's back."""

from __future__ import annotations

from typing import Any

import pytest

from evonb.errors import NodeError
from evonb.graph.debugging.effects import EffectRepeats

pytestmark = pytest.mark.asyncio


def kinds(graph: Any) -> list[tuple[str, str, int]]:
    return [(each.kind, each.node, each.branch) for each in graph.effects()]


async def test_going_on_again_with_the_same_state_uses_the_record(graphs: Any) -> None:
    graph = graphs(effects="c")
    first = await graph.debug({"n": 0})
    graph.goto(1)
    assert await graph.resume() == first
    assert graphs.calls == ["a", "b", "c", "d", "b", "d"]
    assert kinds(graph) == [("touched", "c", 0), ("replayed", "c", 1)]
    assert [step.status for step in graph.history()] == ["done", "done", "replayed", "done", "done"]


async def test_with_another_state_the_session_asks_first_and_nothing_of_it_runs(graphs: Any) -> None:
    graph = graphs(effects="c")
    await graph.debug({"n": 0})
    graph.goto(2)
    graph.edit("n", 100)
    assert kinds(graph)[-1] == ("would ask", "c", 1)
    with pytest.raises(EffectRepeats, match="'c' acted already") as caught:
        await graph.resume()
    assert caught.value.uuids == (graph.find("c"),)
    assert graphs.calls.count("c") == 1
    assert graph.status == "paused"
    assert (await graph.resume(rerun_effects=True))["n"] == 102
    assert kinds(graph) == [("touched", "c", 0), ("touched", "c", 1)]


async def test_one_task_can_be_allowed_to_act_again(graphs: Any) -> None:
    graph = graphs(effects="cd")
    await graph.debug({"n": 0})
    graph.goto(2)
    graph.edit("n", 100)
    graph.allow_rerun(graph.find("c"))
    with pytest.raises(EffectRepeats, match="'d'"):
        await graph.resume()
    assert graphs.calls == ["a", "b", "c", "d", "c"]


async def test_a_delta_by_hand_stands_in_for_an_effect(graphs: Any) -> None:
    graph = graphs(effects="c")
    await graph.debug({"n": 0})
    graph.goto(2)
    graph.edit("n", 100)
    graph.skip(graph.find("c"), {"n": 7})
    assert (await graph.resume())["n"] == 8
    assert kinds(graph)[-1] == ("stood in", "c", 1)


async def test_a_loop_acts_each_time_and_asks_nothing(graphs: Any) -> None:
    builder = graphs.builder(("ab",), effects="b")
    builder.add_condition_edge("b", lambda state: "a" if state["n"] < 6 else "end", ["a", "end"])
    graph = graphs.debugging(builder)
    await graph.debug({"n": 0})
    assert kinds(graph) == [("touched", "b", 0)] * 3


async def test_looking_back_and_on_again_touches_nothing(graphs: Any) -> None:
    graph = graphs(effects="c")
    await graph.debug({"n": 0})
    graph.step_back(3)
    graph.step_forward(2)
    graph.live()
    assert graphs.calls.count("c") == 1
    assert kinds(graph) == [("touched", "c", 0)]


async def test_an_effect_that_acted_and_then_failed_is_in_the_ledger(graphs: Any) -> None:
    def broken(state: Any) -> Any:
        raise ValueError("after the letter was sent")

    graph = graphs(effects="c", c=broken)
    with pytest.raises(NodeError):
        await graph.debug({"n": 0})
    assert kinds(graph) == [("failed", "c", 0)]
