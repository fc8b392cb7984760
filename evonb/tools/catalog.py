"""Which tools there are: by id, as they were accepted, with what a model is told and what they remember."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from evonb.tools.define import as_tool, function_schema_of
from evonb.tools.erased import ErasedTool, check_tool, declared_mode
from evonb.tools.errors import ToolError
from evonb.tools.functions import FunctionTool
from evonb.tools.receipts import Effect, Mode
from evonb.tools.runner import RunIn
from evonb.tools.text import near
from evonb.typing import ToolManagerState

__all__ = ["Entry", "ToolCatalog"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A tool as it was accepted: what it declared, with defaults filled in and checked."""

    tool: ErasedTool
    mode: Mode
    effect: Effect
    timeout_s: float | None
    exclusive: bool
    run_in: RunIn

    @classmethod
    def of(cls, tool: ErasedTool) -> Entry:
        """Read what a tool declares.

        Raises:
            ToolError: It declares something unknown.
        """
        return cls(
            tool=tool,
            mode=declared_mode(tool),
            effect=_choice(tool, "effect", ("none", "read", "write"), "write"),  # unknown: treat it as one that acts
            timeout_s=_seconds(tool),
            exclusive=bool(getattr(tool, "exclusive", False)),
            run_in=_choice(tool, "run_in", ("thread", "loop"), "thread"),
        )

    def expected_arguments(self) -> str | None:
        """The arguments in short, if the tool can say them."""
        expected = getattr(self.tool, "expected_arguments", None)
        return str(expected()) if callable(expected) else None

    def argument_names(self) -> list[str]:
        """The names of the arguments, if the tool can say them."""
        names = getattr(self.tool, "argument_names", None)
        return list(names()) if callable(names) else []


class ToolCatalog:
    """Tools by id, in the order in which they were added. Usable from any thread."""

    def __init__(self, tools: Iterable[Any] = ()) -> None:
        self._entries: dict[str, Entry] = {}
        self._lock = threading.RLock()
        for tool in tools:
            self.add(tool)

    def add(self, tool: Any, *, replace: bool = False) -> ErasedTool:
        """Accept a tool, or make one out of a function first.

        Raises:
            ToolError: It isn't a tool, or its id is taken and `replace` is off.
        """
        made = as_tool(tool)
        check_tool(made)
        entry = Entry.of(made)
        with self._lock:
            if made.id in self._entries and not replace and self._entries[made.id].tool is not made:
                raise ToolError(
                    f"There is a tool '{made.id}' already",
                    where=f"{type(self).__name__}.add",
                    fix="give this one another name, or add it with replace=True",
                )
            self._entries[made.id] = entry
        return made

    def remove(self, tool_id: str) -> None:
        """Take a tool away; calls that run go on.

        Raises:
            ToolError: There is no such tool.
        """
        with self._lock:
            self.get(tool_id)
            del self._entries[tool_id]

    def get(self, tool_id: str) -> ErasedTool:
        """The tool with that id.

        Raises:
            ToolError: There is none; near ids are named.
        """
        entry = self._entries.get(tool_id)
        if entry is None:
            raise ToolError(
                f"There is no tool '{tool_id}'",
                where=type(self).__name__,
                fix=near(tool_id, self._entries) or f"the tools are: {', '.join(self._entries) or 'none yet'}",
            )
        return entry.tool

    @property
    def ids(self) -> list[str]:
        """The ids, in the order in which the tools were added."""
        return list(self._entries)

    def __contains__(self, tool_id: object) -> bool:
        return tool_id in self._entries

    def __iter__(self) -> Iterator[ErasedTool]:
        return iter([entry.tool for entry in self._entries.values()])

    def __len__(self) -> int:
        return len(self._entries)

    def function_schemas(self) -> list[dict[str, Any]]:
        """What a model is told about the tools, in the form of OpenAI-compatible servers.

        Raises:
            ToolError: A tool has no schema or no description.
        """
        return [function_schema_of(tool) for tool in self]

    def dump_state(self) -> ToolManagerState:
        """What the tools with an `inner_state` remember now; a copy that later calls don't change."""
        kept = {
            tool.id: tool.inner_state.model_copy(deep=True)
            for tool in self
            if isinstance(tool, FunctionTool) and tool.inner_state is not None
        }
        return ToolManagerState(state=kept)

    def load_state(self, state: ToolManagerState) -> None:
        """Give the tools back what they remembered. All of it or nothing: on an error no tool has changed.

        Raises:
            ToolError: The state names a tool that isn't here, or one that remembers nothing.
        """
        with self._lock:
            for tool_id in state.state:
                tool = self.get(tool_id)
                if not isinstance(tool, FunctionTool) or tool.inner_state is None:
                    raise ToolError(
                        f"The tool '{tool_id}' has no inner state that could be restored",
                        where=f"{type(self).__name__}.load_state",
                        fix="give its function a parameter `inner_state: ToolInnerState`",
                    )
            for tool_id, inner in state.state.items():
                tool = self.get(tool_id)
                assert isinstance(tool, FunctionTool)
                tool.restore(inner)


def _seconds(tool: ErasedTool) -> float | None:
    value = getattr(tool, "timeout_s", None)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool) and value > 0):
        return value
    raise ToolError(
        f"The time limit {value!r} isn't a number of seconds above 0",
        where=f"tool '{tool.id}'",
        fix="give timeout_s in seconds, or leave it out for the registry's limit",
    )


def _choice(tool: ErasedTool, name: str, known: tuple[str, ...], default: str) -> Any:
    value = getattr(tool, name, None)
    if value is None:
        return default
    if value not in known:
        raise ToolError(
            f"Unknown {name} {value!r}, expected one of {', '.join(map(repr, known))}",
            where=f"tool '{tool.id}'",
            fix=near(str(value), known) or f"leave it out for {default!r}",
        )
    return value
