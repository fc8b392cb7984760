"""The long campaign: `python -m tests.kill.soak [kills]` prints what came of it, and fails if a step was lost."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.kill.campaign import run


def main(kills: int = 200) -> int:
    """Run the campaign; the number of faults is what it returns."""
    with tempfile.TemporaryDirectory() as folder:
        report = run(Path(folder), kills)
    print(report)
    return len(report.faults)


if __name__ == "__main__":
    sys.exit(min(main(*map(int, sys.argv[1:2])), 1))
