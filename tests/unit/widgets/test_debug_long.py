"""The panel of a long session: going back in it costs a few milliseconds of folding, and shows what it would anyway."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
import pytest_asyncio

from evonb.graph import GraphBuilder, GraphEngineDebugger
from evonb.protocol.debugging import STEPS_SHOWN
from evonb.widgets import debug_feed, debug_picture
from evonb.widgets.debug_commands import DebugCommands
from evonb.widgets.debug_feed import DebugFeed
from evonb.widgets.debug_picture import KEPT_EVERY, Pictures, picture_of
from evonb.widgets.debug_places import Places, window

pytestmark = pytest.mark.asyncio
ROUNDS = 260


class Counted(TypedDict, total=False):
    rounds: Annotated[int, "add"]


@pytest_asyncio.fixture
async def feed(tmp_path: Path) -> AsyncIterator[DebugFeed]:
    """A finished session of `begin > [left, right] > join`, 260 rounds; then a branch that leaves in the middle."""
    builder = GraphBuilder(Counted, name="long")
    for name in ("begin", "left", "right", "join"):
        delta = {"rounds": 1} if name == "begin" else None
        builder.add_node(name, lambda state, delta=delta: delta, action_mode="all" if name == "join" else "any")
    builder.set_entry_point("begin")
    for name in ("left", "right"):
        builder.add_edge("begin", name)
        builder.add_edge(name, "join")
    builder.add_condition_edge("join", lambda state: "end" if state["rounds"] >= ROUNDS else "begin", ["begin", "end"])
    debugger = builder.build(graph_mode="debug", db_file_path=str(tmp_path / "runs.db"), max_turn=5000)
    assert isinstance(debugger, GraphEngineDebugger)
    made = DebugFeed(debugger)
    await debugger.start({})
    debugger.goto(ROUNDS * 2)
    await debugger.step_over()
    await debugger.step_over()
    yield made
    made.close()
    debugger.store.close()


async def test_kept_pictures_are_those_that_are_folded_from_the_start(feed: DebugFeed) -> None:
    debugger, kept, live = feed.debugger, Pictures(), feed.feed.snapshot()
    numbers = [0, *(step.number for branch in debugger.branches() for step in debugger.history(branch.id))]
    visited = random.Random(4).sample(numbers, 40)
    for number in [*visited, max(numbers), max(numbers) - 1]:
        debugger.goto(number)
        steps = [step for step in debugger.history() if step.number <= number]
        what: Any = (live, debugger.topology(), steps, debugger.waiting())
        assert kept.of(*what) == picture_of(*what)


async def test_a_record_of_any_length_keeps_few_pictures(feed: DebugFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debug_picture, "KEPT_EVERY", 10)
    monkeypatch.setattr(debug_picture, "MOST_KEPT", 8)
    kept, live, topology = Pictures(), feed.feed.snapshot(), feed.debugger.topology()
    steps = feed.debugger.history()[:400]
    for count in (400, 399, 90, 20, 400):
        assert kept.of(live, topology, steps[:count], []) == picture_of(live, topology, steps[:count], [])
    assert 5 <= len(kept._kept) <= 16


async def test_a_step_back_folds_few_steps(feed: DebugFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    feed.debugger.goto(ROUNDS * 4)
    feed.flush(force=True)
    folded = []
    step_events = debug_picture._step
    monkeypatch.setattr(debug_picture, "_step", lambda step, *rest: folded.append(step) or step_events(step, *rest))
    await DebugCommands(feed).answer({"type": "step_back", "count": 1, "branch": None})
    assert feed.state["looking"] == ROUNDS * 4 - 1
    assert 0 < len(folded) < KEPT_EVERY


async def test_one_command_that_looks_makes_one_state(feed: DebugFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    commands, make, made, told = DebugCommands(feed), debug_feed.make_state, [], []
    monkeypatch.setattr(debug_feed, "make_state", lambda session: made.append(1) or make(session))
    feed.subscribe(told.append)
    feed.say("something")
    made.clear(), told.clear()
    for kind, fields in {
        "goto": {"count": 7},
        "step_back": {"count": 2},
        "live": {},
        "watch": {"text": "1 + 1"},
    }.items():
        await commands.answer({"type": kind, "branch": None, **fields})
    assert (len(made), len(told)) == (4, 4)
    assert feed.state["reason"] == ""
    await commands.answer({"type": "why", "node": "join"})
    assert len(made) == 4


async def test_a_refused_move_leaves_the_next_state_to_come(feed: DebugFeed) -> None:
    with pytest.raises(Exception, match="no step"):
        await DebugCommands(feed).answer({"type": "goto", "count": 10**6})
    feed.debugger.goto(5)
    assert feed.state["looking"] == 5


async def test_the_steps_shown_are_those_around_the_looked_at_one(feed: DebugFeed) -> None:
    feed.debugger.live()
    assert len(feed.state["steps"]) == STEPS_SHOWN
    total = feed.state["steps_before"] + STEPS_SHOWN
    feed.debugger.goto(3)
    assert [step["number"] for step in feed.state["steps"]] == list(range(1, STEPS_SHOWN + 1))
    assert feed.state["steps_before"] == 0
    feed.debugger.goto(400)
    numbers = [step["number"] for step in feed.state["steps"]]
    assert numbers[0] == feed.state["steps_before"] + 1
    assert 400 in numbers
    assert len(numbers) == STEPS_SHOWN
    feed.debugger.goto(total - 1)
    assert feed.state["steps_before"] == total - STEPS_SHOWN


async def test_steps_are_placed_as_if_all_were_placed_at_once(feed: DebugFeed) -> None:
    steps = sorted(
        {step.number: step for each in feed.debugger.branches() for step in feed.debugger.history(each.id)}.values(),
        key=lambda step: step.number,
    )
    forked = {branch.id: branch.from_step for branch in feed.debugger.branches()}
    growing = Places()
    for count in (0, 1, 50, 51, 700, 300, len(steps)):  # also fewer again: another line is shown
        assert list(growing.of(steps[:count], forked)) == list(Places().of(steps[:count], forked))
    assert list(growing.of(steps[10:], forked)) == list(Places().of(steps[10:], forked))
    lanes = [lane for _, lane in growing.of(steps, forked)][:4]
    assert lanes == [0, 0, 1, 0]
    assert window(steps[:10], 3, 500) == slice(0, 500)
