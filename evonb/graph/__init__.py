"""The graph core: build, run, watch. Needs pydantic only.

What a first run doesn't need (the debugger, events, checks) loads on first use, so that importing stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evonb.graph.builder import GraphBuilder
from evonb.graph.component import BaseComponent
from evonb.graph.edges import ConditionEdgeSpec, EdgeSpec, EdgeSpecBase, Send, StateFilterLike, cast_edge
from evonb.graph.engine import GraphEngine
from evonb.graph.failure import GraphWarning
from evonb.graph.handle import RunHandle
from evonb.graph.nodes import (
    AsyncNode,
    AsyncStreamNode,
    GraphNodeSpec,
    NodeBase,
    SyncNode,
    SyncStreamNode,
    callable_to_node,
)
from evonb.graph.strategies import StateUpdater, _append_messages, _overwrite_state_update_strategy
from evonb.graph.streaming import (
    StreamCtx,
    StreamWriter,
    current_ctx,
    get_stream_writer,
    set_streaming_handler,
    stream_writer_env,
)

if TYPE_CHECKING:
    from evonb.graph.debugger import GraphEngineDebugger
    from evonb.graph.dsl import END, START, edge, node, router
    from evonb.graph.retry import RetryPolicy
    from evonb.graph.runtime_task import RunTimeTask
    from evonb.graph.state import StateCkpt
    from evonb.graph.state_schema import generate_state_schema

__all__ = [
    "END",
    "START",
    "AsyncNode",
    "AsyncStreamNode",
    "BaseComponent",
    "ConditionEdgeSpec",
    "EdgeSpec",
    "EdgeSpecBase",
    "GraphBuilder",
    "GraphEngine",
    "GraphEngineDebugger",
    "GraphNodeSpec",
    "GraphWarning",
    "NodeBase",
    "RetryPolicy",
    "RunHandle",
    "RunTimeTask",
    "Send",
    "StateCkpt",
    "StateFilterLike",
    "StateUpdater",
    "StreamCtx",
    "StreamWriter",
    "SyncNode",
    "SyncStreamNode",
    "_append_messages",
    "_overwrite_state_update_strategy",
    "callable_to_node",
    "cast_edge",
    "current_ctx",
    "edge",
    "generate_state_schema",
    "get_stream_writer",
    "node",
    "router",
    "set_streaming_handler",
    "stream_writer_env",
]

_ON_FIRST_USE = {
    **dict.fromkeys(("END", "START", "edge", "node", "router"), "evonb.graph.dsl"),
    "GraphEngineDebugger": "evonb.graph.debugger",
    "RetryPolicy": "evonb.graph.retry",
    "RunTimeTask": "evonb.graph.runtime_task",
    "StateCkpt": "evonb.graph.state",
    "generate_state_schema": "evonb.graph.state_schema",
}


def __getattr__(name: str) -> Any:
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_ON_FIRST_USE[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_FIRST_USE})
