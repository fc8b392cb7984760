"""`check`: each finding on a graph that gets it and one that doesn't; and graphs that other people wrote."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from evonb.errors import GraphError
from evonb.graph import GraphBuilder, GraphWarning

REAL = Path(__file__).parents[2] / "graphs" / "real-graphs.jsonl"


class State(TypedDict):
    topic: str


Edge = tuple[str, str] | tuple[str, str, str]


def builder(
    nodes: str, edges: list[Edge], joins: str = "", routes: dict[str, Any] | None = None, **options: Any
) -> GraphBuilder:
    made = GraphBuilder(State, **options)
    for name in nodes:
        made.add_node(name, lambda state: None, action_mode="all" if name in joins else "any")
    for edge in edges:
        made.add_edge(*edge)
    for source, (router, targets) in (routes or {}).items():
        made.add_condition_edge(source, router, targets)
    made.set_entry_point(nodes[0])
    return made


def found(made: GraphBuilder, **options: Any) -> list[tuple[str, tuple[str, ...]]]:
    return [(finding.code, finding.nodes) for finding in made.check(**options)]


def by_topic(state: Any) -> str:
    return str(state["topic"])


DIAMOND: list[Edge] = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]


def test_a_sound_graph_gets_no_findings() -> None:
    assert found(builder("abcd", DIAMOND, joins="d")) == []


def test_unreachable_nodes() -> None:
    assert found(builder("abx", [("a", "b"), ("x", "b")])) == [("unreachable", ("x",))]


def test_dead_ends_only_where_nothing_is_connected_to_the_end() -> None:
    made = builder("ab", [("a", "b")])
    assert found(made) == []
    assert found(made, auto_conn_end=False) == [("dead_end", ("b",))]


def test_loops_without_an_exit() -> None:
    assert found(builder("abc", [("a", "b"), ("b", "c"), ("c", "b")])) == [("loop_without_exit", ("b", "c"))]
    with_exit = builder("abc", [("a", "b"), ("b", "c")], routes={"c": (by_topic, ["b", "end"])})
    assert found(with_exit) == []


def test_a_join_behind_a_router_never_fires() -> None:
    made = builder("abcd", [("b", "d"), ("c", "d")], joins="d", routes={"a": (by_topic, ["b", "c"])})
    assert found(made) == [("join_never_fires", ("d",))]


def test_a_join_behind_a_router_in_a_loop_may_fire() -> None:
    made = builder(
        "abcde",
        [("b", "d"), ("c", "d"), ("b", "e"), ("c", "e"), ("e", "a")],
        joins="d",
        routes={"a": (by_topic, ["b", "c"])},
    )
    assert ("join_never_fires", ("d",)) not in found(made)


def test_a_join_behind_a_router_that_answers_lists_may_starve() -> None:
    made = builder("abcd", [("b", "d"), ("c", "d")], joins="d", routes={"a": (lambda state: ["b", "c"], ["b", "c"])})
    assert found(made) == [("join_may_starve", ("d",))]


def test_an_annotation_tells_that_a_router_answers_lists() -> None:
    def several(state: Any) -> list[str]:
        raise NotImplementedError

    made = builder("abcd", [("b", "d"), ("c", "d")], joins="d", routes={"a": (several, ["b", "c"])})
    assert found(made) == [("join_may_starve", ("d",))]


def test_a_join_that_waits_for_what_comes_after_it() -> None:
    made = builder("abc", [("a", "b"), ("b", "c"), ("c", "b")], joins="b")
    assert ("join_never_fires", ("b",)) in found(made)


def test_a_self_loop_in_a_group_of_its_own_is_sound() -> None:
    made = builder("ab", [("a", "b")], joins="b")
    made.add_condition_edge("b", by_topic, ["b", "end"], "again")
    assert found(made) == []


def test_parallel_branches_that_meet_in_an_any_node() -> None:
    assert found(builder("abcd", DIAMOND)) == [("repeated_any", ("d",))]
    assert found(builder("abcd", [("b", "d"), ("c", "d")], routes={"a": (by_topic, ["b", "c"])})) == []


def test_only_the_first_meeting_is_told() -> None:
    assert found(builder("abcde", [*DIAMOND, ("d", "e")])) == [("repeated_any", ("d",))]


def test_constants_that_a_router_answers_are_compared_with_its_targets() -> None:
    def router(state: Any) -> str:
        if state["topic"]:
            return "bb"
        return "c"

    made = builder("abc", [], routes={"a": (router, ["b", "c"])})
    (finding,) = made.check()
    assert finding.code == "undeclared_target"
    assert "'bb'" in finding.what


def test_parallel_writes_of_an_overwritten_key_are_told_at_their_join() -> None:
    class Keys(TypedDict):
        topic: str
        log: Annotated[list, "extend"]

    def left(state: Any) -> dict[str, Any]:
        return {"topic": "left", "log": [1]}

    def right(state: Any) -> dict[str, Any]:
        return {"topic": "right", "log": [2]}

    made = GraphBuilder(Keys)
    for name, body in {"a": left, "b": left, "c": right, "d": right}.items():
        made.add_node(name, body, action_mode="all" if name == "d" else "any")
    for edge in DIAMOND:
        made.add_edge(*edge)
    made.set_entry_point("a")
    (finding,) = made.check()
    assert (finding.code, finding.level, finding.nodes) == ("lost_write", "note", ("d", "b", "c"))
    assert "'topic'" in finding.what


def test_every_finding_says_what_where_and_how_to_mend() -> None:
    made = builder("abcdx", DIAMOND)
    for finding in made.check():
        assert finding.what
        assert finding.where
        assert finding.fix


def test_findings_of_sub_graphs_are_told_with_their_place() -> None:
    inner = builder("abcd", DIAMOND).build()
    outer = GraphBuilder(State)
    outer.add_node("sub", inner)
    outer.set_entry_point("sub")
    (finding,) = outer.build().check()
    assert finding.nodes == ("sub › d",)
    assert "sub-graph 'sub'" in finding.where


def test_build_warns_of_errors_and_a_strict_graph_refuses_them() -> None:
    with pytest.warns(GraphWarning, match="'x'"):
        builder("ax", []).build()
    with pytest.raises(GraphError, match="'x'"):
        builder("ax", [], strict=True).build()


# --- graphs that other people wrote -------------------------------------------------------------


def real_graphs() -> list[dict[str, Any]]:
    return [json.loads(line) for line in REAL.read_text(encoding="utf-8").splitlines()]


def as_builder(graph: dict[str, Any]) -> GraphBuilder:
    made = GraphBuilder(dict, name=graph["name"])
    for each in graph["nodes"]:
        made.add_node(each["name"], lambda state: None, action_mode=each["join"])
    routers: dict[Any, list[str]] = {}
    for edge in graph["edges"]:
        if edge["kind"] == "plain":
            made.add_edge(edge["source"], edge["target"], edge["group"] or "all")
        else:
            routers.setdefault((edge["source"], edge.get("router"), edge["group"]), []).append(edge["target"])
    for (source, _, group), targets in routers.items():
        several = source in graph["multi_route"]
        made.add_condition_edge(source, by_topic, list(dict.fromkeys(targets)), group or "all", multiple=several)
    if not any(edge["source"] == "start" for edge in graph["edges"]):
        made.set_entry_point(graph["entry"])
    return made


@pytest.mark.parametrize("graph", real_graphs(), ids=lambda graph: graph["name"])
def test_real_graphs_get_the_findings_that_are_right_and_no_others(graph: dict[str, Any]) -> None:
    expected = [(each["code"], frozenset(each["nodes"])) for each in graph["expect_findings"]]
    fine = [(each["code"], frozenset(each["nodes"])) for each in graph["also_fine"]]
    if any(code == "unknown_node" for code, _ in expected):
        with pytest.raises(GraphError, match="did you mean"):
            as_builder(graph)
        return
    got = [(each.code, frozenset(each.nodes)) for each in as_builder(graph).check(auto_conn_end=False)]
    for code, nodes in expected:
        # Naming the nodes before a loop as well is right.
        assert any(
            code == each and (nodes == names or (code == "loop_without_exit" and nodes <= names)) for each, names in got
        )
    allowed = {code for code, _ in expected}
    assert [each for each in got if each not in fine and each[0] not in allowed] == []
    assert len([each for each in got if each not in fine]) == len(expected)


def test_three_hundred_nodes_are_checked_in_a_moment() -> None:
    made = GraphBuilder(dict)
    for number in range(300):
        made.add_node(f"n{number}", lambda state: None, action_mode="all" if number % 7 == 0 else "any")
    for number in range(299):
        made.add_edge(f"n{number}", f"n{number + 1}")
        if number % 3 == 0 and number + 5 < 300:
            made.add_condition_edge(f"n{number}", by_topic, [f"n{number + 5}", f"n{max(0, number - 20)}"], f"g{number}")
    made.set_entry_point("n0")
    made.check()  # modules load on first use
    began = time.process_time()
    made.check()
    assert time.process_time() - began < 1.0  # 0.2 s on an idle machine; processor time still varies with load
