"""The log of a session: what its nodes printed, warned of and raised, and what log points say; bounded."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from evonb.graph.topology import node_id
from evonb.protocol.debugging import WireLog
from evonb.widgets.node_output import Stream

__all__ = ["SessionLog"]

MAX_LINES = 2_000
MAX_CHARS = 2_000
"""A line longer than this is cut."""

Level = Literal["out", "warning", "error", "log"]
_LEVELS: Mapping[Stream, Level] = {"stdout": "out", "stderr": "warning"}


@dataclass(slots=True)
class _Line:
    node: str
    level: Level
    text: str
    task: str = ""
    step: int | None = None


class SessionLog:
    """Lines in the order in which they were ended. Any thread may write."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: deque[_Line] = deque(maxlen=MAX_LINES)
        self._open: dict[tuple[str, Stream], str] = {}

    def write(self, node: str, stream: Stream, text: str) -> None:
        """Take in what a node wrote; whole lines become lines of the log, the rest waits for its end."""
        with self._lock:
            *whole, rest = (self._open.pop((node, stream), "") + text).split("\n")
            for line in whole:
                self._add(node, _LEVELS[stream], line)
            if rest:
                self._open[node, stream] = rest[-MAX_CHARS:]

    def add(self, node: str, level: Level, text: str, *, step: int | None = None) -> None:
        """Add a line, or several."""
        with self._lock:
            for line in text.splitlines() or [""]:
                self._add(node, level, line, step)

    def ended(self, node: str, task: str) -> None:
        """A task of the node is over: what it and the nodes within it wrote is its own, and no line of it is open."""
        with self._lock:
            for key in [key for key in self._open if _is_within(key[0], node)]:
                self._add(key[0], _LEVELS[key[1]], self._open.pop(key))
            for line in self._lines:
                if not line.task and line.step is None and _is_within(line.node, node):
                    line.task = task

    def lines(self, steps: Mapping[str, int], newest: int) -> list[WireLog]:
        """The newest lines.

        Args:
            steps: The step that each task became.
            newest: How many lines.
        """
        with self._lock:
            lines = list(self._lines)[-newest:]
        return [
            {
                "step": line.step if line.step is not None else steps.get(line.task),
                "node": line.node,
                "level": line.level,
                "text": line.text,
            }
            for line in lines
        ]

    def clear(self) -> None:
        with self._lock:
            self._lines.clear()
            self._open.clear()

    def _add(self, node: str, level: Level, text: str, step: int | None = None) -> None:
        # A progress bar writes over its own line: only what stands there at last counts.
        text = text.rstrip("\r").rpartition("\r")[2]
        cut = text if len(text) <= MAX_CHARS else text[: MAX_CHARS - 1] + "…"
        self._lines.append(_Line(node, level, cut, step=step))


def _is_within(node: str, outer: str) -> bool:
    return node == outer or node.startswith(node_id((outer,), ""))
