"""Agents whose tools live in an MCP server: a real one, as a child process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from evonb.agents import ToolNode, react_graph
from evonb.tools import McpToolManager, ToolError, ToolRegistry, tool
from evonb.typing import StdioLink, UserMessage

SERVER = Path(__file__).resolve().parents[2] / "mcp" / "small_server.py"
ASKED = {"messages": [UserMessage(content="1 + 2?")]}
DYING = """
import sys
from pathlib import Path
code = Path({server!r}).read_text().replace('if name == "count":', 'if name == "count":\\n        sys.exit(1)')
exec(compile(code, "dying", "exec"))
"""


def manager_of(*args: str) -> McpToolManager:
    return McpToolManager({"s": StdioLink(command=sys.executable, args=list(args), read_time_out=60.0)})


@pytest.mark.asyncio
async def test_a_manager_is_told_to_the_model_and_its_calls_are_made(script: Any, calling: Any, listen: Any) -> None:
    model = script(calling(("s_add", '{"a": 1, "b": 2}'), ("s_ad", "{}")), "3")
    async with manager_of(str(SERVER)) as manager:
        graph = react_graph(model, manager).build()
        chunks = listen(graph)
        state = await graph.run(ASKED)
    assert "3" in state["messages"][2].content
    assert "did you mean 's_add'" in state["messages"][3].content
    seen = {(chunk.tool_name, chunk.tool_call_id) for chunk in chunks if chunk.node == "tools"}
    assert seen == {("s_add", "call_1"), ("s_ad", "call_2")}


@pytest.mark.asyncio
async def test_a_servers_tools_join_functions_in_one_registry(script: Any, calling: Any) -> None:
    @tool
    def double(x: int) -> int:
        """Double."""
        return 2 * x

    model = script(calling(("s_add", '{"a": 1, "b": 2}'), ("double", '{"x": 4}')), "3 and 8")
    async with manager_of(str(SERVER)) as manager:
        registry = ToolRegistry([double, *[each for each in await manager.tools() if each.id == "s_add"]])
        state = await react_graph(model, registry).build().run(ASKED)
    assert "3" in state["messages"][2].content
    assert state["messages"][3].content == "8"


@pytest.mark.asyncio
async def test_a_server_that_dies_in_a_call_is_told_to_the_model(script: Any, calling: Any) -> None:
    model = script(calling(("s_count", "")), "It is gone.")
    async with manager_of("-c", DYING.format(server=str(SERVER))) as manager:
        state = await react_graph(model, manager).build().run(ASKED)
    assert state["messages"][2].content.startswith("Error (failed)")
    assert state["messages"][-1].content == "It is gone."


def test_a_time_limit_beside_a_manager_is_refused_instead_of_ignored() -> None:
    with pytest.raises(ToolError, match="limit of its own"):
        ToolNode(tools=McpToolManager({}), timeout_s=1)
