"""The graph core: build, run, watch. Needs pydantic only."""

from __future__ import annotations

from evonb.graph.builder import GraphBuilder
from evonb.graph.calling import RetryPolicy
from evonb.graph.component import BaseComponent
from evonb.graph.debugger import GraphEngineDebugger
from evonb.graph.dsl import END, START, edge, node, router
from evonb.graph.edges import ConditionEdgeSpec, EdgeSpec, EdgeSpecBase, Send, cast_edge
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
from evonb.graph.runtime_task import RunTimeTask
from evonb.graph.state import StateCkpt, StateFilterLike
from evonb.graph.state_schema import generate_state_schema
from evonb.graph.strategies import StateUpdater, _append_messages, _overwrite_state_update_strategy
from evonb.graph.streaming import (
    StreamCtx,
    StreamWriter,
    current_ctx,
    get_stream_writer,
    set_streaming_handler,
    stream_writer_env,
)

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
