"""A tool of an MCP server as one of ours, and what its server answered as a plain value."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Self, TypeAlias

from evonb._optional import require
from evonb._unicode import encodable
from evonb.tools.context import ToolExecutionContext
from evonb.tools.errors import FieldFault, ToolError, ToolInputError
from evonb.tools.receipts import Effect, NodeReport
from evonb.tools.schema import brief
from evonb.tools.text import preview, safe_repr

__all__ = ["CallServer", "McpTool", "McpToolError", "plain_content", "tool_id_of"]

CallServer: TypeAlias = Callable[[str, str, dict[str, Any], ToolExecutionContext], Awaitable[Any]]
"""Calls a tool of a server: server name, tool name, arguments, context."""


class McpToolError(ToolError):
    """The tool answered that it failed."""


class McpTool:
    """One tool of one server. Async; its arguments are checked against the server's schema before they are sent.

    Attributes:
        id: `server_tool`, in the letters that model servers allow.
        server_name: The server that has it.
        tool_name: Its name there.
        effect: "read" if the server says that it only reads, else "write". A hint of the server, no guarantee.
        parameters: The server's JSON schema of the arguments.
        output_schema: The server's JSON schema of the structured output, if it declares one.
    """

    kind = "mcp"
    mode = "async"
    debug_steps = None

    def __init__(self, server_name: str, told: dict[str, Any], call: CallServer, *, timeout_s: float | None) -> None:
        self.server_name = server_name
        self.tool_name: str = told["name"]
        self.id = tool_id_of(server_name, self.tool_name)
        self.description: str | None = told.get("description")
        self.parameters: dict[str, Any] = told.get("inputSchema") or {"type": "object", "properties": {}}
        self.output_schema: dict[str, Any] | None = told.get("outputSchema")
        hints = told.get("annotations") or {}
        self.effect: Effect = "read" if hints.get("readOnlyHint") else "write"
        self.timeout_s = timeout_s
        self.told = told
        self._call = call

    def parse_input(self, value: Any) -> dict[str, Any]:
        """The arguments as they are, if the server's schema allows them.

        Raises:
            ToolInputError: It doesn't; each argument that doesn't fit is named.
        """
        faults = _schema_faults(self.parameters, value)
        if faults:
            raise ToolInputError(
                f"{len(faults)} of the arguments can't be used",
                where=f"tool '{self.tool_name}' of MCP server '{self.server_name}'",
                fix="call the tool again with these put right",
                faults=faults,
            )
        return dict(value)

    def parse_output(self, value: Any) -> Any:
        """The output as it came; the SDK has checked it against the declared schema."""
        return value

    async def execute(self, input: dict[str, Any], context: ToolExecutionContext) -> Any:
        """Ask the server. Its progress becomes reports; cancelling tells the server so.

        Raises:
            McpToolError: The tool said that it failed.
            McpError: The server can't be reached, went away or refused.
        """
        result = await self._call(self.server_name, self.tool_name, encodable(input), context)
        output = plain_content(result)
        if result.is_error:
            raise McpToolError(
                output if isinstance(output, str) and output else f"The tool failed: {preview(output)}",
                where=f"tool '{self.tool_name}' of MCP server '{self.server_name}'",
            )
        return output

    def function_schema(self) -> dict[str, Any]:
        """The tool in the form of OpenAI-compatible servers."""
        description = self.description or f"The tool {self.tool_name} of the server {self.server_name}."
        parameters = copy.deepcopy(self.parameters)
        return {"type": "function", "function": {"name": self.id, "description": description, "parameters": parameters}}

    def expected_arguments(self) -> str:
        """The arguments on one line, for error messages."""
        return brief(self.parameters)

    def argument_names(self) -> list[str]:
        """The names of the arguments."""
        return list(self.parameters.get("properties", {}))

    def to_saved(self) -> dict[str, Any]:
        """Refuses: the tool belongs to the connection of its manager.

        Raises:
            ToolError: Always.
        """
        raise ToolError(
            f"The tool '{self.id}' belongs to an MCP manager and can't be saved without it",
            where=f"MCP server '{self.server_name}'",
            fix="give the node the manager itself: tools=manager",
        )

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """There are no such data."""
        raise ToolError("A tool of an MCP server can't be loaded", fix="load its manager")

    def __repr__(self) -> str:
        return f"<McpTool '{self.id}'>"


def tool_id_of(server_name: str, tool_name: str) -> str:
    """`server_tool`, cut and cleaned to what model servers accept; different names stay different."""
    whole = f"{server_name}_{tool_name}"
    clean = re.sub(r"[^A-Za-z0-9_-]", "_", whole)
    if clean == whole and len(whole) <= 64:
        return whole
    return f"{clean[:55]}_{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def plain_content(result: Any) -> Any:
    """What a server answered: its structured output, else its text, else its content blocks as dicts."""
    blocks = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
    texts = [block["text"] for block in blocks if block.get("type") == "text"]
    structured = result.structured_content
    if structured is not None and not result.is_error:
        return structured["result"] if _is_wrapped(structured, texts) else structured
    return "\n".join(texts) if len(texts) == len(blocks) else blocks


def progress_report(current: float, total: float | None, message: str | None) -> NodeReport:
    """The server's progress as a report."""
    return NodeReport(message=message, current=current, total=total)


def _is_wrapped(structured: Any, texts: list[str]) -> bool:
    """Whether the server put a bare value into `{"result": value}`; the text beside it tells the two apart."""
    if not isinstance(structured, dict) or set(structured) != {"result"}:
        return False
    value = structured["result"]
    if isinstance(value, list):
        return len(texts) != 1 or _as_json(texts[0]) != structured
    return texts == [value] or (len(texts) == 1 and _as_json(texts[0]) == value)


def _as_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _schema_faults(schema: dict[str, Any], value: Any) -> list[FieldFault]:
    jsonschema = require("jsonschema", "to check the arguments of MCP tools")
    referencing = require("referencing", "to check the arguments of MCP tools")
    try:
        # An empty registry: a schema of a server must not make us fetch what it refers to.
        checker = jsonschema.validators.validator_for(schema)(schema, registry=referencing.Registry())
        errors = sorted(checker.iter_errors(value), key=lambda error: [str(part) for part in error.absolute_path])
    except Exception:  # a schema that can't be used: the server itself will check
        return []
    return [_fault(error) for error in errors]


def _fault(error: Any) -> FieldFault:
    place = ""
    for part in error.absolute_path:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
    if error.validator in ("required", "additionalProperties"):
        return FieldFault(place, error.message)
    return FieldFault(place, error.message, preview(safe_repr(error.instance), 80))
