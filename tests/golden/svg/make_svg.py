"""Writes the golden snapshots and their pictures, after a wanted change of the drawing. Then look at the pictures.

Run it as `python tests/golden/svg/make_svg.py`; with `--layout` the layouts are computed anew too.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
TOP = HERE.parents[2]
sys.path[:0] = [str(TOP), str(TOP / "tests" / "unit" / "export")]

import export_sample  # noqa: E402

from evonb.export.still import still_svg  # noqa: E402

NAMES = ("idle", "running", "failed", "finished")


def main() -> None:
    for name in NAMES:
        path = HERE / f"{name}.json"
        if "--layout" in sys.argv or not path.exists():
            snapshot = getattr(export_sample, name)()
            path.write_text(json.dumps(snapshot, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        snapshot = json.loads(path.read_text(encoding="utf-8"))
        (HERE / f"{name}-light.svg").write_text(still_svg(snapshot), encoding="utf-8")
        (HERE / f"{name}-dark.svg").write_text(still_svg(snapshot, scheme="dark"), encoding="utf-8")


if __name__ == "__main__":
    main()
