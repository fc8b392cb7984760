"""The graph of the design pictures, with runs that stand at different points."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from evonb.export.layout import layout
from evonb.graph.topology import EdgeInfo, NodeInfo, NodeKind, Topology
from evonb.protocol.blank import empty_snapshot
from evonb.protocol.encode import to_wire_graph
from evonb.protocol.settle import settled
from evonb.protocol.snapshot import Preview, Snapshot, WireError, WireToolCall

_NAMES = [
    *("router", "plan", "search_web", "search_docs", "read_code", "merge"),
    *("draft", "critic", "tools", "run_tests", "human_review", "summarise"),
]
_EDGES = [
    ("start", "router", ""),
    ("router", "plan", "complex"),
    ("router", "draft", "simple"),
    ("plan", "search_web", ""),
    ("plan", "search_docs", ""),
    ("plan", "read_code", ""),
    ("search_web", "merge", ""),
    ("search_docs", "merge", ""),
    ("read_code", "merge", ""),
    ("merge", "draft", ""),
    ("draft", "critic", ""),
    ("draft", "tools", "tool call"),
    ("tools", "draft", ""),
    ("tools", "tools", "retry"),
    ("critic", "plan", "replan"),
    ("critic", "draft", "revise"),
    ("critic", "run_tests", "ok"),
    ("run_tests", "draft", "failed"),
    ("run_tests", "human_review", "passed"),
    ("human_review", "draft", "reject"),
    ("human_review", "summarise", "approve"),
    ("summarise", "end", ""),
]


def support() -> Topology:
    """Fourteen nodes with a join, loops, routers and a self-loop."""
    nodes = [NodeInfo(name, name, join="all" if name == "merge" else "any") for name in _NAMES]
    special = (NodeInfo("start", "start", "start"), *nodes, NodeInfo("end", "end", "end"))
    seen = Counter[str]()
    edges = []
    for source, target, label in _EDGES:
        pair = f"{source}>{target}"
        ident = f"{pair}#{seen[pair]}" if seen[pair] else pair
        seen[pair] += 1
        edges.append(EdgeInfo(ident, source, target, "conditional" if label else "plain", label=label))
    return Topology("support", special, tuple(edges))


def nested() -> Topology:
    """A graph in a graph, as two engines give it: the inner one has its own start and end."""
    names = ("collect", "research", "answer")
    inside = ("search", "rank")
    nodes = [NodeInfo("start", "start", "start")]
    nodes += [NodeInfo(name, name, "subgraph" if name == "research" else "node") for name in names]
    for name in ("start", *inside, "end"):
        kind: NodeKind = "start" if name == "start" else "end" if name == "end" else "node"
        nodes.append(NodeInfo(f"research › {name}", name, kind, parent="research"))
    nodes.append(NodeInfo("end", "end", "end"))
    outer = [("start", "collect"), ("collect", "research"), ("research", "answer"), ("answer", "end")]
    inner = [("start", "search"), ("search", "rank"), ("rank", "end")]
    pairs = [*outer, *((f"research › {a}", f"research › {b}") for a, b in inner)]
    return Topology("nested", tuple(nodes), tuple(EdgeInfo(f"{a}>{b}", a, b) for a, b in pairs))


def idle(topology: Topology | None = None) -> Snapshot:
    """Before any run."""
    topology = topology or support()
    return empty_snapshot(to_wire_graph(topology), layout(topology).to_wire())


def _done(snapshot: Snapshot, times: dict[str, tuple[float, int]]) -> None:
    for name, (seconds, visits) in times.items():
        snapshot["nodes"][name].update(status="done", last_s=seconds, visits=visits, total_s=seconds, note="")


def _taken(snapshot: Snapshot, *edges: str) -> None:
    for edge in edges:
        snapshot["edges"][edge].update(taken=1, unused=False)


_FIRST_LAP = (
    *("start>router", "router>plan", "plan>search_web", "plan>search_docs", "plan>read_code"),
    *("search_docs>merge", "read_code>merge", "merge>draft", "draft>critic", "draft>tools", "tools>draft"),
)


def running() -> Snapshot:
    """The second round: one node streams, a join waits for it."""
    snapshot = idle()
    snapshot["run"].update(run_id="r1", status="running", started_at=0.0, elapsed_s=12.4, turns=14)
    _done(snapshot, {"start": (0.0001, 1), "router": (0.2, 1), "plan": (1.1, 2), "search_docs": (0.8, 2)})
    _done(snapshot, {"read_code": (2.3, 2), "draft": (4.2, 3), "critic": (1.6, 3), "tools": (0.9, 2)})
    _taken(snapshot, *_FIRST_LAP, "critic>plan", "critic>draft")
    snapshot["edges"]["router>draft"]["passed_over"] = 1
    told = "The rule is older than the shop: the tax office asks for VAT once per line; a total taxed again counts as a"
    snapshot["nodes"]["search_web"].update(status="running", running=1, visits=2, started_s=9.3, chunks=86, stream=told)
    snapshot["nodes"]["merge"].update(
        status="waiting", visits=1, arrived=["search_docs", "read_code"], missing=["search_web"]
    )
    return snapshot


def failed() -> Snapshot:
    """A node raised, with everything that the error card can show."""
    snapshot = idle()
    error: WireError = {
        "kind": "KeyError",
        "what": "The state has no key 'socre'; it has 'score'.",
        "where": "cell [3], line 24, in node run_tests of graph support, 1st visit",
        "fix": 'Write "score" in line 24 and run cell [3] again.',
        "source": [
            {"number": 23, "text": "def run_tests(state):", "hit": False},
            {"number": 24, "text": '    if state["socre"] < 0.7:', "hit": True},
        ],
        "traceback": "Traceback ...",
    }
    snapshot["run"].update(run_id="r2", status="failed", elapsed_s=21.6, turns=9, failed_node="run_tests", error=error)
    _done(snapshot, {"start": (0.0001, 1), "router": (0.2, 1), "plan": (1.1, 1), "search_docs": (0.8, 1)})
    _done(snapshot, {"read_code": (3.1, 1), "search_web": (2.3, 1), "merge": (0.012, 1)})
    _done(snapshot, {"draft": (3.8, 2), "critic": (1.6, 1), "tools": (0.9, 1)})
    _taken(snapshot, *_FIRST_LAP, "search_web>merge", "critic>run_tests")
    for edge in ("router>draft", "critic>draft", "critic>plan"):
        snapshot["edges"][edge]["passed_over"] = 1
    snapshot["nodes"]["run_tests"].update(status="failed", visits=1, last_s=5.2, note="KeyError")
    return settled(snapshot, 21.6)


def finished() -> Snapshot:
    """A completed run with a final state."""
    snapshot = failed()
    answer: Preview = {"kind": "str", "text": "'The shop taxes each line and then the total once more.'", "cut": False}
    score: Preview = {"kind": "float", "text": "0.92", "cut": False}
    snapshot["run"].update(
        status="finished", reason="completed", error=None, failed_node=None, result={"answer": answer, "score": score}
    )
    _done(snapshot, {"run_tests": (5.2, 1), "human_review": (64.0, 1), "summarise": (1.0, 1), "end": (0.0, 1)})
    _taken(snapshot, "run_tests>human_review", "human_review>summarise", "summarise>end")
    for edge in ("run_tests>draft", "human_review>draft"):
        snapshot["edges"][edge]["passed_over"] = 1
    return settled(snapshot, 92.0)


def with_tools() -> Snapshot:
    """The run with a node that has used tools and a model, one that was warned of, and one at work with a tool."""
    snapshot = running()
    found: list[WireToolCall] = [_call(1, "find", 0.4), _call(2, "read", 0.1), _call(3, "read", None, "failed")]
    snapshot["nodes"]["plan"].update(tools=found, tokens_in=812, tokens_out=64, model_s=1.3)
    snapshot["nodes"]["draft"].update(warnings=["Node 'draft' wrote the unknown key 'scroe'"])
    began = snapshot["run"]["elapsed_s"] - 0.4
    at_work: WireToolCall = {**_call(1, "search", None, "running"), "started_s": began}
    snapshot["nodes"]["search_web"].update(tools=[at_work])
    return snapshot


def _call(
    number: int, tool: str, spent: float | None, status: Literal["done", "failed", "running"] = "done"
) -> WireToolCall:
    return {"id": str(number), "tool": tool, "status": status, "started_s": None, "duration_s": spent}
