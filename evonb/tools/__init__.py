"""Tools: functions and services that a model may call, and the one path on which every call ends in a receipt.

Needs pydantic only. MCP servers, the code sandbox and docstring parsing load their packages on first use.
"""

from __future__ import annotations

from evonb._secrets import FromEnv
from evonb.tools.batch import CallRequest
from evonb.tools.context import ChunkWriter, NodeReportingContext, ToolExecutionContext, current_context
from evonb.tools.controller import ToolController, ToolControlPattern
from evonb.tools.define import define_tool, tool
from evonb.tools.erased import ErasedTool
from evonb.tools.errors import FieldFault, SandboxError, ToolCancelled, ToolError, ToolInputError
from evonb.tools.events import (
    ToolChunk,
    ToolDiagnosed,
    ToolEvent,
    ToolFinished,
    ToolLogged,
    ToolObserver,
    ToolReported,
    ToolStarted,
)
from evonb.tools.flows import DiagnosticContext, ScopedSubFlowLogger, SubFlowLogger
from evonb.tools.functions import FunctionTool
from evonb.tools.journal import ReceiptJournal
from evonb.tools.mcp_answers import McpPrompt, McpResource
from evonb.tools.mcp_link import McpError, McpTimeout
from evonb.tools.mcp_manager import McpToolManager
from evonb.tools.mcp_session import McpSessionController
from evonb.tools.mcp_tool import McpTool
from evonb.tools.receipts import Effect, NodeReport, ToolErrorInfo, ToolReceipt, ToolReport, ToolStatus
from evonb.tools.registry import ToolRegistry
from evonb.tools.sandbox import CodeSandbox, ExecResult
from evonb.tools.scope import ToolScope, bind_scope, current_scope
from evonb.tools.signals import CancelSignal, CancelSource

__all__ = [
    "CallRequest",
    "CancelSignal",
    "CancelSource",
    "ChunkWriter",
    "CodeSandbox",
    "DiagnosticContext",
    "Effect",
    "ErasedTool",
    "ExecResult",
    "FieldFault",
    "FromEnv",
    "FunctionTool",
    "McpError",
    "McpPrompt",
    "McpResource",
    "McpSessionController",
    "McpTimeout",
    "McpTool",
    "McpToolManager",
    "NodeReport",
    "NodeReportingContext",
    "ReceiptJournal",
    "SandboxError",
    "ScopedSubFlowLogger",
    "SubFlowLogger",
    "ToolCancelled",
    "ToolChunk",
    "ToolControlPattern",
    "ToolController",
    "ToolDiagnosed",
    "ToolError",
    "ToolErrorInfo",
    "ToolEvent",
    "ToolExecutionContext",
    "ToolFinished",
    "ToolInputError",
    "ToolLogged",
    "ToolObserver",
    "ToolReceipt",
    "ToolRegistry",
    "ToolReport",
    "ToolReported",
    "ToolScope",
    "ToolStarted",
    "ToolStatus",
    "bind_scope",
    "current_context",
    "current_scope",
    "define_tool",
    "tool",
]
