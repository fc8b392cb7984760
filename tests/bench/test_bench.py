"""The bench measures what it says, and small sizes stay within loose bounds, so that a slip is seen in every change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench import peers
from bench.__main__ import live_figures
from bench.engines import PEERS
from bench.live import Figure
from bench.measure import measure
from bench.report import Row, document, growth, table
from bench.workloads import BOUNDS, SIZES, WORKLOADS

LOOSE = 3.0  # a busy machine, and the smallest sizes, where what a run costs once weighs more
SMALL = {"chain": 100, "chain_sync": 100, "loop": 100, "fan": 100, "messages": 100, "bigstate": 1000}


@pytest.mark.parametrize("name", [*SMALL, "debug_persist", "stream"])
def test_small_sizes_stay_within_loose_bounds(name: str) -> None:
    floor, ours = measure("evonb", name, SMALL.get(name, 100), 5, cpu=True)
    assert ours / floor < BOUNDS[name][1] * LOOSE


def test_waiting_side_by_side_costs_no_more_than_the_longest_way() -> None:
    floor, ours = measure("evonb", "slow_branch", 4, 1, cpu=True)
    assert ours / floor < 1.5


def test_a_payload_that_nobody_reads_costs_the_same_at_any_size() -> None:
    results = [(size, measure("evonb", "bigstate", size, 5, cpu=True)) for size in (10, 10_000)]
    exponent = growth(results)
    assert exponent is not None
    assert exponent < 0.2


def test_growth_is_the_exponent_of_time_over_size() -> None:
    assert growth([(10, (1, 2.0)), (100, (1, 20.0)), (1000, (1, 200.0))]) == pytest.approx(1)
    assert growth([(10, (1, 2.0)), (100, (1, 2.0))]) == pytest.approx(0)
    assert growth([(10, (1, 2.0))]) is None


def test_the_table_sets_peers_beside_evonb_and_tells_the_best() -> None:
    row = Row("chain", "N nodes", "1000", 10.0, 25, 0.9, 1.1, {"one": 120.0, "two": "over 60 s", "three": 80.0})
    head, _, line = table([row]).splitlines()
    assert head.count("|") == line.count("|")
    assert line == "| chain | N nodes | 1000 | 10 | 25 | 0.90 | 1.1 | 120 | over 60 s | 80 | 8.0 |"
    assert "one 1.2" in document([row], "python -m bench", "cpu", {"one": "1.2"})


def test_the_page_tells_the_live_views_figures_and_what_misses_its_bound() -> None:
    frames = Figure("frames", 44.25, None, "a second", 30, at_least=True)
    press = Figure("a press", 412.0, 520.4, "ms", 200)
    text = document([], "python -m bench", "cpu", {}, [frames, press])
    assert "| frames | 44.2 a second |  | at least 30 |" in text
    assert "| a press | 412 ms | 520 ms | at most 200 |" in text
    assert [each.is_off_by(2.0) for each in (frames, press)] == [False, True]
    assert Figure("frames", 14.0, None, "a second", 30, at_least=True).is_off_by(2.0)
    assert not Figure("events", 1.0, None, "a second").is_off_by(2.0)


def test_without_a_browser_the_bench_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CHROMIUM", raising=False)
    assert live_figures() == []
    assert "No Chromium was found.\n  fix:   make browser" in capsys.readouterr().err


def test_every_workload_has_sizes_and_a_bound_and_every_peer_its_packages() -> None:
    assert set(SIZES) == set(BOUNDS) >= set(WORKLOADS)
    assert all(PEERS.values())


def test_a_peer_that_takes_too_long_or_breaks_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    python = Path(sys.executable)
    assert "No module" in str(peers.ratio("langgraph", python, "chain", 1, cpu=True))

    def late(*args: object, **options: object) -> None:
        raise subprocess.TimeoutExpired("python", 60)

    monkeypatch.setattr(subprocess, "run", late)
    assert peers.ratio("langgraph", python, "chain", 1, cpu=True) == "over 60 s"
