"""The enumerations of the graph: its two border nodes, how it runs, and how a node waits."""

from __future__ import annotations

from enum import Enum

__all__ = ["GraphMode", "NodeActionMode", "SpecialNode"]


class SpecialNode(Enum):
    """The two nodes that every graph has; their names are reserved."""

    START = "start"
    END = "end"

    @classmethod
    def is_special_node(cls, name: str | SpecialNode) -> bool:
        """Whether `name` is the start or the end node, given by name or as a member."""
        return cls.is_start_node(name) or cls.is_end_node(name)

    @classmethod
    def is_end_node(cls, name: str | SpecialNode) -> bool:
        """Whether `name` is the end node, given by name or as a member."""
        return name is cls.END or name == cls.END.value

    @classmethod
    def is_start_node(cls, name: str | SpecialNode) -> bool:
        """Whether `name` is the start node, given by name or as a member."""
        return name is cls.START or name == cls.START.value


class GraphMode(Enum):
    """What `GraphBuilder.build` makes."""

    RUN = "run"
    """An engine that runs from start to end."""
    DEBUG = "debug"
    """An engine that stops at breakpoints and steps."""


class NodeActionMode(str, Enum):  # noqa: UP042 - documented bases; StrEnum would change str() and format()
    """When a node with several predecessors runs."""

    ANY = "any"
    """Once for each predecessor that arrives."""
    ALL = "all"
    """Once every predecessor of one edge group has arrived."""
