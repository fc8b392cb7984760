"""An agent, its tools and a person, live on the picture. Model and tool wait at gates."""

from __future__ import annotations

from pathlib import Path

from conftest import OpenNotebook
from gates import KERNEL_SIDE, Gates
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
    picture.expect_nodes(agent="done", ask="running")
    picture.expect_text("May I brew?")
    picture.screenshot(screens / "agent-question.png")

    notebook.run(3)
    picture.expect_nodes(ask="done", tools="running")
    picture.expect_text('brew {"tea": "Assam"}')
    picture.screenshot(screens / "agent-tool.png")

    gates.open("tool", "model")
    notebook.run(4)
    picture.expect_chip("Done")
    picture.expect_nodes(agent="done", ask="done", tools="done")
    expect(picture.node("agent").locator(".times")).to_have_text("×2")
    expect(notebook.cell(4).locator(".jp-OutputArea")).to_contain_text("a pot of Assam")
