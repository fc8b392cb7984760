"""The long campaign: `python -m tests.kill.soak [kills]` prints what came of it, and fails if a step was lost."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.kill import campaign, sessions


def main(kills: int = 200) -> int:
    """Run both campaigns, the store's and the session's; the number of faults is what it returns."""
    faults = 0
    for run in (campaign.run, sessions.run):
        with tempfile.TemporaryDirectory() as folder:
            report = run(Path(folder), kills)
        print(report)
        faults += len(report.faults)
    return faults


if __name__ == "__main__":
    sys.exit(min(main(*map(int, sys.argv[1:2])), 1))
