"""One adapter per engine: the work of `bench.flows`, told in the engine's own words."""

from __future__ import annotations

from importlib import import_module

from bench.engines.base import Engine

__all__ = ["PEERS", "engine_named"]

_CLASSES = {
    "evonb": "bench.engines.documented:Evonb",
    "evofabric": "bench.engines.documented:Evofabric",
    "langgraph": "bench.engines.langgraph:Langgraph",
    "pydantic-graph": "bench.engines.pydantic_graph:PydanticGraph",
    "burr": "bench.engines.burr:Burr",
}
PEERS = {
    "evofabric": ("evofabric", "mcp<2", "fastmcp<3"),
    "langgraph": ("langgraph", "langgraph-checkpoint-sqlite"),
    "pydantic-graph": ("pydantic-graph",),
    "burr": ("apache-burr", "pydantic"),
}
"""What is installed for each of the other engines."""


def engine_named(name: str) -> Engine:
    """The adapter; importing it imports the engine."""
    module, _, kind = _CLASSES[name].partition(":")
    engine: Engine = getattr(import_module(module), kind)()
    return engine
