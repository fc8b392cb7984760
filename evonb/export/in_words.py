"""A snapshot in words, for terminals, diffs, mail and screen readers."""

from __future__ import annotations

from collections import Counter

from evonb.export.counting import plural
from evonb.export.measure import clean, visible
from evonb.export.tool_words import called, used
from evonb.export.words import arrived, asks, chip, headline, names, status_words, time_of, waits_for, with_stops
from evonb.protocol.durations import SPACE
from evonb.protocol.snapshot import NodeState, Preview, Snapshot, WireError, WireNode

_MOST_NODES = 120
_FIRST_NODES = 20
_MOST_FINDINGS = 8
_MOST_NAME = 40


def still_text(snapshot: Snapshot) -> str:
    """The nodes in declaration order with status and time, then the error or the final state.

    Very large graphs name the nodes that took part and count the others.
    """
    snapshot = with_stops(snapshot)
    name, word, facts = snapshot["graph"]["name"], chip(snapshot)[1], headline(snapshot)
    lines = [f"Graph {clean(name)}: {word}, {facts}" if facts else f"Graph {clean(name)}: {word}", *_nodes(snapshot)]
    lines += _findings(snapshot)
    run = snapshot["run"]
    if run["error"] is not None:
        lines += ["", *_error(run["error"], run["failed_node"], names(snapshot))]
    elif run["status"] == "finished":
        lines += ["", *_result(snapshot)]
    return "\n".join(lines).replace(SPACE, " ")


def _nodes(snapshot: Snapshot) -> list[str]:
    nodes = _as_tree([node for node in snapshot["graph"]["nodes"] if node["kind"] not in ("start", "end")])
    shown = nodes if len(nodes) <= _MOST_NODES else _telling(snapshot, nodes)
    parents = {node["id"]: node["parent"] for node in nodes}
    rows = [("  " * (1 + _depth(node["id"], parents)) + clean(visible(node["name"])), node) for node in shown]
    wide = min(_MOST_NAME, max((len(label) for label, _ in rows), default=0)) + 2
    lines: list[str] = []
    for label, node in rows:
        lines.append(f"{label:<{wide}}{_says(snapshot, node)}".rstrip())
        indent = " " * (4 + len(label) - len(label.lstrip()))
        lines += [f"{indent}warning: {clean(text)}" for text in _warnings(snapshot, node)]
    known = {node["id"] for node in shown}
    return [*lines, *_hidden(snapshot, [node for node in nodes if node["id"] not in known])]


def _telling(snapshot: Snapshot, nodes: list[WireNode]) -> list[WireNode]:
    """Of very many nodes those that took part, what broke or is under way before what is done; else the first few."""
    ran = [node for node in nodes if _took_part(snapshot, node)]
    if not ran:
        return nodes[:_FIRST_NODES]
    quiet = [node for node in ran if _status(snapshot, node) == "done"]
    loud = [node for node in ran if _status(snapshot, node) != "done"]
    chosen = {node["id"] for node in [*loud, *quiet][:_MOST_NODES]}
    return [node for node in nodes if node["id"] in chosen]


def _took_part(snapshot: Snapshot, node: WireNode) -> bool:
    state = snapshot["nodes"].get(node["id"])
    return state is not None and (state["visits"] > 0 or state["status"] not in ("idle", "skipped"))


def _hidden(snapshot: Snapshot, nodes: list[WireNode]) -> list[str]:
    """How many were left out, and how they stand where that isn't the same for all."""
    if not nodes:
        return []
    counts = Counter(status_words(snapshot["nodes"].get(node["id"])) for node in nodes)
    told = ", ".join(f"{count:,} {words}" for words, count in counts.most_common(4))
    return [f"  and {plural(len(nodes), 'more node')}: {told}"]


def _findings(snapshot: Snapshot) -> list[str]:
    """What `check()` found, each with what to do."""
    found = snapshot["graph"]["findings"]
    lines = []
    for finding in found[:_MOST_FINDINGS]:
        lines.append(clean(f"  {finding['level']}: {finding['what']}"))
        if finding["fix"]:
            lines.append(clean(f"    fix: {finding['fix']}"))
    more = [f"  and {len(found) - _MOST_FINDINGS} more"] if len(found) > _MOST_FINDINGS else []
    return ["", "Check", *lines, *more] if found else []


def _as_tree(nodes: list[WireNode]) -> list[WireNode]:
    """Each sub-graph followed by what lies in it, else in declaration order."""
    known = {node["id"] for node in nodes}
    inside: dict[str | None, list[WireNode]] = {}
    for node in nodes:
        inside.setdefault(node["parent"] if node["parent"] in known else None, []).append(node)
    found, todo = list[WireNode](), inside.get(None, [])[::-1]
    while todo:
        found.append(todo.pop())
        todo += inside.get(found[-1]["id"], [])[::-1]
    return found


def _depth(name: str, parents: dict[str, str | None]) -> int:
    depth, parent = 0, parents.get(name)
    while parent is not None and depth < len(parents):
        depth, parent = depth + 1, parents.get(parent)
    return depth


def _status(snapshot: Snapshot, node: WireNode) -> str:
    state = snapshot["nodes"].get(node["id"])
    return state["status"] if state else "idle"


def _says(snapshot: Snapshot, node: WireNode) -> str:
    state: NodeState | None = snapshot["nodes"].get(node["id"])
    if state is None or state["status"] == "idle":
        return ""
    parts = [status_words(state)]
    if state["status"] == "waiting" and not asks(state):
        parts += [arrived(state), waits_for(state, names(snapshot))]
    elif state["status"] not in ("skipped", "waiting"):
        parts.append(time_of(state, snapshot["run"]["elapsed_s"]))
    if state["visits"] > 1:
        parts.append(f"{state['visits']} visits")
    parts += [called(state["tools"]), used(state)]
    return ", ".join(clean(part) for part in parts if part)


def _warnings(snapshot: Snapshot, node: WireNode) -> list[str]:
    state = snapshot["nodes"].get(node["id"])
    return state["warnings"] if state else []


def _error(error: WireError, node: str | None, known: dict[str, str]) -> list[str]:
    place = f" in {known.get(node, node)}" if node is not None else ""
    lines = [clean(f"{error['kind']}{place}: {error['what']}")]
    if error["where"]:
        lines.append(f"  where: {clean(error['where'])}")
    if error["fix"]:
        lines.append(f"  fix:   {clean(error['fix'])}")
    return lines


def _result(snapshot: Snapshot) -> list[str]:
    run = snapshot["run"]
    lines = [clean(run["message"])] if run["message"] else []
    if run["result"] is None:
        return [*lines, "Nothing reached the end of the graph."]
    lines.append("Final state")
    wide = max((len(key) for key in run["result"]), default=0)
    return lines + [f"  {clean(key):<{wide}}  {value_line(value)}" for key, value in run["result"].items()]


def value_line(value: Preview) -> str:
    """A value in one line, with an ellipsis where there is more."""
    more = "…" if value["cut"] and not value["text"].endswith("…") else ""
    return clean(value["text"]) + more
