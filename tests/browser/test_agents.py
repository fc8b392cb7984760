"""An agent, its tools and a person, live on the picture. Model and tool wait at gates."""

from __future__ import annotations

import re
from pathlib import Path

from conftest import OpenNotebook
from gates import KERNEL_SIDE, Gates
from panel import Panel
from picture import SETUP, Picture
from playwright.sync_api import expect

WORLD = '''
from evonb.agents import AgentNode, HumanInput, ToolNode, tool_router
from evonb.llm import ScriptedModel
from evonb.tools import tool
from evonb.typing import Function, LLMChatResponse, ToolCall, UserMessage

class Gated(ScriptedModel):
    async def chat(self, messages, **options):
        reply = await super().chat(messages, **options)
        await wait_at_async("model")
        return reply

@tool
def brew(tea: str) -> str:
    """Brew a tea."""
    wait_at("tool")
    return f"a pot of {tea}"

call = ToolCall(id="1", function=Function(name="brew", arguments='{"tea": "Assam"}'))
model = Gated([LLMChatResponse(content="I put the kettle on.", tool_calls=[call]), "Tea is ready."], tokens_per_s=0)
'''

GRAPH = """%%evograph kitchen
class State(TypedDict):
    messages: Annotated[list, "append_messages"]
    approved: bool

agent = node(AgentNode(model=model, tools=[brew]), name="agent")
ask = node(HumanInput(question="May I brew?", answer_type=bool, key="approved"), name="ask")
tools = node(ToolNode(tools=[brew]), name="tools")

@router({"yes": tools, "no": END})
def by_answer(state):
    return "yes" if state["approved"] else "no"

START >> agent >> tool_router(ask)
ask >> by_answer
tools >> agent
"""


def test_words_a_question_and_a_tool_show_on_their_nodes_while_they_wait(
    open_notebook: OpenNotebook, gates: Gates, screens: Path
) -> None:
    gates.make("model", "tool")
    begin = 'handle = kitchen.start({"messages": [UserMessage(content="Tea, please.")]})'
    notebook = open_notebook(SETUP + KERNEL_SIDE + WORLD, GRAPH, begin, 'handle.answer("yes")', "await handle")
    for cell in range(3):
        notebook.run(cell)
    picture = Picture(notebook, 1)
    picture.expect_node("agent", "running")
    picture.expect_text("I put the kettle on.")

    gates.open("model")
    picture.expect_nodes(agent="done", ask="waiting")
    picture.expect_text("May I brew?")
    picture.screenshot(screens / "agent-question.png")

    notebook.run(3)
    picture.expect_nodes(ask="done", tools="running")
    picture.expect_text('brew {"tea": "Assam"}')
    expect(picture.root.locator(".callout[data-callout=tools] header")).to_contain_text(re.compile("brew, .*s"))
    picture.screenshot(screens / "agent-tool.png")

    gates.open("tool", "model")
    notebook.run(4)
    picture.expect_chip("Done")
    picture.expect_nodes(agent="done", ask="done", tools="done")
    expect(picture.node("agent").locator(".times")).to_have_text("×2")
    expect(notebook.cell(4).locator(".jp-OutputArea")).to_contain_text("a pot of Assam")


DESK = """%%evograph desk --mode debug
class State(TypedDict):
    messages: Annotated[list, "append_messages"]

agent = node(AgentNode(model=model, tools=[brew]), name="agent")
tools = node(ToolNode(tools=[brew]), name="tools")

@node
def tidy(state):
    return {"tidied": True}

START >> agent >> tool_router(tools, otherwise=tidy)
tools >> agent
tidy >> END
"""
COUNTED = """
from evonb.typing import ChatUsage
first = LLMChatResponse(
    content="I put the kettle on.", tool_calls=[call],
    usage=ChatUsage(prompt_tokens=812, completion_tokens=64),
)
last = LLMChatResponse(content="Tea is ready.", reasoning_content="The pot is full.")
model = ScriptedModel([first, last], tokens_per_s=0)
"""


def test_a_tool_call_shows_at_work_and_stays_with_its_node_and_its_step(
    open_notebook: OpenNotebook, gates: Gates, screens: Path
) -> None:
    gates.make("tool")
    begin = 'handle = desk.start({"messages": [UserMessage(content="Tea, please.")]})'
    notebook = open_notebook(SETUP + KERNEL_SIDE + WORLD + COUNTED, DESK, begin, "await handle", "desk")
    for cell in range(3):
        notebook.run(cell)
    panel = Panel(notebook, 1)
    panel.expect_node("tools", "running")
    expect(panel.root.locator(".callout[data-callout=tools] header, .notes")).to_contain_text(re.compile(r"brew, .*s"))
    panel.screenshot(screens / "debugger-tool.png", calm=False)

    gates.open("tool")
    notebook.run(3)
    panel.expect_status("Done")
    expect(panel.node("tidy").locator(".finding.waiting")).to_be_visible()

    # What was called and used stays with the node and with the step, and is that of the shown point.
    panel.open("tools")
    card = panel.root.locator(".card.details")
    expect(card.locator(".calls li.done")).to_contain_text(re.compile(r'brew.*s.*{"tea": "Assam"}.*a pot of Assam'))
    panel.screenshot(screens / "debugger-tool-card.png")
    panel.open("agent")
    expect(card).to_contain_text("in 2 visits")
    expect(card.locator("details.fold").first).to_contain_text("The pot is full")
    expect(card.locator(".sections > pre").first).to_have_text("Tea is ready.")
    steps = panel.root.locator(".timeline .job")
    expect(steps.nth(0)).to_have_attribute("title", re.compile("876 tokens"))
    expect(steps.nth(1)).to_have_attribute("title", re.compile("brew"))
    steps.nth(0).click()
    panel.expect_status("Past")
    expect(card).to_contain_text("812 in, 64 out")
    panel.screenshot(screens / "debugger-tokens.png")
    panel.open("tidy")
    expect(card).not_to_contain_text("Warnings")
    panel.key("End")
    expect(card).to_contain_text("tidied")
