"""A process killed at any moment loses at most what it was writing or running.

Twenty kills at most, ten of each kind; a phase that a busy machine made a kill miss is aimed at again. (`soak.py` does
it 200 times each.)
"""

from __future__ import annotations

from pathlib import Path

from tests.kill import campaign, sessions
from tests.kill.campaign import Report

KILLS = 10


def check(report: Report) -> None:
    assert report.faults == []
    assert 8 <= report.hit.total() <= KILLS
    # The last aims at phases that last for microseconds may have missed as well.
    assert len(report.missed) <= 1, str(report)
    assert report.hit["commit"] + report.hit["checkpoint"] >= 1, str(report)


def test_killing_a_writer_in_any_phase_loses_nothing_that_was_written(tmp_path: Path) -> None:
    check(campaign.run(tmp_path, KILLS, few=True))


def test_a_session_killed_in_any_phase_is_opened_and_ends_as_if_undisturbed(tmp_path: Path) -> None:
    report = sessions.run(tmp_path, KILLS, few=True)
    check(report)
    assert report.halves >= 1, str(report)
