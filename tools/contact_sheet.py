"""Draws every real graph into one page, to look at: build/contact-sheet/index.html and, with Chromium, a PNG.

Run it from the top of the checkout: python tools/contact_sheet.py [--png] [--dark] [--plain] [NAME ...]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from html import escape
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TOP), str(TOP / "tests" / "graphs")]

import real  # noqa: E402

from evonb.export import layout as layouts  # noqa: E402
from evonb.export.drawing import prepare  # noqa: E402
from evonb.export.geometry import Layout  # noqa: E402
from evonb.export.plain import plain  # noqa: E402
from evonb.export.still import still_svg  # noqa: E402
from evonb.export.style import Scheme  # noqa: E402
from evonb.graph.topology import Topology  # noqa: E402
from evonb.protocol.blank import empty_snapshot  # noqa: E402
from evonb.protocol.encode import to_wire_graph  # noqa: E402

_STYLE = """body { font: 13px system-ui; margin: 16px; background: %s }
figure { display: inline-block; margin: 8px; vertical-align: top } img { max-width: %dpx }"""


def main() -> None:
    options = _options()
    out = TOP / "build" / "contact-sheet"
    out.mkdir(parents=True, exist_ok=True)
    scheme: Scheme = "dark" if options.dark else "light"
    lay: Callable[[Topology], Layout] = _plain if options.plain else layouts.layout
    parts = []
    for record in real.records():
        if options.names and record["name"] not in options.names:
            continue
        topology = real.topology(record)
        snapshot = empty_snapshot(to_wire_graph(topology), lay(topology).to_wire())
        (out / f"{record['name']}.svg").write_text(still_svg(snapshot, scheme=scheme), encoding="utf-8")
        parts.append(f'<figure><img src="{escape(record["name"])}.svg"></figure>')
    ground = "#0c0d0f" if options.dark else "#e9eaec"
    page = f"<!DOCTYPE html><meta charset=utf-8><style>{_STYLE % (ground, options.width)}</style>{''.join(parts)}"
    index = out / "index.html"
    index.write_text(page, encoding="utf-8")
    print(index)
    if options.png:
        print(_photograph(index))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these graphs")
    parser.add_argument("--png", action="store_true", help="photograph the page with Chromium")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--plain", action="store_true", help="use the plain layering")
    parser.add_argument("--width", type=int, default=700, help="largest width of one picture in pixels")
    return parser.parse_args()


def _plain(topology: Topology) -> Layout:
    drawing = prepare(topology, "normal", flat=True)
    placed = layouts.roomy(drawing, lambda stretch: plain(drawing, "normal", stretch))
    return layouts.finished(drawing, *placed, None)


def _photograph(index: Path) -> Path:
    from playwright.sync_api import sync_playwright

    shot = index.with_suffix(".png")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1500, "height": 900})
        page.goto(index.as_uri())
        page.screenshot(path=str(shot), full_page=True)
        browser.close()
    return shot


if __name__ == "__main__":
    main()
