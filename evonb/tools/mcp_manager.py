"""The tools, prompts and resources of several MCP servers, under one roof.

Servers are started only for links that the user wrote. Connections belong to `mcp_session.py`, calls to the registry.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from evonb.tools.context import ToolExecutionContext
from evonb.tools.controller import ToolController
from evonb.tools.errors import ToolError
from evonb.tools.failures import Place, raised
from evonb.tools.mcp_answers import McpPrompt, McpResource, prompt_messages
from evonb.tools.mcp_servers import AnyLink, McpServers, all_pages
from evonb.tools.mcp_tool import McpTool, progress_report
from evonb.tools.receipts import ToolErrorInfo, ToolReceipt
from evonb.tools.registry import ToolRegistry
from evonb.typing import PromptRequest, ResourceRequest, ToolCall, ToolCallResult, ToolInnerState, ToolManagerState

__all__ = ["McpToolManager"]


class McpToolManager:
    """Several MCP servers by name. A tool is called `server_tool`, so two servers may have tools of one name.

    Use it as `async with McpToolManager(...) as manager`, or call `connect` and `disconnect` yourself. A server that
    went away is connected anew by the next request.

    Args:
        server_links: Links by server name; dicts of their fields will do.
        timeout: Seconds for each tool call.
        tool_controller: Which tools are active; None leaves all of them so.
        persistent_link: Keep one connection for each server. Without it every request has a connection of its own,
            and a stdio server starts afresh each time and forgets what it knew.
        connect_timeout_s: How long connecting to a server may take.

    Raises:
        ToolError: A name or a link isn't usable.
    """

    def __init__(
        self,
        server_links: Mapping[str, AnyLink] | None = None,
        timeout: float = 300,
        tool_controller: ToolController | None = None,
        persistent_link: bool = True,
        *,
        connect_timeout_s: float = 30.0,
    ) -> None:
        self.timeout = timeout
        self.registry = ToolRegistry(before_execute=self._refuse_inactive)
        self._controller = tool_controller
        self._servers = McpServers(persistent_link=persistent_link, connect_timeout_s=connect_timeout_s)
        self._tools: dict[str, dict[str, McpTool]] = {}
        self._state = ToolManagerState()
        self._servers.add(server_links or {})

    # -- servers -----------------------------------------------------------------------------------

    async def add_mcp_servers(self, mcp_server_links: Mapping[str, AnyLink]) -> None:
        """Add servers; they are connected when they are needed. All of them or, on an error, none."""
        self._servers.add(mcp_server_links)

    async def delete_mcp_servers(self, mcp_server_names: Iterable[str]) -> None:
        """Disconnect servers and forget them and their tools.

        Raises:
            ToolError: There is no such server; a `KeyError` too. Nothing is deleted then.
        """
        names = list(mcp_server_names)
        sessions = self._servers.remove(names)
        for name in names:
            for gone in self._tools.pop(name, {}).values():
                self.registry.remove(gone.id)
        await asyncio.gather(*(session.disconnect() for session in sessions))

    async def connect(self, server_name: str | None = None) -> None:
        """Connect one server, or all of them at once. Those that can be connected are, whatever the others do.

        Raises:
            McpError: Some can't be reached; all of them are named.
        """
        await self._servers.connect(server_name)

    async def disconnect(self, server_name: str | None = None) -> None:
        """Disconnect one server, or all of them; also when the links are persistent."""
        await self._servers.disconnect(server_name)

    @property
    def server_names(self) -> list[str]:
        """The names of the servers."""
        return self._servers.names()

    async def get_mcp_status(self) -> dict[str, bool]:
        """Which servers are connected now."""
        return self._servers.status()

    def connected(self, server_name: str) -> bool:
        """Whether that server is connected now, without waiting for anything."""
        return self._servers.get(server_name).is_connect

    async def __aenter__(self) -> McpToolManager:
        try:
            await self.connect()
        except BaseException:
            await self.disconnect()
            raise
        return self

    async def __aexit__(self, *about: object) -> None:
        await self.disconnect()

    # -- tools -------------------------------------------------------------------------------------

    async def tools(self, server_name: str | None = None) -> list[McpTool]:
        """The tools that the servers offer now, active or not, each ready for any `ToolRegistry`."""
        found = await self._servers.of_each(server_name, self._fetch_tools)
        return [tool for tools in found for tool in tools]

    async def list_tools(self, server_name: str | None = None) -> list[dict[str, Any]]:
        """What a model is told about the active tools, in the form of OpenAI-compatible servers.

        Raises:
            McpError: A server can't be reached.
        """
        schemas = [tool.function_schema() for tool in await self.tools(server_name)]
        return schemas if self._controller is None else self._controller.filter_tool_list(schemas)

    async def call_tools(self, tasks: Iterable[ToolCall]) -> list[ToolCallResult]:
        """Make the calls of a model at once; the results are in their order, and none sinks another."""
        return [receipt.to_result() for receipt in await self.receipts(tasks)]

    async def receipts(self, tasks: Iterable[ToolCall], max_concurrency: int | None = None) -> list[ToolReceipt]:
        """`call_tools` with the receipts: ids, status, progress, errors."""
        calls = list(tasks)
        if any(call.function.name not in self.registry for call in calls):
            await self._learn_tools()
        return await self.registry.ainvoke_many(calls, max_concurrency)

    async def set_tool_controller(self, controller: ToolController | None) -> None:
        """Decide from now on which tools are active; None makes all of them so."""
        self._controller = controller

    async def get_tool_controller(self) -> ToolController | None:
        """What decides which tools are active."""
        return self._controller

    # -- prompts and resources ---------------------------------------------------------------------

    async def list_prompts(self, server_name: str | None = None) -> list[dict[str, Any]]:
        """The prompts that the servers offer, each with its `server_name`."""
        return await self._servers.listing(server_name, "list_prompts", "prompts", "prompts")

    async def list_resources(self, server_name: str | None = None) -> list[dict[str, Any]]:
        """The resources that the servers offer, each with its `server_name`."""
        return await self._servers.listing(server_name, "list_resources", "resources", "resources")

    async def list_resource_templates(self, server_name: str | None = None) -> list[dict[str, Any]]:
        """The templates of resources that the servers offer, each with its `server_name`."""
        return await self._servers.listing(server_name, "list_resource_templates", "resource_templates", "resources")

    async def read_resource(self, resources: Iterable[ResourceRequest]) -> list[McpResource]:
        """Read resources at once; the answers are in order of the requests, and one that fails carries its error."""

        async def one(request: ResourceRequest) -> McpResource:
            made = McpResource(server_name=request.server_name, url=request.url)
            try:
                got = await self._servers.ask(
                    request.server_name, lambda client: client.read_resource(request.url), f"reading {request.url}"
                )
            except ToolError as error:
                made.error = _info(error, request)
            else:
                made.contents = [
                    each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in got.contents
                ]
            return made

        return await asyncio.gather(*(one(request) for request in resources))

    async def get_prompt(self, prompt_requests: Iterable[PromptRequest]) -> list[McpPrompt]:
        """Fill in prompts at once; the answers are in order of the requests, and one that fails carries its error."""

        async def one(request: PromptRequest) -> McpPrompt:
            made = McpPrompt(server_name=request.server_name, prompt_name=request.prompt_name)
            try:
                got = await self._servers.ask(
                    request.server_name,
                    lambda client: client.get_prompt(request.prompt_name, request.arguments),
                    f"filling in prompt '{request.prompt_name}'",
                )
            except ToolError as error:
                made.error = _info(error, request)
            else:
                made.description, made.messages = got.description, prompt_messages(got)
            return made

        return await asyncio.gather(*(one(request) for request in prompt_requests))

    # -- memory ------------------------------------------------------------------------------------

    def dump_state(self) -> ToolManagerState:
        """What is known about the tools: what their servers told, whether they are active, what `tool_state` holds."""
        for name, tools in self._tools.items():
            for tool in tools.values():
                kept = self.tool_state(tool.id)
                kept.meta_state = {"server_name": name, "told": tool.told, "active": self._is_active(tool.id)}
        return self._state.model_copy(deep=True)

    def tool_state(self, tool_id: str) -> ToolInnerState:
        """A place for what the caller wants to remember about a tool; saved and restored with the rest."""
        return self._state.state.setdefault(tool_id, ToolInnerState())

    def restore_state(self, state: ToolManagerState) -> None:
        """Take over what `dump_state` gave. Tools are known again without asking their servers.

        Raises:
            ToolError: A tool belongs to a server that isn't here. Nothing has changed then.
        """
        for tool_id, inner in state.state.items():
            if "server_name" in inner.meta_state:
                self._servers.get(inner.meta_state["server_name"], where=f"state of tool '{tool_id}'")
        self._state = state.model_copy(deep=True)
        for tool_id, inner in self._state.state.items():
            meta = inner.meta_state
            if "told" in meta:
                self._keep(meta["server_name"], self._tool(meta["server_name"], meta["told"]))
            if meta.get("active", True) != self._is_active(tool_id):
                self._switch(tool_id, on=bool(meta["active"]))

    async def save_state(self, save_path: str | Path) -> None:
        """Write `dump_state` to a JSON file; the file is whole or not there."""
        target = Path(save_path)
        text = self.dump_state().model_dump_json(indent=2)
        await asyncio.to_thread(_write_whole, target, text)

    async def load_state(self, load_path: str | Path) -> None:
        """`restore_state` from a file that `save_state` wrote.

        Raises:
            ToolError: The file isn't there or isn't such a state.
        """
        try:
            text = await asyncio.to_thread(Path(load_path).read_text, encoding="utf-8")
            state = ToolManagerState.model_validate_json(text)
        except (OSError, ValueError) as error:
            raise ToolError(
                f"The state can't be loaded: {error}",
                where=f"file {load_path}",
                fix="give the path of a file that save_state wrote",
            ) from error
        self.restore_state(state)

    def to_saved(self) -> dict[str, Any]:
        """What a saved graph holds of it: links without their secrets, settings, what is known about the tools."""
        return {
            "server_links": self._servers.links(),
            "timeout": self.timeout,
            "tool_controller": self._controller,
            "persistent_link": self._servers.persistent_link,
            "connect_timeout_s": self._servers.connect_timeout_s,
            "state": self.dump_state(),
        }

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """A manager with these links; servers are started and reached when a tool is needed."""
        manager = cls(**{name: value for name, value in fields.items() if name != "state"})
        manager.restore_state(fields["state"])
        return manager

    # -- inside ------------------------------------------------------------------------------------

    async def _fetch_tools(self, name: str) -> list[McpTool]:
        entries = await self._servers.ask(
            name, lambda client: all_pages(client, "list_tools", "tools", "tools"), "list_tools"
        )
        for gone in self._tools.pop(name, {}).values():
            self.registry.remove(gone.id)
        for entry in entries:
            self._keep(name, self._tool(name, entry.model_dump(mode="json", by_alias=True, exclude_none=True)))
        return list(self._tools.get(name, {}).values())

    async def _learn_tools(self) -> None:
        """Ask all servers for their tools. One that can't be reached has none: its calls end as not found."""
        await asyncio.gather(*(self._fetch_tools(name) for name in self._servers.names()), return_exceptions=True)

    def _tool(self, name: str, told: dict[str, Any]) -> McpTool:
        return McpTool(name, told, self._call_server, timeout_s=self.timeout)

    def _keep(self, name: str, tool: McpTool) -> None:
        self.registry.add(tool, replace=True)
        self._tools.setdefault(name, {})[tool.tool_name] = tool

    async def _call_server(
        self, server_name: str, tool_name: str, arguments: dict[str, Any], context: ToolExecutionContext
    ) -> Any:
        async def on_progress(current: float, total: float | None, message: str | None) -> None:
            context.report(progress_report(current, total, message))

        return await self._servers.ask(
            server_name,
            lambda client: client.call_tool(tool_name, arguments, progress_callback=on_progress),
            f"calling tool '{tool_name}'",
        )

    def _is_active(self, tool_id: str) -> bool:
        return self._controller is None or self._controller.check_tool_status(tool_id)

    def _switch(self, tool_id: str, *, on: bool) -> None:
        if self._controller is None:
            self._controller = ToolController()
        (self._controller.activate_tool if on else self._controller.deactivate_tool)(tool_id)

    def _refuse_inactive(self, tool: Any, value: Any, context: ToolExecutionContext) -> None:
        if not self._is_active(tool.id):
            raise ToolError(f"the tool '{tool.id}' is switched off", fix="use another tool")


def _info(error: ToolError, request: ResourceRequest | PromptRequest) -> ToolErrorInfo:
    place = Place(f"MCP server '{request.server_name}'", json.dumps(request.model_dump(), ensure_ascii=False))
    return raised(place, error)


def _write_whole(target: Path, text: str) -> None:
    beside = target.with_name(f"{target.name}.part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(target)
