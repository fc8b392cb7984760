"""Server-sent events, bytes to payloads. Pure: no sockets and no knowledge of what the payloads mean.

Written out here because real servers bend the format: payloads on neighbouring lines with no blank line between
them, a stream that ends without its last blank line, pings, and text that holds Unicode line separators, which
line splitters of HTTP clients take for line ends.
"""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["DONE", "SseDecoder", "payloads_of"]

DONE = "[DONE]"
"""The payload that ends a stream."""

# Only these three end a line; `bytes.splitlines` agrees, `str.splitlines` doesn't.
_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class SseDecoder:
    """Collects bytes, however they are cut, and gives out the data of each complete event.

    Example:
        >>> decoder = SseDecoder()
        >>> decoder.feed(b'data: {"a"'), decoder.feed(b': 1}' + bytes([10, 10]))
        ([], ['{"a": 1}'])
    """

    def __init__(self) -> None:
        self._pending = b""
        self._data: list[str] = []
        self._begun = False

    def feed(self, data: bytes) -> list[str]:
        """Take bytes; the data of the events that they complete, in order."""
        buffer = self._pending + data
        if not self._begun:
            if len(buffer) < len(_BOM) and _BOM.startswith(buffer):
                self._pending = buffer
                return []
            buffer = buffer.removeprefix(_BOM)
            self._begun = True
        *lines, self._pending = _LINE_END.split(buffer)
        if buffer.endswith(b"\r"):
            # A line feed may follow in the next bytes and belongs to this line end.
            self._pending = lines.pop() + b"\r"
        return [event for line in lines for event in self._line(line)]

    def close(self) -> list[str]:
        """The data of a last event whose blank line never came."""
        rest, self._pending = self._pending.rstrip(b"\r"), b""
        return [*self._line(rest), *self._line(b"")]

    def _line(self, line: bytes) -> list[str]:
        if line:
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" ").decode("utf-8", "replace"))
            return []  # comments (an empty name), `event`, `id` and `retry` carry nothing that we need
        event, self._data = "\n".join(self._data), []
        return [event] if event else []


def payloads_of(data: str) -> list[Any]:
    """The JSON values of one event; `DONE` stands for the end mark.

    Raises:
        ValueError: It isn't JSON.
    """
    if data.strip().startswith(DONE):
        return [DONE]
    try:
        return [json.loads(data)]
    except ValueError:
        lines = [line for line in data.split("\n") if line.strip()]
        if len(lines) < 2:
            raise
        return [value for line in lines for value in payloads_of(line)]
