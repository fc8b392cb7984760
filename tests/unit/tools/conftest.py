"""What the tests of tools share: a bare erased tool, and a recorder of events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evonb.tools import ToolEvent, ToolExecutionContext, ToolFinished


class BareTool:
    """An erased tool with nothing but the contract; each part can be replaced."""

    kind = "bare"
    description = None
    debug_steps: Callable[[Any, Any], object] | None = None

    def __init__(self, tool_id: str, execute: Callable[[Any, ToolExecutionContext], Any]) -> None:
        self.id = tool_id
        self.execute = execute
        self.parsed: list[Any] = []

    def parse_input(self, value: Any) -> Any:
        self.parsed.append(value)
        return value

    def parse_output(self, value: Any) -> Any:
        return value


class Recorder:
    """Keeps every event that it is told."""

    def __init__(self) -> None:
        self.events: list[ToolEvent] = []

    def __call__(self, event: ToolEvent) -> None:
        self.events.append(event)

    @property
    def names(self) -> list[str]:
        return [type(event).__name__ for event in self.events]

    def of(self, invocation_id: str) -> list[ToolEvent]:
        return [event for event in self.events if event.invocation_id == invocation_id]

    @property
    def finished(self) -> list[ToolFinished]:
        return [event for event in self.events if isinstance(event, ToolFinished)]


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def bare() -> type[BareTool]:
    return BareTool
