"""Cards of what IPython would show raw: interrupts and exception groups."""

from __future__ import annotations

import asyncio

import pytest

from evonb.magics.interrupts import Waking
from tests.unit.magics.conftest import Notebook

GRAPH = """%%evograph g
import asyncio
class State(TypedDict):
    n: int

@node
async def waits(state):
    asyncio.get_running_loop().call_soon({cell}.cancel)
    await asyncio.Event().wait()

START >> waits >> END
"""

GROUP = """%%evograph g
import asyncio
class State(TypedDict):
    n: int

async def bad(text):
    raise ValueError(text)

@node
async def both(state):
    async with asyncio.TaskGroup() as group:
        group.create_task(bad("first"))
        group.create_task(bad("second"))

START >> both >> END
"""


def test_an_interrupted_run_is_one_card_with_its_node(notebook: Notebook) -> None:
    notebook.ok(GRAPH.replace("{cell}", "asyncio.current_task()"))
    notebook.fails("await g.run({'n': 1})")
    (card,) = notebook.cards()
    assert "The run was stopped, because its cell was interrupted" in card
    assert "graph &#x27;g&#x27; &gt; node &#x27;waits&#x27;" in card
    assert "evonb/graph" not in notebook.printed
    assert "await asyncio.Event().wait()" in notebook.printed


def test_a_node_that_has_no_frame_in_the_traceback_is_named_without_a_line(notebook: Notebook) -> None:
    notebook.ok("import asyncio, threading\ngo = threading.Event()\ntask = None")
    blocking = '@node(run_in="thread")\ndef waits(state):\n    loop.call_soon_threadsafe(task.cancel)\n    go.wait()\n'
    notebook.ok(GRAPH[: GRAPH.index("@node")] + blocking + "\nSTART >> waits >> END\n")
    notebook.fails("loop = asyncio.get_running_loop()\ntask = asyncio.current_task()\nawait g.run({'n': 1})")
    text = notebook.printed
    notebook.ok("go.set()")
    assert "where: graph 'g' > node 'waits'\n" in text


def test_an_interrupt_of_other_code_is_ipythons(notebook: Notebook) -> None:
    notebook.fails("raise KeyboardInterrupt")
    assert notebook.cards() == []
    assert "KeyboardInterrupt" in notebook.printed


def test_waiting_for_a_background_run_is_interrupted_and_the_run_goes_on(notebook: Notebook) -> None:
    notebook.ok(GRAPH.replace("{cell}", "cell"))
    notebook.fails("import asyncio\ncell = asyncio.current_task()\nhandle = g.start({'n': 1})\nawait handle")
    assert "the run goes on" in notebook.cards()[0]
    assert "handle.stop()" in notebook.printed


def test_a_task_group_in_a_node_is_one_card_at_the_line_that_raised(notebook: Notebook) -> None:
    notebook.ok(GROUP)
    notebook.fails("await g.run({'n': 1})")
    (card,) = notebook.cards()
    assert "ValueError in both" in card
    assert "first (and 1 more in the same task group)" in card
    assert "line 7" in card
    assert "both ExceptionGroup" not in notebook.printed
    assert "second" in card  # the traceback has all of them


@pytest.mark.parametrize("chain", ["[one] >> [two]", "START >> one\n[one, two] >> [two]"])
def test_two_lists_in_a_chain_are_one_card_with_what_to_write(notebook: Notebook, chain: str) -> None:
    nodes = "@node\ndef one(state): ...\n@node\ndef two(state): ...\n"
    error = notebook.fails(f"%%evograph g\nclass State(TypedDict):\n    n: int\n{nodes}{chain}")
    assert isinstance(error, TypeError)
    (card,) = notebook.cards()
    assert "[a, b] &gt;&gt; c and [a, b] &gt;&gt; d" in card
    assert f"line {7 + chain.count(chr(10)) + 1}" in card


@pytest.mark.parametrize("cell", ["raise ExceptionGroup('several', [ValueError('a')])", "1 / 0", "1 >> 'a'"])
def test_errors_that_are_not_ours_are_ipythons(notebook: Notebook, cell: str) -> None:
    notebook.fails(cell)
    assert notebook.cards() == []


def test_the_loop_of_a_running_cell_is_woken(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evonb.magics.interrupts.WAKE_S", 0.001)

    async def count() -> int:
        loop, waking, woken = asyncio.get_running_loop(), Waking(), 0
        original = waking._arm

        def arm(loop: asyncio.AbstractEventLoop) -> None:
            nonlocal woken
            woken += 1
            original(loop)
            if woken == 3:
                done.set()

        done = asyncio.Event()
        monkeypatch.setattr(waking, "_arm", arm)
        waking.start()
        await asyncio.wait_for(done.wait(), 30)
        waking.stop()
        assert not [handle for handle in loop._scheduled if not handle.cancelled()]  # type: ignore[attr-defined]
        return woken

    assert asyncio.run(count()) == 3
