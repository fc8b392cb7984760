"""How MCP servers are reached. Settings only: connecting belongs to `evonb.tools`, and so does the `mcp` package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, Union

from pydantic import Field

from evonb.typing.base import Model

__all__ = ["MCPConfig", "McpServerLink", "SseLink", "StdioLink", "StreamableHttpLink"]


class StdioLink(Model):
    """A server that is started as a child process and spoken to over its standard streams.

    The fields below `read_time_out` are those of `mcp.StdioServerParameters`. They are declared here
    so that a link can be written, stored and loaded without the `mcp` package.

    Attributes:
        read_time_out: Seconds to wait for an answer.
        command: The program to start.
        args: Its arguments.
        env: Its environment; None lets the SDK choose a safe one.
        cwd: Its working folder; None is the current one.
        encoding: Of the text on both streams.
        encoding_error_handler: What to do with bytes that aren't such text.
    """

    type: Literal["StdioLink"] = "StdioLink"
    read_time_out: float = 10.0
    command: str
    args: list[str] = Field(default_factory=list)
    env: dict[str, str] | None = None
    cwd: str | Path | None = None
    encoding: str = "utf-8"
    encoding_error_handler: Literal["strict", "ignore", "replace"] = "strict"

    def server_parameters(self) -> dict[str, Any]:
        """The keyword arguments of `mcp.StdioServerParameters` for this link."""
        return self.model_dump(exclude={"type", "read_time_out"})


class SseLink(Model):
    """A server that is reached over HTTP with server-sent events; times are in seconds."""

    type: Literal["SseLink"] = "SseLink"
    url: str
    headers: dict[str, Any] | None = None
    timeout: float = 30.0
    sse_read_timeout: float = 300.0


class StreamableHttpLink(Model):
    """A server that is reached over streamable HTTP; times are in seconds."""

    type: Literal["StreamableHttpLink"] = "StreamableHttpLink"
    url: str
    headers: dict[str, Any] | None = None
    timeout: float = 30.0
    sse_read_timeout: float = 300.0
    terminate_on_close: bool = True


McpServerLink: TypeAlias = Annotated[
    Union[StdioLink, SseLink, StreamableHttpLink],  # noqa: UP007 - documented as a Union
    Field(discriminator="type"),
]
"""Any link; pydantic picks the class by `type`."""


class MCPConfig(Model):
    """Where a server is: the URL for SSE and HTTP, the absolute path of the server's file for stdio."""

    url: str
