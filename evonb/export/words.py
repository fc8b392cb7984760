"""The words and numbers of the picture, the same as the live view says them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evonb.export.counting import listed, ordinal, plural
from evonb.export.measure import cut, visible
from evonb.export.tool_words import called, used
from evonb.protocol.durations import SPACE, duration
from evonb.protocol.snapshot import NodeState, NodeStatus, Snapshot, WireFinding, WireNode

STATUS_WORDS: Mapping[NodeStatus, str] = {
    "idle": "not yet",
    "queued": "queued",
    "waiting": "waits at a join",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "skipped": "not completed",
    "paused": "stopped before",
}

HOW_TO_ANSWER = "answer with %evo answer VALUE or handle.answer(VALUE)"


def chip(snapshot: Snapshot) -> tuple[NodeStatus, str]:
    """How the header's chip looks and what it says."""
    run = snapshot["run"]
    match run["status"]:
        case "idle":
            return "idle", "Idle"
        case "running":
            return ("waiting", "Waits for you") if only_asks(snapshot) else ("running", "Running")
        case "paused":
            return "paused", "Paused"
        case "failed":
            return "failed", "Failed"
        case "finished":
            return ("done", "Done") if run["reason"] == "completed" else ("waiting", "Stopped")


def headline(snapshot: Snapshot) -> str:
    """What the header says beside the chip."""
    run = snapshot["run"]
    time = duration(run["elapsed_s"])
    match run["status"]:
        case "idle":
            name = snapshot["graph"]["name"]
            return run["message"] or f"Run it with await {name if name.isidentifier() else 'graph'}.run({{…}})"
        case "running":
            parts = [*_under_way(snapshot, time), run["message"]]
        case "paused":
            states = with_stops(snapshot)["nodes"]
            stopped = [
                visible(node["name"]) for node in user_nodes(snapshot) if states[node["id"]]["status"] == "paused"
            ]
            parts = [f"before {listed(stopped)}" if stopped else "", run["reason"], time]
        case "finished":
            whole = run["reason"] == "completed"
            parts = [plural(run["turns"], "step"), time, run["message"]] if whole else [run["message"], time]
        case "failed":
            failed = run["failed_node"]
            place = f"at {names(snapshot).get(failed, failed)}, " if failed is not None else ""
            return f"{place}step {run['turns']} · {time}"
    return " · ".join(part for part in parts if part)


def with_stops(snapshot: Snapshot) -> Snapshot:
    """The picture of a run that has stopped: what could run next stands behind a gate."""
    if snapshot["run"]["status"] != "paused":
        return snapshot
    nodes: dict[str, NodeState] = {
        name: {**state, "status": "paused"} if state["status"] == "queued" else state
        for name, state in snapshot["nodes"].items()
    }
    return {**snapshot, "nodes": nodes}


def asks(state: NodeState | None) -> bool:
    """Whether the node asks a person and waits. Pictures that were saved earlier know no questions."""
    return state is not None and state["status"] == "waiting" and bool(state.get("question"))


def only_asks(snapshot: Snapshot) -> bool:
    """Whether nothing but questions is under way. A sub-graph is at work as long as what is inside of it asks."""
    parents = {node["id"]: node["parent"] for node in snapshot["graph"]["nodes"]}
    asking = _asking(snapshot)
    around: set[str] = set()
    for name in asking:
        up = parents[name]
        while up is not None and up not in around:
            around.add(up)
            up = parents.get(up)
    busy = (
        state["status"] == "queued" or (state["status"] == "running" and name not in around)
        for name, state in snapshot["nodes"].items()
    )
    return bool(asking) and not any(busy)


def _asking(snapshot: Snapshot) -> list[str]:
    """The nodes that ask, in the order of the graph."""
    return [node["id"] for node in snapshot["graph"]["nodes"] if asks(snapshot["nodes"].get(node["id"]))]


def in_one_line(question: str) -> str:
    """A question in one line."""
    return cut(" ".join(question.split()), 160)


def _under_way(snapshot: Snapshot, time: str) -> list[str]:
    """What a run is at; while it only waits for a person its clock says nothing."""
    asking = _asking(snapshot)
    if not asking:
        return [_round(snapshot), time, _at_work(snapshot)]
    more = f" (1 of {len(asking)} questions)" if len(asking) > 1 else ""
    said = f"{names(snapshot)[asking[0]]} asks: {in_one_line(snapshot['nodes'][asking[0]]['question'])}{more}"
    return [said, HOW_TO_ANSWER] if only_asks(snapshot) else [_round(snapshot), time, _at_work(snapshot), said]


def _round(snapshot: Snapshot) -> str:
    """A loop's rounds, told by the node visited most."""
    most = max((state["visits"] for state in snapshot["nodes"].values()), default=0)
    return f"round {most}" if most > 1 else ""


def _at_work(snapshot: Snapshot) -> str:
    own = user_nodes(snapshot)
    busy = sum(snapshot["nodes"][node["id"]]["status"] == "running" for node in own)
    return f"{busy} of {plural(len(own), 'node')} at work"


def user_nodes(snapshot: Snapshot) -> list[WireNode]:
    """The nodes that a person wrote: all but the starts and ends."""
    return [node for node in snapshot["graph"]["nodes"] if node["kind"] not in ("start", "end")]


def names(snapshot: Snapshot) -> dict[str, str]:
    """The nodes' names by id."""
    return {node["id"]: visible(node["name"]) for node in snapshot["graph"]["nodes"]}


def time_of(state: NodeState | None, elapsed_s: float) -> str:
    """What stands at a node's right end: its time, or how many have arrived."""
    if state is None or state["status"] == "queued":
        return ""
    if asks(state):
        return "asks you"
    if state["status"] == "waiting":
        return f"{len(state['arrived'])} / {len(state['arrived']) + len(state['missing'])}"
    if state["status"] == "running":
        return "" if state["started_s"] is None else duration(elapsed_s - state["started_s"])
    return "" if state["last_s"] is None else duration(state["last_s"])


def arrived(state: NodeState) -> str:
    """ "2 of 3 arrived" """
    return f"{len(state['arrived'])} of {len(state['arrived']) + len(state['missing'])} arrived"


def waits_for(state: NodeState, known: Mapping[str, str]) -> str:
    """ "waits for search_web" """
    found = [known.get(name, name) for name in state["missing"]]
    return f"waits for {listed([*found[:2], f'{len(found) - 2} more'] if len(found) > 3 else found)}"


def status_words(state: NodeState | None) -> str:
    """How a node stands; one that didn't complete says why where that is known."""
    if state is None:
        return STATUS_WORDS["idle"]
    if asks(state):
        return f"asks you: {in_one_line(state['question'])}"
    return state["note"] if state["status"] == "skipped" and state["note"] else STATUS_WORDS[state["status"]]


def visits_badge(visits: int) -> str:
    """ "×3"; from a thousand on "×5k", so that it covers nothing else."""
    if visits < 1000:
        return f"×{visits}"
    return f"×{visits // 1000}k" if visits < 1_000_000 else f"×{visits // 1_000_000}M"


def findings_of(snapshot: Snapshot, node: str) -> list[WireFinding]:
    """What `check()` found about one node, the worst first."""
    found = [finding for finding in snapshot["graph"]["findings"] if node in finding["nodes"]]
    return sorted(found, key=lambda finding: ("error", "warning", "note").index(finding["level"]))


def say_findings(findings: Sequence[WireFinding]) -> str:
    """The findings as the end of what is said of a node."""
    return "".join(f"; {finding['level']}: {finding['what']}" for finding in findings)


def say_node(node: WireNode, state: NodeState | None, time: str, known: Mapping[str, str]) -> str:
    """A node in one sentence, its tooltip."""
    status = state["status"] if state else "idle"
    parts = [visible(node["name"]), "not run yet" if status == "idle" else status_words(state)]
    if state and status == "waiting" and not asks(state):
        parts += [arrived(state), waits_for(state, known)]
    elif time and status not in ("skipped", "waiting"):
        parts.append(time)
    if state and state["visits"] > 1:
        parts.append(f"{ordinal(state['visits'])} visit")
    if state:
        parts += [part for part in (called(state["tools"]), used(state)) if part]
    warned = "".join(f"; warning: {text}" for text in state["warnings"]) if state else ""
    return (", ".join(parts) + warned).replace(SPACE, " ")
