"""`ToolNode`: makes the calls that the model's last message asks for."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import SkipValidation

from evonb.agents.cards import card, tool_lines
from evonb.agents.conversation import as_message, calls_of, messages_of
from evonb.agents.journal import journal_place
from evonb.agents.settings import check_settings
from evonb.agents.tool_stream import run_id_here, tool_scope
from evonb.agents.toolbox import as_toolbox, receipts_of
from evonb.errors import StateError
from evonb.graph.nodes import AsyncStreamNode
from evonb.graph.streaming import StreamWriter, current_ctx
from evonb.tools import McpToolManager, ToolError, ToolReceipt, bind_scope
from evonb.typing import StateMessage

__all__ = ["ToolNode"]


class ToolNode(AsyncStreamNode):
    """Makes the tool calls of the last message, all at once, and appends their answers in the order of the calls.

    A call that goes wrong (an unknown tool, bad arguments, an error, a time limit) doesn't sink the others: the model
    is told what is wrong and can do better. Starts, progress, streamed output and endings enter the stream with the
    tool's name and the call's id in the context.

    Attributes:
        tools: A registry, tools and functions, or an MCP manager.
        messages_key: The state key of the conversation.
        receipts_key: A state key for the receipts, as a list; None keeps none.
        on_error: "tell" tells the model; "raise" makes the node fail once all calls have ended.
        max_concurrency: How many calls may run at a time.
        timeout_s: The limit of each call that has none of its own; an MCP manager has its own limit.
        max_chars: Longer answers are cut here, and say so.
        rerun: Whether calls run again that completed before, when this node runs again on the same message.

    Raises:
        ToolError: There are no tools, one isn't a tool, or a time limit is given beside an MCP manager.
    """

    tools: SkipValidation[Any]
    messages_key: str = "messages"
    receipts_key: str | None = None
    on_error: Literal["tell", "raise"] = "tell"
    max_concurrency: int | None = None
    timeout_s: float | None = None
    max_chars: int | None = None
    rerun: bool = False

    def __init__(self, **fields: Any) -> None:
        check_settings(type(self), fields)
        toolbox = as_toolbox(fields.get("tools"))
        if toolbox is None:
            raise ToolError("A tool node needs tools", where="ToolNode", fix="write ToolNode(tools=[search, ...])")
        if isinstance(toolbox, McpToolManager) and fields.get("timeout_s") is not None:
            raise ToolError(
                "An MCP manager has a time limit of its own", where="ToolNode", fix="McpToolManager(..., timeout=...)"
            )
        super().__init__(**{**fields, "tools": toolbox})

    def describe(self) -> str:
        """What its card says: its tools."""
        return card("Makes the tool calls of the last message.", {"tools": tool_lines(self.tools)})

    async def __call__(self, state: Any, stream_writer: StreamWriter) -> dict[str, Any]:
        """Make the calls.

        Raises:
            StateError: The last message asks for no tool.
            ToolError: A call went wrong, and `on_error` is "raise".
        """
        where = f"node {current_ctx().node_name or type(self).__name__!r}"
        message = as_message(messages_of(state, self.messages_key, where)[-1])
        calls = calls_of(message)
        if not calls:
            raise _nothing_to_do(message, where)
        with bind_scope(tool_scope(stream_writer)), journal_place(run_id_here(), message.msg_id):
            receipts = await receipts_of(
                self.tools,
                calls,
                max_concurrency=self.max_concurrency,
                timeout_s=self.timeout_s,
                rerun=self.rerun,
            )
        if self.on_error == "raise":
            _raise_failures(receipts, where)
        delta: dict[str, Any] = {self.messages_key: [receipt.to_message(self.max_chars) for receipt in receipts]}
        if self.receipts_key is not None:
            delta[self.receipts_key] = receipts
        return delta


def _nothing_to_do(message: StateMessage, where: str) -> StateError:
    role = getattr(message, "role", "")
    found = "a reply without calls" if role == "assistant" else f"a message of the role {role!r}"
    return StateError(
        f"The last message asks for no tool: it is {found}",
        where=where,
        fix='lead here only when there are calls: agent >> tool_router("tools")',
    )


def _raise_failures(receipts: list[ToolReceipt], where: str) -> None:
    failed = [receipt for receipt in receipts if receipt.error is not None]
    if not failed:
        return
    infos = [receipt.error for receipt in failed if receipt.error is not None]
    raise ToolError(
        f"{len(failed)} of {len(receipts)} tool calls failed: " + "; ".join(info.message for info in infos),
        where=f"{where}, {infos[0].where}",
        fix=infos[0].fix or "mend the tool, or let the model see the error with on_error='tell'",
    ) from failed[0].exception
