"""From a link to a live client of the MCP SDK, and from its errors to ours. Only this module knows the SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TextIO
from urllib.parse import urlsplit, urlunsplit

from evonb._optional import require
from evonb._secrets import FromEnv
from evonb.errors import MissingDependency
from evonb.tools.errors import ToolError
from evonb.typing import McpServerLink, SseLink, StdioLink, StreamableHttpLink

__all__ = ["McpError", "McpTimeout", "explain", "is_lost", "open_client", "read_limit_s", "shown_link"]

_PURPOSE = "to talk to MCP servers"
_LATER_S = 5.0
"""The connection's own limit comes after the answer's, or a late answer would look like a lost connection."""


class McpError(ToolError):
    """An MCP server can't be reached, went away, or refused."""

    category = "connection"


class McpTimeout(McpError, TimeoutError):
    """An MCP server didn't answer in time."""

    category = "timeout"
    __str__ = ToolError.__str__


@asynccontextmanager
async def open_client(link: McpServerLink, *, errlog: TextIO, on_end: Callable[[], object]) -> AsyncIterator[Any]:
    """A connected client, closed again at the end of the block; both have to happen in one task.

    Args:
        link: Where the server is.
        errlog: What a stdio server writes to its standard error; has to be a real file.
        on_end: Called when the server ends the connection.

    Raises:
        MissingDependency: The package `mcp` is missing, or older than 2.
        Exception: Whatever the SDK raises; `explain` makes words of it.
    """
    mcp = require("mcp", _PURPOSE)
    if not hasattr(mcp, "Client"):
        raise MissingDependency(
            "The package 'mcp' is too old: version 2 or later is needed", fix="pip install 'mcp>=2'"
        )
    async with AsyncExitStack() as stack:
        transport = await _transport(link, errlog, stack)
        watched = _watched(transport, on_end)
        yield await stack.enter_async_context(mcp.Client(watched, read_timeout_seconds=read_limit_s(link)))


def read_limit_s(link: McpServerLink) -> float:
    """How long one answer of the server may take."""
    return link.read_time_out if isinstance(link, StdioLink) else link.sse_read_timeout


def shown_link(link: McpServerLink) -> str:
    """Where the server is, without passwords and queries, which may hold secrets."""
    if isinstance(link, StdioLink):
        return link.command_line()
    parts = urlsplit(link.url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def is_lost(error: BaseException) -> bool:
    """Whether the error says that the connection is gone, so that the next call needs a new one."""
    return bool(getattr(error, "code", None) == require("mcp.types", _PURPOSE).CONNECTION_CLOSED)


def explain(
    error: BaseException, name: str, link: McpServerLink, *, doing: str, said: str = "", lost: bool = False
) -> McpError:
    """The error in our words; the SDK's own is its cause.

    Args:
        error: What the SDK raised, also as a group.
        name: The server's name.
        link: Its settings.
        doing: What was being done, as in "connecting".
        said: The end of what a stdio server wrote to its standard error.
        lost: Whether a connection that was there is gone.
    """
    leaf = _leaf(error)
    if isinstance(leaf, McpError):
        return leaf
    what, fix = _told(leaf, name, link, lost=lost)
    if isinstance(leaf, TimeoutError) and doing == "connecting":
        fix = "look whether it hangs at its start, or raise connect_timeout_s"
    kind = McpTimeout if _is_late(leaf) and not (lost or is_lost(leaf)) else McpError
    made = kind(
        f"{what}{f'; it last wrote: {said}' if said else ''}",
        where=f"MCP server '{name}' ({shown_link(link)}), {doing}",
        fix=fix,
    )
    made.__cause__ = leaf
    return made


def _told(leaf: BaseException, name: str, link: McpServerLink, *, lost: bool) -> tuple[str, str]:
    """What happened, and what to do about it."""
    if lost or is_lost(leaf):
        return (
            f"The MCP server '{name}' went away",
            "call again: it is connected anew; if it keeps ending, look into its output",
        )
    if isinstance(link, StdioLink) and isinstance(leaf, OSError) and not isinstance(leaf, TimeoutError):
        return (
            f"The program '{link.command}' can't be started: {leaf.strerror or leaf}",
            "check command, args and cwd of the StdioLink; is the program installed?",
        )
    if _is_late(leaf):
        setting = "read_time_out" if isinstance(link, StdioLink) else "sse_read_timeout"
        return (
            f"The MCP server '{name}' didn't answer in time",
            f"look whether it hangs, or raise {setting} of its link",
        )
    if hasattr(leaf, "code"):
        return f"The MCP server '{name}' refused: {leaf}", "check the names and arguments in the request"
    return (
        f"The MCP server '{name}' can't be reached: {type(leaf).__name__}: {_without_secrets(leaf, link)}",
        "check the link and whether the server is running",
    )


def _is_late(error: BaseException) -> bool:
    return isinstance(error, TimeoutError) or (
        getattr(error, "code", None) == require("mcp.types", _PURPOSE).REQUEST_TIMEOUT
    )


def _without_secrets(error: BaseException, link: McpServerLink) -> str:
    return str(error) if isinstance(link, StdioLink) else str(error).replace(link.url, shown_link(link))


async def _transport(link: McpServerLink, errlog: TextIO, stack: AsyncExitStack) -> Any:
    if isinstance(link, StdioLink):
        stdio = require("mcp.client.stdio", _PURPOSE)
        parameters = {**link.server_parameters(), "env": _read(link.env, "variable", link)}
        return stdio.stdio_client(stdio.StdioServerParameters(**parameters), errlog=errlog)
    headers = _read(link.headers, "header", link)
    if isinstance(link, SseLink):
        sse = require("mcp.client.sse", _PURPOSE)
        limit_s = read_limit_s(link) + _LATER_S
        return sse.sse_client(link.url, headers, timeout=link.timeout, sse_read_timeout=limit_s)
    return await _streamable(link, headers, stack)


def _read(values: Mapping[str, Any] | None, kind: str, link: McpServerLink) -> dict[str, str] | None:
    """The values as texts; those that stand for a variable of our environment are read now."""
    if values is None:
        return None
    return {
        name: value.read(f"the {kind} {name!r}", f"MCP link {shown_link(link)}", McpError)
        if isinstance(value, FromEnv)
        else str(value)
        for name, value in values.items()
    }


async def _streamable(link: StreamableHttpLink, headers: dict[str, str] | None, stack: AsyncExitStack) -> Any:
    httpx = require("httpx2", _PURPOSE)
    limits = httpx.Timeout(link.timeout, read=read_limit_s(link) + _LATER_S)
    client = await stack.enter_async_context(httpx.AsyncClient(headers=headers, timeout=limits))
    http = require("mcp.client.streamable_http", _PURPOSE)
    return http.streamable_http_client(link.url, http_client=client, terminate_on_close=link.terminate_on_close)


@asynccontextmanager
async def _watched(transport: Any, on_end: Callable[[], object]) -> AsyncIterator[Any]:
    async with transport as (reading, writing):
        yield _WatchedStream(reading, on_end), writing


class _WatchedStream:
    """Passes a stream of the SDK on and tells its end: the client itself says nothing until it is used again."""

    def __init__(self, stream: Any, on_end: Callable[[], object]) -> None:
        self._stream = stream
        self._on_end = on_end

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> _WatchedStream:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except StopAsyncIteration:
            self._on_end()
            raise

    async def receive(self) -> Any:
        try:
            return await self._stream.receive()
        except Exception:
            self._on_end()
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> _WatchedStream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *about: Any) -> Any:
        return await self._stream.__aexit__(*about)


def _leaf(error: BaseException) -> BaseException:
    """The first real error in a group of groups, as task groups raise them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
