"""The documented types: messages, model responses, tools, MCP links, vector-store items, modes and aliases.

Needs pydantic only. Nothing here acts: engines, clients and stores live in the packages that use these types. What a
graph alone doesn't need (models of responses, MCP links, tools, vector stores) loads on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evonb.typing.calls import ChatUsage, Function, ToolCall
from evonb.typing.constants import (
    DEFAULT_EDGE_GROUP,
    MISSING,
    STREAM_CHUNK,
    MissingType,
    State,
    StateDelta,
    StateSchema,
)
from evonb.typing.messages import (
    AssistantMessage,
    StateBaseMessage,
    StateMessage,
    SystemMessage,
    ToolMessage,
    UserMessage,
    cast_state_message,
)
from evonb.typing.modes import GraphMode, NodeActionMode, SpecialNode

if TYPE_CHECKING:
    from evonb.typing.llm import (
        ChatStreamChunk,
        EmbedResponse,
        EmbedUsage,
        LLMChatResponse,
        Reranking,
        RerankResponse,
        RerankUsage,
    )
    from evonb.typing.mcp import MCPConfig, McpServerLink, SseLink, StdioLink, StreamableHttpLink
    from evonb.typing.tools import (
        CodeExecDockerConfig,
        PromptRequest,
        ResourceRequest,
        ToolCallResult,
        ToolInnerState,
        ToolManagerState,
    )
    from evonb.typing.vectorstore import DBItem, SearchResult

__all__ = [
    "DEFAULT_EDGE_GROUP",
    "MISSING",
    "STREAM_CHUNK",
    "AssistantMessage",
    "ChatStreamChunk",
    "ChatUsage",
    "CodeExecDockerConfig",
    "DBItem",
    "EmbedResponse",
    "EmbedUsage",
    "Function",
    "GraphMode",
    "LLMChatResponse",
    "MCPConfig",
    "McpServerLink",
    "MissingType",
    "NodeActionMode",
    "PromptRequest",
    "RerankResponse",
    "RerankUsage",
    "Reranking",
    "ResourceRequest",
    "SearchResult",
    "SpecialNode",
    "SseLink",
    "State",
    "StateBaseMessage",
    "StateDelta",
    "StateMessage",
    "StateSchema",
    "StdioLink",
    "StreamableHttpLink",
    "SystemMessage",
    "ToolCall",
    "ToolCallResult",
    "ToolInnerState",
    "ToolManagerState",
    "ToolMessage",
    "UserMessage",
    "cast_state_message",
]

_ON_FIRST_USE = {
    **dict.fromkeys(
        (
            "ChatStreamChunk",
            "EmbedResponse",
            "EmbedUsage",
            "LLMChatResponse",
            "Reranking",
            "RerankResponse",
            "RerankUsage",
        ),
        "evonb.typing.llm",
    ),
    **dict.fromkeys(("MCPConfig", "McpServerLink", "SseLink", "StdioLink", "StreamableHttpLink"), "evonb.typing.mcp"),
    **dict.fromkeys(
        (
            "CodeExecDockerConfig",
            "PromptRequest",
            "ResourceRequest",
            "ToolCallResult",
            "ToolInnerState",
            "ToolManagerState",
        ),
        "evonb.typing.tools",
    ),
    **dict.fromkeys(("DBItem", "SearchResult"), "evonb.typing.vectorstore"),
}


def __getattr__(name: str) -> Any:
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_ON_FIRST_USE[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_FIRST_USE})
