"""The panel of a debugger in a real JupyterLab: what is clicked happens in the kernel, and is asserted there."""

from __future__ import annotations

import re
from pathlib import Path

from conftest import IPYKERNEL6, OpenNotebook
from gates import KERNEL_SIDE, Gates
from harness import Notebook
from panel import Panel
from picture import SETUP, Picture
from playwright.sync_api import expect

DESK = """%%evograph desk --mode debug
class State(TypedDict, total=False):
    messages: Annotated[list, "append_messages"]
    score: float
    rounds: Annotated[int, "add"]

calls = []

@node
def plan(state):
    "Plans the answer."
    calls.append("plan")
    print("planning")
    return {"messages": [{"role": "assistant", "content": "a plan"}], "rounds": 0}

@node
async def draft(state):
    calls.append("draft")
    return {"score": state.get("score", 0.0) + 0.3, "rounds": 1}

@node
def review(state):
    calls.append("review")
    return {"messages": [{"role": "assistant", "content": f"scored {state['score']:.1f}"}]}

@router("draft", END)
def good(state):
    return END if state["score"] > 0.5 else "draft"

START >> plan >> draft >> review >> good
"""


# Which part of the panel has the focus, and how wide its ring is; null outside the panel.
FOCUSED = """() => {
  const at = document.activeElement;
  if (!at.closest('.evo-live')) return null;
  const node = at.closest('[data-node]');
  const part = at.closest('[role=toolbar], [role=tablist], [role=tabpanel], [role=slider], .zoom');
  const name = part?.getAttribute('role') === 'tabpanel' ? 'panel' : part?.getAttribute('aria-label');
  const ring = getComputedStyle(node?.querySelector('.box.pill, .ring') ?? at);
  const isBoxed = node !== null && getComputedStyle(node).outlineStyle !== 'none';
  const width = isBoxed ? 'a box round the ring' : node ? ring.strokeWidth : ring.outlineWidth;
  return {part: node || at.matches('svg') ? 'graph' : name, ring: width};
}"""


def desk(open_notebook: OpenNotebook, *cells: str, kernel: str = "python3") -> tuple[Notebook, Panel]:
    notebook = open_notebook(SETUP, DESK, *cells, kernel=kernel)
    notebook.run(0)
    notebook.run(1)
    return notebook, Panel(notebook, 1)


def until(notebook: Notebook, code: str, answer: str) -> None:
    """Ask the kernel until it answers so."""
    notebook.until(code, answer)


def test_the_whole_tour(open_notebook: OpenNotebook, screens: Path) -> None:
    notebook, panel = desk(open_notebook)
    panel.expect_status("Idle")

    # A breakpoint by mouse, another by keyboard.
    panel.click_gutter("review")
    until(notebook, "[each.node for each in desk.breakpoints()]", "['review']")
    panel.choose("draft")
    panel.page.keyboard.press("b")
    until(notebook, "[each.node for each in desk.breakpoints()]", "['review', 'draft']")
    panel.page.keyboard.press("b")
    until(notebook, "[each.node for each in desk.breakpoints()]", "['review']")

    # Run from the form; it stops before the node.
    panel.press("resume")
    panel.root.get_by_label("score").fill("0.1")
    panel.root.locator("form.inputs").get_by_role("button", name="Run").click()
    panel.expect_status("Paused")
    panel.expect_text("Stopped before")
    until(notebook, "desk.status, calls", "('paused', ['plan', 'draft'])")
    panel.screenshot(screens / "debugger-paused.png")

    # Inspect and edit.
    panel.tab("State")
    expect(panel.key_row("score")).to_contain_text("0.4")
    panel.edit("score", "0.2")
    until(notebook, "desk.state()['score']", "0.2")
    expect(panel.key_row("score")).to_contain_text("0.2")
    assert "planning" in (panel.tab("Log").text_content() or "")
    panel.screenshot(screens / "debugger-log.png")

    # Step, look back without running anything, come back.
    panel.press("step_wave")
    until(notebook, "calls", "['plan', 'draft', 'review']")
    panel.press("step_back")
    panel.press("step_back")
    panel.expect_status("Past")
    until(notebook, "desk.looking_at, calls", "(2, ['plan', 'draft', 'review'])")
    panel.screenshot(screens / "debugger-past.png")
    panel.key("End")
    panel.expect_status("Paused")
    until(notebook, "desk.looking_at is None", "True")

    # Fork from an earlier step, then resume to the end.
    panel.key("[")
    panel.key("[")
    panel.key("[")
    until(notebook, "desk.looking_at", "1")
    panel.press("resume")
    panel.expect_status("Paused")
    until(notebook, "[branch.name for branch in desk.branches()]", "['main', 'b2']")
    panel.expect_text("b2")
    panel.screenshot(screens / "debugger-branch.png")
    panel.key("r")
    panel.expect_status("Paused")
    panel.key("r")
    panel.expect_status("Done")
    until(notebook, "desk.status", "'finished'")
    panel.expect_nodes(plan="done", draft="done", review="done")


def test_keys_alone_reach_each_part_in_one_stop_and_lead_back_to_the_notebook(open_notebook: OpenNotebook) -> None:
    notebook, panel = desk(open_notebook, "desk.set_breakpoint('review')\nhandle = desk.start({'score': 0.0})")
    notebook.run(2)
    panel.expect_status("Paused")
    panel.tool("resume").focus()
    stops = []
    while focused := panel.page.evaluate(FOCUSED):
        stops.append(focused["part"])
        assert focused["ring"] == "2px", focused
        panel.page.keyboard.press("Tab")
    parts = ["Debugger", "graph", "Zoom", "Inspector", "panel", "Step"]
    assert list(dict.fromkeys(stops)) == parts
    assert all(stops.count(part) == 1 for part in ("Debugger", "graph", "Inspector", "Step"))

    panel.choose("draft")
    panel.page.keyboard.press("Enter")
    expect(panel.root.locator(".card.details h3")).to_have_text("draft")
    panel.page.keyboard.press("Escape")
    expect(panel.node("draft")).to_be_focused()
    panel.page.keyboard.press("Escape")
    panel.page.wait_for_function("() => document.activeElement.closest('.jp-Notebook, .jp-Cell') !== null")
    assert panel.page.evaluate(FOCUSED) is None


def test_a_right_click_on_a_node_opens_our_menu_and_not_the_notebooks(open_notebook: OpenNotebook) -> None:
    notebook, panel = desk(open_notebook)
    panel.node("draft").click(button="right")
    expect(panel.root.get_by_role("menuitem").first).to_be_focused()
    expect(panel.page.locator(".lm-Menu")).to_have_count(0)
    panel.page.keyboard.press("Enter")
    until(notebook, "[each.node for each in desk.breakpoints()]", "['draft']")


def test_a_live_session_leaves_the_cell_and_two_views_agree(open_notebook: OpenNotebook) -> None:
    cells = ("desk.set_breakpoint('review')\nhandle = desk.start({'score': 0.0})", "%evo show desk", "%evo state")
    notebook, panel = desk(open_notebook, *cells)
    notebook.run(2)
    panel.expect_status("Paused")
    notebook.run(3)
    other = Panel(notebook, 3)
    other.expect_status("Paused")
    other.press("step_wave")
    until(notebook, "calls", "['plan', 'draft', 'review']")
    for each in (panel, other):
        each.expect_nodes(review="done")
    panel.press("step_back")
    other.expect_status("Past: step 2 of 3")
    other.press("step_back")
    panel.expect_status("Past: step 1 of 3")
    until(notebook, "desk.looking_at, len(calls)", "(1, 3)")


def test_a_reloaded_page_shows_the_last_state(open_notebook: OpenNotebook) -> None:
    notebook, panel = desk(open_notebook, "%evo break review", "%evo debug desk {'score': 0.0}")
    notebook.run(2)
    notebook.run(3)
    panel.expect_status("Paused")
    panel.press("step_back")
    panel.expect_status("Past")
    notebook.save()
    notebook.open()
    again = Panel(notebook, 1)
    again.expect_status("Past")
    again.press("step_wave")
    again.expect_status("Paused")
    until(notebook, "len(desk.branches())", "2")


def test_the_panel_is_compact_beside_a_graph_view_of_the_same_debugger(open_notebook: OpenNotebook) -> None:
    notebook, panel = desk(open_notebook, "from evonb.widgets import GraphView\nGraphView(desk)")
    notebook.run(2)
    graph = Picture(notebook, 2)
    assert (panel.node_height("draft"), graph.node_height("draft")) == (26, 34)
    notebook.run(1)  # the graph again: nothing grows
    assert (panel.node_height("draft"), graph.node_height("draft")) == (26, 34)


SUB = """%%evograph research
class State(TypedDict, total=False):
    n: int

calls = []

@node
def search(state):
    calls.append("search")
    return {"n": state["n"] + 1}

@node
def rank(state):
    calls.append("rank")
    return {"n": state["n"] * 10}

@node
def cite(state):
    calls.append("cite")
    return {"n": state["n"] + 5}

START >> search >> rank >> cite >> END
"""
PAPER = """%%evograph paper --mode debug
class State(TypedDict, total=False):
    n: int

@node
def plan(state):
    return {"n": 1}

@node
def write(state):
    return {"n": -state["n"]}

START >> plan >> research >> write >> END
"""


def test_a_sub_graph_is_entered_looked_back_in_and_gone_on_from(open_notebook: OpenNotebook, screens: Path) -> None:
    notebook = open_notebook(SETUP, SUB, PAPER)
    for cell in range(3):
        notebook.run(cell)
    panel = Panel(notebook, 2)
    notebook.ask("paper.set_breakpoint('research')")
    panel.press("resume")
    panel.root.locator("form.inputs").get_by_role("button", name="Run").click()
    panel.expect_text("Stopped before research")

    # Into it by its key, and two steps there.
    panel.choose("research")
    panel.page.keyboard.press("i")
    panel.expect_text("Stopped before search")
    panel.press("step_one")
    panel.expect_text("Stopped before rank")
    panel.press("step_one")
    panel.expect_text("Stopped before cite")
    until(notebook, "calls, paper.state()['n'], len(paper.history())", "(['search', 'rank'], 20, 1)")
    panel.tab("State")
    expect(panel.key_row("n")).to_contain_text("20")
    expect(panel.root.locator(".time .job", has_text="rank")).to_have_count(1)
    panel.screenshot(screens / "debugger-inside.png")

    # Back and on in the record: nothing runs, and graph, state and words are of then.
    panel.key("[")
    panel.expect_status("Past")
    until(notebook, "paper.looking_at, paper.looking_inside, calls", "(1, 2, ['search', 'rank'])")
    panel.expect_text("step 1 of 1, inside research, step 1 of 2")
    expect(panel.key_row("n")).to_contain_text("2")
    expect(panel.node("research › search")).to_have_class(re.compile("done"))
    expect(panel.node("research › rank")).to_have_class(re.compile("paused"))
    panel.screenshot(screens / "debugger-inside-past.png")
    panel.key("]")
    until(notebook, "paper.looking_at is None", "True")

    # To the end; what ran inside stands behind the step, and a click leads there.
    panel.press("resume")
    panel.expect_status("Done")
    until(notebook, "calls, paper.state()['n']", "(['search', 'rank', 'cite'], -25)")
    owner = panel.root.locator(".time .job", has_text="research")
    expect(owner).to_contain_text("3 inside")
    owner.click()
    until(notebook, "paper.looking_at, paper.looking_inside", "(2, None)")
    panel.root.get_by_role("button", name=re.compile("^Inside, search")).click()
    until(notebook, "paper.looking_at, paper.looking_inside", "(1, 2)")
    panel.screenshot(screens / "debugger-inside-after.png")


def test_a_failed_node_is_mended_and_tried_again(open_notebook: OpenNotebook, screens: Path) -> None:
    source = DESK.replace('state.get("score", 0.0) + 0.3', "0.9 if fixed else state['socre']")
    notebook, panel = desk(open_notebook, "handle = desk.start({})", "fixed = True")
    notebook.set_source(1, "fixed = False\n")
    notebook.run(1)
    notebook.set_source(1, source)
    notebook.run(1)
    panel = Panel(notebook, 1)
    notebook.run(2)
    panel.expect_status("Failed")
    panel.expect_nodes(draft="failed")
    panel.expect_text("socre")
    panel.expect_tied("draft")
    # The host's line height would cut off the wave below the line at fault.
    line = panel.root.locator(".failure .source .hit")
    expect(line).to_have_css("line-height", "17.25px")
    # One way on is loud.
    accent = panel.root.get_by_role("button", name="Retry").evaluate("each => getComputedStyle(each).backgroundColor")
    expect(panel.tool("resume")).not_to_have_css("background-color", accent)
    panel.screenshot(screens / "debugger-failed.png")
    notebook.run(3)
    panel.root.get_by_role("button", name=re.compile("Retry")).first.click()
    panel.expect_nodes(draft="done")
    until(notebook, "calls", "['plan', 'draft', 'draft']")


def test_the_smoke_tour_on_the_older_kernel(open_notebook: OpenNotebook) -> None:
    cells = ("desk.set_breakpoint('review')", "handle = desk.start({'score': 0.0})")
    notebook, panel = desk(open_notebook, *cells, kernel=IPYKERNEL6)
    notebook.run(2)
    notebook.run(3)
    panel.expect_status("Paused")
    panel.press("step_wave")
    until(notebook, "calls", "['plan', 'draft', 'review']")
    panel.press("step_back")
    panel.expect_status("Past")
    panel.press("resume")
    until(notebook, "len(desk.branches())", "2")


def test_a_session_awaited_on_the_older_kernel_says_why_its_buttons_wait(
    open_notebook: OpenNotebook, gates: Gates
) -> None:
    gates.make("draft")
    notebook = open_notebook(SETUP + KERNEL_SIDE, DESK, "await desk.debug({})", kernel=IPYKERNEL6)
    notebook.run(0)
    notebook.set_source(1, DESK.replace('calls.append("draft")', 'await wait_at_async("draft")'))
    notebook.run(1)
    panel = Panel(notebook, 1)
    notebook.start(2)
    panel.expect_nodes(draft="running")
    expect(panel.tool("pause")).to_have_attribute("data-hint", re.compile("A cell runs"), timeout=15_000)
    gates.open("draft")
    panel.expect_nodes(draft="running", review="done")
    gates.open("draft")
    panel.expect_status("Done")
    expect(panel.tool("pause")).to_have_attribute("data-hint", re.compile("nothing runs"), timeout=15_000)


def test_a_notebook_reopened_with_a_new_kernel_shows_where_the_session_stood(open_notebook: OpenNotebook) -> None:
    notebook, panel = desk(open_notebook, "%evo break review", "%evo debug desk {'score': 0.0}")
    notebook.run(2)
    notebook.run(3)
    panel.expect_status("Paused")
    still = notebook.cell(1).locator("img[src^='data:image/svg+xml']")
    expect(still).to_be_hidden()
    notebook.save()
    texts = [out["data"].get("text/plain", "") for out in notebook.outputs(1) if "data" in out]
    assert any("Graph desk: Paused" in text for text in texts)
    notebook.server.end_kernels(notebook.path)
    notebook.open()
    expect(notebook.cell(1).locator("img[src^='data:image/svg+xml']")).to_be_visible(timeout=15_000)
    expect(notebook.cell(1).locator(".evo-live")).to_have_count(0)
