"""MCP servers by name: adding, connecting, asking one or all of them. What they are asked isn't known here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from evonb.tools.errors import ToolError
from evonb.tools.failures import field_faults
from evonb.tools.mcp_answers import listed
from evonb.tools.mcp_link import McpError, shown_link
from evonb.tools.mcp_session import McpSessionController
from evonb.tools.text import near
from evonb.typing import McpServerLink

__all__ = ["AnyLink", "McpServers", "UnknownServer", "all_pages"]

T = TypeVar("T")
AnyLink = McpServerLink | Mapping[str, Any]
_LINK: TypeAdapter[McpServerLink] = TypeAdapter(McpServerLink)
_PAGES = 100  # a server whose listing never ends must not hang us


class UnknownServer(McpError, KeyError):
    """The documented `KeyError`, in the form of our errors."""

    __str__ = ToolError.__str__


class McpServers:
    """The sessions of several servers.

    Args:
        persistent_link: Keep the connections; else each question has one of its own.
        connect_timeout_s: How long connecting may take.
    """

    def __init__(self, *, persistent_link: bool, connect_timeout_s: float) -> None:
        self.persistent_link = persistent_link
        self.connect_timeout_s = connect_timeout_s
        self._sessions: dict[str, McpSessionController] = {}

    def add(self, links: Mapping[str, AnyLink]) -> None:
        """Add servers without connecting them. All of them or, on an error, none.

        Raises:
            ToolError: A name is taken or a link isn't usable.
        """
        made = {name: self._checked(name, link) for name, link in links.items()}
        for name, link in made.items():
            self._sessions[name] = McpSessionController(
                link, name, self.persistent_link, connect_timeout_s=self.connect_timeout_s
            )

    def remove(self, names: Iterable[str]) -> list[McpSessionController]:
        """Forget servers; their sessions come back, still connected. All of them or, on an error, none."""
        wanted = list(dict.fromkeys(names))
        for name in wanted:
            self.get(name)
        return [self._sessions.pop(name) for name in wanted]

    def get(self, name: str, *, where: str = "McpToolManager") -> McpSessionController:
        """The session of one server.

        Raises:
            UnknownServer: There is none of that name; near names are told.
        """
        if name not in self._sessions:
            known = ", ".join(self._sessions) or "none yet"
            raise UnknownServer(
                f"There is no MCP server '{name}'",
                where=where,
                fix=near(name, self._sessions) or f"the servers are: {known}",
            )
        return self._sessions[name]

    def names(self, server_name: str | None = None) -> list[str]:
        """All names, or just that one."""
        if server_name is None:
            return list(self._sessions)
        self.get(server_name)
        return [server_name]

    def links(self) -> dict[str, McpServerLink]:
        """How each server is reached."""
        return {name: session.server_link for name, session in self._sessions.items()}

    def status(self) -> dict[str, bool]:
        """Which servers are connected now."""
        return {name: session.is_connect for name, session in self._sessions.items()}

    async def connect(self, server_name: str | None = None) -> None:
        """Connect one or all; those that can be connected are, whatever the others do.

        Raises:
            McpError: Some can't be reached; all of them are named.
        """
        await self.of_each(server_name, lambda name: self._sessions[name].connect())

    async def disconnect(self, server_name: str | None = None) -> None:
        """Disconnect one or all."""
        await self.of_each(server_name, lambda name: self._sessions[name].disconnect())

    async def ask(self, name: str, operation: Callable[[Any], Awaitable[T]], doing: str) -> T:
        """Run `operation` with the SDK's client of one server, connected if need be.

        Raises:
            McpError: It can't be reached, refused or went away.
        """
        session = self.get(name)
        if self.persistent_link:
            return await session.call(operation, doing)
        async with session:
            return await session.call(operation, doing)

    async def of_each(self, server_name: str | None, one: Callable[[str], Awaitable[T]]) -> list[T]:
        """Do something with one or all servers at once; the results are in the order of the servers.

        Raises:
            McpError: It failed for some; all of them are named, after the others are done.
        """
        ended = await asyncio.gather(*(one(name) for name in self.names(server_name)), return_exceptions=True)
        _raise_all([each for each in ended if isinstance(each, BaseException)])
        return [each for each in ended if not isinstance(each, BaseException)]

    async def listing(self, server_name: str | None, method: str, field: str, capability: str) -> list[dict[str, Any]]:
        """The entries of a listing of one or all servers, each with its `server_name`."""

        async def one(name: str) -> list[dict[str, Any]]:
            return listed(
                name, await self.ask(name, lambda client: all_pages(client, method, field, capability), method)
            )

        return [entry for entries in await self.of_each(server_name, one) for entry in entries]

    def _checked(self, name: str, link: AnyLink) -> McpServerLink:
        if name in self._sessions:
            raise ToolError(
                f"There is an MCP server '{name}' already",
                where=f"MCP server '{name}' ({shown_link(self._sessions[name].server_link)})",
                fix="delete it first, or choose another name",
            )
        try:
            return _LINK.validate_python(link)
        except ValidationError as error:
            said = "; ".join(str(fault) for fault in field_faults(error))
            raise ToolError(
                f"The link isn't usable: {said}",
                where=f"MCP server '{name}'",
                fix="use StdioLink(command=...), SseLink(url=...) or StreamableHttpLink(url=...)",
            ) from error


async def all_pages(client: Any, method: str, field: str, capability: str) -> list[Any]:
    """All pages of a listing; nothing from a server that hasn't got that kind of thing."""
    if getattr(client.server_capabilities, capability, None) is None:
        return []
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await getattr(client, method)(cursor=cursor, cache_mode="refresh")
        found += getattr(page, field)
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


def _raise_all(errors: list[BaseException]) -> None:
    """Raise what went wrong with several servers as one error that names all of them."""
    if not errors:
        return
    for error in errors:
        if not isinstance(error, ToolError):
            raise error
    told = [error for error in errors if isinstance(error, ToolError)]
    if len(told) == 1:
        raise told[0]
    raise McpError(
        f"{len(told)} MCP servers can't be used: {'; '.join(error.what for error in told)}",
        where="; ".join(error.where for error in told),
        fix="; ".join(dict.fromkeys(error.fix for error in told)),
    ) from told[0]
