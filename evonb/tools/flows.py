"""What a tool may write while it runs: log lines in scopes, diagnostic values, timed spans.

Everything goes through one `write` function of the invocation, which orders it and drops it after the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from evonb.tools.events import LogLevel

__all__ = ["DiagnosticContext", "ScopedSubFlowLogger", "SubFlowLogger"]

WriteLog = Callable[[LogLevel, str, tuple[str, ...], dict[str, Any]], None]
WriteDiagnostic = Callable[[str, Any, float | None], None]


class ScopedSubFlowLogger:
    """Writes lines of one invocation below one path of scopes. Usable from any thread.

    Lines keep the order in which they were written. After the invocation has ended they are dropped with a warning.

    Attributes:
        path: The scopes, from the outside in.
    """

    __slots__ = ("_write", "path")

    def __init__(self, write: WriteLog, path: tuple[str, ...] = ()) -> None:
        self._write = write
        self.path = path

    def scope(self, name: str) -> ScopedSubFlowLogger:
        """A logger one scope further in."""
        return ScopedSubFlowLogger(self._write, (*self.path, name))

    def debug(self, message: str, **data: Any) -> None:
        """Write a line that matters only when looking for a fault."""
        self._write("debug", message, self.path, data)

    def info(self, message: str, **data: Any) -> None:
        """Write an ordinary line."""
        self._write("info", message, self.path, data)

    def warning(self, message: str, **data: Any) -> None:
        """Write a line about something odd that doesn't stop the tool."""
        self._write("warning", message, self.path, data)

    def error(self, message: str, **data: Any) -> None:
        """Write a line about something that went wrong."""
        self._write("error", message, self.path, data)


class SubFlowLogger(ScopedSubFlowLogger):
    """The logger of one sub-flow of an invocation: the runtime makes it, owns it and closes it.

    Attributes:
        flow_id: The first part of the path of all its lines.
        closed: Whether the invocation has ended.
    """

    __slots__ = ("closed", "flow_id")

    def __init__(self, write: WriteLog, flow_id: str) -> None:
        super().__init__(write, (flow_id,))
        self.flow_id = flow_id
        self.closed = False


class DiagnosticContext:
    """Records values and times of one invocation, for whoever looks into it later.

    Attributes:
        invocation_id: The same as in the receipt and in every event.
    """

    __slots__ = ("_write", "invocation_id")

    def __init__(self, write: WriteDiagnostic, invocation_id: str) -> None:
        self._write = write
        self.invocation_id = invocation_id

    def record(self, name: str, value: Any) -> None:
        """Record a value under a name; a name may be used again."""
        self._write(name, value, None)

    @contextmanager
    def span(self, name: str, value: Any = None) -> Iterator[None]:
        """Time a block. It is recorded when the block is left, also by an exception."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._write(name, value, (time.perf_counter() - start) * 1000)
