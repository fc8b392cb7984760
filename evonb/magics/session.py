"""What the magics know of one IPython shell: its graphs, and the cell that is open."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from evonb.errors import MagicError
from evonb.graph import GraphEngine
from evonb.magics.options import Options, near

__all__ = ["Entry", "OpenCell", "Session", "current", "end_session", "start_session"]


@dataclass(slots=True)
class Entry:
    """A graph that an `%%evograph` cell made.

    Attributes:
        engine: What the cell built.
        options: The cell's first line.
        text: The cell as written: classes of a cell have no source of their own.
    """

    engine: GraphEngine
    options: Options
    text: str


@dataclass(slots=True)
class OpenCell:
    """An `%%evograph` cell whose body runs.

    Attributes:
        collection: The context that collects nodes and edges, and what it gave.
        covered: What the user's namespace held under the names of the language.
    """

    options: Options
    collection: AbstractContextManager[Any]
    collected: Any
    covered: dict[str, object]


@dataclass(slots=True)
class Session:
    """The magics' memory of a shell.

    Attributes:
        entries: The graphs that cells made, by variable.
        open: The cell that runs.
        raw_cell: Its text.
        cell_number: The number in front of the cell that was compiled last; IPython itself counts on before it runs.
        debugging: The variable of the graph that `%evo debug` was given last.
    """

    shell: Any
    entries: dict[str, Entry] = field(default_factory=dict)
    open: OpenCell | None = None
    raw_cell: str = ""
    cell_number: int = 0
    debugging: str | None = None

    @property
    def namespace(self) -> dict[str, Any]:
        namespace: dict[str, Any] = self.shell.user_ns
        return namespace

    def graphs(self) -> dict[str, GraphEngine]:
        """All graphs that a variable holds, by its name; made by a cell or by plain code."""
        return {
            name: value
            for name, value in self.namespace.items()
            if isinstance(value, GraphEngine) and not name.startswith("_")
        }

    def graph(self, name: str) -> GraphEngine:
        """The graph in this variable.

        Raises:
            MagicError: There is none; near names are offered.
        """
        graphs = self.graphs()
        if name in graphs:
            return graphs[name]
        found = self.namespace.get(name)
        what = (
            f"{name!r} is a {type(found).__name__}, not a graph"
            if name in self.namespace
            else f"There is no graph {name!r}"
        )
        fix = near(name, list(graphs)) if graphs else "build one with a cell that begins with %%evograph NAME"
        raise MagicError(what, where="%evo", fix=fix)

    def cell_place(self) -> str:
        return f"cell [{self.cell_number or self.shell.execution_count}]"


_sessions: list[Session] = []


def start_session(shell: Any) -> Session:
    _sessions[:] = [Session(shell)]
    return _sessions[0]


def end_session() -> None:
    _sessions.clear()


def current() -> Session:
    """The session of the running shell.

    Raises:
        MagicError: The extension isn't loaded.
    """
    if not _sessions:
        raise MagicError("The notebook languages of evonb aren't loaded", fix="run: %load_ext evonb")
    return _sessions[0]
