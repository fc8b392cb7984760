"""What a workflow node's function is handed at run time: models, tools, a stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from evonb.agents.models import ModelSet
from evonb.agents.tool_stream import tool_scope
from evonb.errors import EvonbError
from evonb.graph.streaming import StreamWriter, get_stream_writer
from evonb.llm import ChatModel
from evonb.tools import ToolError, ToolReceipt, ToolRegistry, bind_scope

__all__ = ["Runtime"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What a node's function may ask for as its second argument.

    Attributes:
        models: The models that the engine was given, or None.
        tools: Its tools, or None.
        stream_writer: Streams onto the node.
    """

    models: ModelSet | None = None
    tools: ToolRegistry | None = None
    stream_writer: StreamWriter = field(default_factory=get_stream_writer)

    def model(self, model_id: str | None = None) -> ChatModel:
        """The model with this id; None takes what the request picked, else the default.

        Raises:
            EvonbError: There is none.
        """
        if self.models is None:
            raise EvonbError("The engine has no models", where="runtime.model", fix="AgentCoreEngine(models={...})")
        return self.models.pick(model_id)

    async def call(
        self, tool_id: str, arguments: Any = None, *, call_id: str | None = None, timeout_s: float | None = None
    ) -> ToolReceipt:
        """Call a tool; the receipt says how it went, also when it went wrong.

        Raises:
            ToolError: The engine has no tools.
        """
        if self.tools is None:
            raise ToolError("The engine has no tools", where="runtime.call", fix="AgentCoreEngine(tools=[...])")
        with bind_scope(tool_scope(self.stream_writer)):
            return await self.tools.ainvoke(tool_id, arguments, call_id=call_id, timeout=timeout_s)
