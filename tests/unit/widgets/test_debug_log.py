"""What nodes print is told apart by node, from any thread, and becomes lines of the session's log."""

from __future__ import annotations

import asyncio
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from evonb.graph import GraphBuilder, GraphEngine
from evonb.widgets.debug_log import MAX_LINES, SessionLog
from evonb.widgets.node_output import listen_to_output


def graph(**nodes: Callable[..., Any]) -> GraphEngine:
    """Nodes that all start at once."""
    builder = GraphBuilder(state_schema=dict)
    builder.add_node("begin", lambda state: {})
    builder.set_entry_point("begin")
    for name, function in nodes.items():
        builder.add_node(name, function)
        builder.add_edge("begin", name)
        builder.add_edge(name, "end")
    return builder.build()


async def heard(engine: GraphEngine, *, keep: bool = True) -> list[tuple[str, str, str]]:
    """What the nodes of one run print."""
    found: list[tuple[str, str, str]] = []
    handle = engine.start({})
    leave = listen_to_output(handle.run_id, lambda *what: found.append(what) or keep)
    await handle
    leave()
    return found


def test_nodes_that_run_side_by_side_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    def blocking(state: Any) -> dict[str, Any]:
        print("from a thread")
        sys.stderr.write("careful")
        return {}

    async def waiting(state: Any) -> dict[str, Any]:
        print("before", end="")
        await asyncio.sleep(0)
        print("after", end="")
        return {}

    async def session() -> list[tuple[str, str, str]]:
        found = await heard(graph(blocking=blocking, waiting=waiting))
        print("outside of nodes")
        return found

    found = asyncio.run(session())
    assert "".join(text for node, _, text in found if node == "waiting") == "beforeafter"
    assert "".join(text for node, name, text in found if (node, name) == ("blocking", "stdout")) == "from a thread\n"
    assert ("blocking", "stderr", "careful") in found
    assert capsys.readouterr().out == "outside of nodes\n"


def test_what_is_not_kept_goes_further_and_the_streams_come_back(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout, sys.stderr

    def node(state: Any) -> dict[str, Any]:
        print("seen twice")
        return {}

    found = asyncio.run(heard(graph(node=node), keep=False))
    assert ("node", "stdout", "seen twice") in found
    assert "seen twice\n" in capsys.readouterr().out
    assert (sys.stdout, sys.stderr) == before


def test_other_runs_are_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    def node(state: Any) -> dict[str, Any]:
        print("mine")
        return {}

    async def session() -> list[tuple[str, str, str]]:
        engine = graph(node=node)
        found: list[tuple[str, str, str]] = []
        other = engine.start({})
        leave = listen_to_output(other.run_id, lambda *what: found.append(what) or True)
        await other
        found.clear()
        await engine.run({})
        leave()
        return found

    assert asyncio.run(session()) == []
    assert capsys.readouterr().out == "mine\n"


def test_a_warning_inside_a_node_is_a_line_of_its_node(recwarn: pytest.WarningsRecorder) -> None:
    def node(state: Any) -> dict[str, Any]:
        # As outside of a test run, where nobody records warnings.
        sys.stderr.write(warnings.formatwarning("the cache is old", UserWarning, "cell", 3, ""))
        return {}

    log = SessionLog()

    async def session() -> None:
        handle = graph(node=node).start({})
        leave = listen_to_output(handle.run_id, lambda *what: log.write(*what) or True)
        await handle
        leave()

    asyncio.run(session())
    (line, *_) = log.lines({}, 9)
    assert (line["node"], line["level"]) == ("node", "warning")
    assert "the cache is old" in line["text"]


def test_lines_are_whole_and_belong_to_the_step_of_their_task() -> None:
    log = SessionLog()
    log.write("draft", "stdout", "first ha")
    log.write("critic", "stdout", "another node\n")
    log.write("draft", "stdout", "lf\nno end")
    log.write("draft › inner", "stderr", "inside")
    log.ended("draft", "t-1")
    log.add("draft", "error", "draft failed:\nKeyError", step=None)
    log.ended("draft", "t-2")
    lines = [(line["step"], line["node"], line["level"], line["text"]) for line in log.lines({"t-1": 4, "t-2": 5}, 99)]
    assert lines == [
        (None, "critic", "out", "another node"),
        (4, "draft", "out", "first half"),
        (4, "draft", "out", "no end"),
        (4, "draft › inner", "warning", "inside"),
        (5, "draft", "error", "draft failed:"),
        (5, "draft", "error", "KeyError"),
    ]


def test_a_progress_bar_is_one_line_and_the_log_is_bounded() -> None:
    log = SessionLog()
    log.write("node", "stderr", "10%\r 50%\r100%\r\n")
    assert [line["text"] for line in log.lines({}, 9)] == ["100%"]
    log.write("node", "stdout", "x" * 100_000 + "\n" + "line\n" * (MAX_LINES + 5))
    assert len(log.lines({}, 10**6)) == MAX_LINES
    log.clear()
    assert log.lines({}, 9) == []
