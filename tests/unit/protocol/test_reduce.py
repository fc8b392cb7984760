"""What a run's end makes of the picture; the golden streams hold both reducers to the rest."""

from __future__ import annotations

import copy
import functools
import json
from pathlib import Path

import pytest

from evonb.graph.topology import EdgeInfo, NodeInfo, Topology
from evonb.protocol.blank import empty_snapshot
from evonb.protocol.encode import to_wire_graph
from evonb.protocol.events import WireEvent
from evonb.protocol.reduce import reduce, reduce_all
from evonb.protocol.settle import reopened
from evonb.protocol.snapshot import Snapshot

STREAMS = sorted((Path(__file__).parents[2] / "golden" / "streams").glob("*.json"))

NODES = ("pick", "left", "right", "after")
EDGES = (("pick", "left"), ("pick", "right"), ("left", "after"), ("right", "after"))
ERROR = {"kind": "E", "what": "no", "where": "", "fix": "", "source": [], "traceback": ""}


def _after(*events: WireEvent) -> Snapshot:
    edges = tuple(
        EdgeInfo(f"{a}>{b}", a, b, "conditional" if a == "pick" else "plain") for a, b in (*EDGES, ("start", "pick"))
    )
    nodes = (NodeInfo("start", "start", "start"), *(NodeInfo(name, name) for name in NODES))
    graph = to_wire_graph(Topology("g", nodes, edges))
    snapshot = empty_snapshot(graph, {"width": 0, "height": 0, "boxes": {}, "routes": {}})
    for event in events:
        snapshot = reduce(snapshot, event)
    return snapshot


def _underway() -> tuple[WireEvent, ...]:
    return (
        {"type": "run_started", "at_s": 0.0, "run_id": "r", "started_at": 0.0},
        {"type": "edge_taken", "at_s": 0.0, "edge": "start>pick", "keys": [], "count": 1},
        {"type": "route_decided", "at_s": 0.1, "node": "pick", "chosen": ["left"], "passed_over": ["pick>right"]},
        {"type": "node_started", "at_s": 0.1, "node": "pick", "visit": 1},
        {"type": "node_queued", "at_s": 0.1, "node": "left"},
    )


def _failed(*, resumable: bool) -> WireEvent:
    return {"type": "run_failed", "at_s": 0.6, "node": None, "error": ERROR, "resumable": resumable}  # type: ignore[typeddict-item]


def _stands(snapshot: Snapshot) -> dict[str, tuple[str, str]]:
    return {name: (state["status"], state["note"]) for name, state in snapshot["nodes"].items()}


def test_nothing_is_under_way_after_the_end_and_each_node_says_why_it_did_not_complete() -> None:
    ended = _after(*_underway(), _failed(resumable=False))
    assert _stands(ended) == {
        "start": ("idle", ""),
        "pick": ("skipped", "stopped after 0.5\u00a0s"),
        "left": ("skipped", "stopped before it ran"),
        "right": ("skipped", "not chosen"),
        "after": ("skipped", "not reached"),
    }
    assert ended["nodes"]["pick"]["last_s"] == 0.5
    assert ended["nodes"]["pick"]["running"] == ended["nodes"]["left"]["queued"] == 0


def test_edges_that_were_never_taken_are_unused() -> None:
    ended = _after(*_underway(), _failed(resumable=False))
    assert [name for name, edge in ended["edges"].items() if not edge["unused"]] == ["start>pick"]


def test_a_task_told_as_skipped_after_the_end_keeps_its_time_and_is_counted_once() -> None:
    skip: WireEvent = {"type": "node_skipped", "at_s": 0.7, "node": "pick", "reason": "cancelled", "was_running": True}
    ended = _after(*_underway(), _failed(resumable=False), skip)
    assert _stands(ended)["pick"] == ("skipped", "stopped after 0.5\u00a0s")
    assert ended["nodes"]["pick"]["total_s"] == 0.5


def test_a_failure_that_a_session_can_resume_settles_nothing() -> None:
    held = _after(*_underway(), _failed(resumable=True))
    assert _stands(held)["left"] == ("queued", "")
    assert _stands(held)["after"] == ("idle", "")
    assert not any(edge["unused"] for edge in held["edges"].values())


def test_a_run_that_goes_on_after_its_end_may_reach_what_it_had_not() -> None:
    again = reopened(_after(*_underway(), _failed(resumable=False)))
    assert _stands(again)["after"] == ("idle", "")
    assert _stands(again)["pick"][0] == "skipped"
    assert not any(edge["unused"] for edge in again["edges"].values())


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_many_events_at_once_are_one_after_the_other_and_change_nothing_that_others_hold(path: Path) -> None:
    stream = json.loads(path.read_text(encoding="utf-8"))
    start, events = stream["start"], [event for message in stream["messages"] for event in message["events"]]
    before = copy.deepcopy(start)
    singly = functools.reduce(reduce, events, start)
    middle = reduce_all(start, events[: len(events) // 2])
    held = copy.deepcopy(middle)
    assert reduce_all(middle, events[len(events) // 2 :]) == singly
    assert (start, middle) == (before, held)
    assert type(middle["nodes"]) is type(middle["edges"]) is dict
