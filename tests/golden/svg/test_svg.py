"""The drawing changes only when somebody wants it: stored snapshots still give the stored pictures.

The layout is stored too, so a new version of the layout engine doesn't touch these.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evonb.export.still import still_svg
from evonb.export.style import Scheme

_HERE = Path(__file__).parent


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["idle", "running", "failed", "finished"])
def test_a_stored_snapshot_gives_the_stored_picture(name: str, scheme: Scheme) -> None:
    snapshot = json.loads((_HERE / f"{name}.json").read_text(encoding="utf-8"))
    stored = (_HERE / f"{name}-{scheme}.svg").read_text(encoding="utf-8")
    drawn = still_svg(snapshot, scheme=scheme)
    assert drawn.split("><") == stored.split("><"), "if this is wanted: python tests/golden/svg/make_svg.py"
