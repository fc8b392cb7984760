"""What `layout` promises beside clean pictures: the same again, places that stay, an answer without graphlay."""

from __future__ import annotations

import sys
import time
from itertools import pairwise
from pathlib import Path

import export_sample
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[2] / "graphs"))

from layout_checks import faults

from evonb.export.geometry import Layout
from evonb.export.layout import layout
from evonb.graph.topology import EdgeInfo, NodeInfo, Topology


def _graph(count: int, pairs: list[tuple[int, int, str]]) -> Topology:
    nodes = tuple(NodeInfo(f"n{i}", f"n{i}") for i in range(count))
    edges = (EdgeInfo(f"n{a}>n{b}#{i}", f"n{a}", f"n{b}", label=label) for i, (a, b, label) in enumerate(pairs))
    return Topology("drawn", nodes, tuple(edges))


def test_the_same_graph_gets_the_same_layout() -> None:
    assert layout(export_sample.support()) == layout(export_sample.support())


def test_the_wire_form_reads_back() -> None:
    wire = layout(export_sample.support()).to_wire()
    assert Layout.from_wire(wire).to_wire() == wire


def test_siblings_stand_in_declaration_order() -> None:
    boxes = layout(_graph(4, [(0, 1, ""), (0, 2, ""), (0, 3, "")])).boxes
    assert boxes["n1"].x < boxes["n3"].x


def test_an_unchanged_graph_stays_where_it_was() -> None:
    first = layout(export_sample.support())
    assert layout(export_sample.support(), keep=first) is first


def test_nodes_keep_their_order_when_one_is_added() -> None:
    before = export_sample.support()
    old = layout(before)
    edges = (*before.edges, EdgeInfo("draft>extra", "draft", "extra"), EdgeInfo("extra>end", "extra", "end"))
    after = Topology(before.name, (*before.nodes, NodeInfo("extra", "extra")), edges)
    new = layout(after, keep=old)
    row = ["search_web", "read_code", "search_docs"]
    assert sorted(row, key=lambda n: new.boxes[n].x) == sorted(row, key=lambda n: old.boxes[n].x)
    assert faults(after, new) == []
    down = [node.id for node in sorted(before.nodes, key=lambda node: old.boxes[node.id].y)]
    assert all(new.boxes[a].y <= new.boxes[b].y for a, b in pairwise(down))


def test_a_removed_node_leaves_no_box() -> None:
    topology = export_sample.support()
    old = layout(topology)
    nodes = tuple(node for node in topology.nodes if node.id != "tools")
    edges = tuple(edge for edge in topology.edges if "tools" not in (edge.source, edge.target))
    assert "tools" not in layout(Topology("support", nodes, edges), keep=old).boxes


def test_compact_is_smaller() -> None:
    topology = export_sample.support()
    assert layout(topology, density="compact").height < layout(topology).height


def test_an_empty_graph_has_an_empty_layout() -> None:
    placed = layout(Topology("empty", (), ()))
    assert (placed.width, placed.height, dict(placed.boxes)) == (0, 0, {})


def test_edges_to_unknown_nodes_are_left_out() -> None:
    topology = Topology("broken", (NodeInfo("a", "a"),), (EdgeInfo("a>b", "a", "b"),))
    assert layout(topology).routes == {}


def test_parallel_edges_and_self_loops_have_lines_of_their_own() -> None:
    topology = _graph(2, [(0, 1, "yes"), (0, 1, "no"), (0, 1, ""), (0, 0, "again"), (0, 0, "and again")])
    placed = layout(topology)
    assert len({route.points for route in placed.routes.values()}) == 5
    assert faults(topology, placed) == []


def test_an_edge_to_a_sub_graph_ends_at_its_frame() -> None:
    placed = layout(export_sample.nested())
    frame = placed.boxes["research"]
    assert placed.routes["collect>research"].points[-1][1] == pytest.approx(frame.y)
    assert placed.routes["research>answer"].points[0][1] == pytest.approx(frame.bottom)
    assert faults(export_sample.nested(), placed) == []


def test_a_graph_lays_out_where_graphlay_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphlay", None)
    topology = export_sample.support()
    placed = layout(topology)
    assert faults(topology, placed) == []
    assert placed.routes.keys() == {edge.id for edge in topology.edges}


def test_without_graphlay_a_sub_graph_is_one_box(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphlay", None)
    placed = layout(export_sample.nested())
    assert placed.boxes.keys() == {"start", "collect", "research", "answer", "end"}
    assert faults(export_sample.nested(), placed) == []


def test_a_dense_graph_takes_the_plain_layering_and_no_long_time() -> None:
    pairs = [(a, b, "") for a in range(60) for b in range(a + 1, 60) if (a * 7 + b * 3) % 5 == 0]
    topology = _graph(60, pairs)
    began = time.perf_counter()
    placed = layout(topology)
    assert time.perf_counter() - began < 10
    assert faults(topology, placed) == []


_PAIRS = st.integers(2, 9).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.lists(
            st.tuples(st.integers(0, count - 1), st.integers(0, count - 1), st.sampled_from(["", "ok", "try again"])),
            max_size=14,
        ),
    )
)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(_PAIRS)
def test_random_graphs_have_no_overlap_and_all_their_edges(drawn: tuple[int, list[tuple[int, int, str]]]) -> None:
    topology = _graph(*drawn)
    placed = layout(topology)
    found = [fault for fault in faults(topology, placed) if "label" not in fault]
    assert found == []
    assert placed.routes.keys() == {edge.id for edge in topology.edges}


@settings(max_examples=40, deadline=None, derandomize=True)
@given(_PAIRS)
def test_random_graphs_in_the_plain_layering_too(drawn: tuple[int, list[tuple[int, int, str]]]) -> None:
    topology = _graph(*drawn)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "graphlay", None)
        placed = layout(topology)
    assert [fault for fault in faults(topology, placed) if "label" not in fault] == []
