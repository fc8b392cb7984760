"""The bench measures what it says, and small sizes stay within loose bounds, so that a slip is seen in every change."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from bench import peers
from bench.__main__ import live_figures
from bench.engines import PEERS
from bench.live import Figure
from bench.measure import measure
from bench.report import Row, document, growth, table
from bench.workloads import BOUNDS, SIZES, WORKLOADS
from evonb.graph import GraphBuilder
from evonb.typing import StateMessage, UserMessage

LOOSE = 3.0  # a busy machine, and the smallest sizes, where what a run costs once weighs more
SMALL = {"chain": 100, "chain_sync": 100, "loop": 100, "fan": 100, "messages": 100, "bigstate": 1000}


class Talk(TypedDict):
    messages: Annotated[list[StateMessage], "append_messages"]


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


def best(measured: Callable[[], tuple[float, ...]], bounds: tuple[float, ...], turns: int = 4) -> tuple[float, ...]:
    """The least of each figure, over as many turns as it takes to meet the bounds: load only makes figures worse."""
    least = measured()
    for _ in range(turns - 1):
        if all(figure <= bound for figure, bound in zip(least, bounds, strict=True)):
            break
        least = tuple(map(min, least, measured()))
    return least


def test_a_kept_session_costs_what_the_bound_says_and_the_same_for_each_step() -> None:
    _, most, most_growth = BOUNDS["debug_persist"]
    assert most_growth is not None

    def figures() -> tuple[float, float]:
        results = [(size, measure("evonb", "debug_persist", size, 3, cpu=True)) for size in (100, 1000)]
        floor, ours = results[-1][1]
        return ours / floor, growth(results) or 0.0

    ratio, exponent = best(figures, (most, most_growth))
    assert ratio <= most
    assert exponent <= most_growth


def test_importing_stays_near_its_bound() -> None:
    most = 1.1 * BOUNDS["import"][1]

    def figures() -> tuple[float]:
        floor, ours = measure("evonb", "import", 0, 5, cpu=True)
        return (ours / floor,)

    assert best(figures, (most,)) <= (most,)


def test_the_last_turn_of_a_long_talk_costs_hardly_more_than_the_first() -> None:
    def figures() -> tuple[float]:
        moments = []

        async def speak(state: Any) -> dict[str, Any]:
            moments.append(time.process_time())
            return {"messages": [UserMessage(content="x")]}

        builder = GraphBuilder(Talk)
        builder.add_node("speak", speak)
        builder.set_entry_point("speak")
        builder.add_condition_edge("speak", lambda _: "speak" if len(moments) < 2000 else "end", ["speak", "end"])
        builder.build().run_sync({"messages": []})
        first, last = moments[300] - moments[100], moments[-1] - moments[-201]
        return (last / first,)

    assert best(figures, (2.0,)) <= (2.0,)


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


@pytest.mark.parametrize(
    ("ratio", "exponent", "off"), [(25.0, 1.0, False), (25.0, None, False), (51.0, 1.0, True), (10.0, 1.25, True)]
)
def test_a_row_is_off_by_its_ratio_or_by_its_growth(ratio: float, exponent: float | None, off: bool) -> None:
    assert Row("chain", "N nodes", "1000", ratio, 25, exponent, 1.1).is_off_by(2.0) is off


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
