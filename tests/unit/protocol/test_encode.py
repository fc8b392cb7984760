"""Events and topologies as wire data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evonb.graph import events as ev
from evonb.graph.topology import EdgeInfo, NodeInfo, Topology, node_id
from evonb.protocol.encode import EventEncoder, to_wire_error, to_wire_graph
from evonb.protocol.encode_chunk import text_of_chunk
from evonb.typing import ChatStreamChunk

TOPOLOGY = Topology(
    "support",
    (
        NodeInfo("start", "start", "start"),
        NodeInfo("classify", "classify", doc="Sort.", source="def classify(): ...", location="cell [1], line 3"),
        NodeInfo("a", "a"),
        NodeInfo("b", "b", "subgraph"),
        NodeInfo("b › inner", "inner", parent="b"),
    ),
    (
        EdgeInfo("start>classify", "start", "classify"),
        EdgeInfo("classify>a", "classify", "a", "conditional", label="yes"),
        EdgeInfo("classify>b", "classify", "b", "conditional"),
    ),
)
RUN = ev.RunId("r1")


def base(seq: int = 0, **more: Any) -> dict[str, Any]:
    return {"run_id": RUN, "seq": seq, "at_s": 0.5, **more}


def encode(event: ev.Event) -> Any:
    return EventEncoder(TOPOLOGY).encode(event)


def test_graph_travels_without_sources() -> None:
    graph = to_wire_graph(TOPOLOGY)
    assert graph["nodes"][1] == {
        "id": "classify",
        "name": "classify",
        "kind": "node",
        "join": "any",
        "parent": None,
        "doc": "Sort.",
        "location": "cell [1], line 3",
    }
    assert "def classify" not in json.dumps(graph)
    assert [edge["id"] for edge in graph["edges"]] == ["start>classify", "classify>a", "classify>b"]


def test_nodes_of_a_sub_graph_are_named_with_their_path() -> None:
    event = ev.NodeQueued(**base(path=("b",)), node="inner", task_id=ev.TaskId("t"), visit=1)
    assert encode(event) == {"type": "node_queued", "at_s": 0.5, "node": "b › inner"}


def test_route_names_the_edges_that_were_not_chosen() -> None:
    event = ev.RouteDecided(**base(), source="classify", chosen=("a",), declared=("a", "b"))
    wire = encode(event)
    assert wire["chosen"] == ["a"]
    assert wire["passed_over"] == ["classify>b"]


@pytest.mark.parametrize("started", [True, False])
def test_a_skipped_task_tells_whether_it_ran(started: bool) -> None:
    encoder, task = EventEncoder(TOPOLOGY), ev.TaskId("t")
    if started:
        encoder.encode(ev.NodeStarted(**base(), node="a", task_id=task, visit=1))
    wire = encoder.encode(ev.NodeSkipped(**base(1), node="a", task_id=task, reason="cancelled"))
    assert wire is not None
    assert wire["type"] == "node_skipped"
    assert wire["was_running"] is started


def test_a_finished_task_is_not_running_any_more() -> None:
    encoder, task = EventEncoder(TOPOLOGY), ev.TaskId("t")
    encoder.encode(ev.NodeStarted(**base(), node="a", task_id=task, visit=1))
    encoder.encode(ev.NodeFinished(**base(1), node="a", task_id=task, visit=1, duration_s=0.1, delta={"k": 1}))
    wire = encoder.encode(ev.NodeSkipped(**base(2), node="a", task_id=task, reason="limit"))
    assert wire is not None
    assert wire["type"] == "node_skipped"
    assert not wire["was_running"]


def test_the_start_and_end_of_a_sub_graph_are_not_those_of_the_run() -> None:
    inner = base(path=("b",))
    assert encode(ev.RunStarted(**inner, graph_name="inner", inputs={}, started_at=1.0)) is None
    assert encode(ev.RunFinished(**inner, reason="completed", state={})) is None
    assert encode(ev.RunFinished(**base(), reason="completed", state={"k": 1}))["result"]["k"]["text"] == "1"


def test_a_run_without_result_says_none() -> None:
    wire = encode(ev.RunFinished(**base(), reason="starved", state=None, message="join waits for a"))
    assert wire["result"] is None
    assert wire["message"] == "join waits for a"


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        ("tok", "tok"),
        ({"content": "tok"}, "tok"),
        ({"content": None, "reasoning_content": "hm"}, "hm"),
        (ChatStreamChunk(content="tok"), "tok"),
        (ChatStreamChunk(reasoning_content="hm"), "hm"),
        (ChatStreamChunk(), ""),
        ({"progress": 3}, "{'progress': 3}\n"),
        (7, "7\n"),
    ],
)
def test_text_of_a_chunk(payload: object, text: str) -> None:
    assert text_of_chunk(payload) == text


def test_a_warning_about_a_node_is_told_and_bounded() -> None:
    wire = encode(ev.NodeNoted(**base(path=("inner",)), node="a", text="wrong key" + "!" * 999))
    assert wire["type"] == "node_noted"
    assert (wire["node"], wire["at_s"], len(wire["text"])) == (node_id(("inner",), "a"), 0.5, 400)
    assert wire["text"].startswith("wrong key!")


def test_chunks_outside_of_a_node_are_not_shown() -> None:
    event = ev.Chunk(**base(), node=None, call_id=None, tool_name=None, tool_call_id=None, payload="x")
    assert encode(event) is None


def test_errors_are_bounded() -> None:
    error = ev.ErrorInfo("KeyError", "x" * 5000, "here", "mend it", ((3, "y" * 5000, True),) * 99, "t" * 10**6)
    assert len(json.dumps(to_wire_error(error))) < 64_000


def test_every_encoded_event_is_plain_json() -> None:
    task = ev.TaskId("t")
    events: list[ev.Event] = [
        ev.NodeStarted(**base(), node="a", task_id=task, visit=1, inputs={"x": object()}),
        ev.NodeFinished(**base(), node="a", task_id=task, visit=1, duration_s=0.1, delta={"k": object()}),
        ev.NodeWaiting(**base(), node="a", group="all", arrived=("classify",), missing=("b",)),
        ev.JoinSatisfied(**base(), node="a", group="all", arrived=("classify", "b")),
        ev.JoinImpossible(**base(), node="a", group="all", arrived=(), missing=("b",), why="b never ran"),
        ev.EdgeTaken(**base(), edge_id="classify>a", source="classify", target="a", keys=("k",)),
        ev.RunPaused(**base(), reason="breakpoint", waiting=("a",)),
        ev.RunFailed(**base(), error=ev.ErrorInfo("E", "w", "h", "f"), node="a"),
    ]
    for event in events:
        wire = encode(event)
        assert json.loads(json.dumps(wire)) == wire
