"""A stored session with many messages: going on reads a few steps, however long it is, and nothing of it is lost."""

from __future__ import annotations

import os
import random
import sys
import threading
import time
import types
import warnings
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from evonb.errors import EvonbError
from evonb.graph import GraphBuilder, GraphEngineDebugger, GraphWarning
from evonb.graph.late_log import LateLog
from evonb.typing import StateBaseMessage, UserMessage

pytestmark = pytest.mark.asyncio

TEXT = "lorem ipsum dolor sit amet, " * 7


class Talk(TypedDict):
    n: int
    messages: Annotated[list, "append_messages"]


def count(state: Any) -> dict[str, Any]:
    """Says something, and looks at nothing that was said."""
    n = state["n"] + 1
    return {"n": n, "messages": [UserMessage(content=f"{n}: {TEXT}")]}


def builder(talk: Any = count) -> GraphBuilder:
    made = GraphBuilder(Talk, name="talk")
    made.add_node("talk", talk)
    made.add_condition_edge("talk", lambda state: "end" if state["n"] >= 10**6 else "talk", ["talk", "end"])
    made.set_entry_point("talk")
    return made


async def stopped_at(path: Path, n: int) -> GraphEngineDebugger:
    """A session that has paused after so many messages, closed."""
    graph = GraphEngineDebugger.of(builder(), str(path))
    graph.add_breakpoint("talk", condition=f"n >= {n}")
    await graph.debug({"n": 0, "messages": []})
    graph.store.close()
    return graph


def contents(state: Any) -> list[str]:
    return [message.content.partition(":")[0] for message in state["messages"]]


def late_logs(graph: GraphEngineDebugger) -> list[Any]:
    values = graph._session.line.present.record.values
    assert values is not None
    return [value for value in values.values() if type(value) is LateLog]


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read in the background, so that a test sees what a command reads."""
    monkeypatch.setattr("evonb.graph.debugging.session.read_all", lambda logs: None)


async def test_the_first_step_of_a_reopened_run_takes_as_long_when_it_is_long(tmp_path: Path, unread: None) -> None:
    took: dict[int, list[float]] = {20: [], 2000: []}
    for n in took:
        graph = await stopped_at(tmp_path / f"{n}.db", n)
        for turn in range(6):
            began = time.thread_time()
            again = GraphEngineDebugger.open(tmp_path / f"{n}.db", graph.run_id, graph=builder())
            await again.step_over()
            took[n].append(time.thread_time() - began)
            assert again.state()["n"] == n + turn + 1
            again.store.close()
    # Reading two thousand messages alone takes more than ten times as long as the shorter one's first step.
    assert min(took[2000]) < 3 * min(took[20]), took


async def test_messages_that_nobody_looks_at_stay_unread(tmp_path: Path, unread: None) -> None:
    graph = await stopped_at(tmp_path / "runs.db", 300)
    again = GraphEngineDebugger.open(tmp_path / "runs.db", graph.run_id, graph=builder())
    for _ in range(40):  # longer than from one kept state to the next
        await again.step_over()
    assert len(late_logs(again)) == 1
    again.store.close()
    third = GraphEngineDebugger.open(tmp_path / "runs.db", graph.run_id, graph=builder())
    await third.step_over()
    assert len(late_logs(third)) == 1
    assert contents(third.state()) == [str(n) for n in range(1, 342)]
    assert late_logs(third) == []


async def test_they_are_read_in_the_background_so_that_losing_the_file_loses_none(tmp_path: Path) -> None:
    graph = await stopped_at(tmp_path / "runs.db", 300)
    again = GraphEngineDebugger.open(tmp_path / "runs.db", graph.run_id, graph=builder())
    await again.step_over()
    first = next(kept.log for kept in again._session.keeper.bases._logs.values())  # type: ignore[union-attr]
    for thread in threading.enumerate():
        if thread.name == "evonb-reading":
            thread.join()
    assert type(first) is not LateLog
    os.truncate(tmp_path / "runs.db", 0)
    with pytest.warns(UserWarning, match="run"):
        await again.step_over()
    assert contents(again.state()) == [str(n) for n in range(1, 303)]


async def test_messages_that_can_not_be_read_any_more_are_told_to_who_looks(tmp_path: Path, unread: None) -> None:
    graph = await stopped_at(tmp_path / "runs.db", 300)
    again = GraphEngineDebugger.open(tmp_path / "runs.db", graph.run_id, graph=builder())
    await again.step_over()
    again.store.close()
    os.truncate(tmp_path / "runs.db", 0)
    with pytest.raises(EvonbError, match=r"can't be read|no run") as caught:
        again.state()
    assert caught.value.fix


async def test_messages_of_a_class_that_is_gone_are_told_when_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Note(StateBaseMessage):
        colour: str = "red"

    shop = types.ModuleType("shop_of_these_talks")
    Note.__module__, Note.__qualname__ = shop.__name__, "Note"
    shop.Note = Note  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, shop.__name__, shop)

    def note(state: Any) -> dict[str, Any]:
        n = state["n"] + 1
        return {"n": n, "messages": [Note(content=str(n)) if n == 3 else UserMessage(content=str(n))]}

    graph = GraphEngineDebugger.of(builder(note), str(tmp_path / "runs.db"))
    graph.add_breakpoint("talk", condition="n >= 100")
    await graph.debug({"n": 0, "messages": []})
    graph.store.close()
    monkeypatch.delitem(sys.modules, shop.__name__)
    again = GraphEngineDebugger.open(tmp_path / "runs.db", graph.run_id, graph=builder())
    with pytest.warns(GraphWarning, match=r"messages\[2\] \(shop_of_these_talks:Note: "):
        assert len(again.state()["messages"]) == 100
    assert again.state()["messages"][2].colour == "red"


@pytest.mark.parametrize("seed", range(6))
async def test_a_session_reopened_after_any_command_is_the_one_that_was_never_closed(tmp_path: Path, seed: int) -> None:
    """Repeats, edits of the messages, ways back and branches, in any order; both are asked for every state."""
    chance = random.Random(seed)

    def talk(state: Any) -> dict[str, Any]:
        n = state["n"] + 1
        new = [UserMessage(content=f"{n}", msg_id=f"m{n}")] * (n % 3)
        if n % 5 == 0:
            new.append(UserMessage(content="again", msg_id=f"m{n - 3}"))
        if n % 7 == 0 and state["messages"]:
            new.append(state["messages"][-1])
        return {"n": n, "messages": new}

    made = builder(talk)
    path = tmp_path / "runs.db"
    kept = GraphEngineDebugger.of(made, str(path))
    never = GraphEngineDebugger.of(made, ":memory:")
    for graph in (kept, never):
        graph.set_breakpoint("talk")
        await graph.debug({"n": 0, "messages": []})
    for _ in range(30):
        act, back = chance.choice(["on", "on", "on", "edit", "back", "state"]), chance.random()
        steps = chance.randint(1, 25)
        for graph in (kept, never):
            if act == "on":
                for _ in range(steps):
                    await graph.step_over()
            elif act == "edit":
                graph.edit("messages", graph.state()["messages"][: steps * 3])
            elif act == "back" and never.history():
                graph.goto(int(back * never.history()[-1].number))
                await graph.step_over()
        assert kept.state() == never.state(), act
        if chance.random() < 0.6:
            kept.store.close()
            kept = GraphEngineDebugger.open(path, kept.run_id, graph=made)
    assert [(step.number, step.status, step.wrote, step.branch) for step in kept.history()] == [
        (step.number, step.status, step.wrote, step.branch) for step in never.history()
    ]
    numbers = [step.number for step in never.history()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [kept.state(number) for number in numbers] == [never.state(number) for number in numbers]
