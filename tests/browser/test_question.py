"""A node asks a person: the panel's form answers by mouse and by keys; asserted in Python."""

from __future__ import annotations

import re
from pathlib import Path

from conftest import OpenNotebook
from harness import Notebook
from panel import WAIT_MS, Panel
from picture import SETUP, Picture
from playwright.sync_api import Locator, expect
from test_debugger import until

SHOP = """%%evograph shop --mode debug
from pydantic import BaseModel, Field
from evonb.agents import HumanInput

class Refund(BaseModel):
    amount: int = Field(ge=1, le=50, description="euros")
    reason: str = ""

class State(TypedDict, total=False):
    refund: Refund
    words: str
    sent: bool

@node
def order(state):
    return {"words": ""}

check = node(HumanInput(question="Refund this order?", answer_type=Refund, key="refund",
                        default=Refund(amount=40, reason="damaged")), name="check")
write = node(HumanInput(question="What do we write?", key="words"), name="write")
send = node(HumanInput(question="Send it?", answer_type=bool, key="sent"), name="send")

START >> order >> check >> write >> send
"""


def card(panel: Panel) -> Locator:
    return panel.root.get_by_role("region", name=re.compile("asks$"))


def asks(panel: Panel, words: str) -> None:
    """Wait until this is asked."""
    expect(card(panel).locator(".question")).to_have_text(words, timeout=WAIT_MS)


def begun(open_notebook: OpenNotebook, *cells: str) -> tuple[Notebook, Panel]:
    notebook = open_notebook(SETUP, SHOP, "handle = shop.start({})", *cells)
    for cell in range(3):
        notebook.run(cell)
    return notebook, Panel(notebook, 1)


def test_a_question_is_answered_by_mouse_and_by_keys(open_notebook: OpenNotebook, screens: Path) -> None:
    notebook, panel = begun(open_notebook)
    asks(panel, "Refund this order?")
    panel.expect_status("Waits for you")
    panel.expect_node("check", "waiting")
    panel.expect_text("check asks: Refund this order?")
    assert panel.page.evaluate("document.activeElement.closest('.ask')") is None
    expect(card(panel).locator("kbd").first).to_have_css("font-size", "10.5px")  # the host has a size of its own

    # By mouse: first an answer that is refused.
    amount = card(panel).get_by_label("amount")
    expect(amount).to_have_value("40")
    amount.fill("80")
    card(panel).get_by_role("button", name="Answer").click()
    expect(amount).to_have_attribute("aria-invalid", "true", timeout=WAIT_MS)
    expect(card(panel).locator(".verdict").first).to_have_text("Input should be less than or equal to 50")
    until(notebook, "[each.text for each in shop.questions()]", "['Refund this order?']")
    panel.screenshot(screens / "question-refused.png")
    amount.fill("12")
    card(panel).get_by_role("button", name="Answer").click()
    asks(panel, "What do we write?")
    until(notebook, "shop.state()['refund']", "Refund(amount=12, reason='damaged')")

    # By keys alone: a text of two lines, then a button.
    panel.key("a")
    expect(card(panel).locator("textarea")).to_be_focused()
    panel.page.keyboard.type("Dear customer,")
    panel.page.keyboard.press("Shift+Enter")
    panel.page.keyboard.type("all is well")
    panel.page.keyboard.press("Enter")
    asks(panel, "Send it?")
    panel.key("a")
    expect(card(panel).get_by_role("button", name="Yes")).to_be_focused()
    panel.page.keyboard.press("ArrowRight")
    panel.page.keyboard.press("Enter")
    panel.expect_status("Done")
    expect(card(panel)).to_be_hidden()
    until(notebook, "shop.state()['words'], shop.state()['sent']", "('Dear customer,\\nall is well', False)")
    assert notebook.ask("handle.done") == "True"


def test_the_form_comes_back_with_the_page_and_goes_with_the_run(open_notebook: OpenNotebook, screens: Path) -> None:
    notebook, panel = begun(open_notebook)
    asks(panel, "Refund this order?")
    panel.key("[")
    panel.expect_status("Past")
    expect(card(panel)).to_be_hidden()
    panel.expect_text("asks you something: answer it live")
    panel.key("End")
    asks(panel, "Refund this order?")

    notebook.save()
    notebook.open()
    panel = Panel(notebook, 1)
    asks(panel, "Refund this order?")
    notebook.set_theme("JupyterLab Dark")
    panel.screenshot(screens / "question-dark.png")
    notebook.set_theme("JupyterLab Light")  # it stays for the notebooks of other tests
    panel.press("stop")
    expect(card(panel)).to_be_hidden(timeout=WAIT_MS)
    until(notebook, "shop.status, shop.questions()", "('finished', [])")


def test_the_plain_picture_says_how_to_answer(open_notebook: OpenNotebook, screens: Path) -> None:
    plain = SHOP.replace(" --mode debug", "")
    answer = '%evo answer {"amount": 7}'
    notebook = open_notebook(SETUP, plain, "handle = shop.start({})\nasked = await handle.question()", answer)
    for cell in range(3):
        notebook.run(cell)
    picture = Picture(notebook, 1)
    picture.expect_chip("Waits for you")
    picture.expect_node("check", "waiting")
    picture.expect_text("check asks: Refund this order? · answer with %evo answer VALUE or handle.answer(VALUE)")
    picture.screenshot(screens / "question-picture.png")
    notebook.run(3)
    picture.expect_node("write", "waiting")
    assert notebook.ask("asked.is_open") == "False"
    assert "check got Refund(amount=7" in str(notebook.outputs(3))
