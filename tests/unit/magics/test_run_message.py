"""What a picture says beside the run that it shows: whose variable to run, and runs that go on unseen."""

from __future__ import annotations

from evonb.widgets.feed import feed_of
from tests.unit.magics.conftest import Notebook

PLAIN = """from typing import TypedDict
from evonb.graph import GraphBuilder
class State(TypedDict):
    n: int
def one(state):
    return {"n": 1}
b = GraphBuilder(State)
b.add_node("one", one)
b.set_entry_point("one")
"""
SLOW = """%%evograph g
import asyncio
class State(TypedDict):
    n: int
@node
async def waits(state):
    await gate.wait()
START >> waits >> END
"""


def last_text(notebook: Notebook) -> str:
    return str(notebook.stills()[-1]["text/plain"])


def test_the_variable_of_a_plain_graph_is_named(notebook: Notebook) -> None:
    notebook.ok(PLAIN + "o2 = b.build()\no2")
    assert "Run it with await o2.run({…})" in last_text(notebook)


def test_a_debugger_is_debugged(notebook: Notebook) -> None:
    notebook.ok(SLOW.replace("graph g", "graph g --break waits"))
    assert "Debug it with await g.debug({…})" in last_text(notebook)


def test_a_graph_without_a_variable_gets_no_name(notebook: Notebook) -> None:
    notebook.ok(PLAIN + "b.build()")
    assert "await" not in last_text(notebook)
    notebook.ok("b")
    assert "Not run yet" in last_text(notebook)


def test_a_cells_graph_is_named_by_its_cell(notebook: Notebook) -> None:
    notebook.ok(SLOW + "other = 1\n")
    assert "Run it with await g.run({…})" in last_text(notebook)


def test_a_run_of_the_former_graph_is_said_until_it_ends(notebook: Notebook) -> None:
    notebook.ok("import asyncio\ngate = asyncio.Event()")
    notebook.ok(SLOW)
    notebook.shell.user_ns["former"] = notebook["g"]
    notebook.ok("handle = g.start({'n': 1})\nawait asyncio.sleep(0)")
    notebook.ok(SLOW)
    message = feed_of(notebook["g"]).snapshot()["run"]["message"]
    assert message == "Run it with await g.run({…}) · an earlier run goes on"
    notebook.ok("gate.set()\nawait handle")
    assert feed_of(notebook["g"]).snapshot()["run"]["message"] == "Run it with await g.run({…})"
