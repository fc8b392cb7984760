"""What the card of a ready-made node says: its settings in words, one line each. Text only; asks nobody anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from evonb.agents.conversation import Text
from evonb.agents.models import ModelSet
from evonb.agents.payloads import short
from evonb.parsing import OutputParser
from evonb.parsing.casting import schema_names
from evonb.tools import McpToolManager, ToolRegistry

__all__ = ["card", "model_line", "output_line", "text_line", "thing_line", "tool_lines", "type_line"]

_MAX_TOOLS = 20
_MAX_TEXT = 600


def card(first: str, lines: Mapping[str, str]) -> str:
    """The card: a sentence, then a line for each setting that there is anything to say about."""
    told = [f"{name}: {value}" for name, value in lines.items() if value]
    return "\n".join([first, "", *told]) if told else first


def model_line(model: Any) -> str:
    """A model, or the models of a set by id."""
    if isinstance(model, ModelSet):
        each = [
            f"{name} {thing_line(one)}{' (default)' if name == model.default else ''}" for name, one in model.items()
        ]
        return "one of " + ", ".join(each)
    return thing_line(model)


def text_line(text: Text) -> str:
    """A text, or which function makes it."""
    if callable(text):
        return f"made by {getattr(text, '__name__', type(text).__name__)} of the state"
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}..."


def tool_lines(tools: ToolRegistry | McpToolManager | None) -> str:
    """The tools, a line each: what it takes and the first line about it. Those of a server once it has told them."""
    if tools is None:
        return ""
    registry = tools.registry if isinstance(tools, McpToolManager) else tools
    lines = [_tool(tool) for tool in registry]
    left = len(lines) - _MAX_TOOLS
    shown = [*lines[:_MAX_TOOLS], *([f"and {left} more"] if left > 0 else [])]
    servers = f"of MCP servers {', '.join(tools.server_names)}" if isinstance(tools, McpToolManager) else ""
    return "\n".join([servers, *(f"- {line}" for line in shown)]) or "none"


def output_line(output: Any) -> str:
    """What a reply has to be: the class and its fields."""
    if isinstance(output, OutputParser):
        if output.fields:
            return ", ".join(f"{field.name} ({field.dtype})" for field in output.fields)
        output = output.schema
    if output is None:
        return ""
    names = ", ".join(schema_names(output))
    return f"{type_line(output)}{f' with {names}' if names else ''}"


def type_line(kind: Any) -> str:
    """A type as it is written."""
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")


def thing_line(thing: Any) -> str:
    """An object as it shows itself, or its class; what pydantic shows of a model tells too much."""
    shows: Any = type(thing).__repr__
    if shows in (object.__repr__, BaseModel.__repr__):
        return type(thing).__name__
    return short(repr(thing))


def _tool(tool: Any) -> str:
    names = getattr(tool, "argument_names", None)
    takes = f"({', '.join(names())})" if callable(names) else ""
    about = (getattr(tool, "description", None) or "").strip().partition("\n")[0]
    return f"{tool.id}{takes}{f': {about}' if about else ''}"
