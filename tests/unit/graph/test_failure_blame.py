"""Who is blamed for an error: the state only when it raised, a router or filter by its name, a strategy at its line."""

from __future__ import annotations

import os
from typing import Annotated, Any, TypedDict

import pytest

from evonb.errors import EvonbError, NodeError, RouterError, StateError
from evonb.graph import END, START, GraphBuilder, GraphEngine, StateUpdater, edge, events, node, router
from evonb.graph.events import ErrorInfo


class State(TypedDict):
    n: int
    log: Annotated[list[str], "extend"]


def run(engine: GraphEngine) -> tuple[EvonbError, list[events.Event]]:
    seen: list[events.Event] = []
    engine.attach(seen.append)
    with pytest.raises(EvonbError) as caught:
        engine.run_sync({"n": 1})
    return caught.value, seen


def info_of(error: Any) -> ErrorInfo:
    info: ErrorInfo = error.info
    return info


def body_fails(body: Any) -> ErrorInfo:
    with GraphBuilder(State, name="g") as graph:
        START >> node(body, name="a") >> END
    return info_of(run(graph.build())[0])


def line_with(text: str) -> int:
    """The line of this file that holds a mark."""
    with open(__file__, encoding="utf-8") as source:
        return next(number for number, line in enumerate(source, 1) if line.rstrip().endswith("# " + text))


# --- key errors -----------------------------------------------------------------------------------------


def from_environment(state: State) -> None:
    os.environ["NO_SUCH_VARIABLE"]


def from_dict(state: Any) -> None:
    found: dict[str, int] = {"n": 1}
    found["bb"]


def raised(state: State) -> None:
    raise KeyError("ouch")


def from_nested(state: Any) -> None:
    {"x": state}["x"]["nn"]


def from_helper(state: State) -> None:
    def look(n: dict[str, int]) -> int:
        return n["bb"]

    look({"n": 1})


@pytest.mark.parametrize(
    ("body", "key"),
    [
        (from_environment, "NO_SUCH_VARIABLE"),
        (from_dict, "bb"),
        (raised, "ouch"),
        (from_nested, "nn"),
        (from_helper, "bb"),
    ],
)
def test_a_key_error_that_the_state_did_not_raise_is_left_alone(body: Any, key: str) -> None:
    info = body_fails(body)
    assert (info.what, info.fix) == (repr(key), "see the marked line of the node")


def misspelt(state: Any) -> None:
    state["lgo"]


def misspelt_by_helper(state: State) -> None:
    misspelt(state)


def misspelt_over_lines(state: Any) -> None:
    print(
        "é",
        state["lgo"],
    )


async def misspelt_later(state: State) -> None:
    misspelt(state)


def anything(*args: Any) -> None:
    misspelt(*args)


@pytest.mark.parametrize("body", [misspelt, misspelt_by_helper, misspelt_over_lines, misspelt_later, anything])
def test_a_key_that_the_state_lacks_is_explained(body: Any) -> None:
    info = body_fails(body)
    assert (info.what, info.fix) == ("The state has no key 'lgo'; it has 'log'", "write 'log'")


# --- texts ----------------------------------------------------------------------------------------------


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("mute")


class Careless(EvonbError):
    def __init__(self) -> None:
        pass


def test_an_exception_that_cannot_say_anything_still_makes_a_whole_error() -> None:
    def bad(state: State) -> None:
        raise Mute

    with GraphBuilder(State, name="g") as graph:
        START >> node(bad) >> END
    error, seen = run(graph.build())
    assert str(error).startswith("Node 'bad' failed: Mute: Mute")
    assert isinstance(seen[-1], events.RunFailed)
    assert seen[-1].error.what == "Mute"


def test_an_error_of_our_family_without_its_fields_still_makes_a_whole_error() -> None:
    def bad(state: State) -> None:
        raise Careless

    assert body_fails(bad).kind == "Careless"


def test_a_strategy_whose_error_cannot_be_shown_still_makes_a_whole_error() -> None:
    @StateUpdater.register("mute_for_this_test")
    def mute(old: Any, new: Any) -> Any:
        raise Mute

    class Muted(TypedDict):
        n: Annotated[int, "mute_for_this_test"]

    with GraphBuilder(Muted, name="g") as graph:
        START >> node(lambda state: {"n": 1}, name="a") >> END
    with pytest.raises(NodeError, match="Update strategy 'mute_for_this_test' of key 'n' failed: Mute"):
        graph.build().run_sync({})


def test_a_missing_module_is_named_without_guessing_its_package() -> None:
    def bad(state: State) -> None:
        import no_such_module_cv2  # type: ignore[import-not-found]  # noqa: F401

    assert body_fails(bad).fix == "install the package that provides 'no_such_module_cv2'"


# --- routers --------------------------------------------------------------------------------------------


def routed(function: Any, *targets: Any) -> GraphEngine:
    with GraphBuilder(State, name="g") as graph:
        a = node(lambda state: None, name="a")
        START >> a >> router(*targets)(function)
    return graph.build()


def decision(state: State) -> str:  # mark: decision
    return "aprove"


def nothing(state: State) -> None:
    return None


def test_a_misspelt_answer_names_router_line_answers_and_the_near_one() -> None:
    error, seen = run(routed(decision, {"approve": END, "reject": "a"}))
    assert isinstance(error, RouterError)
    assert error.what == "Router 'decision' answered 'aprove', which isn't one of its answers: 'approve', 'reject'"
    assert error.fix == "answer 'approve'"
    place = f"test_failure_blame.py:{line_with('mark: decision')}"
    assert error.where == f"{place}, graph 'g' > router 'decision' after node 'a', 1st visit"
    ended = seen[-1]
    assert isinstance(ended, events.RunFailed)
    assert (ended.error.what, ended.error.where, ended.node) == (error.what, error.where, "a")
    assert [text for _, text, hit in ended.error.source if hit] == [
        "def decision(state: State) -> str:  # mark: decision"
    ]


def test_a_router_that_answers_nothing_is_told_what_to_return() -> None:
    error, _ = run(routed(nothing, {"approve": END, "reject": "a"}))
    assert "Router 'nothing' answered None, which isn't one of its answers: 'approve', 'reject'" in str(error)
    assert error.fix == "return one of these whatever the state is, or [] to end the branch"


def test_no_fix_for_a_router_speaks_of_an_argument_that_it_does_not_have() -> None:
    error, _ = run(routed(lambda state: "elsewhere", "a", END))
    assert error.fix == "answer one of these, or declare 'elsewhere' for the router"


def out_of_range(state: State) -> str:
    return [][0]  # mark: out of range


def test_an_error_in_a_router_is_the_routers_and_the_node_before_stays_done() -> None:
    error, seen = run(routed(out_of_range, "a", END))
    assert isinstance(error, NodeError)
    assert error.what == "Router 'out_of_range' failed: IndexError: list index out of range"
    place = f"test_failure_blame.py:{line_with('mark: out of range')}"
    assert error.where == f"{place}, graph 'g' > router 'out_of_range' after node 'a', 1st visit"
    assert error.fix == "see the marked line of the router"
    assert not [each for each in seen if isinstance(each, events.NodeFailed)]
    assert [each.node for each in seen if isinstance(each, events.NodeFinished)] == ["a"]


def bad_filter(state: State) -> State:
    raise ValueError("no")


def test_an_error_in_an_edge_filter_is_the_filters() -> None:
    with GraphBuilder(State, name="g") as graph:
        a, b = node(lambda state: None, name="a"), node(lambda state: None, name="b")
        START >> a >> edge(filter=bad_filter) >> b >> END
    error, seen = run(graph.build())
    assert error.what == "State filter 'bad_filter' failed: ValueError: no"
    assert "graph 'g' > state filter 'bad_filter' after node 'a', 1st visit" in error.where
    assert error.fix == "see the marked line of the state filter"
    assert not [each for each in seen if isinstance(each, events.NodeFailed)]


# --- strategies -----------------------------------------------------------------------------------------


@StateUpdater.register("fails_on_two_for_this_test")
def fails_on_two(old: int, new: int) -> int:
    if new == 2:
        raise ValueError("two")  # mark: strategy
    return old + new


class Counted(TypedDict):
    n: Annotated[int, "fails_on_two_for_this_test"]


def strategy_fails(graph: GraphBuilder, inputs: dict[str, Any]) -> EvonbError:
    with pytest.raises(EvonbError) as caught:
        graph.build().run_sync(inputs)
    return caught.value


def test_an_error_in_a_strategy_is_placed_at_node_and_line() -> None:
    with GraphBuilder(Counted, name="g") as graph:
        START >> node(lambda state: {"n": 2}, name="a") >> END
    error = strategy_fails(graph, {})
    place = f"test_failure_blame.py:{line_with('mark: strategy')}"
    assert error.where == f"{place}, graph 'g' > node 'a', 1st visit"
    assert "below" not in error.fix
    assert [text.strip() for _, text, hit in info_of(error).source if hit] == [
        'raise ValueError("two")  # mark: strategy'
    ]
    assert "in fails_on_two" in info_of(error).traceback


def only_alone(old: int, new: int) -> int:
    if old == 3:
        raise ValueError("merged")
    return old + new


def test_an_error_in_a_strategy_where_branches_join_is_placed_too() -> None:
    StateUpdater.register("fails_on_three_for_this_test")(only_alone)

    class Joined(TypedDict):
        n: Annotated[int, "fails_on_three_for_this_test"]

    for joins in (True, False):
        with GraphBuilder(Joined, name="g") as graph:
            a, b = node(lambda state: {"n": 3}, name="a"), node(lambda state: {"n": 1}, name="b")
            START >> [a, b] >> (node(lambda state: None, name="c", action_mode="all") if joins else END)
        error = strategy_fails(graph, {})
        assert "graph 'g' > " + ("node 'c', 1st visit" if joins else "the end") in error.where


def test_inputs_that_do_not_fit_say_where() -> None:
    with GraphBuilder(State, name="g") as graph:
        START >> node(lambda state: None, name="a") >> END
    error = strategy_fails(graph, {"n": "many"})
    assert isinstance(error, StateError)
    assert error.where == "the inputs of the run"


# --- sub-graphs -----------------------------------------------------------------------------------------


def test_a_failure_inside_of_a_sub_graph_names_the_outer_graph_first() -> None:
    def deep(state: State) -> None:
        raise ValueError("deep")

    with GraphBuilder(State, name="inner_graph") as inner:
        START >> node(deep) >> END
    with GraphBuilder(State, name="outer_graph") as outer:
        START >> node(inner.build(), name="inner") >> END
    error, _ = run(outer.build())
    assert error.where.endswith(", graph 'outer_graph' > node 'inner' > node 'deep', 1st visit")
    assert isinstance(error, NodeError)
    assert error.graph_name == "inner_graph"
