"""The error family: every error says what happened, where, and how to mend it.

Raise the most specific class; keep the user's own exception as `__cause__`. Nothing here formats for
a screen: the card that a view draws is made from `what`, `where` and `fix` by `evonb.graph.failure`.
"""

from __future__ import annotations

__all__ = [
    "EvonbError",
    "GraphError",
    "LayoutError",
    "MagicError",
    "MissingDependency",
    "NodeError",
    "NodeTimeout",
    "RouterError",
    "StateError",
]


class EvonbError(Exception):
    """Base of all errors that evonb raises.

    Args:
        what: What was found and what was expected, in one sentence.
        where: The object concerned, from the outside in: "graph 'triage' > node 'summarise', 3rd visit".
        fix: Something to do, as an imperative sentence.

    Attributes:
        source: Lines around the user's line at fault, as (line number, text, whether it is the one).
    """

    source: tuple[tuple[int, str, bool], ...] = ()

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  where: {self.where}")
        lines += source_lines(self.source)
        if self.fix:
            lines.append(f"  fix:   {self.fix}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        # BaseException pickles `args` only, and would lose `where` and `fix` on the way to another process.
        return (_rebuild, (type(self), dict(self.__dict__), self.args))


def source_lines(source: tuple[tuple[int, str, bool], ...]) -> list[str]:
    """Lines of source as an error's text shows them, the one at fault marked; a line without number gets none."""
    return [f"  {'>' if hit else ' '} {number or '':>4} | {text}".rstrip() for number, text, hit in source]


def _rebuild(cls: type[EvonbError], fields: dict[str, object], args: tuple[object, ...]) -> EvonbError:
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(fields)
    return error


class GraphError(EvonbError, ValueError):
    """A graph can't be built as declared: names, edges, entry point, options."""


class StateError(EvonbError, ValueError):
    """A schema, an input, a delta or an update strategy isn't usable."""


class RouterError(EvonbError, ValueError):
    """A router answered with something that isn't one of its declared targets."""


class NodeError(EvonbError, RuntimeError):
    """A node failed; the user's exception is `__cause__`.

    Attributes:
        node_name: The node that failed.
        graph_name: Its graph.
        visit: How often the node had been started in this run, 1 for the first time.
        inputs: The state that the node was handed.
    """

    node_name: str = ""
    graph_name: str = ""
    visit: int = 0
    inputs: object = None


class NodeTimeout(NodeError, TimeoutError):
    """A node ran longer than its `timeout`."""


class LayoutError(EvonbError, RuntimeError):
    """A picture can't be laid out or written."""


class MagicError(EvonbError):
    """A line or cell magic was used in a way that it doesn't understand."""


class MissingDependency(EvonbError, ImportError):
    """An optional package is needed and isn't installed."""
