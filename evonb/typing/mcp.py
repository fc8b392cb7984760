"""How MCP servers are reached. Settings only: connecting belongs to `evonb.tools`, and so does the `mcp` package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias, Union

from pydantic import Field

from evonb._secrets import FromEnv, check_address, check_no_secrets, is_secret, without_secrets
from evonb.typing.base import Model

_PLAIN = frozenset(("accept", "accept-language", "content-type", "user-agent"))
__all__ = ["MCPConfig", "McpServerLink", "SseLink", "StdioLink", "StreamableHttpLink"]


class StdioLink(Model):
    """A server that is started as a child process and spoken to over its standard streams.

    The fields below `read_time_out` are those of `mcp.StdioServerParameters`. They are declared here
    so that a link can be written, stored and loaded without the `mcp` package.

    Attributes:
        read_time_out: Seconds to wait for an answer.
        command: The program to start.
        args: Its arguments.
        env: Its environment; None lets the SDK choose a safe one. `FromEnv("NAME")` takes a value from ours.
        cwd: Its working folder; None is the current one.
        encoding: Of the text on both streams.
        encoding_error_handler: What to do with bytes that aren't such text.
    """

    type: Literal["StdioLink"] = "StdioLink"
    read_time_out: float = 10.0
    command: str
    args: list[str] = Field(default_factory=list)
    env: dict[str, str | FromEnv] | None = None
    cwd: str | Path | None = None
    encoding: str = "utf-8"
    encoding_error_handler: Literal["strict", "ignore", "replace"] = "strict"

    def server_parameters(self) -> dict[str, Any]:
        """The keyword arguments of `mcp.StdioServerParameters` for this link."""
        return {**self.model_dump(exclude={"type", "read_time_out", "env"}), "env": self.env}

    def command_line(self) -> str:
        """The command for people: what looks like a secret in it is left out."""
        return " ".join([self.command, *map(_shown, ["", *self.args], self.args)])

    def to_saved(self) -> dict[str, Any]:
        """What a saved graph holds of it; what looks like a secret in `env` is taken from our environment again.

        Raises:
            EvonbError: An argument of the program is a secret.
        """
        for before, arg in zip(["", *self.args], self.args, strict=False):
            check_no_secrets(dict([_option(before, arg)]), "args")
        env = None if self.env is None else without_secrets(self.env, "")
        return {**self.model_dump(), "cwd": None if self.cwd is None else str(self.cwd), "env": env}

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """A link of such settings."""
        return cls(**fields)


class _HttpLink(Model):
    url: str
    headers: dict[str, Any] | None = None
    timeout: float = 30.0
    sse_read_timeout: float = 300.0

    def to_saved(self) -> dict[str, Any]:
        """What a saved graph holds of it; the values of headers come from variables named `EVONB_HEADER_...`.

        Raises:
            EvonbError: The address holds a password or key.
        """
        check_address(self.url, "url")
        headers = None if self.headers is None else without_secrets(self.headers, "EVONB_HEADER_", plain=_PLAIN)
        return {**self.model_dump(), "headers": headers}

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """A link of such settings."""
        return cls(**fields)


class SseLink(_HttpLink):
    """A server that is reached over HTTP with server-sent events; times are in seconds."""

    type: Literal["SseLink"] = "SseLink"


class StreamableHttpLink(_HttpLink):
    """A server that is reached over streamable HTTP; times are in seconds."""

    type: Literal["StreamableHttpLink"] = "StreamableHttpLink"
    terminate_on_close: bool = True


McpServerLink: TypeAlias = Annotated[
    Union[StdioLink, SseLink, StreamableHttpLink],  # noqa: UP007 - documented as a Union
    Field(discriminator="type"),
]
"""Any link; pydantic picks the class by `type`."""


class MCPConfig(Model):
    """Where a server is: the URL for SSE and HTTP, the absolute path of the server's file for stdio."""

    url: str


def _shown(before: str, arg: str) -> str:
    name, value = _option(before, arg)
    if not is_secret(name, value):
        return arg
    return f"{name}=[hidden]" if arg.startswith("-") else "[hidden]"


def _option(before: str, arg: str) -> tuple[str, str]:
    """An argument as an option and its value: `--token=x`, `--token x`, or a value without a name."""
    name, is_joined, value = arg.partition("=")
    if is_joined and name.startswith("-"):
        return name, value
    is_value = before.startswith("-") and "=" not in before and not arg.startswith("-")
    return (before, arg) if is_value else ("", arg)
