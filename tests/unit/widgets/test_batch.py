"""Merging loses nothing that a view shows, and every message is bounded."""

from __future__ import annotations

import json
import random

import pytest

from evonb.graph.topology import EdgeInfo, NodeInfo, Topology
from evonb.protocol.blank import empty_snapshot
from evonb.protocol.encode import to_wire_graph
from evonb.protocol.events import WireEvent
from evonb.protocol.reduce import apply_batch, reduce
from evonb.protocol.snapshot import Snapshot
from evonb.widgets.batch import MAX_BYTES, MAX_EVENTS, Batch

GRAPH = to_wire_graph(Topology("g", (NodeInfo("a", "a"), NodeInfo("b", "b")), (EdgeInfo("a>b", "a", "b"),)))


def empty() -> Snapshot:
    return empty_snapshot(GRAPH, {"width": 1, "height": 1, "boxes": {}, "routes": {}})


def chunk(node: str, text: str, at_s: float = 0.0) -> WireEvent:
    return {"type": "chunk", "at_s": at_s, "node": node, "text": text, "count": 1}


def started(node: str, visit: int = 1, at_s: float = 0.0) -> WireEvent:
    return {"type": "node_started", "at_s": at_s, "node": node, "visit": visit}


def edge(at_s: float = 0.0) -> WireEvent:
    return {"type": "edge_taken", "at_s": at_s, "edge": "a>b", "keys": ["k"], "count": 1}


def run_started(run_id: str) -> WireEvent:
    return {"type": "run_started", "at_s": 0.0, "run_id": run_id, "started_at": 1.0}


def folded(batch: Batch) -> Snapshot:
    snapshot = empty()
    for part in batch.take():
        first = snapshot["seq"] + 1
        after = apply_batch(snapshot, first, first + part.weight - 1, part.events)
        assert after is not None
        snapshot = after
    return snapshot


def one_by_one(events: list[WireEvent]) -> Snapshot:
    snapshot = empty()
    for event in events:
        snapshot = {**reduce(snapshot, event), "seq": snapshot["seq"] + 1}
    return snapshot


def random_event(chance: random.Random, number: int) -> WireEvent:
    at_s, node = number / 100, chance.choice("ab")
    kinds: list[WireEvent] = [
        chunk(node, chance.choice(["x", "yy", "zzz"]), at_s),
        chunk(node, "more", at_s),
        edge(at_s),
        started(node, number, at_s),
        {"type": "node_queued", "at_s": at_s, "node": node},
        {"type": "node_finished", "at_s": at_s, "node": node, "duration_s": 0.1, "wrote": ["k"]},
    ]
    return run_started(f"r{number}") if chance.random() < 0.02 else chance.choice(kinds)


def random_events(seed: int, count: int) -> list[WireEvent]:
    chance = random.Random(seed)
    return [random_event(chance, number) for number in range(count)]


@pytest.mark.parametrize("seed", range(30))
def test_merged_batches_fold_to_the_same_snapshot(seed: int) -> None:
    events = random_events(seed, 200)
    batch = Batch()
    for event in events:
        batch.add(event)
    assert folded(batch) == one_by_one(events)


def test_chunks_of_one_node_become_one() -> None:
    batch = Batch()
    for text in "hello":
        batch.add(chunk("a", text))
        batch.add(chunk("b", "."))
    (part,) = batch.take()
    assert [(event["type"], event.get("text"), event.get("count")) for event in part.events] == [
        ("chunk", "hello", 5),
        ("chunk", ".....", 5),
    ]
    assert part.weight == 10


def test_a_new_visit_does_not_get_the_text_of_the_last() -> None:
    batch = Batch()
    for event in (started("a"), chunk("a", "old"), started("a", 2), chunk("a", "new")):
        batch.add(event)
    (part,) = batch.take()
    assert [event.get("text") for event in part.events] == [None, "old", None, "new"]


def test_a_new_run_leaves_nothing_of_the_last_but_its_count() -> None:
    batch = Batch()
    for event in (run_started("r1"), started("a"), chunk("a", "x"), run_started("r2"), chunk("a", "y")):
        batch.add(event)
    (part,) = batch.take()
    assert [event["type"] for event in part.events] == ["run_started", "chunk"]
    assert part.weight == 5


def test_parts_keep_to_both_limits() -> None:
    batch = Batch()
    for number in range(1000):
        batch.add(started("a", number))
        batch.add({"type": "node_failed", "at_s": 0.0, "node": "a", "duration_s": 0.0, "what": "ü" * 400})
    parts = batch.take()
    assert sum(part.weight for part in parts) == 2000
    for part in parts:
        assert len(part.events) <= MAX_EVENTS
        assert len(json.dumps(part.events, ensure_ascii=False).encode()) <= MAX_BYTES + 2 * MAX_EVENTS


def test_a_stream_of_megabytes_travels_as_its_end() -> None:
    batch = Batch()
    for _ in range(100):
        batch.add(chunk("a", "x" * 100_000))
    batch.add(chunk("a", "the end"))
    (part,) = batch.take()
    assert len(json.dumps(part.events)) < 1000
    assert part.events[0]["type"] == "chunk"
    assert part.events[0]["text"].endswith("the end")
    assert part.events[0]["count"] == 101


def test_text_of_a_call_stays_between_the_chunks_around_it() -> None:
    call: WireEvent = {
        "type": "tool_call",
        "at_s": 0.0,
        "node": "a",
        "call": {"id": "1", "tool": "find", "status": "asked", "started_s": None, "duration_s": None},
        "text": "[find]",
    }
    asked: WireEvent = {"type": "question", "at_s": 0.0, "node": "a", "question": "Go?", "text": "[Go?]"}
    batch = Batch()
    for event in (
        started("a"),
        chunk("a", "one "),
        chunk("a", "two "),
        call,
        chunk("a", "three "),
        asked,
        chunk("a", "four"),
    ):
        batch.add(event)
    assert folded(batch)["nodes"]["a"]["stream"] == "one two [find]three [Go?]four"
