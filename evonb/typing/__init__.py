"""The documented types: messages, model responses, tools, MCP links, vector-store items, modes and aliases.

Needs pydantic only. Nothing here acts: engines, clients and stores live in the packages that use these types.
"""

from __future__ import annotations

from evonb.typing.constants import (
    DEFAULT_EDGE_GROUP,
    MISSING,
    STREAM_CHUNK,
    MissingType,
    State,
    StateDelta,
    StateSchema,
)
from evonb.typing.llm import (
    ChatStreamChunk,
    ChatUsage,
    EmbedResponse,
    EmbedUsage,
    Function,
    LLMChatResponse,
    Reranking,
    RerankResponse,
    RerankUsage,
    ToolCall,
)
from evonb.typing.mcp import MCPConfig, McpServerLink, SseLink, StdioLink, StreamableHttpLink
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
