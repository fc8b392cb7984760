"""The still picture: valid everywhere, plain colours, names as text, every state told by more than colour."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import export_sample
import pytest

from evonb.export.in_words import still_text
from evonb.export.layout import layout
from evonb.export.still import still_svg
from evonb.export.style import Scheme
from evonb.graph.topology import EdgeInfo, NodeInfo, Topology
from evonb.protocol.blank import empty_snapshot
from evonb.protocol.encode import to_wire_graph
from evonb.protocol.snapshot import NodeStatus, Preview, Snapshot

SVG = "{http://www.w3.org/2000/svg}"
RUNS: list[Callable[[], Snapshot]] = [
    export_sample.idle,
    export_sample.running,
    export_sample.failed,
    export_sample.finished,
]
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "]]>",
    "--><script>alert(1)</script>",
    "\"quoted\" & 'single'",
    "&amp;&#x41;",
    "🚀 launch 分类",
    "مرحبا بالعالم",
    "bell\x07null\x00esc\x1b",
    "url(javascript:alert(1))",
    "lone \ud800 surrogate",
]


def _svg(snapshot: Snapshot, scheme: Scheme = "light") -> ElementTree.Element:
    return ElementTree.fromstring(still_svg(snapshot, scheme=scheme))


def _texts(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text") if element.get("aria-hidden") != "true"]


def _titles(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}title")]


def _signs(snapshot: Snapshot) -> list[ElementTree.Element]:
    return [g for g in _svg(snapshot).iter(f"{SVG}g") if (g.get("class") or "").startswith("finding")]


def _one_node(name: str, label: str = "") -> Snapshot:
    nodes = (NodeInfo("start", "start", "start"), NodeInfo(name, name))
    topology = Topology(name, nodes, (EdgeInfo(f"start>{name}", "start", name, "conditional", label=label),))
    return empty_snapshot(to_wire_graph(topology), layout(topology).to_wire())


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_is_valid_and_needs_nothing_from_outside(run: Callable[[], Snapshot], scheme: Scheme) -> None:
    written = still_svg(run(), scheme=scheme)
    ElementTree.fromstring(written)
    assert not re.search(r"var\(|color-mix|currentColor|<style|<script|@import|href|foreignObject|paint-order", written)
    assert re.findall(r"https?://[^\"]*", written) == ["http://www.w3.org/2000/svg"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_labels_are_text_whatever_they_hold(name: str) -> None:
    snapshot = _one_node(name, label=name)
    shown = "".join(letter if letter >= " " and letter != "\ud800" else "\ufffd" for letter in name)
    root = _svg(snapshot)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "g", "title", "defs", "pattern", "circle", "rect", "path", "text"}
    assert _texts(root).count(shown) >= 2
    assert not [a for element in root.iter() for a in element.attrib if a.startswith("on")]


def test_values_messages_and_streams_are_text_too() -> None:
    snapshot = export_sample.finished()
    value: Preview = {"kind": "str", "text": "<b>bold</b>\x00", "cut": False}
    snapshot["run"].update(result={"<i>key</i>": value}, message="<u>ended</u>", reason="max_turn")
    root = _svg(snapshot)
    assert {"<b>bold</b>\ufffd", "<i>key</i>", "<u>ended</u>"} <= set(_texts(root))


def test_every_node_shows_its_name_and_time() -> None:
    shown = _texts(_svg(export_sample.running()))
    assert {"router", "human_review", "0.2\u00a0s", "3.1\u00a0s", "2 / 3", "×2", "×3"} <= set(shown)


def test_the_header_says_how_the_run_stands() -> None:
    assert {"Failed", "at run_tests, step 9 · 21.6\u00a0s", "support"} <= set(_texts(_svg(export_sample.failed())))
    assert "Running" in _texts(_svg(export_sample.running()))


def test_a_waiting_join_says_who_is_missing() -> None:
    assert {"2 of 3 arrived", "waits for search_web"} <= set(_texts(_svg(export_sample.running())))


def test_a_note_at_the_rim_widens_the_picture() -> None:
    snapshot = _one_node("join")
    snapshot["nodes"]["join"].update(status="waiting", arrived=["a"], missing=["a_node_with_a_long_name", "another"])
    root = _svg(snapshot)
    graph = next(g for g in root.iter(f"{SVG}g") if g.get("transform") and not g.get("class"))
    moved = float(re.findall(r"[\d.]+", graph.get("transform") or "")[0])
    note = next(e for e in root.iter(f"{SVG}text") if (e.text or "").startswith("waits for"))
    end = moved + float(note.get("x") or 0) + 6 * len(note.text or "")
    assert end < float(root.get("width") or 0) - 10


def test_a_note_in_a_frame_does_not_cross_its_border() -> None:
    snapshot = export_sample.idle(export_sample.nested())
    snapshot["nodes"]["research › rank"].update(status="waiting", arrived=["a"], missing=["b"])
    assert "1 / 2" in _texts(_svg(snapshot))
    assert "1 of 2 arrived" not in _texts(_svg(snapshot))


def test_streamed_text_stands_in_the_margin_with_its_end() -> None:
    shown = _texts(_svg(export_sample.running()))
    assert "86 chunks" in shown
    assert any(words.endswith("counts as a") for words in shown)
    assert any(words.startswith("…") for words in shown)


def test_an_error_shows_what_where_fix_and_the_line() -> None:
    shown = _texts(_svg(export_sample.failed()))
    assert {"KeyError in run_tests", "What", "Where", "Fix", "23", "24"} <= set(shown)
    assert any("socre" in words for words in shown)
    assert any('state["socre"]' in words for words in shown)


def test_a_finished_run_shows_the_final_state() -> None:
    assert {"Final state", "answer", "score", "0.92"} <= set(_texts(_svg(export_sample.finished())))


def test_callouts_and_cards_cover_no_node() -> None:
    for run in (export_sample.running, export_sample.failed, export_sample.finished):
        snapshot = run()
        root = _svg(snapshot)
        for card in root.iter(f"{SVG}g"):
            if (card.get("class") or "").split(" ")[0] in ("card", "callout"):
                parent = next(g for g in root.iter(f"{SVG}g") if card in list(g))
                x = float(re.findall(r"[\d.]+", parent.get("transform") or "")[0])
                assert x > max(box["x"] + box["w"] for box in snapshot["layout"]["boxes"].values())


def test_in_a_wide_graph_the_card_stands_below() -> None:
    snapshot = export_sample.finished()
    snapshot["layout"]["width"] = 2000.0
    below = float(_svg(snapshot).get("height") or 0)
    assert below > snapshot["layout"]["height"] + 150


def test_every_state_differs_by_glyph_or_border_and_not_by_colour_only() -> None:
    looks = set()
    states: list[NodeStatus] = ["idle", "queued", "waiting", "running", "done", "failed", "skipped", "paused"]
    for status in states:
        snapshot = _one_node("work")
        snapshot["nodes"]["work"]["status"] = status
        node = next(g for g in _svg(snapshot).iter(f"{SVG}g") if g.get("class") == f"node {status}" and len(g) > 3)
        glyph = next(g for g in node.iter(f"{SVG}g") if g.get("class") == "glyph")
        looks.add(tuple(path.get("d") for path in glyph))
    assert len(looks) == len(states)


def test_a_taken_edge_is_heavier_and_drawn_above_others() -> None:
    edges = [g for g in _svg(export_sample.running()).iter(f"{SVG}g") if (g.get("class") or "").startswith("edge")]
    kinds = [(g.get("class") or "").split()[-1] for g in edges]
    assert kinds.index("taken") > max(i for i, kind in enumerate(kinds) if kind != "taken")
    widths = {kind: g.findall(f"{SVG}path")[0].get("stroke-width") for kind, g in zip(kinds, edges, strict=True)}
    assert float(widths["taken"] or 0) > float(widths["edge"] or 0) > float(widths["off"] or 0)


def test_an_all_join_has_a_double_upper_edge() -> None:
    root = _svg(export_sample.idle())
    assert len([path for path in root.iter(f"{SVG}path") if path.get("class") == "sync"]) == 1


def test_ids_of_two_pictures_differ_and_every_reference_has_its_id() -> None:
    first, second = still_svg(export_sample.running()), still_svg(export_sample.failed())
    ids = [set(re.findall(r' id="([^"]+)"', written)) for written in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert set(re.findall(r"url\(#([^)]+)\)", first)) <= ids[0]


def test_the_dark_picture_brings_its_own_dark_ground() -> None:
    ground = next(r for r in _svg(export_sample.idle(), "dark").iter(f"{SVG}rect") if r.get("class") == "canvas")
    assert ground.get("fill") == "#16181c"


def test_a_special_node_without_a_box_becomes_marks() -> None:
    nodes = [NodeInfo("start", "start", "start"), *(NodeInfo(f"n{i}", f"n{i}") for i in range(10))]
    edges = [EdgeInfo(f"n{i}>end", f"n{i}", "end") for i in range(10)]
    topology = Topology("comb", (*nodes, NodeInfo("end", "end", "end")), tuple(edges))
    root = _svg(empty_snapshot(to_wire_graph(topology), layout(topology).to_wire()))
    assert len([c for c in root.iter(f"{SVG}circle") if c.get("class") == "endmark"]) == 10
    assert "end" not in _texts(root)


def test_nothing_in_the_snapshot_is_changed() -> None:
    snapshot, again = export_sample.running(), export_sample.running()
    still_svg(snapshot)
    assert snapshot == again


def test_what_check_found_is_marked_on_its_node_and_said_in_its_tooltip() -> None:
    snapshot = export_sample.idle()
    snapshot["graph"]["findings"] = [
        {"code": "x", "level": "error", "nodes": ["merge"], "what": "never fires", "where": "", "fix": ""}
    ]
    marks = [g for g in _svg(snapshot).iter(f"{SVG}g") if (g.get("class") or "").startswith("finding")]
    assert [mark.get("class") for mark in marks] == ["finding failed"]
    assert "merge, not run yet; error: never fires" in still_svg(snapshot)


def test_a_warned_node_carries_the_sign_of_a_warning() -> None:
    snapshot = export_sample.with_tools()
    assert [mark.get("class") for mark in _signs(snapshot)] == ["finding waiting"]
    assert any("; warning: Node 'draft' wrote" in title for title in _titles(_svg(snapshot)))

    snapshot["graph"]["findings"] = [
        {"code": "x", "level": "note", "nodes": ["draft"], "what": "odd", "where": "", "fix": ""},
    ]
    assert [mark.get("class") for mark in _signs(snapshot)] == ["finding waiting"]


def test_a_tool_at_work_is_named_in_its_nodes_callout_and_calls_in_the_tooltip() -> None:
    root = _svg(export_sample.with_tools())
    assert "search, 0.4\u00a0s" in _texts(root)
    assert "plan, done, 1.1 s, 2nd visit, called find (0.4 s) and read ×2 (1 failed), used 876 tokens" in _titles(root)


def test_very_many_visits_stay_short() -> None:
    snapshot = _one_node("work")
    snapshot["nodes"]["work"].update(status="done", visits=5000, last_s=0.2)
    assert "×5k" in _texts(_svg(snapshot))


def test_a_node_that_asks_is_drawn_and_told_with_its_question() -> None:
    snapshot = export_sample.running()
    for state in snapshot["nodes"].values():
        if state["status"] in ("running", "queued"):
            state.update(status="done", running=0, queued=0)
    asking = snapshot["nodes"]["read_code"]
    asking.update(
        status="waiting", running=1, question="Read the\nsecrets too?", stream="? Read", missing=[], arrived=[]
    )
    drawn = still_svg(snapshot)
    assert "Waits for you" in drawn
    assert "asks you" in drawn
    assert "secrets too?" in drawn
    assert "0 of 0 arrived" not in drawn
    (line,) = [line for line in still_text(snapshot).splitlines() if line.startswith("  read_code")]
    assert re.sub(" +", " ", line) == " read_code asks you: Read the secrets too?, 2 visits"


def test_a_run_that_has_stopped_shows_a_gate_before_what_could_run_next_and_says_so() -> None:
    snapshot = export_sample.finished()
    snapshot["run"].update(status="paused", reason="breakpoint")
    snapshot["nodes"]["summarise"].update(status="queued", queued=1)
    drawn = still_svg(snapshot)
    assert 'class="gate"' in drawn
    assert "before summarise · breakpoint" in drawn
    told = still_text(snapshot)
    assert told.startswith("Graph support: Paused, before summarise · breakpoint")
    assert re.search(r"summarise +stopped before", told)
    assert snapshot["nodes"]["summarise"]["status"] == "queued"
