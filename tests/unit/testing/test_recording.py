"""`steps` reads a stream of events as executions of nodes."""

from __future__ import annotations

from evonb.graph.events import (
    ErrorInfo,
    Event,
    NodeFailed,
    NodeFinished,
    NodeQueued,
    NodeSkipped,
    NodeStarted,
    RunId,
    TaskId,
)
from evonb.testing import Step, steps

ERROR = ErrorInfo(kind="KeyError", what="no such key", where="node a", fix="name it")


def started(seq: int, node: str, task: str, run: str = "r", visit: int = 1, path: tuple[str, ...] = ()) -> Event:
    return NodeStarted(
        run_id=RunId(run), seq=seq, at_s=float(seq), path=path, node=node, task_id=TaskId(task), visit=visit
    )


def finished(seq: int, node: str, task: str, run: str = "r") -> Event:
    return NodeFinished(
        run_id=RunId(run),
        seq=seq,
        at_s=float(seq),
        node=node,
        task_id=TaskId(task),
        visit=1,
        duration_s=0.5,
        delta={"x": 1, "y": 2},
    )


def test_steps_come_in_the_order_of_their_starts_with_what_they_wrote() -> None:
    events = [started(0, "a", "1"), started(1, "b", "2"), finished(2, "b", "2"), finished(3, "a", "1")]
    assert steps(events) == [
        Step("a", 1, "finished", 0.0, 0.5, ("x", "y")),
        Step("b", 1, "finished", 1.0, 0.5, ("x", "y")),
    ]


def test_a_failure_and_what_it_cancelled_say_why() -> None:
    base = {"run_id": RunId("r"), "at_s": 2.0, "node": "a"}
    events = [
        started(0, "a", "1"),
        started(1, "a", "2", visit=2),
        NodeFailed(**base, seq=2, task_id=TaskId("1"), visit=1, duration_s=2.0, error=ERROR),
        NodeSkipped(**base, seq=3, task_id=TaskId("2"), reason="cancelled"),
    ]
    assert [(step.visit, step.ended, step.what) for step in steps(events)] == [
        (1, "failed", "no such key"),
        (2, "skipped", "cancelled"),
    ]


def test_a_node_that_has_not_ended_is_running_and_one_that_never_began_is_left_out() -> None:
    queued = NodeQueued(run_id=RunId("r"), seq=1, at_s=1.0, node="b", task_id=TaskId("2"), visit=1)
    skipped = NodeSkipped(run_id=RunId("r"), seq=2, at_s=1.0, node="b", task_id=TaskId("2"), reason="turn limit")
    assert steps([started(0, "a", "1"), queued, skipped]) == [Step("a", 1, "running", 0.0)]


def test_equal_task_ids_of_two_runs_and_names_in_subgraphs_stay_apart() -> None:
    events = [started(0, "a", "1"), started(0, "a", "1", run="other", path=("team",)), finished(1, "a", "1")]
    assert [(step.node, step.ended) for step in steps(events)] == [("a", "finished"), ("team › a", "running")]
