"""A small MCP server without any SDK, as somebody else would write it: the handshake of 2025, tools only, two pages.

It starts in no time, and it shows that clients depend on the protocol and not on the SDK at the other end.
"""

from __future__ import annotations

import json
import sys
from typing import Any

INTEGER = {"type": "integer"}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "add",
        "description": "Add two numbers.",
        "inputSchema": {"type": "object", "properties": {"a": INTEGER, "b": INTEGER}, "required": ["a"]},
        "annotations": {"readOnlyHint": True},
    },
    {"name": "count", "description": "Count the calls.", "inputSchema": {"type": "object", "properties": {}}},
    {"name": "odd/name.v2", "inputSchema": {"type": "object"}},
    {"name": "picture", "description": "Answer with a picture.", "inputSchema": {"type": "object"}},
]
calls = {"count": 0}


def text(value: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": str(value)}]}


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if name == "add":
        total = arguments["a"] + arguments.get("b", 1)
        return {**text(total), "structuredContent": {"result": total}}
    if name == "count":
        calls["count"] += 1
        return text(calls["count"])
    if name == "picture":
        return {"content": [{"type": "image", "data": "QUJD", "mimeType": "image/png"}]}
    return text("odd")


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "small", "version": "1"},
        }
    if method == "tools/list":
        second = params.get("cursor") == "two"
        return {"tools": TOOLS[2:]} if second else {"tools": TOOLS[:2], "nextCursor": "two"}
    if method == "tools/call":
        return call(params["name"], params.get("arguments") or {})
    return None


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = answer(request["method"], request.get("params") or {})
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        reply |= {"error": {"code": -32601, "message": "unknown method"}} if result is None else {"result": result}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
