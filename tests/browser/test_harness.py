"""The harness itself: a real kernel answers, gates hold, and nothing leaves the machine unnoticed."""

from __future__ import annotations

from conftest import OpenNotebook
from gates import KERNEL_SIDE, Gates
from harness import Browser


def test_a_cell_waits_at_a_gate_until_the_test_opens_it(open_notebook: OpenNotebook, gates: Gates) -> None:
    gates.make("gate")
    notebook = open_notebook(KERNEL_SIDE, "await wait_at_async('gate')\nprint('passed')")
    notebook.run(0)
    notebook.start(1)
    assert not notebook.is_done(1)
    gates.open("gate")
    notebook.cell(1).get_by_text("passed", exact=True).wait_for()
    assert notebook.ask("6 * 7") == "42"


def test_requests_that_leave_the_machine_are_stopped_and_noticed(open_notebook: OpenNotebook, chrome: Browser) -> None:
    notebook = open_notebook("1")
    failed = notebook.page.evaluate("fetch('http://192.0.2.1/x').then(() => false, () => true)")
    assert failed
    assert chrome.blocked == ["http://192.0.2.1/x"]
    chrome.blocked.clear()
