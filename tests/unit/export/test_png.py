"""The picture as pixels."""

from __future__ import annotations

import struct
import sys

import export_sample
import pytest

from evonb.errors import MissingDependency
from evonb.export import still_svg, to_png


def _size(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def test_a_png_has_the_size_of_the_picture() -> None:
    snapshot = export_sample.running()
    width, height = _size(to_png(snapshot, zoom=1))
    assert f'viewBox="0 0 {width} {height}"' in still_svg(snapshot)
    assert _size(to_png(snapshot)) == (2 * width, 2 * height)


def test_dark_and_light_differ() -> None:
    snapshot = export_sample.idle()
    assert to_png(snapshot, zoom=1) != to_png(snapshot, zoom=1, scheme="dark")


def test_without_the_package_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MissingDependency) as caught:
        to_png(export_sample.idle())
    assert "pip install" in caught.value.fix
