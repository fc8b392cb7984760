"""The words and numbers of the picture, the same as the live view says them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evonb.protocol.messages import NodeState, NodeStatus, Snapshot, WireNode

SPACE = "\u00a0"
"""Between a number and its unit, which don't part at the end of a line."""

STATUS_WORDS: Mapping[NodeStatus, str] = {
    "idle": "not yet",
    "queued": "queued",
    "waiting": "waits at a join",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "skipped": "skipped",
    "paused": "stopped before",
}


def duration(seconds: float) -> str:
    """ "12 ms", "3.1 s", "1 m 04 s", "2 h 05 m": two or three figures, which fit in a node."""
    s = max(0.0, seconds)
    if s < 0.0995:
        return f"{round(s * 1000)}{SPACE}ms"
    if s < 59.95:
        return f"{s:.1f}{SPACE}s"
    if s < 3599.5:
        minutes, rest = divmod(round(s), 60)
        return f"{minutes}{SPACE}m{SPACE}{rest:02d}{SPACE}s"
    hours, rest = divmod(round(s / 60), 60)
    return f"{hours}{SPACE}h{SPACE}{rest:02d}{SPACE}m"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def ordinal(count: int) -> str:
    last = 0 if 11 <= count % 100 <= 13 else count % 10
    return f"{count}{('th', 'st', 'nd', 'rd')[last] if last < 4 else 'th'}"


def listed(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def chip(snapshot: Snapshot) -> tuple[NodeStatus, str]:
    """How the header's chip looks and what it says."""
    run = snapshot["run"]
    match run["status"]:
        case "idle":
            return "idle", "Idle"
        case "running":
            return "running", "Running"
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
            return f"Run it with await {name if name.isidentifier() else 'graph'}.run({{…}})"
        case "running":
            parts = [_round(snapshot), time, _at_work(snapshot)]
        case "paused":
            parts = [run["reason"], time]
        case "finished":
            parts = [plural(run["turns"], "step") if run["reason"] == "completed" else run["message"], time]
        case "failed":
            failed = run["failed_node"]
            place = f"at {names(snapshot).get(failed, failed)}, " if failed is not None else ""
            return f"{place}step {run['turns']} · {time}"
    return " · ".join(part for part in parts if part)


def _round(snapshot: Snapshot) -> str:
    """A loop's rounds, told by the node visited most."""
    most = max((state["visits"] for state in snapshot["nodes"].values()), default=0)
    return f"round {most}" if most > 1 else ""


def _at_work(snapshot: Snapshot) -> str:
    busy = sum(state["status"] == "running" for state in snapshot["nodes"].values())
    return f"{busy} of {plural(len(snapshot['graph']['nodes']), 'node')} at work"


def names(snapshot: Snapshot) -> dict[str, str]:
    """The nodes' names by id."""
    return {node["id"]: node["name"] for node in snapshot["graph"]["nodes"]}


def time_of(state: NodeState | None, elapsed_s: float) -> str:
    """What stands at a node's right end: its time, or how many have arrived."""
    if state is None or state["status"] == "queued":
        return ""
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


def say_node(node: WireNode, state: NodeState | None, time: str, known: Mapping[str, str]) -> str:
    """A node in one sentence, its tooltip."""
    status = state["status"] if state else "idle"
    parts = [node["name"], "not run yet" if status == "idle" else STATUS_WORDS[status]]
    if state and status == "waiting":
        parts += [arrived(state), waits_for(state, known)]
    elif time:
        parts.append(time.replace(SPACE, " "))
    if state and state["visits"] > 1:
        parts.append(f"{ordinal(state['visits'])} visit")
    return ", ".join(parts)
