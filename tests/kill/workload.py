"""The run that is written while somebody kills the writer: what each step holds is known from its number alone."""

from __future__ import annotations

import random
from typing import Any

from evonb.graph.ports import RunHeader, StoredStep
from evonb.persistence import SqliteStore, UnknownRun
from evonb.typing import UserMessage

RUN = "run-of-victims"
HEADER = RunHeader(run_id=RUN, graph_name="victims", name="", started_at=1.0, inputs={"pair": (1, 2)}, shape="s")


def is_big(number: int) -> bool:
    """Whether a step has a body that takes many pages."""
    return number % 5 == 0


def is_redone(number: int) -> bool:
    """Whether a step is first written as a draft, taken back and written again."""
    return number % 7 == 0


def step(number: int, *, draft: bool = False) -> StoredStep:
    """The step of a number."""
    delta: dict[str, Any] = {"count": number, "message": UserMessage(content=f"turn {number}", msg_id=str(number))}
    if is_big(number):
        delta["body"] = random.Random(number).randbytes(250_000)
    return StoredStep(
        number=number,
        branch=number % 2,
        node=f"node {number % 5}",
        visit=number // 5 + 1,
        parents=(number - 1,),
        status="draft" if draft else "done",
        at_s=number / 10,
        duration_s=0.1,
        delta=delta,
        notes={"hops": [[f"node {number % 5}", f"node {(number + 1) % 5}"]]},
    )


def documents(number: int) -> dict[str, Any]:
    """What is written with a step."""
    return {"position": {"number": number, "waiting": [number + 1]}, "status": "running"}


def last_step(store: SqliteStore) -> int:
    """Where the run stands; begins it if it isn't there, and takes back a draft that nobody finished."""
    try:
        store.header(RUN)
    except UnknownRun:
        store.begin(HEADER)
    newest = next(store.steps(RUN, newest_first=True), None)
    if newest is not None and newest.status == "draft":
        store.drop_steps(RUN, [newest.number], documents(newest.number - 1))
        return newest.number - 1
    return 0 if newest is None else newest.number


def write(store: SqliteStore, number: int) -> None:
    """Write one step as a debugger would."""
    if is_redone(number):
        store.append(RUN, step(number, draft=True), documents(number))
        store.drop_steps(RUN, [number], documents(number - 1))
    store.append(RUN, step(number), documents(number))
