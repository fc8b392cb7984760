"""The debugger (being assembled)."""

from __future__ import annotations

from evonb.graph.engine import GraphEngine

__all__ = ["GraphEngineDebugger"]


class GraphEngineDebugger(GraphEngine):
    """An engine with breakpoints and steps."""

    db_file_path: str = ".state_storage.db"
    db_name: str = "graph state"
