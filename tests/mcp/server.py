"""A real MCP server for the tests: `server.py stdio`, or `server.py sse|streamable-http PORT`.

Its tools show what clients have to cope with: results of every kind, errors, progress, cancellation, sudden death.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import AssistantMessage, Message, UserMessage
from mcp.types import ToolAnnotations

server = MCPServer("tests", instructions="Only for tests.")
visits = {"count": 0}


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@server.tool(structured_output=False)
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"


@server.tool()
def report(items: list[str]) -> dict[str, Any]:
    """Answer with an object."""
    return {"items": items, "count": len(items)}


@server.tool()
def fail(why: str) -> str:
    """Fail with a reason."""
    raise ToolError(why)


@server.tool()
def wrap(items: list[int]) -> list[int]:
    """Answer with a list."""
    return items


@server.tool(name="odd/name.v2")
def odd() -> str:
    """Have a name that model servers refuse."""
    return "odd"


@server.tool()
def picture() -> Image:
    """Answer with a picture."""
    return Image(data=b"not really a picture", format="png")


@server.tool()
def count() -> int:
    """Count the calls of this process."""
    visits["count"] += 1
    return visits["count"]


@server.tool()
async def slow(path: str, ctx: Context) -> str:  # type: ignore[type-arg]
    """Report progress, then wait until cancelled; leave a mark in `path` when that happens."""
    await ctx.report_progress(1, 3, "started")
    try:
        await asyncio.Event().wait()
    finally:
        Path(path).write_text("cancelled")  # noqa: ASYNC240 - one word, and the task is being cancelled
    return "never"


@server.tool()
def die(path: str) -> str:
    """End the process in the middle of the call, after leaving a last word."""
    Path(path).write_text("dying")
    print("the last words of the server", file=sys.stderr, flush=True)
    os._exit(3)


@server.resource("notes://today")
def today() -> str:
    """The note of the day."""
    return "buy milk"


@server.resource("notes://{day}/text")
def note(day: str) -> str:
    """The note of a day."""
    return f"note of {day}"


@server.prompt()
def review(code: str) -> list[Message]:
    """Ask for a review."""
    return [UserMessage(f"Please review: {code}"), AssistantMessage("I'll look at it.")]


if __name__ == "__main__":
    kind = sys.argv[1]
    if kind == "crash":
        print("cannot read the configuration", file=sys.stderr, flush=True)
        raise SystemExit(4)
    if kind == "stdio":
        server.run("stdio")
    else:
        server.run(kind, host="127.0.0.1", port=int(sys.argv[2]))  # type: ignore[call-overload]
