"""Reasons: for waiting, for not being chosen, for running twice, for not having run."""

from __future__ import annotations

from typing import Any

import pytest

from evonb.errors import GraphError

pytestmark = pytest.mark.asyncio


def by_size(state: Any) -> str:
    return "c" if state["n"] < 10 else "d"


def routed(graphs: Any, joins: str = "", more: tuple[str, ...] = ()) -> Any:
    """a, then b that chooses c or d."""
    builder = graphs.builder(("ab", "bc", "bd", *more), joins)
    builder._edges["b"].clear()
    builder.add_condition_edge("b", by_size, ["c", "d"])
    return graphs.debugging(builder)


async def test_a_join_waits_for_who_is_missing_and_can_come(graphs: Any) -> None:
    graph = graphs.diamond()
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    found = graph.why("d")
    assert found.kind == "waits"
    assert str(found) == "d waits: 1 of 2 arrived (c); b is missing and can still come."
    assert found.facts["missing"] == ("b",)
    assert found.facts["can still come"] == {"b": True}


@pytest.mark.filterwarnings("ignore::evonb.graph.GraphWarning")
async def test_a_join_says_when_nobody_can_come_any_more(graphs: Any) -> None:
    graph = routed(graphs, "e", ("ce", "de"))
    assert await graph.debug({"n": 0}) is None
    found = graph.why("e")
    assert found.facts["can still come"] == {"d": False}
    assert "d is missing and can't come any more" in str(found)


async def test_a_node_that_was_not_chosen_tells_the_router_and_what_it_saw(graphs: Any) -> None:
    graph = routed(graphs)
    await graph.debug({"n": 0})
    found = graph.why("d")
    assert found.kind == "not chosen"
    assert str(found) == "d wasn't chosen: b chose c, seeing n = 2."
    assert (found.facts["router"], found.facts["chosen"], found.facts["values"]) == ("by_size", ("c",), {"n": 2})


async def test_a_node_that_ran_twice_tells_both_arrivals(graphs: Any) -> None:
    graph = graphs(("ab", "ac", "bd", "cd"))
    await graph.debug({"n": 0})
    found = graph.why("d")
    assert found.kind == "ran twice"
    assert 'Its mode is "any"' in str(found)
    assert set(found.facts["after"]) == {("b",), ("c",)}


async def test_a_node_in_a_loop_ran_several_times_because_of_the_loop(graphs: Any) -> None:
    builder = graphs.builder(("ab",))
    builder.add_condition_edge("b", lambda state: "a" if state["n"] < 6 else "end", ["a", "end"])
    graph = graphs.debugging(builder)
    await graph.debug({"n": 0})
    assert str(graph.why("b")) == "b ran 3 times: 1st after a, 2nd after a, 3rd after a. It is part of a loop."


async def test_the_other_reasons(graphs: Any) -> None:
    graph = graphs()
    made = graph.add_breakpoint("b")
    await graph.debug({"n": 0})
    assert graph.why("a").kind == "ran"
    assert (graph.why("b").kind, graph.why("b").facts) == ("held", {"breakpoint": made.id})
    assert str(graph.why("d")) == "d hasn't run: c never ran; it can still come."
    graph.clear_all_breakpoint()
    assert graph.why("b").kind == "ready"
    with pytest.raises(GraphError, match="no node"):
        graph.why("x")


async def test_reasons_are_those_of_the_moment_that_is_shown(graphs: Any) -> None:
    graph = graphs.diamond()
    await graph.debug({"n": 0})
    assert graph.why("d").kind == "ran"
    graph.goto(2)
    assert graph.why("d").kind == "waits"
    graph.goto(1)
    assert graph.why("d").kind == "not reached"


async def test_the_entry_of_a_loop_is_not_told_to_wait_for_all(graphs: Any) -> None:
    builder = graphs.builder(("ab",))
    builder.add_condition_edge("b", lambda state: "a" if state["n"] < 4 else "end", ["a", "end"])
    graph = graphs.debugging(builder)
    await graph.debug({"n": 0})
    assert str(graph.why("a")) == "a ran 2 times: 1st after start, 2nd after b. It is part of a loop."


async def test_a_breakpoint_whose_condition_failed_tells_so(graphs: Any) -> None:
    graph = graphs()
    graph.add_breakpoint("b", condition="nn > 1")
    graph.add_breakpoint("c", condition=lambda state: 1 / 0)
    await graph.debug({"n": 0})
    failed = "its condition nn > 1 failed: NameError: name 'nn' is not defined"
    assert str(graph.why("b")) == f"b could run; breakpoint 1 holds it, as {failed}."
    await graph.step_over()
    assert "as its condition failed: ZeroDivisionError" in str(graph.why("c"))


async def test_an_effect_that_acted_already_says_what_going_on_does(graphs: Any) -> None:
    graph = graphs(effects="c")
    await graph.debug({"n": 0})
    graph.goto(2)
    assert str(graph.why("c")).endswith(
        "It acted already, in step 3, and isn't run again: its recorded answer is used."
    )
    graph.edit("n", 100)
    assert "in step 3, and would act again with another state: going on asks first" in str(graph.why("c"))
    graph.allow_rerun(graph.find("c"))
    assert str(graph.why("c")) == "c is ready and runs next."
