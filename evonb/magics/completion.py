"""Completion behind `%evo`: commands, then graphs, nodes, keys, branches or runs. And options of `%%evograph`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from IPython.core.completer import SimpleCompletion, context_matcher

from evonb.errors import EvonbError
from evonb.graph.asking import open_questions
from evonb.graph.debugger import GraphEngineDebugger
from evonb.magics.answering import answer_choices, asking_nodes
from evonb.magics.evo import COMMANDS
from evonb.magics.options import OPTIONS
from evonb.magics.session import Session, current
from evonb.widgets.debug_schema import Keys

__all__ = ["evo_matcher", "suggestions"]


@context_matcher()  # type: ignore[untyped-decorator, unused-ignore]
def evo_matcher(context: Any) -> dict[str, Any]:
    """IPython's question what may stand at the cursor."""
    lines = context.full_text.split("\n")
    line = lines[context.cursor_line][: context.cursor_position]
    found = suggestions(line)
    return {"completions": [SimpleCompletion(text, type="evonb") for text in found], "suppress": bool(found)}


def suggestions(line: str) -> list[str]:
    """What may stand at the end of this line; nothing where it isn't ours."""
    words = line.split()
    last = "" if line.endswith(" ") or not words else words[-1]
    before = words if not last else words[:-1]
    choices: list[str] = []
    if before == ["%evo"]:
        choices = list(COMMANDS)
    elif before[:1] == ["%evo"] and before[-1] == "--graph":
        choices = list(current().graphs())
    elif before[:1] == ["%evo"]:
        choices = _arguments(current(), before[1], before[2:])
    elif before[:1] == ["%%evograph"] and len(before) > 1:
        choices = list(OPTIONS)
    # Options are offered to whoever begins one.
    return [choice for choice in choices if choice.startswith(last) and (last or choice[:1] != "-")]


def _arguments(session: Session, command: str, given: list[str]) -> list[str]:
    if command in ("show", "run", "debug", "runs"):
        return [] if given else list(session.graphs())
    if command == "answer":
        return asking_nodes() if given[-1:] == ["at"] else ["at"] if given else answer_choices(open_questions())
    find = _CHOICES.get(command)
    if find is None or len(given) >= (2 if command == "compare" else 1):
        return _BREAK_WORDS if command == "break" and given else []
    try:
        graph = _graph(session)
        return find(graph) if command in _OF_ANY or isinstance(graph, GraphEngineDebugger) else []
    except EvonbError:  # no session yet, or no store: nothing to offer
        return []


def _graph(session: Session) -> Any:
    """The graph that the command would mean. Completing mustn't make a debugger of it."""
    graphs = session.graphs()
    debuggers = [graph for graph in graphs.values() if isinstance(graph, GraphEngineDebugger)]
    found = graphs.get(session.debugging or "") or next(iter(debuggers or graphs.values()), None)
    if found is None:
        raise EvonbError("There is no graph")
    return found


def _nodes(graph: Any) -> list[str]:
    return [node.id for node in graph.topology().nodes if node.kind in ("node", "subgraph")]


def _breaks(graph: Any) -> list[str]:
    return [*(each.node or each.id for each in graph.breakpoints()), "all"]


def _keys(graph: Any) -> list[str]:
    return list(Keys.of(graph.state_schema).by_name)


_BREAK_WORDS = ["if", "after", "hit", "log"]
_CHOICES: Mapping[str, Callable[[Any], list[str]]] = {
    "break": lambda graph: [*_nodes(graph), "exception", "edge", "tool", "when"],
    "step": lambda graph: [*(each.node_name for each in graph.waiting() if each.can_run), "--into", "--out"],
    "to": _nodes,
    "why": _nodes,
    "unbreak": _breaks,
    "state": _keys,
    "who": _keys,
    "edit": lambda graph: [f"{key}=" for key in _keys(graph)],
    "compare": lambda graph: [each.name for each in graph.branches()],
    "open": lambda graph: [run.run_id[:12] for run in graph.runs()],
}
_OF_ANY = frozenset({"break", "to", "why", "state", "who", "edit"})
"""Commands whose choices the graph alone tells, debugger or not yet."""
