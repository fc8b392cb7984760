"""Tools as nodes take them: a registry, a list of tools and functions, or an MCP manager."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from evonb.agents.journal import JournalOfRuns
from evonb.tools import CallRequest, McpToolManager, ToolError, ToolReceipt, ToolRegistry

__all__ = ["Toolbox", "as_toolbox", "receipts_of", "schemas_of"]

Toolbox: TypeAlias = ToolRegistry | McpToolManager


def as_toolbox(tools: Any) -> Toolbox | None:
    """A registry or manager as it is; tools and functions in a registry of their own; None for nothing.

    That registry keeps a journal for each run: when a node runs again on the same message of the model, calls that
    completed are answered from their receipts. A registry that is handed in decides that by itself.

    Raises:
        ToolError: Something in it is no tool.
    """
    if tools is None or isinstance(tools, ToolRegistry | McpToolManager):
        return tools
    if isinstance(tools, str | bytes) or not isinstance(tools, Iterable):
        raise ToolError(
            f"Tools are a registry, a list of tools and functions, or an MCP manager, found {type(tools).__name__}",
            fix="write tools=[search, calculate], or tools=ToolRegistry([...])",
        )
    listed = list(tools)
    return ToolRegistry(listed, journal=JournalOfRuns()) if listed else None


async def schemas_of(tools: Toolbox) -> list[dict[str, Any]]:
    """What a model is told about the tools."""
    return await tools.list_tools() if isinstance(tools, McpToolManager) else tools.function_schemas()


async def receipts_of(
    tools: Toolbox, calls: Sequence[Any], *, max_concurrency: int | None, timeout_s: float | None, rerun: bool
) -> list[ToolReceipt]:
    """Make the calls at once; the receipts come in the order of the calls, and none sinks another."""
    if isinstance(tools, McpToolManager):
        return await tools.receipts(calls, max_concurrency)
    requests = [
        CallRequest(tool_id=call.function.name, raw=call.function.arguments, call_id=call.id, rerun=rerun)
        for call in calls
    ]
    return await tools.ainvoke_many(requests, max_concurrency, timeout=timeout_s)
