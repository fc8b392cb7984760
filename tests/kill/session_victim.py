"""The process that debugs a graph and is killed in it; as `victim`, but with a whole session on top of the store.

python -m tests.kill.session_victim
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from evonb.graph import GraphEngineDebugger
from evonb.persistence import SqliteStore, sqlite
from tests.kill import session_graph
from tests.kill.victim import Victim, main


class SessionVictim(Victim):
    """Opens the newest run, goes on with it, begins another once it is over, and dies at the right moment.

    Here `acknowledged` counts the rows of the run that the store said it had written.
    """

    def __init__(self, order: dict[str, Any]) -> None:
        super().__init__(order)
        self.builder = session_graph.builder(Path(order["calls"]))
        self.note = session_graph.noting(Path(order["calls"]))
        self.calm: int = order["calm"]
        self.is_armed = False  # the first file that it opens tells how long that takes
        self.was_armed = self.target == "open"

    def watch(self) -> None:
        """As ever, and count the rows."""
        super().watch()
        begin, append, to_row = SqliteStore.begin, SqliteStore.append, sqlite.to_row

        def beginning(store: SqliteStore, *args: Any) -> None:
            self.acknowledged = 0
            begin(store, *args)

        def appending(store: SqliteStore, run_id: str, step: Any, documents: Any = None) -> None:
            append(store, run_id, step, documents)
            if not step.inner:
                self.acknowledged = step.number + 1
            self.calm -= 1
            if self.calm < 0 and not self.was_armed:
                self.is_armed = self.was_armed = True
            self.mark("between")

        def encoding(step: Any) -> Any:
            self.is_large = len(step.delta.get("body", b"")) > 100_000
            return to_row(step)

        sqlite.to_row = encoding
        SqliteStore.begin, SqliteStore.append = beginning, appending  # type: ignore[method-assign]

    def live(self) -> None:
        """Debug until it is over."""
        self.watch()
        asyncio.run(self._debug())

    async def _debug(self) -> None:
        graph = self._opened()
        while True:
            if graph.status in ("idle", "finished"):
                graph.set_breakpoint("plan")  # so that the first command is over at once
                self.note("begin", 0)
                await graph.debug(session_graph.INPUTS)
                graph.clear_all_breakpoint()
            while graph.status != "finished":
                # Stepping writes where the session stands, at its pauses; resuming writes nothing but steps.
                await (graph.step_over() if self.target in ("close", "insert", "between") else graph.resume())
                if self.target == "close":
                    graph.store.close()

    def _opened(self) -> GraphEngineDebugger:
        store = SqliteStore(self.path, session_graph.NAME)
        runs = store.runs()
        store.close()
        self.is_armed = self.target == "open"
        if runs:
            graph = GraphEngineDebugger.open(self.path, runs[0].run_id, graph=self.builder, name=session_graph.NAME)
            graph.clear_all_breakpoint()  # it may have been killed before it took its own away
            return graph
        return GraphEngineDebugger.of(self.builder, str(self.path), session_graph.NAME)


if __name__ == "__main__":
    main(SessionVictim)
