"""The drawn graph as elements: frames, edges, nodes and labels of a snapshot, each where its layout says.

What stands beside the graph (callouts, cards, the header) is drawn by `margin.py` and put together in `still.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evonb.export.measure import cut, frame_letters, shown_label, shown_name, visible
from evonb.export.paths import head_path, line_path
from evonb.export.shared import place, shapes
from evonb.export.svg import Element, el, group, path, rect, text
from evonb.export.words import findings_of, names, say_findings, say_node, time_of, visits_badge, with_stops
from evonb.protocol.snapshot import EdgeState, NodeState, NodeStatus, Snapshot, WireBox, WireEdge, WireFinding, WireNode

_FINDING_LOOKS = {"error": "failed", "warning": "waiting", "note": "idle"}
"""The worst first."""
_PATTERNED = ("queued", "waiting", "failed")


def patterns(prefix: str) -> Element:
    """The grounds of queued, waiting and failed nodes, and the grid; ids begin with the picture's own `prefix`."""
    found: list[Element] = []
    for name, pattern in shapes()["patterns"].items():
        turn = f"rotate({pattern['rotate']})" if pattern["rotate"] else None
        found.append(_pattern(f"{prefix}-{name}", pattern["size"], path(pattern["class"], pattern["d"]), turn))
    step, radius = place("stage", "grid_step"), place("stage", "grid_radius")
    found.append(_pattern(f"{prefix}-grid", step, el("circle", "grid", cx=step / 2, cy=step / 2, r=radius)))
    return el("defs", "", *found)


def _pattern(ident: str, size: float, shape: Element, turn: str | None = None) -> Element:
    units = "userSpaceOnUse"
    return el("pattern", "", shape, id=ident, width=size, height=size, patternUnits=units, patternTransform=turn)


def glyph(status: str, x: float, y: float) -> Element:
    """The sign of a state, 16 pixels wide."""
    parts = [path(part["as"], part["d"], **_looks(part)) for part in shapes()["states"][status]]
    return group("glyph", *parts, at=(x, y))


def _looks(part: dict[str, str | float]) -> dict[str, str | float]:
    """What differs from the part's class: as attributes, and as a style, which also holds against a style sheet."""
    written = {"w": "stroke-width", "dash": "stroke-dasharray", "cap": "stroke-linecap", "o": "opacity"}
    looks: dict[str, str | float] = {written[key]: str(value) for key, value in part.items() if key in written}
    style = ";".join(f"{name}:{value}" for name, value in looks.items())
    return {**looks, "style": style} if style else {}


def picture(snapshot: Snapshot, prefix: str) -> list[Element]:
    """The graph, lowest layer first: frames, edges (faint, plain, taken), nodes, labels."""
    snapshot = with_stops(snapshot)
    nodes, layout = snapshot["graph"]["nodes"], snapshot["layout"]
    drawn = [node for node in nodes if node["id"] in layout["boxes"]]
    frames = {node["parent"] for node in drawn}
    edges = [edge for edge in snapshot["graph"]["edges"] if edge["id"] in layout["routes"]]
    edges.sort(key=lambda edge: _weight(snapshot["edges"].get(edge["id"])))
    known, marked = names(snapshot), _undrawn(snapshot)
    layers = [
        group("", *(_frame(node, snapshot) for node in drawn if node["id"] in frames)),
        group("", *(_edge(edge, snapshot, known, marked) for edge in edges)),
        group("", *(_node(node, snapshot, prefix, known) for node in drawn if node["id"] not in frames)),
        group("", *(_label(edge, snapshot) for edge in edges)),
    ]
    return [layer for layer in layers if layer.children]


def _weight(state: EdgeState | None) -> int:
    look = _look(state)
    return {"off": 0, "": 1, "taken": 2}[look]


def _look(state: EdgeState | None) -> str:
    if state is None:
        return ""
    return "taken" if state["taken"] else "off" if state["passed_over"] or state["unused"] else ""


def _edge(edge: WireEdge, snapshot: Snapshot, known: Mapping[str, str], marked: frozenset[str]) -> Element:
    route = snapshot["layout"]["routes"][edge["id"]]
    points = route["points"]
    kind = "cond" if edge["kind"] == "conditional" else ""
    classes = " ".join(part for part in ("edge", kind, _look(snapshot["edges"].get(edge["id"]))) if part)
    ends = f"{known.get(edge['source'], edge['source'])} → {known.get(edge['target'], edge['target'])}"
    title = f"{ends}, {edge['label']}" if edge["label"] else ends
    return group(
        classes,
        el("title", "", title),
        path("line", line_path(points)),
        path("head", head_path(points)),
        _endmark(edge, points, marked),
    )


def _undrawn(snapshot: Snapshot) -> frozenset[str]:
    """Special nodes with very many edges aren't drawn: each edge shows a small ring instead."""
    boxes = snapshot["layout"]["boxes"]
    special = (node["id"] for node in snapshot["graph"]["nodes"] if node["kind"] in ("start", "end"))
    return frozenset(name for name in special if name not in boxes)


def _endmark(edge: WireEdge, points: list[list[float]], marked: frozenset[str]) -> Element | None:
    for name, (x, y) in ((edge["target"], points[-1]), (edge["source"], points[0])):
        if name in marked:
            return el("circle", "endmark", cx=x, cy=y, r=place("endmark", "radius"))
    return None


def _label(edge: WireEdge, snapshot: Snapshot) -> Element | None:
    at = snapshot["layout"]["routes"][edge["id"]]["label"]
    if at is None or not edge["label"]:
        return None
    classes = f"label {_look(snapshot['edges'].get(edge['id']))}".strip()
    y = at["y"] + at["h"] / 2 + place("edge", "label_dy")
    return text(classes, shown_label(edge["label"]), at["x"] + at["w"] / 2, y)


def _state(node: WireNode, snapshot: Snapshot) -> tuple[NodeState | None, NodeStatus, str]:
    state = snapshot["nodes"].get(node["id"])
    return state, state["status"] if state else "idle", time_of(state, snapshot["run"]["elapsed_s"])


def _frame(node: WireNode, snapshot: Snapshot) -> Element:
    box = snapshot["layout"]["boxes"][node["id"]]
    state, status, time = _state(node, snapshot)
    x, y = place("group", "title_x"), place("group", "title_y")
    visits = f"{visits_badge(state['visits'])}  " if state and state["visits"] > 1 else ""
    return group(
        f"group {status}",
        el("title", "", node["name"]),
        rect("frame", 0, 0, box["w"], box["h"], place("group", "radius")),
        text("title", cut(visible(node["name"]), frame_letters(box["w"])), x, y),
        text("time", visits + time, box["w"] - x, y) if visits + time else None,
        _finding_sign(findings_of(snapshot, node["id"]), state),
        at=(box["x"], box["y"]),
    )


def _node(node: WireNode, snapshot: Snapshot, prefix: str, known: Mapping[str, str]) -> Element:
    box = snapshot["layout"]["boxes"][node["id"]]
    state, status, time = _state(node, snapshot)
    found = findings_of(snapshot, node["id"])
    said = el("title", "", say_node(node, state, time, known) + say_findings(found))
    body = _pill(node, box) if node["kind"] in ("start", "end") else _body(node, box, state, status, time, prefix)
    return group(f"node {status}", said, *body, _finding_sign(found, state), at=(box["x"], box["y"]))


def _finding_sign(found: Sequence[WireFinding], state: NodeState | None) -> Element | None:
    """A small triangle on the node's upper left corner, in the colour of the state that asks for as much attention.

    It stands for what was found in the graph, and for what the engine warned of while the node ran.
    """
    levels = [finding["level"] for finding in found] + ["warning" for _ in (state["warnings"] if state else ())]
    if not levels:
        return None
    sign = shapes()["finding"]
    look = next(_FINDING_LOOKS[level] for level in _FINDING_LOOKS if level in levels)
    disc, bang = path("disc", sign["disc"]), path("bang", sign["mark"])
    return group(f"finding {look}", disc, bang, at=(sign["x"], sign["y"]))


def _pill(node: WireNode, box: WireBox) -> list[Element]:
    w, h, inset = box["w"], box["h"], place("node", "pill_inset")
    inner = rect("inner", inset, inset, w - 2 * inset, h - 2 * inset, h / 2 - inset)
    name = text("name small", cut(node["name"], 8), w / 2, h / 2 + place("node", "small_name_dy"))
    return [rect("box pill", 0, 0, w, h, h / 2), *([inner] if node["kind"] == "end" else []), name]


def _body(
    node: WireNode, box: WireBox, state: NodeState | None, status: NodeStatus, time: str, prefix: str
) -> list[Element | None]:
    g = shapes()["node"]
    w, h, visits = box["w"], box["h"], state["visits"] if state else 0
    time_x = w - (max(g["time_right_counted"], _badge_width(visits) / 2 + 4) if visits > 1 else g["time_right"])
    out = g["ring_out"]
    return [
        rect("ring", -out, -out, w + 2 * out, h + 2 * out, g["ring_radius"]) if status == "running" else None,
        rect("box", 0, 0, w, h, g["radius"]),
        rect("fill", 0, 0, w, h, g["radius"], fill=f"url(#{prefix}-{status})") if status in _PATTERNED else None,
        path("sync", f"M{g['sync_inset']} {g['sync_y']}H{w - g['sync_inset']:.1f}") if node["join"] == "all" else None,
        _progress(w, h) if status == "running" else None,
        path("gate", f"M{g['gate_inset']} {-g['gate_above']}H{w - g['gate_inset']:.1f}")
        if status == "paused"
        else None,
        glyph(status, g["glyph_x"], h / 2 - 8),
        text("name", shown_name(node["name"]), g["name_x"], h / 2 + g["name_dy"]),
        text("time", time, time_x, h / 2 + g["time_dy"]) if time else None,
        _times(visits, w, h) if visits > 1 else None,
    ]


def _progress(w: float, h: float) -> Element:
    g = shapes()["node"]
    length, y = w - 2 * g["progress_inset"], h - g["progress_bottom"]
    start, end = (g["progress_inset"] + length * g[key] for key in ("progress_from", "progress_to"))
    return path("progress", f"M{start:.1f} {y:.1f}H{end:.1f}")


def _badge_width(visits: int) -> float:
    return len(visits_badge(visits)) * place("node", "times_letter") + place("node", "times_pad")


def _times(visits: int, w: float, h: float) -> Element:
    """ "×3" on the right border."""
    g = shapes()["node"]
    words = visits_badge(visits)
    width, height = _badge_width(visits), g["times_height"]
    badge = rect("", 0, 0, width, height, height / 2)
    return group("times", badge, text("", words, width / 2, g["times_text_y"]), at=(w - width / 2, (h - height) / 2))
