"""Looking back runs nothing; going on from an earlier step forks; branches can be compared."""

from __future__ import annotations

from typing import Any

import pytest

from evonb.graph.debugging.points import SessionError

pytestmark = pytest.mark.asyncio


async def test_step_back_shows_what_was_recorded_and_runs_no_node(graphs: Any, names: Any) -> None:
    graph = graphs.diamond()
    final = await graph.debug({"n": 0})
    states = {step.number: graph.state(step.number) for step in graph.history()}
    ran = list(graphs.calls)
    seen = {}
    while graph.looking_at != 0:
        step = graph.step_back()
        seen[step.number] = graph.state()
    assert seen == {**{number: states[number] for number in range(1, 6)}, 0: {"log": [], "n": 0}}
    assert graphs.calls == ran
    assert names(graph) == ["a"]
    assert graph.live().number == 6
    assert graph.state() == final


async def test_steps_tell_who_ran_when_and_what_it_wrote(graphs: Any) -> None:
    graph = graphs.diamond()
    await graph.debug({"n": 0})
    steps = graph.history()
    assert [step.number for step in steps] == [1, 2, 3, 4, 5, 6]
    assert sorted(step.node for step in steps[1:3]) == ["b", "c"]
    assert [step.node for step in steps[3:]] == ["d", "e", "end"]
    assert [step.wave for step in steps] == [1, 2, 2, 3, 4, 5]
    assert {step.wrote for step in steps[:5]} == {("log", "n")}
    assert all(step.status == "done" and step.branch == 0 for step in steps)
    assert [step.at_s for step in steps] == sorted(step.at_s for step in steps)


async def test_a_state_that_was_shown_can_be_changed_without_harm(graphs: Any) -> None:
    graph = graphs()
    await graph.debug({"n": 0})
    shown = graph.state(2)
    shown["log"].append("mine")
    assert graph.state(2)["log"] == ["a", "b"]


async def test_step_forward_is_the_way_back_from_step_back(graphs: Any) -> None:
    graph = graphs()
    await graph.debug({"n": 0})
    graph.step_back(4)
    assert [graph.step_forward().node for _ in range(4)] == ["b", "c", "d", "end"]
    with pytest.raises(SessionError, match="newest"):
        graph.step_forward()


async def test_going_on_from_an_earlier_step_makes_a_branch_and_the_old_line_stays(graphs: Any) -> None:
    graph = graphs()
    first = await graph.debug({"n": 0})
    old = graph.history()
    graph.goto(1)
    graph.edit("n", 10)
    second = await graph.resume()
    assert (first["n"], second["n"]) == (4, 13)
    main, other = graph.branches()
    assert (main.name, main.last_step, main.present) == ("main", 5, False)
    assert (other.name, other.from_step, other.present) == ("b2", 1, True)
    assert graph.history("main") == old
    assert [step.branch for step in graph.history()] == [0, 1, 1, 1, 1, 1]


async def test_a_second_answer_after_going_back_gives_a_second_result(graphs: Any) -> None:
    graph = graphs()
    graph.set_breakpoint("c")
    await graph.debug({"n": 0})
    graph.edit("n", 100)
    assert await graph.step_over() is None
    assert (await graph.resume())["n"] == 102
    graph.goto(2)
    graph.edit("n", 200)
    await graph.step_over()
    assert (await graph.resume())["n"] == 202
    assert graph.state(graph.branches()[0].last_step)["n"] == 102


async def test_going_to_the_end_of_another_branch_goes_on_with_that_branch(graphs: Any) -> None:
    graph = graphs()
    graph.set_breakpoint("d")
    await graph.debug({"n": 0})
    graph.goto(1)
    await graph.step_over()
    graph.goto(3)
    await graph.step_over()
    assert [step.node for step in graph.history()] == ["a", "b", "c", "d"]
    assert [branch.last_step for branch in graph.branches()] == [5, 4]


async def test_looking_before_the_fork_stays_on_the_line_of_the_session(graphs: Any) -> None:
    graph = graphs()
    await graph.debug({"n": 0})
    graph.goto(2)
    await graph.resume()
    whole = graph.history()
    assert whole == graph.history("b2") != graph.history("main")
    graph.step_back(4)
    assert graph.looking_at == 1
    assert graph.history() == whole
    assert [graph.step_forward().branch for _ in range(4)] == [0, 1, 1, 1]
    graph.goto(4)
    assert graph.history() == graph.history("main")


async def test_restoring_keeps_what_was_recorded_on_the_old_line(graphs: Any, names: Any) -> None:
    graph = graphs()
    await graph.debug({"n": 0})
    graph.restore_step()
    graph.restore_step()
    assert names(graph) == ["d"]
    assert graph.looking_at is None
    await graph.resume()
    assert [step.node for step in graph.history("main")] == ["a", "b", "c", "d", "end"]
    assert [branch.from_step for branch in graph.branches()] == [0, 3]


async def test_branches_can_be_named(graphs: Any) -> None:
    graph = graphs()
    await graph.debug({"n": 0})
    graph.goto(2)
    await graph.resume()
    graph.name_branch("b2", "retry")
    assert graph.history("retry") == graph.history(1)
    with pytest.raises(SessionError, match="can't be called"):
        graph.name_branch("main", "retry")
    with pytest.raises(SessionError, match="can't be called"):
        graph.name_branch("main", "  ")
    with pytest.raises(SessionError, match="no branch"):
        graph.history("b2")


async def test_a_comparison_aligns_steps_and_tells_states_and_routes_apart(graphs: Any) -> None:
    builder = graphs.builder(("ab", "bc", "bd"))
    builder._edges["b"].clear()
    builder.add_condition_edge("b", lambda state: "c" if state["n"] < 10 else "d", ["c", "d"])
    graph = graphs.debugging(builder)
    await graph.debug({"n": 0})
    graph.goto(1)
    graph.edit("n", 50)
    await graph.resume()
    found = graph.compare("main", "b2")
    assert found
    assert found.forked_at == 1
    assert [(route.node, route.visit, route.left, route.right) for route in found.routes] == [("b", 1, ("c",), ("d",))]
    assert {each.key: (each.left, each.right) for each in found.state} == {
        "log": (["a", "b", "c"], ["a", "b", "d"]),
        "n": (3, 52),
    }
    nodes = [(pair.left and pair.left.node, pair.right and pair.right.node) for pair in found.pairs]
    assert ("b", "b") in nodes
    assert ("c", None) in nodes
    assert (None, "d") in nodes
    assert not graph.compare("b2", "b2")


async def test_who_wrote_tells_every_write_with_its_values(graphs: Any) -> None:
    graph = graphs(b=lambda state: {"log": ["b"]})
    graph.set_breakpoint("c")
    await graph.debug({"n": 0})
    graph.edit("n", 7)
    await graph.step_over()
    writes = graph.who_wrote("n")
    assert [(each.node, each.old, each.new, each.by_hand) for each in writes] == [
        ("a", 0, 1, False),
        ("c", 1, 7, True),
        ("c", 7, 8, False),
    ]
    with pytest.raises(SessionError, match="no key 'm'"):
        graph.who_wrote("m")


async def test_back_to_shows_the_last_write_then_the_one_before(graphs: Any) -> None:
    graph = graphs(c=lambda state: {"log": ["c"]})
    await graph.debug({"n": 0})
    assert [graph.back_to("n").node for _ in range(3)] == ["d", "b", "a"]
    with pytest.raises(SessionError, match="before"):
        graph.back_to("n")


async def test_back_until_shows_where_something_first_became_true(graphs: Any) -> None:
    graph = graphs()
    await graph.debug({"n": 0})
    assert graph.back_until(lambda state: state["n"] >= 2).node == "b"
    assert graph.state()["n"] == 2
    with pytest.raises(SessionError, match="never"):
        graph.back_until(lambda state: state["n"] > 99)


async def test_back_until_takes_a_key_that_is_not_there_yet_as_not_true(graphs: Any) -> None:
    graph = graphs.debugging(graphs.builder(schema=dict, b=lambda state: {"score": 3}))
    await graph.debug({"n": 0})
    assert graph.back_until(lambda state: state["score"] > 2).node == "b"
    graph.live()
    with pytest.raises(SessionError, match="never") as caught:
        graph.back_until(lambda state: state["scroe"] > 2)
    assert caught.value.fix.startswith("'scroe' wasn't there at some steps")


async def test_back_until_tells_of_a_key_that_the_state_does_not_have(graphs: Any) -> None:
    graph = graphs()
    await graph.debug({"n": 0})
    for predicate in (lambda state: state["nn"] > 2, lambda state: {}["n"] > 2):
        with pytest.raises(KeyError):
            graph.back_until(predicate)


async def test_steps_that_are_not_there_are_refused(graphs: Any) -> None:
    graph = graphs()
    with pytest.raises(SessionError, match="begun"):
        graph.history()
    await graph.debug({"n": 0})
    with pytest.raises(SessionError, match="no step 99"):
        graph.goto(99)
    with pytest.raises(SessionError, match="start"):
        graph.step_back(9)


async def test_views_are_told_of_every_move(graphs: Any) -> None:
    graph = graphs()
    told: list[Any] = []
    leave = graph.watch(lambda: told.append(graph.looking_at))
    await graph.debug({"n": 0})
    told.clear()
    graph.step_back()
    graph.live()
    assert told == [4, None]
    leave()
    graph.step_back()
    assert told == [4, None]
