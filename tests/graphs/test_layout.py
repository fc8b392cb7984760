"""Every graph that somebody really wrote lays out as a person would accept it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import real
from layout_checks import faults, labels_on_lines

from evonb.export.drawing import prepare
from evonb.export.layout import finished, layout, roomy
from evonb.export.plain import plain
from evonb.graph.topology import Topology

_RECORDS = real.records()
_NAMES = [record["name"] for record in _RECORDS]


def _with_frames(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [record for record in records if any(node["subgraph"] for node in record["nodes"])]


def test_all_graphs_are_there() -> None:
    assert len(_RECORDS) == len(set(_NAMES)) == 75


@pytest.mark.parametrize("record", _RECORDS, ids=_NAMES)
def test_nothing_overlaps_and_every_label_is_on_its_own_edge(record: dict[str, Any]) -> None:
    topology = real.topology(record)
    assert faults(topology, layout(topology)) == []


@pytest.mark.parametrize("record", _with_frames(_RECORDS), ids=lambda record: record["name"])
def test_sub_graphs_drawn_flat_lay_out_too(record: dict[str, Any]) -> None:
    topology = real.topology(record, nested=False)
    assert faults(topology, layout(topology)) == []


@pytest.mark.parametrize("record", _RECORDS, ids=_NAMES)
def test_the_compact_picture_is_as_clean(record: dict[str, Any]) -> None:
    topology = real.topology(record)
    assert faults(topology, layout(topology, density="compact")) == []


@pytest.mark.parametrize("record", _RECORDS, ids=_NAMES)
def test_the_plain_layering_is_as_clean(record: dict[str, Any]) -> None:
    topology = real.topology(record)
    drawing = prepare(topology, "normal", flat=True)
    placed = roomy(drawing, lambda stretch: plain(drawing, "normal", stretch))
    assert faults(topology, finished(drawing, *placed, None)) == []


def test_few_labels_lie_on_a_neighbouring_edge() -> None:
    topologies: list[Topology] = [real.topology(record) for record in _RECORDS]
    crossed = sum(labels_on_lines(topology, layout(topology)) for topology in topologies)
    assert crossed <= 8  # of 374


def test_forward_edges_run_downwards() -> None:
    topology = real.topology(next(record for record in _RECORDS if record["name"] == "adaptive_rag"))
    boxes = layout(topology).boxes
    back = {line.id for line in prepare(topology, "normal").lines if line.back}
    for edge in topology.edges:
        if edge.id not in back and edge.source != edge.target:
            assert boxes[edge.source].bottom < boxes[edge.target].y, edge.id


def test_many_edges_into_the_end_become_marks() -> None:
    topology = real.topology(next(record for record in _RECORDS if record["name"] == "ci_uv"))
    placed = layout(topology)
    assert "end" not in placed.boxes
    assert {edge.id for edge in topology.edges} == placed.routes.keys()
    assert placed.width < 3000
    assert placed.height < 3500


def test_many_sub_graphs_begin_folded() -> None:
    topology = real.topology(next(record for record in _RECORDS if record["name"] == "dbt_mattermost"))
    placed = layout(topology)
    folded = [node for node in topology.nodes if node.kind == "subgraph" and node.id in placed.boxes]
    hidden = [node for node in topology.nodes if node.kind == "node" and node.id not in placed.boxes]
    assert folded
    assert hidden
    assert len(placed.boxes) < 80
