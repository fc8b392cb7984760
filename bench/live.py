"""The live views in a real JupyterLab: frames a second under a flood of events, and how soon a press takes effect.

Needs Chromium and the packages of the tests; everything is measured on the machine it runs on, so these are times.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["LEAST_FPS", "MOST_MS", "Figure", "Missing", "measure_live", "section"]

RATE = 10_000
LEAST_FPS = 30.0
MOST_MS = 200.0
_FLOOD_S = 8.0
_PRESSES = 20
_STEPS = 5000
_WAIT_MS = 120_000
_BROWSER_TESTS = Path(__file__).parents[1] / "tests" / "browser"


class Missing(Exception):
    """The machine lacks something that is needed to measure; says how to get it."""


@dataclass(frozen=True)
class Figure:
    """One measured figure; its bound is the least it may be, or the most."""

    what: str
    value: float
    worst: float | None
    unit: str
    bound: float | None = None
    at_least: bool = False

    def is_off_by(self, factor: float) -> bool:
        """Whether it misses its bound by more than this factor."""
        if self.bound is None:
            return False
        return self.value * factor < self.bound if self.at_least else self.value > self.bound * factor


def measure_live() -> list[Figure]:
    """Measure both views; takes about two minutes.

    Raises:
        Missing: There is no browser, or no playwright.
    """
    sys.path.insert(0, str(_BROWSER_TESTS))
    try:
        import harness
        import panel  # noqa: F401 - what the functions below import
    except ImportError as error:
        raise Missing(f"{error}.\n  fix:   pip install -e '.[dev]'") from error
    try:
        harness.chromium()
    except RuntimeError as error:
        raise Missing(str(error)) from error
    with tempfile.TemporaryDirectory() as folder, harness.lab_server(Path(folder)) as lab, harness.browser() as chrome:
        shown = _Shown(harness, lab, chrome)
        return [*_picture(shown), *_debugger(shown), *_long_session(shown)]


class _Shown:
    """Opens notebooks that show a flood."""

    def __init__(self, harness: Any, lab: Any, chrome: Any) -> None:
        self._harness, self._lab, self._chrome = harness, lab, chrome

    @contextlib.contextmanager
    def notebook(self, name: str, arguments: str, rate: float = RATE) -> Iterator[Any]:
        """A notebook whose second cell shows the graph `flood`, paced by `beat`."""
        import nbformat
        from flood import KERNEL_SIDE

        (self._lab.root / "flood_side.py").write_text(KERNEL_SIDE)
        cells = [
            "%load_ext evonb\nfrom flood_side import *",
            f"beat = Beat({rate})\nflood = flood_graph('flood', beat, {arguments})\nflood",
        ]
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        book.metadata["kernelspec"] = {"name": "python3", "display_name": "python3", "language": "python"}
        nbformat.write(book, self._lab.root / f"{name}.ipynb")
        page = self._chrome.new_page()
        opened = self._harness.Notebook(page, self._lab, f"{name}.ipynb")
        opened.open()
        for cell in (0, 1):
            opened.run(cell)
        try:
            yield opened
        finally:
            page.close()
            self._lab.end_kernels(f"{name}.ipynb")


def _picture(shown: _Shown) -> list[Figure]:
    with shown.notebook("picture", "lines=8") as notebook:
        return _flooded(notebook, "GraphView, 100 nodes")


def _debugger(shown: _Shown) -> list[Figure]:
    from flood import effect_ms
    from panel import Panel

    with shown.notebook("panel", "graph_mode='debug', db_file_path='panel.db'") as notebook:
        figures = _flooded(notebook, "DebuggerView, 100 nodes")
        panel = Panel(notebook, 1)
        notebook.ask("beat.begin(600); handle = flood.start({})")
        took: list[float] = []
        for turn in range(_PRESSES):
            panel.expect_status("Running")
            notebook.page.wait_for_timeout(500)  # the flood has to be one again
            by_button = turn % 2 == 1
            press = (lambda: panel.press("pause")) if by_button else (lambda: panel.key("p"))
            took.append(effect_ms(panel, press, "Paused"))
            panel.press("resume")
        notebook.ask("flood.stop()")
        return [*figures, _times("Pause pressed in the flood, until it shows", took)]


def _long_session(shown: _Shown) -> list[Figure]:
    from panel import Panel

    arguments = "lines=25, length=40, chunks=1, graph_mode='debug', db_file_path='long.db'"
    with shown.notebook("long", arguments, rate=1e9) as notebook:
        panel = Panel(notebook, 1)
        notebook.ask("beat.begin(600); handle = flood.start({})")
        notebook.until(f"len(flood.history()) >= {_STEPS}", "True", timeout_s=300)
        notebook.ask("flood.pause()")
        panel.expect_status("Paused")
        back = [_key(panel, "[", "Past") for _ in range(_PRESSES)]
        jumps = []
        for _ in range(_PRESSES // 2):
            jumps += [_key(panel, "Home", "Past"), _key(panel, "End", "Paused")]
        notebook.ask("flood.stop()")
        what = f"1,000 nodes, {_STEPS:,} steps:"
        return [_times(f"{what} a step back", back), _times(f"{what} to the start, and to live again", jumps)]


def _flooded(notebook: Any, what: str) -> list[Figure]:
    from flood import Watch

    watch = Watch(notebook.page)
    notebook.ask("from evonb.widgets.feed import feed_of; sent = []; leave = feed_of(flood).subscribe(sent.append)")
    notebook.ask(f"beat.begin({_FLOOD_S + 1}); handle = flood.start({{}})")
    notebook.page.wait_for_timeout(500)
    before = int(notebook.ask("len(sent)"))
    watch.begin()
    notebook.page.wait_for_timeout(_FLOOD_S * 1000)
    load = watch.end()
    batches = int(notebook.ask("len(sent)")) - before
    told = "print(now['seq'] / now['run']['elapsed_s'])"
    rate = float(notebook.ask(f"now = feed_of(flood).snapshot(); {told}"))
    notebook.until("handle.done", "True", timeout_s=60)
    return [
        Figure(f"{what}: events", rate, None, "a second"),
        Figure(f"{what}: frames", load.fps, None, "a second", LEAST_FPS, at_least=True),
        Figure(f"{what}: longest between two frames", load.gap_ms, None, "ms"),
        Figure(f"{what}: main thread for a batch", load.busy_ms / max(1, batches), None, "ms"),
    ]


def _key(panel: Any, key: str, word: str) -> float:
    from flood import effect_ms

    return float(effect_ms(panel, lambda: panel.key(key), word))


def _times(what: str, took: list[float]) -> Figure:
    return Figure(f"{what} (median and worst of {len(took)})", statistics.median(took), max(took), "ms", MOST_MS)


def section(figures: Sequence[Figure]) -> str:
    """The results as a section of the page on speed."""
    lines = ["| what | figure | worst | bound |", "|---|---|---|---|"]
    for each in figures:
        worst = "" if each.worst is None else f"{each.worst:.0f} {each.unit}"
        sign = "at least" if each.at_least else "at most"
        bound = "" if each.bound is None else f"{sign} {each.bound:.0f}"
        number = f"{each.value:,.0f}" if each.value >= 100 else f"{each.value:.1f}"
        lines.append(f"| {each.what} | {number} {each.unit} | {worst} | {bound} |")
    return (
        "\n## The live views\n\n"
        f"In JupyterLab and Chromium without a graphics card, under {RATE:,} events a second from a graph of 100\n"
        "nodes with loops, parallel lines and streaming. These are times of the machine named above. A press counts\n"
        "from the browser's own time of it to the frame that shows its effect.\n\n" + "\n".join(lines) + "\n"
    )
