"""The bare shape of a graph, for checking: who leads to whom, which ways are alternatives, who waits for all."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, get_origin

from evonb.graph.edges import ConditionEdgeSpec, EdgeSpec, EdgeSpecBase
from evonb.graph.nodes import GraphNodeSpec
from evonb.graph.plan import END, START
from evonb.typing import NodeActionMode

__all__ = ["Shape", "Way", "answers_of", "shape_of"]


@dataclass(frozen=True, slots=True)
class Way:
    """One declared edge.

    Attributes:
        source: Where it leaves.
        targets: Where it may lead.
        group: Its group.
        choice: "all" for an ordinary edge, "one" for a router that picks one target, "some" for one that may pick more.
        spec: The edge itself.
    """

    source: str
    targets: tuple[str, ...]
    group: str
    choice: str
    spec: EdgeSpecBase | None = None


@dataclass(slots=True)
class Shape:
    """A graph as nodes and ways; start and end are among the nodes."""

    nodes: list[str]
    ways: list[Way]
    joins: frozenset[str]
    outs: dict[str, list[Way]] = field(init=False)
    before: dict[str, list[str]] = field(init=False)
    _after: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.outs = {name: [] for name in self.nodes}
        self.before = {name: [] for name in self.nodes}
        for way in self.ways:
            self.outs[way.source].append(way)
            for target in way.targets:
                self.before[target].append(way.source)
        self._after = {name: [target for way in ways for target in way.targets] for name, ways in self.outs.items()}

    def after(self, name: str) -> list[str]:
        """Where a node may lead."""
        return self._after[name]

    def reachable(self, starts: Iterable[str], *, backwards: bool = False) -> set[str]:
        """Everything that can be reached from these, themselves included."""
        found = set(starts)
        left = list(found)
        while left:
            name = left.pop()
            for neighbour in self.before[name] if backwards else self.after(name):
                if neighbour not in found:
                    found.add(neighbour)
                    left.append(neighbour)
        return found

    def loops(self) -> list[set[str]]:
        """The groups of nodes that lead round to each other, each a set; a self-loop counts."""
        index: dict[str, int] = {}
        low: dict[str, int] = {}
        stack: list[str] = []
        on_stack: set[str] = set()
        found: list[set[str]] = []
        for root in self.nodes:
            if root not in index:
                self._visit(root, index, low, stack, on_stack, found)
        return found

    def _visit(
        self,
        root: str,
        index: dict[str, int],
        low: dict[str, int],
        stack: list[str],
        on_stack: set[str],
        found: list[set[str]],
    ) -> None:
        # Tarjan's algorithm with a stack of our own: graphs may be deeper than Python's.
        work = [(root, iter(self.after(root)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            name, rest = work[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(self.after(target))))
                    break
                if target in on_stack:
                    low[name] = min(low[name], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    part: set[str] = set()
                    while not part or name not in part:
                        part.add(stack.pop())
                    on_stack -= part
                    if len(part) > 1 or name in self.after(name):
                        found.append(part)


def shape_of(nodes: Mapping[str, GraphNodeSpec], edges: Sequence[EdgeSpecBase]) -> Shape:
    """The shape of a graph."""
    names = [START, *(name for name in nodes if name not in (START, END)), END]
    joins = frozenset(name for name, spec in nodes.items() if spec.action_mode is NodeActionMode.ALL)
    ways = [Way(edge.source, tuple(edge.get_possible_targets()), edge.group, _choice(edge), edge) for edge in edges]
    return Shape(names, ways, joins)


def _choice(edge: EdgeSpecBase) -> str:
    if isinstance(edge, EdgeSpec):
        return "all"
    if not isinstance(edge, ConditionEdgeSpec):
        return "some"
    several = edge.multiple if edge.multiple is not None else _answers_lists(edge.router)
    return "some" if several else "one"


def _answers_lists(router: Any) -> bool:
    """Whether a router looks as if it could answer several targets: by its annotation, else by its text."""
    annotation = getattr(router, "__annotations__", {}).get("return")
    if annotation is not None:
        text = annotation if isinstance(annotation, str) else ""
        return get_origin(annotation) is list or annotation is list or "list[" in text.lower()
    return any(isinstance(answer, ast.List | ast.ListComp) for answer in answers_of(router))


def answers_of(function: Any) -> list[ast.expr]:
    """The expressions that a function returns, conditional ones split; none where its text isn't known."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return [] if code is None else _answers_of_code(code)


@functools.lru_cache(maxsize=1024)
def _answers_of_code(code: CodeType) -> list[ast.expr]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)).strip().rstrip(","))
    except (OSError, TypeError, SyntaxError, ValueError, IndexError):
        return []
    lambdas = [item for item in ast.walk(tree) if isinstance(item, ast.Lambda)]
    found: list[ast.expr] = []
    if code.co_name == "<lambda>":
        # Several lambdas in one line can't be told apart.
        found = [lambdas[0].body] if len(lambdas) == 1 else []
    elif tree.body and isinstance(tree.body[0], ast.FunctionDef | ast.AsyncFunctionDef):
        found = [item.value for item in _own_statements(tree.body[0]) if isinstance(item, ast.Return) and item.value]
    return [part for answer in found for part in _arms(answer)]


def _own_statements(function: ast.AST) -> Iterable[ast.AST]:
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield child
            yield from _own_statements(child)


def _arms(answer: ast.expr) -> list[ast.expr]:
    if isinstance(answer, ast.IfExp):
        return [*_arms(answer.body), *_arms(answer.orelse)]
    return [answer]
