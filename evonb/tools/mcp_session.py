"""The session with one MCP server: one connection after the other, as they are needed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from evonb.tools.mcp_connection import McpConnection
from evonb.typing import McpServerLink

__all__ = ["McpSessionController"]

T = TypeVar("T")


class McpSessionController:
    """Connects, keeps, loses and ends the connection to one server.

    Calls may come from any task and from any event loop; a connection lives in the loop that made it.

    Args:
        server_link: Where the server is.
        server_name: What it is called in errors.
        persistent_link: Keep the connection when a block is left; else the last one to leave ends it.
        connect_timeout_s: How long connecting may take, the start of a stdio server included.
    """

    def __init__(
        self,
        server_link: McpServerLink,
        server_name: str,
        persistent_link: bool = False,
        *,
        connect_timeout_s: float = 30.0,
    ) -> None:
        self.server_link = server_link
        self.server_name = server_name
        self.persistent_link = persistent_link
        self.connect_timeout_s = connect_timeout_s
        self._connection: McpConnection | None = None
        self._closing: set[McpConnection] = set()
        self._users = 0

    @property
    def session(self) -> Any:
        """The SDK's connected client; None while there is no connection."""
        return self._connection.client if self.is_connect and self._connection is not None else None

    @property
    def is_connect(self) -> bool:
        """Whether there is a connection. False as soon as the server has ended it."""
        return self._connection is not None and self._connection.is_open

    async def connect(self) -> None:
        """Connect, unless that is done already. Several callers at once share one connection.

        Raises:
            McpError: The server can't be started or reached, or doesn't answer in time.
        """
        await self._usable()

    async def disconnect(self) -> None:
        """End the connection and wait until it is closed; nothing happens when there is none."""
        if self._connection is not None:
            self._closing.add(self._connection)
            self._connection = None
        for connection in tuple(self._closing):
            if not connection.loop.is_closed():
                await _in_loop_of(connection, connection.close())
            self._closing.discard(connection)

    async def call(self, operation: Callable[[Any], Awaitable[T]], doing: str) -> T:
        """Connect if need be, and run `operation` with the SDK's client.

        Raises:
            McpError: Connecting failed, the server refused, or it went away meanwhile. The next call connects anew.
        """
        connection = await self._usable()
        return await _in_loop_of(connection, connection.call(operation, doing))

    async def __aenter__(self) -> McpSessionController:
        self._users += 1
        try:
            await self.connect()
        except BaseException:
            self._users -= 1
            raise
        return self

    async def __aexit__(self, *about: object) -> None:
        self._users -= 1
        if not self.persistent_link and self._users == 0:
            await self.disconnect()

    async def _usable(self) -> McpConnection:
        connection = self._connection
        if connection is None or not connection.is_usable:
            if connection is not None:
                self._closing.add(connection)  # it may still be closing; `disconnect` waits for it too
            connection = self._connection = McpConnection(self.server_link, self.server_name)
        if not connection.is_open:
            await _in_loop_of(connection, connection.opened(self.connect_timeout_s))
        return connection


async def _in_loop_of(connection: McpConnection, work: Coroutine[Any, Any, T]) -> T:
    if connection.loop is asyncio.get_running_loop():
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, connection.loop))
