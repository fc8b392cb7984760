"""The doors through which the graph core reaches outwards: the store and the renderer.

The only module of `evonb.graph` that may load a higher layer, and only when a door is opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from evonb.graph.topology import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """What is known of a run before its first step.

    Attributes:
        run_id: Unique; made by the engine.
        graph_name: The graph's name.
        name: The session's name for people, "" if it has none.
        started_at: Wall clock, seconds since the epoch.
        inputs: The input values.
        shape: A digest of the graph's topology, to tell a changed graph on reopening.
    """

    run_id: str
    graph_name: str
    name: str
    started_at: float
    inputs: Mapping[str, Any]
    shape: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStep:
    """One finished task: what it changed, where it came from and what follows from it.

    Attributes:
        number: The task's number, unique and growing within its run.
        branch: The branch (fork) that it belongs to, 0 for the main line.
        node: Its node's name.
        visit: The how-manieth execution of that node.
        parents: Numbers of the tasks before it.
        status: "done", "failed", "edited" (a value by hand), "skipped" (a delta by hand), "pinned" (the node's pinned
            delta), "replayed" (an effect's recorded delta), "limit" (the turn limit kept it from running), "stopped".
        at_s, duration_s: When it began on the run's clock, and how long it took.
        delta: What it wrote; values of any type that the store's codec knows.
        cut: Keys that a filter, a merge or an edit set anew, or None.
        snapshot: The state after it where one is kept, else None. What of it goes on from an earlier one is in `notes`.
        notes: Plain JSON that the debugger keeps with it: the hops taken, tasks made, effects, an error.
        inner: Whether it was made inside of a sub-graph's node. Such steps are counted apart, in a list of their own.
    """

    number: int
    branch: int
    node: str
    visit: int
    parents: tuple[int, ...]
    status: str
    at_s: float
    duration_s: float
    delta: Mapping[str, Any]
    cut: Mapping[str, Any] | None = None
    snapshot: Mapping[str, Any] | None = None
    notes: Mapping[str, Any] | None = None
    inner: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One line of a list of runs. `steps` counts rows but those inside of sub-graphs.

    `status` is the last written; "interrupted" if the process that ran it ended in the middle, as far as that is known.
    """

    run_id: str
    graph_name: str
    name: str
    started_at: float
    changed_at: float
    status: str
    steps: int
    size_bytes: int


class RunStore(Protocol):
    """Keeps runs. It knows nothing of graphs, and calls may come from any thread, one at a time.

    What can't be written costs one warning and nothing else: the store goes on in memory, and writes when it can.
    """

    def begin(self, header: RunHeader) -> None:
        """Register a run. A run id that exists already is an error."""

    def append(self, run_id: str, step: StoredStep, documents: Mapping[str, Any] | None = None) -> None:
        """Keep a step, and `documents` in the same transaction. After a crash it is there whole or not at all."""

    def put(self, run_id: str, documents: Mapping[str, Any]) -> None:
        """Replace small documents of plain JSON by name ("status", "position", "breakpoints"); None deletes."""

    def header(self, run_id: str) -> RunHeader:
        """The run's header. An unknown id is an error that offers near ones."""

    def document(self, run_id: str, name: str) -> Any:
        """A document, or None."""

    def step(self, run_id: str, number: int) -> StoredStep | None:
        """One step by number, values decoded."""

    def steps(
        self, run_id: str, *, after: int = 0, newest_first: bool = False, inner: bool = False
    ) -> Iterator[StoredStep]:
        """Steps in order of number, read as they are asked for; with `newest_first` from the last down to `after`.

        With `inner` those that were made inside of sub-graphs, else the others.
        """

    def drop_steps(self, run_id: str, numbers: list[int], documents: Mapping[str, Any] | None = None) -> None:
        """Take steps back (`restore_step`), and put `documents` in the same transaction."""

    def runs(self, graph_name: str | None = None) -> list[RunSummary]:
        """All runs, newest first."""

    def close(self) -> None:
        """Release the file. Closing twice is fine."""


def default_store(path: Path, name: str) -> RunStore:
    """The store of `evonb.persistence` at a file, loaded on first use. `name` keeps databases of one file apart."""
    module = import_module("evonb.persistence.sqlite")
    return cast(RunStore, module.SqliteStore(path, name))


class Renderer(Protocol):
    """Draws a graph without a notebook."""

    def html_page(self, topology: Topology) -> str:
        """One offline HTML page with the picture; names appear as text, never as markup."""

    def open_page(self, path: Path) -> None:
        """Show a written page in the user's browser."""


def default_renderer() -> Renderer:
    """The renderer of `evonb.export`, loaded on first use."""
    module = import_module("evonb.export.page")
    return cast(Renderer, module.PageRenderer())
