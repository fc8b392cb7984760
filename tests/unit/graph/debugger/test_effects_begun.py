"""An effect that was begun and gave no answer may have acted: it never acts again without a question."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from evonb.errors import NodeError
from evonb.graph import GraphEngineDebugger
from evonb.graph.debugging.effects import EffectRepeats
from evonb.graph.toolwatch import current_tool_watch
from tests.unit.graph.debugger.conftest import Graphs
from tests.unit.graph.debugger.test_inner import copied, nested, reopened
from tests.unit.persistence.children import ROOT

pytestmark = pytest.mark.asyncio

MIDDLE = "was stopped in the middle and may have acted"


class Letter:
    """An effect that is in the middle of acting until it is let go; `sent` counts."""

    def __init__(self) -> None:
        self.sent = 0
        self.begun = asyncio.Event()
        self.go = asyncio.Event()

    async def __call__(self, state: Any) -> dict[str, Any]:
        self.sent += 1
        self.begun.set()
        await self.go.wait()
        return {"log": ["letter"], "n": state["n"] + 1}


class Bouncing:
    """An effect that fails after it has acted, as often as it is told to."""

    def __init__(self, times: int = 1) -> None:
        self.sent = 0
        self._times = times

    def __call__(self, state: Any) -> dict[str, Any]:
        self.sent += 1
        if self.sent <= self._times:
            raise ValueError("after the letter was sent")
        return {"log": ["letter"], "n": state["n"] + 1}


def kinds(graph: Any) -> list[tuple[str, str, bool]]:
    return [(each.kind, each.node, each.asks) for each in graph.effects()]


async def cancelled_in(letter: Letter, work: Any) -> None:
    """Cancel a command while the effect is in the middle."""
    task = asyncio.ensure_future(work)
    await letter.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    letter.go.set()


async def failed(graph: Any) -> Any:
    with pytest.raises(NodeError):
        await graph.debug({"n": 0})
    return graph


# --- how it ended --------------------------------------------------------------------------------------------


async def test_one_that_failed_asks_before_it_acts_again_and_says_why(graphs: Any) -> None:
    bouncing = Bouncing()
    graph = await failed(graphs(effects="c", c=bouncing))
    assert kinds(graph) == [("failed", "c", True)]
    assert graph.effects()[0].may_have_acted
    assert graph.why("c").sentence.endswith("It may have acted: stepping it again asks first.")
    for again in (graph.resume, graph.step_over, lambda: graph.step_over(graph.find("c"))):
        with pytest.raises(EffectRepeats, match="'c' failed and may have acted: it would act again") as caught:
            await again()
        assert caught.value.uuids == (graph.find("c"),)
    assert bouncing.sent == 1
    assert (await graph.resume(rerun_effects=True))["n"] == 4
    assert kinds(graph) == [("failed", "c", False), ("touched", "c", False)]


async def test_one_that_was_cancelled_asks(graphs: Any) -> None:
    letter = Letter()
    graph = graphs(effects="c", c=letter)
    graph.set_breakpoint("c")
    await graph.debug({"n": 0})
    await cancelled_in(letter, graph.step_over())
    assert kinds(graph) == [("stopped", "c", True)]
    with pytest.raises(EffectRepeats, match=MIDDLE):
        await graph.step_over()
    assert letter.sent == 1
    await graph.step_over(rerun_effects=True)
    assert letter.sent == 2
    assert kinds(graph) == [("stopped", "c", False), ("touched", "c", False)]


async def test_one_that_was_stopped_in_a_thread_asks(graphs: Any) -> None:
    begun, go, sent = threading.Event(), threading.Event(), []

    def letter(state: Any) -> Any:
        sent.append(1)
        begun.set()
        go.wait(30)
        return {"log": ["letter"], "n": state["n"] + 1}

    builder = graphs.builder(("ab",))
    builder.add_node("c", letter, effect=True, run_in="thread")
    builder.add_edge("b", "c")
    graph = graphs.debugging(builder)
    work = asyncio.ensure_future(graph.debug({"n": 0}))
    await asyncio.to_thread(begun.wait, 30)
    assert kinds(graph) == []  # at work: it hasn't ended, and nobody has to be asked
    graph.stop()
    assert await work is None
    go.set()
    graph.goto(2)
    assert kinds(graph) == [("stopped", "c", True)]
    with pytest.raises(EffectRepeats, match=MIDDLE):
        await graph.resume()
    assert len(sent) == 1
    assert (await graph.resume(rerun_effects=True))["n"] == 3
    assert len(sent) == 2


async def test_one_beside_a_node_that_failed_asks(graphs: Any) -> None:
    letter = Letter()

    async def broken(state: Any) -> None:
        await letter.begun.wait()
        raise ValueError("beside it")

    graph = await failed(graphs(("ab", "ac"), effects="b", b=letter, c=broken))
    assert kinds(graph) == [("stopped", "b", True)]
    with pytest.raises(EffectRepeats, match=f"'b' {MIDDLE}"):
        await graph.step_over(graph.find("b"))
    assert letter.sent == 1


@pytest.mark.parametrize("leave", ["restore_step", "stop", "goto"])
async def test_one_that_was_given_up_while_it_stood_before_a_tool_asks(graphs: Any, leave: str) -> None:
    sent: list[str] = []

    async def agent(state: Any) -> Any:
        watch = current_tool_watch()
        assert watch is not None
        sent.append("letter")
        await watch.before("order", {})
        return {"n": state["n"] + 1}

    graph = graphs(("ab", "bc"), effects="c", c=agent)
    graph.add_breakpoint(tool="order")
    await graph.debug({"n": 0})
    assert kinds(graph) == []
    graph.restore_step() if leave == "restore_step" else graph.stop() if leave == "stop" else graph.goto(1)
    graph.goto(1)
    with pytest.raises(EffectRepeats, match=f"'c' {MIDDLE}"):
        await graph.resume()
    assert kinds(graph)[0] == ("stopped", "c", False)
    assert kinds(graph)[-1] == ("would ask", "c", True)
    assert sent == ["letter"]


async def test_coming_to_it_from_an_earlier_step_asks_too(graphs: Any) -> None:
    bouncing = Bouncing()
    graph = await failed(graphs(effects="c", c=bouncing))
    graph.goto(0)
    with pytest.raises(EffectRepeats, match="'c' failed"):
        await graph.resume()
    assert kinds(graph) == [("failed", "c", False), ("would ask", "c", True)]
    assert bouncing.sent == 1


async def test_a_kill_in_the_middle_is_known_after_opening(tmp_path: Path) -> None:
    code = (
        "import asyncio\n"
        "from tests.unit.graph.debugger.test_effects_begun import killed\n"
        f"asyncio.run(killed({str(tmp_path)!r}).debug({{'n': 0}}))\n"
    )
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", code, cwd=ROOT, env=_here())
    assert await child.wait() == -signal.SIGKILL
    graph = killed(str(tmp_path))
    graph.open_run(graph.runs()[0].run_id)
    assert kinds(graph) == [("killed", "c", True)]
    for _ in range(2):
        with pytest.raises(EffectRepeats, match="'c' was at work when its process ended and may have acted"):
            await graph.resume()
    graph.skip(graph.find("c"), {"n": 9})
    assert await graph.resume() == {"log": ["a", "b", "d"], "n": 10}
    assert (tmp_path / "sent").read_text() == "1"


def killed(folder: str) -> GraphEngineDebugger:
    """A graph whose effect kills its process after it has acted."""

    def deadly(state: Any) -> None:
        with (Path(folder) / "sent").open("a") as sent:
            sent.write("1")
        os.kill(os.getpid(), signal.SIGKILL)

    graphs = Graphs()
    return graphs.debugging(graphs.builder(effects="c", c=deadly), str(Path(folder) / "runs.db"))


def _here() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


async def test_what_failed_or_was_stopped_is_known_in_another_process(graphs: Any, tmp_path: Path) -> None:
    bouncing, path = Bouncing(), tmp_path / "runs.db"
    builder = graphs.builder(effects="c", c=bouncing)
    again = reopened(await failed(graphs.debugging(builder, str(path))), path, builder)
    assert kinds(again) == [("failed", "c", True)]
    with pytest.raises(EffectRepeats, match="'c' failed"):
        await again.resume()
    assert bouncing.sent == 1


async def test_one_that_answered_before_the_kill_needs_no_question(graphs: Any, tmp_path: Path) -> None:
    later, path = Letter(), tmp_path / "runs.db"
    builder = graphs.builder(effects="b", c=later)
    graph = graphs.debugging(builder, str(path))
    work = asyncio.ensure_future(graph.debug({"n": 0}))
    await later.begun.wait()
    copied(path, tmp_path / "copy.db")  # as a kill would leave it
    later.go.set()
    await work
    graph.store.close()
    again = GraphEngineDebugger.open(tmp_path / "copy.db", str(graph.run_id), graph=builder)
    assert [each["fate"] for each in again.store.document(str(graph.run_id), "begun")] == ["running"]
    assert kinds(again) == [("touched", "b", False)]
    assert (await again.resume())["n"] == 4
    assert graphs.calls.count("b") == 1


# --- inside of sub-graphs ------------------------------------------------------------------------------------


async def test_inside_one_that_failed_asks(graphs: Any) -> None:
    bouncing = Bouncing()
    graph = await failed(nested(graphs, effects="y", y=bouncing))
    with pytest.raises(EffectRepeats, match="'s › y' failed and may have acted") as caught:
        await graph.resume()
    assert caught.value.uuids == (graph.find("s › y"),)
    assert kinds(graph) == [("failed", "s › y", True)]
    assert bouncing.sent == 1
    graph.allow_rerun(graph.find("s › y"))
    assert (await graph.resume())["n"] == 5
    assert bouncing.sent == 2
    assert kinds(graph) == [("failed", "s › y", False), ("touched", "s › y", False)]


async def test_inside_one_that_was_cancelled_asks_also_after_opening(graphs: Any, tmp_path: Path) -> None:
    letter, path = Letter(), tmp_path / "runs.db"
    builder = graphs.builder(("as", "sc"), s=graphs.builder(effects="c", c=letter).build())
    graph = graphs.debugging(builder, str(path))
    graph.set_breakpoint("s")
    await graph.debug({"n": 0})
    await cancelled_in(letter, graph.step_over())
    graph.clear_all_breakpoint()
    assert kinds(graph) == [("stopped", "s › c", True)]
    with pytest.raises(EffectRepeats, match=f"'s › c' {MIDDLE}"):
        await graph.resume()
    again = reopened(graph, path, builder)
    with pytest.raises(EffectRepeats, match=f"'s › c' {MIDDLE}"):
        await again.resume()
    assert kinds(again) == [("stopped", "s › c", True)]
    assert (letter.sent, graphs.calls) == (1, ["a", "a", "b"])


async def test_inside_a_kill_in_the_middle_is_known(graphs: Any, tmp_path: Path) -> None:
    letter, path = Letter(), tmp_path / "runs.db"
    builder = graphs.builder(("as", "sc"), s=graphs.builder(effects="c", c=letter).build())
    graph = graphs.debugging(builder, str(path))
    work = asyncio.ensure_future(graph.debug({"n": 0}))
    await letter.begun.wait()
    copied(path, tmp_path / "copy.db")
    letter.go.set()
    await work
    graph.store.close()
    again = GraphEngineDebugger.open(tmp_path / "copy.db", str(graph.run_id), graph=builder)
    assert kinds(again) == [("killed", "s › c", True)]
    with pytest.raises(EffectRepeats, match="'s › c' was at work when its process ended"):
        await again.resume()
    assert letter.sent == 1


async def test_the_nodes_of_a_marked_sub_graph_ask(graphs: Any) -> None:
    bouncing = Bouncing()
    engine = graphs.builder(("xy",), y=bouncing).build()
    graph = await failed(graphs(("as", "sc"), s=engine, effects="s"))
    with pytest.raises(EffectRepeats, match="'s › y' failed"):
        await graph.resume()
    assert bouncing.sent == 1
    assert graphs.calls == ["a", "x"]
    assert (await graph.resume(rerun_effects=True))["n"] == 4
    assert graphs.calls == ["a", "x", "c"]


# --- saying yes, or something else ---------------------------------------------------------------------------


async def test_a_word_is_good_for_one_attempt(graphs: Any) -> None:
    bouncing = Bouncing(2)
    graph = await failed(graphs(effects="c", c=bouncing))
    graph.allow_rerun(graph.find("c"))
    with pytest.raises(NodeError):
        await graph.resume()
    with pytest.raises(EffectRepeats, match="'c' failed"):
        await graph.resume()
    assert bouncing.sent == 2


async def test_a_delta_by_hand_needs_no_question(graphs: Any) -> None:
    bouncing = Bouncing()
    graph = await failed(graphs(effects="c", c=bouncing))
    graph.pin("c", {"n": 7})
    assert (await graph.resume())["n"] == 8
    assert kinds(graph) == [("failed", "c", False), ("stood in", "c", False)]
    assert bouncing.sent == 1


async def test_once_it_has_answered_going_back_uses_the_record(graphs: Any) -> None:
    bouncing = Bouncing()
    graph = await failed(graphs(effects="c", c=bouncing))
    result = await graph.resume(rerun_effects=True)
    graph.goto(1)
    assert await graph.resume() == result
    assert bouncing.sent == 2


async def test_why_says_that_it_asks(graphs: Any) -> None:
    letter = Letter()
    graph = graphs(effects="c", c=letter)
    graph.set_breakpoint("c")
    await graph.debug({"n": 0})
    await cancelled_in(letter, graph.step_over())
    graph.clear_all_breakpoint()
    assert f"It {MIDDLE}: going on asks" in graph.why("c").sentence


async def test_other_nodes_go_on_as_ever_and_nothing_is_written_of_them(graphs: Any, tmp_path: Path) -> None:
    bouncing = Bouncing()
    graph = await failed(graphs.debugging(graphs.builder(c=bouncing), str(tmp_path / "runs.db")))
    assert (await graph.resume())["n"] == 4
    assert bouncing.sent == 2
    assert graph.effects() == []
    assert graph.store.document(str(graph.run_id), "begun") is None


async def test_an_effect_costs_one_small_write_before_it_acts(graphs: Any, tmp_path: Path) -> None:
    graph = graphs.debugging(graphs.builder(effects="c"), str(tmp_path / "runs.db"))
    put, written = graph.store.put, []

    def putting(run_id: str, documents: Any) -> None:
        written.append((list(graphs.calls), documents))
        put(run_id, documents)

    graph.store.put = putting
    await graph.debug({"n": 0})
    [(calls, documents)] = [each for each in written if "begun" in each[1]]
    assert calls == ["a", "b"]
    assert [each["node"] for each in documents["begun"]] == ["c"]
    assert len(json.dumps(documents)) < 200
    assert graph.store.document(str(graph.run_id), "begun") == []


async def test_one_whose_loop_has_ended_asks() -> None:
    """As in a plain script, where each command has a loop of its own."""
    graphs, letter = Graphs(), Letter()
    graph = graphs.debugging(graphs.builder(effects="c", c=letter))

    async def begin() -> None:
        work = asyncio.ensure_future(graph.debug({"n": 0}))
        await letter.begun.wait()
        graph.pause()
        assert not work.done()

    await asyncio.to_thread(asyncio.run, begin())
    graph.goto(2)
    with pytest.raises(EffectRepeats, match=f"'c' {MIDDLE}"):
        await asyncio.to_thread(asyncio.run, graph.resume())
    assert letter.sent == 1
