"""The picture in words."""

from __future__ import annotations

from typing import Literal

import export_sample

from evonb.export.layout import layout
from evonb.export.still import still_text
from evonb.graph.topology import NodeInfo, Topology
from evonb.protocol.blank import empty_snapshot
from evonb.protocol.encode import to_wire_graph
from evonb.protocol.snapshot import Snapshot, WireFinding


def test_nodes_stand_in_order_with_status_and_time() -> None:
    lines = still_text(export_sample.running()).splitlines()
    assert lines[0] == "Graph support: Running, round 3 · 12.4 s · 1 of 12 nodes at work"
    assert [line.split()[0] for line in lines[1:4]] == ["router", "plan", "search_web"]
    assert lines[3].split(maxsplit=1)[1] == "running, 3.1 s, 2 visits"
    assert "waits for search_web" in lines[6]


def test_calls_tokens_and_warnings_are_told() -> None:
    lines = still_text(export_sample.with_tools()).splitlines()
    assert lines[2].endswith("done, 1.1 s, 2 visits, called find (0.4 s) and read ×2 (1 failed), used 876 tokens")
    assert lines[3].endswith("running, 3.1 s, 2 visits, called search (running)")
    at = next(at for at, line in enumerate(lines) if line.lstrip().startswith("draft"))
    assert lines[at + 1] == "      warning: Node 'draft' wrote the unknown key 'scroe'"


def test_an_error_takes_three_lines() -> None:
    lines = still_text(export_sample.failed()).splitlines()[-3:]
    assert lines[0] == "KeyError in run_tests: The state has no key 'socre'; it has 'score'."
    assert lines[1].startswith("  where: cell [3], line 24")
    assert lines[2] == '  fix:   Write "score" in line 24 and run cell [3] again.'


def test_a_finished_run_ends_with_its_state() -> None:
    assert still_text(export_sample.finished()).splitlines()[-3:] == [
        "Final state",
        "  answer  'The shop taxes each line and then the total once more.'",
        "  score   0.92",
    ]


def test_a_run_without_a_result_says_why() -> None:
    snapshot = export_sample.finished()
    snapshot["run"].update(result=None, reason="starved", message="merge waited for search_web")
    assert still_text(snapshot).splitlines()[-2:] == [
        "merge waited for search_web",
        "Nothing reached the end of the graph.",
    ]


def test_parts_of_a_sub_graph_stand_indented_below_it() -> None:
    lines = still_text(export_sample.idle(export_sample.nested())).splitlines()
    assert lines[1:] == ["  collect", "  research", "    search", "    rank", "  answer"]


def test_a_shortened_value_says_so() -> None:
    snapshot = export_sample.finished()
    snapshot["run"]["result"] = {"text": {"kind": "str", "text": "the beginning", "cut": True}}
    assert still_text(snapshot).splitlines()[-1] == "  text  the beginning…"


def test_control_characters_do_not_reach_the_terminal() -> None:
    topology = Topology("g\x1b[31m", (NodeInfo("a\x1b]0;x\x07", "a\x1b]0;x\x07"),), ())
    written = still_text(empty_snapshot(to_wire_graph(topology), layout(topology).to_wire()))
    assert "\x1b" not in written
    assert "\x07" not in written


def test_a_large_graph_is_counted() -> None:
    topology = Topology("large", tuple(NodeInfo(f"n{i}", f"n{i}") for i in range(500)), ())
    snapshot = empty_snapshot(to_wire_graph(topology), layout(topology).to_wire())
    snapshot["nodes"]["n7"].update(status="done", last_s=0.5, visits=1)
    lines = still_text(snapshot).splitlines()
    assert lines[1:] == ["  n7  done, 0.5 s", "  and 499 more nodes: 499 not yet"]


def test_of_a_large_graph_what_broke_is_named_before_what_is_done() -> None:
    snapshot = _large(300)
    for i in range(200):
        snapshot["nodes"][f"n{i}"].update(status="done", last_s=0.5, visits=1)
    snapshot["nodes"]["n250"].update(status="failed", last_s=0.1, visits=1, note="no")
    lines = still_text(snapshot).splitlines()
    assert "  n250  failed, 0.1 s" in lines
    assert lines[-1] == "  and 180 more nodes: 99 not yet, 81 done"


def test_of_a_large_graph_that_has_not_run_the_first_nodes_are_named() -> None:
    lines = still_text(_large(300)).splitlines()
    assert lines[1] == "  n0"
    assert lines[-1] == "  and 280 more nodes: 280 not yet"


def test_what_did_not_complete_says_why() -> None:
    lines = still_text(export_sample.failed()).splitlines()
    assert any(line.split() == ["human_review", "not", "reached"] for line in lines)


def test_what_check_found_stands_below_the_nodes() -> None:
    snapshot = export_sample.idle()
    snapshot["graph"]["findings"] = [_finding("merge", "warning", "merge may wait for ever", "drop an edge")]
    lines = still_text(snapshot).splitlines()
    assert lines[-3:] == ["Check", "  warning: merge may wait for ever", "    fix: drop an edge"]


def test_a_name_of_spaces_can_be_seen() -> None:
    topology = Topology("g", (NodeInfo(" ", " "),), ())
    written = still_text(empty_snapshot(to_wire_graph(topology), layout(topology).to_wire()))
    assert written.splitlines()[1] == "  ␣"


def _large(count: int) -> Snapshot:
    topology = Topology("large", tuple(NodeInfo(f"n{i}", f"n{i}") for i in range(count)), ())
    return empty_snapshot(to_wire_graph(topology), layout(topology).to_wire())


def _finding(node: str, level: Literal["error", "warning", "note"], what: str, fix: str) -> WireFinding:
    return {"code": "x", "level": level, "nodes": [node], "what": what, "where": "", "fix": fix}
