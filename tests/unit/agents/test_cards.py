"""What the cards of ready-made nodes say, and that they hold no secret and no library source."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel

from evonb.agents import AgentNode, HumanInput, InMemoryStore, ModelSet, ParserNode, RetrieverNode, ToolNode
from evonb.graph import GraphBuilder, SyncNode
from evonb.graph.topology import NodeInfo
from evonb.llm import ChatClient, ScriptedModel
from evonb.parsing import FieldSchema, OutputParser
from evonb.tools import McpToolManager, tool
from evonb.typing import StdioLink


class Weather(BaseModel):
    city: str
    degrees: int


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    At length.
    """
    return a + b


def ask_kindly(state: Any) -> str:
    return "Please?"


def card_of(node: Any) -> NodeInfo:
    builder = GraphBuilder(dict)
    builder.add_node("node", node)
    builder.set_entry_point("node")
    [info] = [each for each in builder.build().topology().nodes if each.id == "node"]
    return info


def test_an_agents_card_tells_model_prompt_tools_and_output() -> None:
    model = ChatClient("m", base_url="http://me:hunter2@127.0.0.1:1/v1?key=hunter2", api_key="hunter2")
    info = card_of(AgentNode(model=model, system="Be brief.\nBe kind.", tools=[add], output=Weather))
    assert info.doc.splitlines() == [
        "Asks a chat model with the conversation.",
        "",
        "model: ChatClient('m', base_url='http://127.0.0.1:1/v1')",
        "system: Be brief.",
        "Be kind.",
        "output: Weather with city, degrees",
        "tools: ",
        "- add(a, b): Add two numbers.",
    ]
    assert (info.source, info.location) == ("", "")


@pytest.mark.parametrize(
    ("node", "lines"),
    [
        (AgentNode(model=ScriptedModel([])), ["model: ScriptedModel"]),
        (
            AgentNode(model=ModelSet({"a": ScriptedModel([]), "b": ScriptedModel([])}), system=ask_kindly),
            ["model: one of a ScriptedModel (default), b ScriptedModel", "system: made by ask_kindly of the state"],
        ),
        (ToolNode(tools=[add]), ["tools: ", "- add(a, b): Add two numbers."]),
        (
            ToolNode(tools=McpToolManager({"s": StdioLink(command="x", args=["hunter2"])})),
            ["tools: of MCP servers s"],
        ),
        (
            RetrieverNode(store=InMemoryStore(), k=3, min_score=0.5),
            [
                "store: InMemoryStore(0 texts)",
                "question: the state's 'messages'",
                "takes: 3 at most, at least 0.5 alike",
            ],
        ),
        (
            HumanInput(question="Sure?", answer_type=Literal["yes", "no"]),
            ["question: Sure?", "answer: Literal['yes', 'no']"],
        ),
        (HumanInput(question=ask_kindly), ["question: made by ask_kindly of the state", "answer: str"]),
        (
            ParserNode(parser=OutputParser(fields=[FieldSchema("n", "A number", dtype="int")])),
            ["reads: the state's 'messages'", "output: n (int)"],
        ),
    ],
)
def test_each_ready_made_node_tells_its_settings(node: Any, lines: list[str]) -> None:
    info = card_of(node)
    assert info.doc.splitlines()[2:] == lines
    assert "hunter2" not in info.doc
    assert info.source == ""


def test_long_prompts_and_many_tools_are_cut() -> None:
    tools = [tool(name=f"t{number}", description="Do.")(lambda x: x) for number in range(30)]
    doc = card_of(AgentNode(model=ScriptedModel([]), system="x" * 5000, tools=tools)).doc
    assert len(doc) < 2000
    assert doc.endswith("- and 10 more")


class Own(SyncNode):
    """A node of one's own."""

    says: Any = "mine"

    def __call__(self, state: Any) -> Any: ...

    def describe(self) -> str:
        return self.says.upper()  # type: ignore[no-any-return]


def test_any_node_may_describe_itself_and_a_failure_shows_its_code() -> None:
    assert card_of(Own()).doc == "MINE"
    assert card_of(Own()).source == ""
    broken = card_of(Own(says=1))
    assert broken.doc == "A node of one's own."
    assert "class Own" in broken.source
