"""Messages, tools and schemas as OpenAI-compatible servers want them, and messages back again. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel

from evonb.errors import EvonbError, StateError
from evonb.llm.assemble import INLINE, REASONING_FIELDS
from evonb.llm.model import Messages
from evonb.typing import (
    AssistantMessage,
    LLMChatResponse,
    StateBaseMessage,
    StateMessage,
    ToolCall,
    ToolMessage,
    cast_state_message,
)

__all__ = ["SendReasoning", "from_wire", "response_format", "to_message", "to_wire", "tools_to_wire"]

SendReasoning: TypeAlias = Literal["tool_turns", "always", "never"]
"""When earlier reasoning goes back to the server: in the tool turn that is still open, always, or never.

Servers of reasoning models refuse a tool turn whose reasoning was left out, and some refuse old reasoning.
"""


def to_wire(
    messages: Messages | str, *, reasoning: SendReasoning = "tool_turns", reasoning_field: str = REASONING_FIELDS[0]
) -> list[dict[str, Any]]:
    """A conversation for the request.

    Args:
        messages: Messages, mappings with `role` and `content`, strings for the user; or one string.
        reasoning: When `reasoning_content` of earlier answers is sent.
        reasoning_field: The name under which the server wants it; `content` puts it between tags before the text.

    Raises:
        StateError: An item isn't a message.

    Example:
        >>> to_wire("Hi")
        [{'role': 'user', 'content': 'Hi'}]
    """
    if not isinstance(messages, Iterable):
        raise StateError(
            f"A conversation is a text or a list of messages, found {type(messages).__name__}",
            fix='write chat("Hi") or chat([UserMessage(content="Hi")])',
        )
    items = [_message(item) for item in ([messages] if isinstance(messages, str) else messages)]
    open_turn = _open_turn(items)
    wire = []
    for place, item in enumerate(items):
        row = _row(item)
        wanted = reasoning == "always" or (reasoning == "tool_turns" and place > open_turn)
        if wanted and isinstance(item, AssistantMessage) and item.reasoning_content:
            row.update(_reasoning(item.reasoning_content, reasoning_field, row))
        wire.append(row)
    return wire


def from_wire(rows: Iterable[Mapping[str, Any]]) -> list[StateMessage]:
    """Messages of a conversation as it travels; each gets a `msg_id`, reasoning is kept whatever its name.

    Raises:
        StateError: A row isn't a message.
    """
    return [cast_state_message(_with_reasoning(row)) for row in rows]


def to_message(response: LLMChatResponse) -> AssistantMessage:
    """The answer as a message of the conversation, with its calls, its reasoning and what it cost."""
    return AssistantMessage(
        content=response.content,
        reasoning_content=response.reasoning_content,
        tool_calls=response.tool_calls,
        usage=response.usage,
    )


def tools_to_wire(tools: Iterable[Any]) -> list[dict[str, Any]]:
    """The tools that a model may call.

    Args:
        tools: Each a mapping `{"type": "function", "function": {...}}`, the inner mapping alone, an object with the
            method `function_schema` (the tools of `evonb.tools`), or one with `name`, `description` and a schema as
            `parameters` or `input_schema`.

    Raises:
        EvonbError: One of them is none of these.
    """
    return [_tool(tool) for tool in tools]


def response_format(schema: type[BaseModel] | Mapping[str, Any]) -> dict[str, Any]:
    """The request option that makes a server write JSON of this schema and nothing else.

    Raises:
        EvonbError: The schema is neither a pydantic class nor a mapping.
    """
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        schema = schema.model_json_schema()
    if not isinstance(schema, Mapping):
        raise EvonbError(
            f"A schema is a pydantic class or a JSON schema, found {type(schema).__name__}",
            fix='give a BaseModel class, or a dict such as {"type": "object", "properties": {...}}',
        )
    title = "".join(char if char.isalnum() else "_" for char in str(schema.get("title") or "answer"))
    return {"type": "json_schema", "json_schema": {"name": title, "schema": dict(schema)}}


def _message(item: Any) -> StateMessage:
    return cast_state_message({"role": "user", "content": item} if isinstance(item, str) else item)


def _open_turn(items: Sequence[StateMessage]) -> int:
    """The place of the last message that isn't part of a tool turn: whatever follows belongs to the open turn."""
    for place in range(len(items) - 1, -1, -1):
        item = items[place]
        if not (isinstance(item, ToolMessage) or (isinstance(item, AssistantMessage) and item.tool_calls)):
            return place
    return -1


def _row(item: StateBaseMessage) -> dict[str, Any]:
    row: dict[str, Any] = {"role": getattr(item, "role", "user"), "content": _content(item.content)}
    if isinstance(item, ToolMessage):
        row["tool_call_id"] = item.tool_call_id
    if isinstance(item, AssistantMessage) and item.tool_calls:
        row["tool_calls"] = [_call(call) for call in item.tool_calls]
        row["content"] = row["content"] or None
    return row


def _reasoning(text: str, field: str, row: Mapping[str, Any]) -> dict[str, Any]:
    if field != INLINE:
        return {field: text}
    written = row["content"] or ""
    return {"content": f"<think>{text}</think>{written}"} if isinstance(written, str) else {}


def _content(content: Any) -> Any:
    """Text and lists of typed parts travel as they are, anything else as JSON."""
    is_parts = isinstance(content, list) and all(isinstance(part, Mapping) and "type" in part for part in content)
    if isinstance(content, str) or (is_parts and content):
        return content
    return "" if content is None else json.dumps(content, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = call.function.arguments
    try:
        json.loads(arguments)
    except ValueError:
        # Servers that fill a template with the arguments refuse the whole conversation for one broken call; the
        # model still has to see what it wrote, or it can't do better.
        arguments = json.dumps({"not_json": arguments}, ensure_ascii=False)
    return {"id": call.id, "type": call.type, "function": {"name": call.function.name, "arguments": arguments}}


def _with_reasoning(row: Mapping[str, Any]) -> dict[str, Any]:
    found = next((row[name] for name in REASONING_FIELDS if isinstance(row.get(name), str)), None)
    kept = {"content": "", **row}
    kept["content"] = "" if kept["content"] is None else kept["content"]
    return kept if found is None else {**kept, REASONING_FIELDS[0]: found}


def _tool(tool: Any) -> dict[str, Any]:
    if callable(told := getattr(tool, "function_schema", None)):
        tool = told()
    if isinstance(tool, Mapping):
        inner = tool.get("function", tool)
        if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
            return {"type": "function", "function": dict(inner)}
    schema = getattr(tool, "parameters", None) or getattr(tool, "input_schema", None)
    if isinstance(getattr(tool, "name", None), str) and isinstance(schema, Mapping):
        about = str(getattr(tool, "description", "") or "")
        return {"type": "function", "function": {"name": tool.name, "description": about, "parameters": dict(schema)}}
    raise EvonbError(
        f"A tool for the model has a name and a schema, found {type(tool).__name__}",
        fix='give {"name": ..., "description": ..., "parameters": <JSON schema>}, or an object with these attributes',
    )
