"""What MCP servers answer to requests for prompts and resources, as values of our own."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from evonb.tools.receipts import ToolErrorInfo
from evonb.typing import AssistantMessage, StateMessage, UserMessage
from evonb.typing.base import Model

__all__ = ["McpPrompt", "McpResource", "listed", "prompt_messages"]


class McpPrompt(Model):
    """A prompt that a server filled in; `error` says why if it didn't."""

    server_name: str
    prompt_name: str
    description: str | None = None
    messages: list[StateMessage] = Field(default_factory=list)
    error: ToolErrorInfo | None = None


class McpResource(Model):
    """A resource of a server; `error` says why if there is none. Each content has `text` or `blob` (base64)."""

    server_name: str
    url: str
    contents: list[dict[str, Any]] = Field(default_factory=list)
    error: ToolErrorInfo | None = None

    @property
    def text(self) -> str:
        """The text of all contents that have one."""
        return "\n".join(content["text"] for content in self.contents if "text" in content)


def listed(server_name: str, entries: list[Any]) -> list[dict[str, Any]]:
    """Entries of a listing as dicts, in the names of the protocol, with the server that they come from."""
    return [
        {"server_name": server_name, **entry.model_dump(mode="json", by_alias=True, exclude_none=True)}
        for entry in entries
    ]


def prompt_messages(result: Any) -> list[StateMessage]:
    """The messages of a filled-in prompt; a content that is no text stays a dict."""
    made: list[StateMessage] = []
    for message in result.messages:
        block = message.content.model_dump(mode="json", by_alias=True, exclude_none=True)
        content = block["text"] if block.get("type") == "text" else block
        made.append(AssistantMessage(content=content) if message.role == "assistant" else UserMessage(content=content))
    return made
