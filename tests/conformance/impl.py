"""The implementation under test; scenarios import it from here only."""

from evonb import graph, typing

NAME = "evonb"


def lookup(name):
    """A documented name of the graph module."""
    return getattr(graph, name)


__all__ = ["NAME", "graph", "lookup", "typing"]
