"""A graph lights up while it runs. Nodes wait at gates, so 'running' is looked at while it is true."""

from __future__ import annotations

from pathlib import Path

from conftest import OpenNotebook
from gates import KERNEL_SIDE, Gates
from picture import SETUP, Picture
from playwright.sync_api import expect

GRAPH = """%%evograph trip
class State(TypedDict):
    log: Annotated[list, "extend"]
    rounds: int

@node
async def pack(state):
    await wait_at_async("pack")
    return {"log": ["pack"], "rounds": state.get("rounds", 0) + 1}

@node
def by_road(state):
    "Blocks its thread: a plain function."
    wait_at("by_road")
    return {"log": ["by_road"]}

@node
async def by_rail(state, stream_writer):
    for word in ("calling ", "at ", "every ", "station"):
        stream_writer.put(word)
    await wait_at_async("by_rail")
    return {"log": ["by_rail"]}

@node(action_mode="all")
def arrive(state):
    return {"log": ["arrive"]}

@router({"back": "pack", "home": END})
def onward(state):
    return "home" if state["rounds"] == 2 else "back"

START >> pack >> [by_road, by_rail] >> arrive >> onward
"""
NAMES = ("pack", "by_road", "by_rail")


def test_nodes_edges_tokens_and_waits_show_while_a_cell_awaits_the_run(
    open_notebook: OpenNotebook, gates: Gates, screens: Path
) -> None:
    gates.make(*NAMES)
    notebook = open_notebook(SETUP + KERNEL_SIDE, GRAPH, "result = await trip.run({})\nresult['log']")
    notebook.run(0)
    notebook.run(1)
    picture = Picture(notebook, 1)
    picture.expect_nodes(pack="idle", by_road="idle", arrive="idle")
    picture.expect_chip("Idle")
    picture.watch()

    notebook.start(2)
    picture.expect_nodes(pack="running", by_road="idle", by_rail="idle")
    picture.expect_edge("start>pack", "taken")
    picture.expect_chip("Running")

    gates.open("pack")
    picture.expect_nodes(pack="done", by_road="running", by_rail="running")
    picture.expect_text("calling at every station")
    picture.expect_edge("pack>by_road", "taken")
    picture.screenshot(screens / "live-running.png")

    gates.open("by_road")
    picture.expect_nodes(by_road="done", by_rail="running", arrive="waiting")
    picture.expect_text("1 of 2 arrived")
    picture.expect_text("waits for by_rail")
    picture.screenshot(screens / "live-waiting.png")

    gates.open("by_rail")
    picture.expect_nodes(arrive="done", pack="running")
    expect(picture.node("pack").locator(".times")).to_have_text("×2")
    assert not notebook.is_done(2)

    gates.open(*NAMES)
    notebook.cell(2).get_by_text("'arrive', 'pack'").wait_for()
    picture.expect_chip("Done")
    picture.expect_nodes(pack="done", by_road="done", by_rail="done", arrive="done")
    expect(picture.node("arrive").locator(".times")).to_have_text("×2")
    seen = picture.seen()
    assert {"running", "done"} <= set(seen["pack"])
    assert "waiting" in seen["arrive"]
    assert "pulse" in seen["pack>by_road"]
    assert "pulse" in seen["arrive>pack"]
    picture.screenshot(screens / "live-done.png")


def test_a_background_run_leaves_the_kernel_free(open_notebook: OpenNotebook) -> None:
    notebook = open_notebook(
        SETUP + "import asyncio, threading\nblock, event = threading.Event(), asyncio.Event()",
        "%%evograph held\n"
        "class State(TypedDict):\n    log: Annotated[list, 'extend']\n\n"
        "@node\ndef blocking(state):\n    block.wait()\n    return {'log': ['blocking']}\n\n"
        "@node\nasync def awaiting(state):\n    await event.wait()\n    return {'log': ['awaiting']}\n\n"
        "START >> blocking >> awaiting >> END",
        "handle = held.start({})",
        "print((await handle)['log'])",
    )
    for cell in range(3):
        notebook.run(cell)
    picture = Picture(notebook, 1)
    picture.expect_nodes(blocking="running", awaiting="idle")
    assert notebook.ask("handle.done") == "False"
    notebook.ask("block.set()")
    picture.expect_nodes(blocking="done", awaiting="running")
    notebook.ask("event.set()")
    picture.expect_nodes(awaiting="done")
    notebook.run(3)
    notebook.cell(3).get_by_text("['blocking', 'awaiting']").wait_for()


def test_two_displays_of_a_graph_show_the_same(open_notebook: OpenNotebook, gates: Gates) -> None:
    gates.make(*NAMES)
    notebook = open_notebook(SETUP + KERNEL_SIDE, GRAPH, "trip", "handle = trip.start({})")
    for cell in range(4):
        notebook.run(cell)
    both = Picture(notebook, 1), Picture(notebook, 2)
    for picture in both:
        picture.expect_nodes(pack="running")
    gates.open("pack", "by_rail")
    for picture in both:
        picture.expect_nodes(pack="done", by_road="running", by_rail="done", arrive="waiting")


def test_running_the_cell_again_replaces_the_graph_and_keeps_positions(open_notebook: OpenNotebook) -> None:
    cell = (
        "%%evograph twice\nclass State(TypedDict):\n    n: int\n\n"
        "@node\ndef one(state):\n    return {'n': VALUE}\n\n@node\ndef two(state):\n    return {}\n\n"
        "START >> one >> two >> END"
    )
    notebook = open_notebook(SETUP, cell.replace("VALUE", "1"), "first = twice", "print((await twice.run({}))['n'])")
    for index in range(4):
        notebook.run(index)
    picture = Picture(notebook, 1)
    picture.expect_nodes(one="done", two="done")
    places = {name: picture.place(name) for name in ("one", "two")}

    notebook.set_source(1, cell.replace("VALUE", "2"))
    notebook.run(1)
    again = Picture(notebook, 1)
    again.expect_nodes(one="idle", two="idle")
    assert {name: again.place(name) for name in ("one", "two")} == places
    notebook.run(3)
    again.expect_nodes(one="done", two="done")
    notebook.cell(3).get_by_text("2", exact=True).wait_for()
    expect(notebook.cell(1).locator(".evo-live")).to_have_count(1)


def test_two_graphs_in_one_kernel_never_mix(open_notebook: OpenNotebook, gates: Gates) -> None:
    gates.make("a", "b")
    cell = (
        "%%evograph NAME\nclass State(TypedDict):\n    n: int\n\n"
        "@node\nasync def work(state):\n    await wait_at_async('NAME')\n    return {}\n\nSTART >> work >> END"
    )
    notebook = open_notebook(
        SETUP + KERNEL_SIDE, cell.replace("NAME", "a"), cell.replace("NAME", "b"), "runs = a.start({}), b.start({})"
    )
    for index in range(4):
        notebook.run(index)
    first, second = Picture(notebook, 1), Picture(notebook, 2)
    first.expect_nodes(work="running")
    second.expect_nodes(work="running")
    gates.open("b")
    second.expect_nodes(work="done")
    first.expect_nodes(work="running")
