"""Tool calls from a model that is too small to make them by itself: its server makes it write one. Pure.

The reply is held to a JSON schema that allows nothing but a call of one of the tools; then it is read as that call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from evonb.typing import Function, LLMChatResponse, StateMessage, ToolCall, ToolMessage

__all__ = ["as_call", "call_schema", "is_call_due"]


def is_call_due(messages: Sequence[StateMessage], tools: Sequence[Any], choice: Any) -> bool:
    """Whether the next answer should be a call.

    "none" never, "required" or a named tool always. Left to itself ("auto"), a model this small can't decide: it
    calls first, and answers once results are there.
    """
    if not tools or choice == "none":
        return False
    if choice in (None, "auto"):
        return not any(isinstance(message, ToolMessage) for message in messages[-1:])
    return True


def call_schema(tools: Sequence[Mapping[str, Any]], choice: Any) -> dict[str, Any]:
    """The JSON schema of a call of one of the tools, or of the one that is chosen by name."""
    chosen = choice.get("function", choice).get("name") if isinstance(choice, Mapping) else None
    functions = [tool["function"] for tool in tools]
    functions = [function for function in functions if function["name"] == chosen] or functions
    definitions: dict[str, Any] = {}
    options = [_option(function, place, definitions) for place, function in enumerate(functions)]
    schema = options[0] if len(options) == 1 else {"anyOf": options}
    return {**schema, "$defs": definitions} if definitions else schema


def as_call(response: LLMChatResponse) -> LLMChatResponse:
    """The response with its JSON as a tool call."""
    written = json.loads(response.content)
    call = ToolCall(
        id=f"call_{uuid4().hex[:24]}",
        function=Function(name=written["name"], arguments=json.dumps(written["arguments"], ensure_ascii=False)),
    )
    return response.model_copy(update={"content": "", "tool_calls": [call]})


def _option(function: Mapping[str, Any], place: int, definitions: dict[str, Any]) -> dict[str, Any]:
    # Without the last word a small model goes on inventing arguments until its tokens are used up.
    parameters = {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
        **(function.get("parameters") or {}),
    }
    # Definitions are looked up from the root, where those of several tools would meet under one name.
    for name, definition in dict(parameters.pop("$defs", {})).items():
        definitions[f"{place}_{name}"] = _moved(definition, place)
    return {
        "type": "object",
        "properties": {"name": {"const": function["name"]}, "arguments": _moved(parameters, place)},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _moved(schema: Any, place: int) -> Any:
    if isinstance(schema, Mapping):
        return {
            key: value.replace("#/$defs/", f"#/$defs/{place}_")
            if key == "$ref" and isinstance(value, str)
            else _moved(value, place)
            for key, value in schema.items()
        }
    return [_moved(item, place) for item in schema] if isinstance(schema, list) else schema
