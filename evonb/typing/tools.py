"""What tools are asked and what they answer, what they remember, and the settings of the code sandbox."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from evonb.typing.base import Model

__all__ = [
    "CodeExecDockerConfig",
    "PromptRequest",
    "ResourceRequest",
    "ToolCallResult",
    "ToolInnerState",
    "ToolManagerState",
]


class ToolCallResult(Model):
    """How one tool call ended.

    Attributes:
        tool_call_id: The call that this answers.
        success: Whether the tool returned.
        content: What it returned; after a failure a short description of it, fit for the model.
        traceback: The whole backtrace after a failure, for people; None otherwise.
    """

    tool_call_id: str
    success: bool
    content: Any
    traceback: str | None = None


class CodeExecDockerConfig(Model):
    """How the container of the code sandbox is started; the names are those of the Docker SDK."""

    image: str = "python:3-slim"
    auto_remove: bool = True
    working_dir: str = "/tmp"
    tty: bool = True
    detach: bool = True
    mem_limit: str = "4096m"
    cpu_quota: int = 50000
    entrypoint: str = "/bin/sh"
    command: str | list[str] | None = None
    name: str = "evofabric_sandbox"
    network: str = "host"
    volumes: dict[str, Any] | list[str] | None = None


class PromptRequest(Model):
    """Ask an MCP server for a prompt made from a template of its own."""

    server_name: str
    prompt_name: str
    arguments: dict[str, str]


class ResourceRequest(Model):
    """Ask an MCP server for a resource."""

    server_name: str
    url: str


class ToolInnerState(Model):
    """What one tool remembers between calls.

    Attributes:
        state: The tool's own values by name.
        meta_state: Values about the tool, by name.
    """

    type: Literal["ToolInnerState"] = "ToolInnerState"
    state: dict[str, Any] = Field(default_factory=dict)
    meta_state: dict[str, Any] = Field(default_factory=dict)


class ToolManagerState(Model):
    """What all tools of a manager remember, by tool name; survives a round trip through JSON."""

    type: Literal["ToolManagerState"] = "ToolManagerState"
    state: dict[str, ToolInnerState] = Field(default_factory=dict)
