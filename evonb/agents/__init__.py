"""Nodes that join graphs, models, tools and parsing, and workflows as a thin face over the graph builder.

Needs pydantic only; the in-memory vector store loads numpy on first use.
"""

from __future__ import annotations

from evonb.agents.agent import AgentNode
from evonb.agents.core_engine import AgentCoreEngine, complete
from evonb.agents.human import HumanInput
from evonb.agents.journal import JournalOfRuns
from evonb.agents.memory_store import InMemoryStore, WordEmbedder
from evonb.agents.models import ModelSet, use_model
from evonb.agents.parser_node import ParserNode
from evonb.agents.retriever import RetrieverNode
from evonb.agents.routes import Route, route
from evonb.agents.routing import Conversation, has_tool_calls, react_graph, tool_router
from evonb.agents.runtime import Runtime
from evonb.agents.stores import Embedder, VectorStore
from evonb.agents.tool_node import ToolNode
from evonb.agents.workflow import Workflow, WorkflowNode, define_workflow, workflow, workflow_node
from evonb.agents.workflow_graph import RoundLimit
from evonb.graph.asking import AnswerRefused, NoQuestion, Question, answer, ask, open_questions, watch_questions

__all__ = [
    "AgentCoreEngine",
    "AgentNode",
    "AnswerRefused",
    "Conversation",
    "Embedder",
    "HumanInput",
    "InMemoryStore",
    "JournalOfRuns",
    "ModelSet",
    "NoQuestion",
    "ParserNode",
    "Question",
    "RetrieverNode",
    "RoundLimit",
    "Route",
    "Runtime",
    "ToolNode",
    "VectorStore",
    "WordEmbedder",
    "Workflow",
    "WorkflowNode",
    "answer",
    "ask",
    "complete",
    "define_workflow",
    "has_tool_calls",
    "open_questions",
    "react_graph",
    "route",
    "tool_router",
    "use_model",
    "watch_questions",
    "workflow",
    "workflow_node",
]
